"""What the pages point at is there: files, headings, paths in code, targets of make, commands."""

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from scanbuild.commands import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
ROOMS = {path.name for path in (ROOT / "scanbuild").iterdir() if path.is_dir()}
TOPS = {"scanbuild", "tests", "tools", "docs", "schemas", "benchmarks", ".github", ".ci"}
# Written by commands, and not there in a fresh checkout.
MADE = {"build", "dist", "rendered"}


def all_pages() -> list[Path]:
    """Every Markdown file that git knows or would know, but for those of packages."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "*.md"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    return sorted({ROOT / name for name in names if name and not name.startswith("dist/") and (ROOT / name).is_file()})


PAGES = all_pages()


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def parsed(page: Path) -> tuple[list[str], list[str], frozenset[str]]:
    """Targets of links and pictures, contents of code, and anchors of headings."""
    links: list[str] = []
    code: list[str] = []
    headings: list[str] = []
    tokens = MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            headings.append(tokens[index + 1].content)
        if token.type in ("code_block", "fence"):
            code += token.content.split("\n")
        for child in token.children or ():
            links += [str(child.attrs[name]) for name in ("href", "src") if name in child.attrs]
            code += [child.content] if child.type == "code_inline" else []
    return links, code, frozenset(anchors(headings))


def anchors(headings: list[str]) -> list[str]:
    """Where a forge lets links to headings lead; a heading that is there again gets a number."""
    found: list[str] = []
    for heading in headings:
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        base = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        again = sum(
            known == base or (known.startswith(f"{base}-") and known[len(base) + 1 :].isdigit()) for known in found
        )
        found.append(f"{base}-{again}" if again else base)
    return found


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_link_leads_somewhere(page: Path):
    for link in parsed(page)[0]:
        if re.match(r"[a-z]+:", link):
            assert link.startswith("https://"), f"{named(page)}: {link}"
            continue
        target, _, anchor = link.partition("#")
        path = (page.parent / target).resolve() if target else page
        assert path.exists(), f"{named(page)}: there is no {link}"
        assert path.is_relative_to(ROOT), f"{named(page)}: {link} leads out of the repository"
        if anchor:
            assert anchor in parsed(path)[2], f"{named(page)}: {target or 'this page'} has no heading {anchor}"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_path_that_is_named_is_there(page: Path):
    missing = [word for text in parsed(page)[1] for word in text.split() if not is_there(word)]
    assert missing == [], f"{named(page)} names what is not there"


def is_there(word: str) -> bool:
    """Whether a word is no path of the repository, or one that exists; ``*`` stands for anything."""
    path, _, test = word.strip("'\",;:().").rstrip("/").partition("::")
    first = path.split("/")[0]
    if not re.fullmatch(r"[\w.*-]+(/[\w.*-]+)+", path) or (first not in TOPS and first not in ROOMS) or first in MADE:
        return True
    if first == "scanbuild" and path.startswith("scanbuild/_data"):
        return True
    found = [place for base in (ROOT, ROOT / "scanbuild") for place in base.glob(path)]
    if not found:
        return False
    return not test or any(f"def {test}(" in place.read_text(encoding="utf-8") for place in found)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_command_and_target_that_is_named_is_there(page: Path):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for text in parsed(page)[1]:
        for made in re.findall(r"(?:^\s*|&& )make ([a-z][a-z-]*)", text):
            assert made in targets, f"{named(page)}: make {made}"
        for command in re.findall(r"(?:^\s*|&& |\$ )scanbuild ([a-z]+)\b", text):
            assert command in COMMANDS, f"{named(page)}: scanbuild {command}"


def test_the_index_of_the_docs_names_every_page():
    index = {(ROOT / "docs" / link.partition("#")[0]).resolve() for link in parsed(ROOT / "docs" / "README.md")[0]}
    pages = {page for page in PAGES if page.parent == ROOT / "docs" and page.name != "README.md"}
    assert pages <= index
    assert ROOT / "docs" / "commands" / "README.md" in index


def test_the_checks_would_notice():
    assert not is_there("tests/nothing.py")
    assert not is_there("dialect/nothing.py")
    assert not is_there("tests/test_house.py::test_nothing")
    assert is_there("tests/test_house.py::test_only_the_commands_print")
    assert is_there("dialect/limits.py")
    assert is_there("docs/*.md")
    assert anchors(["`lower`", "What's *new*?", "A", "A"]) == ["lower", "whats-new", "a", "a-1"]
