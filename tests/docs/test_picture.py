"""The picture of the README: drawn from a real run, and the same on every machine."""

import html
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from scanbuild.commands import COMMANDS
from tools.picture import PICTURE, ROOT, STEPS, without_machine


def shown() -> str:
    svg = ElementTree.fromstring(PICTURE.read_text(encoding="utf-8"))
    return "".join(svg.itertext()).replace("\N{NO-BREAK SPACE}", " ")


def test_the_picture_shows_the_steps_in_their_order():
    places = [shown().find(f"scanbuild {words}") for words, _ in STEPS]
    assert -1 not in places
    assert places == sorted(places)
    assert [words.split()[0] for words, _ in STEPS] == [
        name for name in COMMANDS if name in ("check", "render", "verify", "publish")
    ]


def test_the_picture_fetches_nothing_and_names_no_machine():
    text = html.unescape(PICTURE.read_text(encoding="utf-8"))
    assert set(re.findall(r"https?://[^\s\"')]+", text)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|@font-face|<script|/home/|/tmp/|/root/|llvmpipe|SwiftShader", text)


def test_what_is_this_machine_s_is_left_out_and_colours_stay():
    said = (
        "hello\n"
        "in build/local: 3 shaders for some adapter\n"
        "\x1b[1mcase  variant  adapter   abs error  ULP   ms  verdict\x1b[0m\n"
        "one   serial   llvmpipe          0    0  1.3  \x1b[32mpassed \x1b[0m\n"
        "5 passed on llvmpipe (LLVM 15, 256 bits) through wgpu\n"
        "260 cases on 6 device profiles lead to 75 shaders\n"
    )
    kept = without_machine(said)
    assert "build/local" not in kept
    assert "llvmpipe" not in kept
    assert "1.3" not in kept
    assert "\x1b[32mpassed" in kept
    assert "\ncase  variant  abs error  ULP  verdict" in re.sub(r"\x1b\[[\d;]*m", "", kept)
    assert "\none   serial           0    0  passed" in re.sub(r"\x1b\[[\d;]*m", "", kept)
    assert "5 passed on the adapter at hand\n" in kept
    assert "260 cases on 6 device profiles lead to 75 shaders" in kept


@pytest.mark.long
def test_a_run_gives_this_very_picture():
    done = subprocess.run(
        [sys.executable, "-m", "tools.picture", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\nrun `make picture`, look at it, and commit it"


def test_the_picture_of_the_house_has_every_room():
    drawing = ElementTree.fromstring((ROOT / "docs" / "house.svg").read_text(encoding="utf-8"))
    words = set(re.findall(r"\w+", " ".join(drawing.itertext())))
    rooms = {path.name for path in (ROOT / "scanbuild").iterdir() if (path / "__init__.py").is_file()}
    assert rooms <= words, "draw the room into docs/house.svg"
