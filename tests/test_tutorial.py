"""The tutorial is walked as a newcomer would: its files are written, its edits made, its commands run.

What is to be done stands in docs/tutorial.md, in the fenced blocks. A comment before a block, which readers do not see,
says what the block is for:

* ``file: PATH``: the block is this file.
* ``edit: PATH``: a ``diff`` of this file, whose old lines are there once.
* ``exit: N``: the status of the last command of a ``console`` block; it is 0 otherwise, and that of all others.
* ``server``: the command goes on running while the page is walked; it gets a port of its own.
* ``hub: OWNER``: the block needs a Hub on which OWNER is the walker's own name.
* ``page``: JavaScript, which is compared with what the kernel and its server are like.
* ``not run: REASON``.

In the output of a command, three dots stand for anything.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import pytest

from scanbuild.errors import NoAdapterError
from scanbuild.gpu import choose_adapter
from scanbuild.package.folder import open_folder
from scanbuild.publishing.snippet import SampleCall, snippet
from tests.publishing.local_hub import LocalHub, serving

PAGE = Path(__file__).resolve().parents[1] / "docs" / "tutorial.md"
OP_ID = "my.signals.SoftThreshold"
SECRET = "hf_OfNobodyOnlyForTheTests"
_BLOCK = re.compile(r"((?:^<!-- [^\n]* -->\n)*)^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"<!-- ([a-z ]+)(?:: (.*))? -->")
_PORT = re.compile(r"127\.0\.0\.1:\d+")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the comments before it."""

    language: str
    text: str
    marks: dict[str, str]
    line: int

    @property
    def place(self) -> str:
        return f"{PAGE.name}:{self.line}"


@dataclass(frozen=True)
class Step:
    """A command, and the lines of output that are shown of it."""

    command: str
    shown: tuple[str, ...]


def blocks() -> list[Block]:
    text = PAGE.read_text(encoding="utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        marks = {mark[1]: mark[2] or "" for mark in _MARK.finditer(match[1])}
        found.append(Block(match[2], match[3], marks, text[: match.start()].count("\n") + 1))
    return found


def steps(block: Block) -> list[Step]:
    found: list[tuple[str, list[str]]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return [Step(command, tuple(shown)) for command, shown in found]


def is_shown(shown: tuple[str, ...], output: str) -> bool:
    """Whether the output is what is shown, three dots standing for anything, and blanks for as many as there are."""
    parts = [r"(?:.*\n)*?" if line == "..." else _pattern(line) + r"\n" for line in shown]
    plain = "".join(f"{line.rstrip()}\n" for line in output.splitlines())
    return re.fullmatch("".join(parts) + r"(?:.*\n)*", plain) is not None


def _pattern(line: str) -> str:
    pieces = [r"[ ]+".join(map(re.escape, re.split(" +", piece))) for piece in line.split("...")]
    return ".*".join(piece.replace(r"[ ]+", " +") for piece in pieces)


class Walk:
    """A newcomer in what stands for the clone, with the Hub of the tests, on which ``someone`` may write."""

    def __init__(self, folder: Path, hub: LocalHub) -> None:
        self.folder = folder / "scanbuild"
        self.folder.mkdir()
        self.where = folder / ".where"
        self.servers: list[subprocess.Popen[str]] = []
        self.origin = ""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "GITHUB_"))}
        self.environment = {
            **kept,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', '')}",
            "XDG_STATE_HOME": str(folder / ".state"),
            "NO_COLOR": "1",
        }
        self.hub_environment = {"HF_HOME": str(folder / ".hub"), "HF_ENDPOINT": hub.address, "HF_TOKEN": SECRET}

    def take(self, block: Block) -> None:
        """Do what a block says."""
        if "file" in block.marks:
            (self.folder / block.marks["file"]).write_text(block.text, encoding="utf-8")
        elif "edit" in block.marks:
            self.edit(block)
        elif "server" in block.marks:
            self.serve(block)
        elif "page" in block.marks:
            self.compare_page(block)
        elif "not run" not in block.marks:
            assert block.language == "console", f"{block.place}: nothing says what the block is for"
            self.run(block)

    def edit(self, block: Block) -> None:
        path, lines = self.folder / block.marks["edit"], block.text.splitlines(keepends=True)
        old = "".join(line[1:] for line in lines if line[0] in " -")
        new = "".join(line[1:] for line in lines if line[0] in " +")
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{block.place}: the old lines are not there once"
        path.write_text(text.replace(old, new), encoding="utf-8")

    def run(self, block: Block) -> None:
        """Run commands one after another; each may change the current folder."""
        environment = {**self.environment, **(self.hub_environment if "hub" in block.marks else {})}
        commands = steps(block)
        for index, step in enumerate(commands):
            script = f"{step.command}\nstatus=$?\npwd > {shlex.quote(str(self.where))}\nexit $status"
            done = subprocess.run(
                ["/bin/sh", "-c", script],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
                timeout=300,
            )
            self.folder = Path(self.where.read_text().strip())
            wanted = int(block.marks.get("exit", 0)) if index == len(commands) - 1 else 0
            told = f"{block.place}: $ {step.command}\n{done.stdout}"
            assert done.returncode == wanted, told
            assert is_shown(step.shown, done.stdout), f"{told}\nis not what is shown:\n" + "\n".join(step.shown)
            assert SECRET not in done.stdout

    def serve(self, block: Block) -> None:
        """Start a server at any free port, and wait until it has said what is shown."""
        (step,) = steps(block)
        command = [*step.command.split(), "--port", "0"]
        server = subprocess.Popen(
            command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.servers.append(server)
        assert server.stdout is not None
        output = ""
        for line in server.stdout:
            output += _PORT.sub("127.0.0.1:8000", line)
            if found := _PORT.search(line):
                self.origin = f"http://{found[0]}"
            if is_shown(step.shown, output):
                break
        else:
            pytest.fail(f"{block.place}: the server ended, or says something else:\n{output}")

    def compare_page(self, block: Block) -> None:
        """The JavaScript is what scanbuild writes for this call, and the server has the package where it says."""
        package = open_folder(self.folder / "dist" / OP_ID)
        sample = SampleCall(inputs={"x": ("float32", (5,))}, attrs={"threshold": 1})
        location = f"http://127.0.0.1:8000/{OP_ID}"
        wanted = snippet(package.manifest, location, 1, sample, trusted=False, expect_op_id=True)
        assert re.sub(r"Array\(\[[^\]]*\]\)", "Array(5)", block.text).rstrip() == wanted
        with urlopen(f"{self.origin}/{OP_ID}/build/webgpu/manifest.json", timeout=30) as answer:
            assert json.load(answer)["name"] == "SoftThreshold"

    def end(self) -> None:
        """Press Ctrl-C."""
        for server in self.servers:
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=30)


