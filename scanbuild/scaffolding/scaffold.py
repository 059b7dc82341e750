"""The files of a new source package.

They are made from the templates under ``templates/_init/``. Those are Jinja2 with other brackets, since some of them
become templates themselves: ``<: value :>``, ``<% statement %>``, ``<# comment #>``.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from scanbuild.resources import data_folder
from scanbuild.scaffolding.answers import Answers

_REAL: Final = {"float32": "1e-6", "float16": "1e-3"}
"""The tolerances of one rounding, with some room."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Dtype:
    """A dtype as the templates of case files see it."""

    name: str

    @property
    def is_real(self) -> bool:
        """Whether values can be fractions."""
        return self.name in _REAL

    @property
    def tolerance(self) -> str:
        """The member of an output that an operation or two rounded."""
        return f', "tolerance": {_REAL[self.name]}' if self.is_real else ""

    @property
    def rounding(self) -> str:
        """The member of an output that is exact but for what float16 cannot hold."""
        return self.tolerance if self.name == "float16" else ""

    def data(self, seed: int) -> dict[str, Any]:
        """Values of an input, real ones if the dtype has them."""
        return self._random(seed, not self.is_real)

    def whole(self, seed: int) -> dict[str, Any]:
        """Values of an input, all whole."""
        return self._random(seed, True)

    def _random(self, seed: int, whole: bool) -> dict[str, Any]:
        low = 0 if self.name == "uint32" else -3
        return {"kind": "random", "seed": seed, "low": low, "high": 3, **({"integers": True} if whole else {})}


def package_files(answers: Answers) -> dict[str, bytes]:
    """The files of the source package, by name."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<:",
        variable_end_string=":>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    environment.filters["json"] = lambda value: json.dumps(value, ensure_ascii=False)
    values = _values(answers)
    return {
        path.name: environment.from_string(path.read_text(encoding="utf-8")).render(values).encode()
        for path in _templates(answers)
    }


def _templates(answers: Answers) -> list[Path]:
    root = data_folder("templates") / "_init"
    folders = [root / answers.kind, *([root / "float16"] if "float16" in answers.dtypes else [])]
    found = (path for folder in folders for path in folder.iterdir() if path.is_file())
    return sorted(found, key=lambda path: path.name)


def _values(answers: Answers) -> Mapping[str, Any]:
    half = "float16" in answers.dtypes
    return {
        "op_id": answers.op_id,
        "domain": answers.domain,
        "name": answers.name,
        "description": answers.description,
        "license": answers.license,
        "names": answers.dtypes,
        "dtypes": [Dtype(name=name) for name in answers.dtypes],
        "half": half,
        # The name of the type that is computed in: f16 is too coarse for sums, and not every device has it.
        "work": "workType" if half else "T",
        "load": lambda index: f"load({index})" if half else f"x[{index}]",
        "store": lambda index, value: f"store({index}, {value})" if half else f"y[{index}] = {value}",
        "half_note": "; x and y are, since float16 may have to be read and written as u32" if half else "",
        "text_note": " In quotes within quotes: a text." if half else "",
    }
