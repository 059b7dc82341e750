"""Draws docs/picture.svg: a terminal with the four steps, from a real run of the commands on ai.onnx.Scan.

    python tools/picture.py           draw it
    python tools/picture.py --check   write nothing; exit status 1 if a run gives another picture

The commands run in a terminal of their own, in a scratch folder with a copy of templates/. What differs from machine to
machine is left out: how long a case took, versions of the adapter's driver, and what goes to build/local/.
"""

import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "picture.svg"
WIDTH = 100
TITLE = "scanbuild: from sources to a package"
STEPS = (
    ("check templates/ai.onnx.Scan", "find mistakes without a GPU"),
    ("render", "write what the loader reads"),
    ("verify -k 'by_hand*'", "run its cases on a WebGPU adapter"),
    ("publish", "lay it out for the Hub"),
)
# Parts of the output that are this machine's or this run's, and what stands for them.
MACHINE = (
    (re.compile(r"^in build/local: .*\n", re.MULTILINE), ""),
    (re.compile(r"^This is a software adapter: .*\n", re.MULTILINE), ""),
    (re.compile(r"(\d+ (?:cases|passed) on )(?!\d+ device)[^\n]*"), r"\1the adapter at hand"),
)
THEME = TerminalTheme(
    background=(22, 27, 34),
    foreground=(230, 237, 243),
    normal=[
        (145, 152, 161),
        (255, 123, 114),
        (86, 211, 100),
        (227, 179, 65),
        (121, 192, 255),
        (210, 168, 255),
        (86, 212, 221),
        (230, 237, 243),
    ],
)
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def transcript() -> Text:
    """Each command as typed, and what it printed, in the colours it gave it. Raises SystemExit if one fails."""
    screen = Text()
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copytree(ROOT / "templates", Path(scratch) / "templates")
        for words, why in STEPS:
            screen.append("$ ", style="bold green")
            screen.append(f"scanbuild {words}", style="bold")
            screen.append(f"{'':{max(2, 44 - len(words))}}# {why}\n", style="bright_black")
            screen.append(Text.from_ansi(output_of(words, Path(scratch))))
            screen.append("\n\n" if (words, why) != STEPS[-1] else "")
    return screen


def output_of(words: str, folder: Path) -> str:
    """What a command prints on a terminal as wide as the picture, without what is this machine's."""
    ours, theirs = pty.openpty()
    environment = {
        **{name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "GITHUB_ACTIONS")},
        "CI": "1",
        "COLUMNS": str(WIDTH),
        "TERM": "xterm-256color",
        "XDG_STATE_HOME": str(folder / "state"),
    }
    command = ["sh", "-c", f"exec {sys.executable} -m scanbuild {words}"]
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=theirs, stderr=theirs) as running:
        os.close(theirs)
        said = b""
        while chunk := _read(ours):
            said += chunk
    os.close(ours)
    text = said.decode().replace("\r\n", "\n")
    if running.returncode:
        raise SystemExit(f"scanbuild {words} ended with {running.returncode}:\n{text}")
    return without_machine(text)


def without_machine(text: str) -> str:
    """The text without what differs from machine to machine and from run to run. Colours do not stand in the way."""
    lines: list[Text] = []
    columns: list[tuple[int, int]] = []
    for line in Text.from_ansi(text).split("\n"):
        plain = line.plain
        if plain.startswith("case ") and plain.rstrip().endswith("verdict"):
            at = plain.index
            columns = [(at("adapter"), at("abs error")), (at("ULP") + len("ULP  "), at("verdict"))]
        elif not re.search(r" (passed|FAILED|skipped) *$", plain):
            columns = []
        if columns:
            lines.append(_without_columns(line, columns))
            continue
        changed = plain + "\n"
        for pattern, stand_in in MACHINE:
            changed = pattern.sub(stand_in, changed)
        if changed:
            lines.append(line if changed == plain + "\n" else Text(changed.rstrip("\n")))
    return _as_ansi(Text("\n").join(lines))


def _without_columns(line: Text, columns: list[tuple[int, int]]) -> Text:
    """The line without what stands at some places, from the left to the right."""
    kept, at = Text(), 0
    for start, end in columns:
        kept.append_text(line[at:start])
        at = end
    return kept.append_text(line[at:])


def drawn() -> str:
    """The picture."""
    console = Console(record=True, width=WIDTH, file=Path(os.devnull).open("w"), force_terminal=True)  # noqa: SIM115
    console.print(transcript(), soft_wrap=False)
    svg = console.export_svg(title=TITLE, theme=THEME, unique_id="scanbuild")
    svg = re.sub(r"\s*@font-face \{.*?\}\n", "\n", svg, flags=re.DOTALL)  # they would be fetched from elsewhere
    svg = svg.replace("font-family: Fira Code, monospace", f"font-family: {FONT}")
    return re.sub(r"<!-- Generated with Rich.*?-->\s*", "", svg)


def _as_ansi(text: Text) -> str:
    console = Console(width=10_000, force_terminal=True, color_system="truecolor", highlight=False)
    with console.capture() as captured:
        console.print(text, soft_wrap=True, end="")
    return captured.get()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # the end, on Linux
        return b""


if __name__ == "__main__":
    picture = drawn()
    if "--check" in sys.argv[1:]:
        fresh = PICTURE.is_file() and PICTURE.read_text(encoding="utf-8") == picture
        print("the picture is fresh" if fresh else "docs/picture.svg is stale: make picture")
        sys.exit(0 if fresh else 1)
    PICTURE.write_text(picture, encoding="utf-8")
