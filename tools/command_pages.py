"""Writes docs/commands/, a page a command, from what the commands say of themselves with --help.

    python tools/command_pages.py           write the pages
    python tools/command_pages.py --check   write nothing; exit status 1 if a page is not what the commands say

Only what the commands declare is read, and not the help that click makes of it: another version of click gives the same
pages.
"""

import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import click

from scanbuild.commands import COMMANDS, main

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = DOCS / "commands"
WIDTH = 120
# Blanks; what is quoted, if that is more than a word; a word, in which a placeholder such as <op id> may have blanks.
_WORDS = re.compile(r" +|pip install '[^']*'|'[^' ]+ [^']+'[,.;:)]*(?= |$)|(?:<[^<>]*>|[^ ])+")
_QUOTED = re.compile(r"'([^' ]+ [^']+)'([,.;:)]*)")
# What an option says of a default that click does not know, in the form that click gives to those it does.
_DEFAULT = re.compile(r" +\[default: ([^\]]*)\]")
MARK = "<!-- Written by tools/command_pages.py (make docs). Change the help of the command instead. -->"


def pages() -> dict[str, str]:
    """Every page by its file name; the index is README.md."""
    found = {"README.md": index_page()}
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        assert command is not None
        found[f"{name}.md"] = command_page(name, command)
    return found


def index_page() -> str:
    """What all commands share, and where each is explained."""
    lines = ["# Commands", "", MARK, "", "| command | what it does |", "| --- | --- |"]
    lines += [f"| [`scanbuild {name}`]({name}.md) | {_escaped(summary)} |" for name, (_, summary) in COMMANDS.items()]
    return "\n".join([*lines, "", *_prose(main), "", *_options(main)]) + "\n"


def command_page(name: str, command: click.Command) -> str:
    """The page of one command."""
    usage = " ".join(["scanbuild", name, *command.collect_usage_pieces(click.Context(command))])
    lines = [f"# scanbuild {name}", "", MARK, "", f"    {usage}", "", *_prose(command), "", *_options(command)]
    if (DOCS / f"{name}.md").is_file():
        lines += ["", f"More about it: [docs/{name}.md](../{name}.md)."]
    return "\n".join(lines) + "\n"


def stale_pages() -> list[str]:
    """Names of the pages that are missing, too many, or not what the commands say."""
    wanted = pages()
    there = {path.name: path.read_text(encoding="utf-8") for path in PAGES.glob("*.md")}
    return sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))


def write_pages() -> None:
    """Make the folder hold these pages and no others."""
    PAGES.mkdir(parents=True, exist_ok=True)
    wanted = pages()
    for path in PAGES.glob("*.md"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (PAGES / name).write_text(text, encoding="utf-8")


def _prose(command: click.Command) -> list[str]:
    """The help as Markdown: paragraphs as they are, what click leaves unfolded as a heading and a block."""
    lines: list[str] = []
    paragraphs = _paragraphs(command.help or "")
    for verbatim, paragraph in paragraphs:
        if lines:
            lines.append("")
        if not verbatim:
            lines += _folded(_escaped(" ".join(line.strip() for line in paragraph)))
            continue
        if paragraph[0].endswith(":") and not paragraph[0].startswith(" "):
            lines += [f"## {paragraph[0][:-1]}", ""]
            paragraph = paragraph[1:]  # noqa: PLW2901  # the heading has been told
        least = min(len(line) - len(line.lstrip()) for line in paragraph)
        lines += ["    " + line[least:] for line in paragraph]
    return lines


def _folded(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _paragraphs(text: str) -> Iterator[tuple[bool, list[str]]]:
    """Whether each paragraph is left unfolded (it begins with ``\\b``), and its lines."""
    for block in re.split(r"\n[ \t]*\n", _dedented(text)):
        lines = block.strip("\n").split("\n")
        if lines[0].strip() == "\b":
            yield True, lines[1:]
        elif any(lines):
            yield False, lines


def _dedented(text: str) -> str:
    """The text without the indentation that its later lines share."""
    first, _, rest = text.partition("\n")
    least = min((len(line) - len(line.lstrip()) for line in rest.split("\n") if line.strip()), default=0)
    return "\n".join([first.strip(), *(line[least:].rstrip() for line in rest.split("\n"))])


def _options(command: click.Command) -> list[str]:
    """A table of the options that are not hidden, in the order of the help."""
    rows = [_option_row(option) for option in command.params if isinstance(option, click.Option) and not option.hidden]
    return [
        "## Options",
        "",
        "| option | what it does |",
        "| --- | --- |",
        *rows,
        "| `-h`, `--help` | Show the help. |",
    ]


def _option_row(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    value = _value_name(option)
    told = _escaped(_DEFAULT.sub(r" Default: \1.", " ".join((option.help or "").split())))
    shown = option.default if option.show_default is True else option.show_default
    unsaid = shown is None or isinstance(shown, bool) or shown == ()
    default = "" if unsaid else f" Default: `{shown}`."
    return f"| {names}{f' `{value}`' if value else ''} | {told}{default}{_bounds(option)} |"


def _value_name(option: click.Option) -> str:
    """What follows the option on the command line; nothing for a flag."""
    if option.is_flag or option.count:
        return ""
    if option.metavar:
        return option.metavar
    if isinstance(option.type, click.Choice):
        return " / ".join(str(choice) for choice in option.type.choices)
    return option.type.name.split()[0].upper()


def _bounds(option: click.Option) -> str:
    kind = option.type
    if option.count or not isinstance(kind, click.IntRange | click.FloatRange):
        return ""
    if kind.max is None:
        return f" At least {kind.min:g}."
    return f" From {kind.min or 0:g} to {kind.max:g}."


def _escaped(text: str) -> str:
    """The text so that Markdown shows it as it is. Words with signs that mean something there become code."""
    return "".join(_escaped_word(word) for word in _WORDS.findall(text))


def _escaped_word(word: str) -> str:
    if word.startswith("pip "):
        return f"`{word}`"
    if quoted := _QUOTED.fullmatch(word):
        return f"`{quoted[1]}`{quoted[2]}"
    core = word.strip("(),;:.\"'") or word
    if not re.search(r"[*_<>|`\[\]{}#]|^--?[a-z]|/$", core):
        return word
    before, _, after = word.partition(core)
    code = core.replace("|", "\\|")
    return f"{before}`{code}`{after}"


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        stale = stale_pages()
        print("\n".join(f"docs/commands/{name} is stale: make docs" for name in stale) or "the pages are fresh")
        sys.exit(1 if stale else 0)
    write_pages()