@pytest.fixture
def walk(tmp_path: Path) -> Iterator[Walk]:
    try:
        choose_adapter()
    except NoAdapterError as error:
        pytest.skip(str(error))
    with serving(LocalHub(tokens={SECRET: {"someone"}})) as hub:
        walking = Walk(tmp_path, hub)
        yield walking
        walking.end()


def test_the_tutorial_can_be_walked(walk: Walk):
    for block in blocks():
        walk.take(block)
    assert [server.returncode for server in walk.servers] == [None]


def test_every_mark_of_the_tutorial_is_known_and_only_what_installs_is_not_run():
    for block in blocks():
        assert set(block.marks) <= {"file", "edit", "exit", "server", "hub", "page", "not run"}, block.place
    assert [block.marks["not run"] for block in blocks() if "not run" in block.marks] == ["it installs"]


def test_the_extras_that_are_installed_are_there_and_bring_what_the_walk_needs():
    project = tomllib.loads((PAGE.parents[1] / "pyproject.toml").read_text())["project"]
    (extras,) = set(re.findall(r"\.\[([a-z,]+)\]", PAGE.read_text(encoding="utf-8")))
    brought = " ".join(word for extra in extras.split(",") for word in project["optional-dependencies"][extra])
    assert "aiohttp" in brought and "huggingface_hub" in brought


def test_every_page_that_the_tutorial_links_to_is_there():
    links = re.findall(r"\]\(([^)]+)\)", PAGE.read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (PAGE.parent / link).is_file()] == []


@pytest.mark.parametrize(
    ("shown", "output", "fits"),
    [
        ((), "anything\n", True),
        (("one",), "one\ntwo\n", True),
        (("two",), "one\ntwo\n", False),
        (("...", "two"), "one\ntwo\n", True),
        (("one", "...", "four"), "one\ntwo\nthree\nfour\n", True),
        (("one", "four"), "one\ntwo\nfour\n", False),
        (("8 passed on ...",), "8 passed on llvmpipe\n", True),
        (("8 passed on ...",), "7 passed on llvmpipe\n", False),
        (("a (b) ... c",), "a  (b)   x  c  \n", True),
        (("...",), "", True),
        (("one", "..."), "", False),
    ],
)
def test_output_is_compared_with_what_is_shown(shown: tuple[str, ...], output: str, fits: bool):
    assert is_shown(shown, output) is fits
