"""What ``scanbuild show`` writes on: headings, folded lines and plain columns, as wide as the terminal."""

import json
import math
import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from scanbuild.commands.console import Console, printable
from scanbuild.dialect import UNDEFINED, NameSet, js_number_text

if TYPE_CHECKING:
    from rich.text import Text

_PIPE_WIDTH: Final = 120
_LEAST_WIDTH: Final = 60
LONGEST_VALUE: Final = 240
LONGEST_TEXT: Final = 4000
_LINE_ENDS: Final = re.compile("\r\n|[\r\v\f\x85\u2028\u2029]")
_MARKS: Final = re.compile("[\u200e\u200f]")

Styled = tuple[str, str]
"""A text and its style."""


class Sheet:
    """Prints to standard output, folded to its width; nothing where the user asked for quiet.

    Every text is made printable, whether it comes from a package or not.
    """

    def __init__(self, console: Console) -> None:
        from rich.console import Console as RichConsole

        self._quiet = console.verbosity < 0
        self._output = RichConsole(
            file=sys.stdout, no_color=bool(os.environ.get("NO_COLOR")), highlight=False, soft_wrap=False
        )
        self._output.width = max(self._output.width, _LEAST_WIDTH) if sys.stdout.isatty() else _PIPE_WIDTH
        self._begun = False

    @property
    def width(self) -> int:
        """Columns."""
        return self._output.width

    def heading(self, text: str) -> None:
        """A heading, with an empty line before it but at the top."""
        if self._begun:
            self._print("")
        self.line((text, "bold"))

    def line(self, *parts: str | Styled, indent: int = 0, hang: int = 2) -> None:
        """A line; where it is folded, it goes on ``hang`` columns further to the right."""
        from rich.padding import Padding

        text = styled(*parts)
        room = self.width - indent
        if len(text) <= room:
            self._print(Padding(text, (0, 0, 0, indent), expand=False))
            return
        first, *rest = text.wrap(self._output, room - hang)
        self._print(Padding(first, (0, 0, 0, indent), expand=False))
        for item in rest:
            self._print(Padding(item, (0, 0, 0, indent + hang), expand=False))

    def prose(self, text: str, *, indent: int, style: str = "") -> None:
        """A text whose own lines are kept, each folded; empty lines at its ends are not."""
        for line in text.strip().splitlines():
            self.line((line.strip(), style), indent=indent, hang=0)

    def verbatim(self, text: str, *, indent: int) -> None:
        """A line to be copied: it is not folded, however long it is."""
        self._print(styled(" " * indent, text), soft_wrap=True)

    def columns(self, rows: Iterable[Sequence[str | Styled]], *, indent: int = 2, right: Sequence[int] = ()) -> None:
        """Rows in columns; the last column is folded, those named in ``right`` are flushed right."""
        from rich.padding import Padding
        from rich.table import Table

        cells = [[styled(cell) for cell in row] for row in rows]
        if not cells:
            return
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        count = max(map(len, cells))
        for index in range(count):
            justify: Any = "right" if index in right else "left"
            table.add_column(
                justify=justify, overflow="fold", no_wrap=index < count - 1 and self._is_narrow(cells, index)
            )
        for row in cells:
            table.add_row(*row)
        self._print(Padding(table, (0, 0, 0, indent), expand=False))

    def code(self, text: str) -> None:
        """WGSL with the numbers of its lines, highlighted on a terminal."""
        from rich.syntax import Syntax

        syntax = Syntax(
            safe_wgsl(text), "wgsl", theme="ansi_dark", line_numbers=True, word_wrap=True, background_color="default"
        )
        self._print(syntax)

    def _is_narrow(self, cells: Sequence[Sequence["Text"]], index: int) -> bool:
        return max((len(row[index]) for row in cells if index < len(row)), default=0) <= self.width // 2

    def _print(self, item: Any, *, soft_wrap: bool = False) -> None:
        self._begun = True
        if self._quiet:
            return
        if self._output.is_terminal:
            self._output.print(item, soft_wrap=soft_wrap)
            return
        with self._output.capture() as captured:
            self._output.print(item, soft_wrap=soft_wrap)
        for line in captured.get().splitlines():  # columns are filled up with blanks
            sys.stdout.write(f"{line.rstrip()}\n")


def styled(*parts: str | Styled) -> "Text":
    """One text of several, each printable and in its style. Line ends within become blanks."""
    from rich.text import Text

    text = Text()
    for part in parts:
        words, style = (part, "") if isinstance(part, str) else part
        text.append(printable(" ".join(_cut(words, LONGEST_TEXT).splitlines())), style)
    return text


def safe_wgsl(text: str) -> str:
    """A shader that means the same to a compiler and cannot steer a terminal.

    All that ends a line in WGSL becomes a newline, its two invisible marks blanks; other control characters, which
    only a comment may hold, are spelled out.
    """
    return printable(_MARKS.sub(" ", _LINE_ENDS.sub("\n", text)))


def value_text(value: Any) -> str:
    """A value of an expression in one line, cut where it is long."""
    return _cut(_value_text(value), LONGEST_VALUE)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}... ({len(text)} characters)"


def _value_text(value: Any, depth: int = 0) -> str:
    if value is UNDEFINED:
        return "undefined"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, int | float):
        return js_number_text(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if depth > 8:
        return "..."
    if isinstance(value, NameSet):
        return f"{{{', '.join(sorted(value.names))}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value_text(item, depth + 1) for item in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {_value_text(item, depth + 1)}' for name, item in value.items())}}}"
    return "a function"


def json_value(value: Any, depth: int = 0) -> Any:
    """A value as JSON has it; what it has no form of as its text."""
    if isinstance(value, float) and not math.isfinite(value):
        return js_number_text(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, NameSet):
        return sorted(value.names)
    if isinstance(value, list | tuple) and depth < 64:
        return [json_value(item, depth + 1) for item in value]
    if isinstance(value, dict) and depth < 64:
        return {name: json_value(item, depth + 1) for name, item in value.items()}
    return value_text(value)


def written_text(written: Any) -> str:
    """What a manifest has in the place of a value: expressions as they are, in lists too, the rest as JSON."""
    if isinstance(written, str):
        return written
    if isinstance(written, list):
        return f"[{', '.join(map(written_text, written))}]"
    return value_text(written)


def bytes_text(size: int) -> str:
    """A number of bytes, exactly."""
    return f"{size:,} B"


def tensor_text(dtype: str, shape: Sequence[int]) -> str:
    """``float32[2, 3]``; a scalar has no dimensions."""
    return f"{dtype}[{', '.join(map(str, shape))}]"
