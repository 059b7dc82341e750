"""Answers with files of packages, to whoever asks: the loader in a page of any origin, or a program."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from scanbuild.package.fetching import FetchError
from scanbuild.package.load import FOLDER
from scanbuild.package.report import shown
from scanbuild.package.text import encode
from scanbuild.serving.paths import HubFile, PlainFile
from scanbuild.serving.shelf import Place, Shelf

OPEN_HEADERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Expose-Headers": "ETag",
        "Cache-Control": "no-cache",
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
        "Cross-Origin-Resource-Policy": "cross-origin",
    }
)
"""With every answer about a package's files, refusals too: a page of any origin may read it, and asks each time whether
it has changed. Opened by itself, a file is inert."""

PREFLIGHT_HEADERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **OPEN_HEADERS,
        "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS",
        "Access-Control-Allow-Headers": "Authorization, Cache-Control, If-None-Match, Pragma, Range, *",
        "Access-Control-Allow-Private-Network": "true",
        "Access-Control-Max-Age": "600",
    }
)
"""What a browser wants to know before it sends what is no plain request, or asks this machine for a page elsewhere."""

TEXT: Final = "text/plain; charset=utf-8"
_TYPES: Final = {".json": "application/json", ".wgsl": TEXT, ".jinja": TEXT, ".md": TEXT, ".txt": TEXT}


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """An answer in all but the connection it goes over."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


def preflight() -> Answer:
    """The answer to what a browser asks before it asks for a file."""
    return Answer(status=204, headers=PREFLIGHT_HEADERS)


def answer_file(shelf: Shelf, wanted: PlainFile | HubFile, if_none_match: str) -> Answer:
    """A file as it is now, 304 if the asker has it, or why there is none."""
    place = _place(shelf, wanted)
    if isinstance(place, str):
        return missing(place)
    try:
        content = place.content(wanted.file)
    except FetchError as error:
        return missing(f"{FOLDER}/{wanted.file} of {shown(place.title().op_id)}: {error}")
    tag = f'"{hashlib.sha256(content).hexdigest()}"'
    headers = {**OPEN_HEADERS, "ETag": tag}
    if _has(if_none_match, tag):
        return Answer(status=304, headers=headers)
    return Answer(body=content, headers={**headers, "Content-Type": media_type(wanted.file)})


def missing(words: str) -> Answer:
    """404, in words that a page elsewhere can read, too."""
    return Answer(status=404, body=encode(f"{words}\n"), headers={**OPEN_HEADERS, "Content-Type": TEXT})


def media_type(file: str) -> str:
    """What a file of a package is, by its ending. Shaders are text, which browsers show instead of saving it."""
    return next((kind for ending, kind in _TYPES.items() if file.endswith(ending)), "application/octet-stream")


def _place(shelf: Shelf, wanted: PlainFile | HubFile) -> Place | str:
    """Where the package is that an address names, or in words that there is none."""
    if isinstance(wanted, PlainFile):
        paths = ", ".join(f"/{place.path}" for place in shelf.places)
        return (
            shelf.at(wanted.package) or f"no package is served under {shown(f'/{wanted.package}')}; there are {paths}"
        )
    named = shelf.named(wanted.name)
    if not named:
        names = ", ".join(dict.fromkeys(shown(place.title().op_id) for place in shelf.places))
        return f"no package is called {shown(wanted.name)} here; there are {names}"
    for place, title in named:
        if title.revision == wanted.revision:
            return place
    revisions = " and ".join(title.revision for _, title in named)
    asked = f"the revision {shown(wanted.revision)} was asked for"
    return f"{asked}; {wanted.name} is served here as {revisions}, after the `version` in its metadata.json"


def _has(if_none_match: str, tag: str) -> bool:
    tags = [item.strip().removeprefix("W/") for item in if_none_match.split(",")]
    return "*" in tags or tag in tags
