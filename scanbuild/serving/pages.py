"""The pages: templates in ``page/``, which escape whatever they are given."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import jinja2

from scanbuild import __version__
from scanbuild.gpu.browser.site import TYPES, PageFile, page_files
from scanbuild.package.fetching import FetchError
from scanbuild.package.load import FOLDER
from scanbuild.package.text import decode
from scanbuild.serving import prose
from scanbuild.serving.highlight import MOST_SHOWN, code_lines
from scanbuild.serving.sheet import make_sheet
from scanbuild.serving.shelf import Place, Shelf

_PAGE: Final = Path(__file__).resolve().parent / "page"
_ENGINE: Final = "engine"


def assets() -> Mapping[str, PageFile]:
    """What the pages load, by name: their own files, and under ``engine/`` those of the browser engine's page."""
    own = {
        path.name: PageFile(content=path.read_bytes(), media_type=TYPES[path.suffix])
        for path in sorted(_PAGE.iterdir())
        if path.suffix in TYPES
    }
    engine = {f"{_ENGINE}/{name}": file for name, file in page_files().items() if name}
    return MappingProxyType({**own, **engine})


def index_page(shelf: Shelf, origin: str, token: str) -> str:
    """The page of all packages. With a ``token``, it can run their tests."""
    sheets = [make_sheet(place, origin) for place in shelf.places]
    return _render("index.html.jinja", sheets=sheets, token=token, origin=origin)


def view_page(place: Place, file: str) -> str | None:
    """The page of a file; None if there is none of that path in the package."""
    try:
        content = place.content(file)
    except FetchError:
        return None
    text = decode(content)
    return _render(
        "view.html.jinja",
        file=file,
        op_id=place.title().op_id,
        anchor=prose.anchor(place.path),
        raw=f"/{place.path}/{FOLDER}/{file}",
        lines=code_lines(file, text),
        cut=len(text) > MOST_SHOWN,
    )


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_PAGE),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "visible": prose.visible,
        "words": prose.words,
        "paragraphs": prose.paragraphs,
        "breakable": prose.breakable,
        "counted": _counted,
    }
    environment.globals["version"] = __version__
    return environment


def _render(template: str, **values: Any) -> str:
    return str(_environment().get_template(template).render(**values))


def _counted(things: Sequence[Any] | int, one: str, several: str = "") -> str:
    number = things if isinstance(things, int) else len(things)
    return f"{number} {one if number == 1 else several or f'{one}s'}"
