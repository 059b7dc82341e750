"""What ``scanbuild show`` writes: shaders, reports, and lines that fit a terminal and cannot steer it."""

import json
import os
import pty
import subprocess
import sys
import threading

import click
import pytest

from scanbuild.cases.casefile import read_tests
from scanbuild.cases.requests import case_request
from scanbuild.cases.schema import schema_problems
from scanbuild.commands.show_sheet import safe_wgsl
from scanbuild.planning.planner import Planner
from scanbuild.planning.profiles import profile
from scanbuild.publishing.build import check_source
from scanbuild.resources import data_folder
from tests.checking.packages import GOOD, edit, replace_in
from tests.show.running import SCAN, TWO_ROWS, report, show, shown


def planned(folder, name):
    source = check_source(folder)
    (case,) = [item for item in read_tests((folder / "test.json").read_text(), "t").cases if item.name == name]
    texts = {**source.source.templates, **source.source.shared}
    package = type("Package", (), {"manifest": source.manifest, "templates": lambda _self, _variant: texts})()
    return Planner(package).prepare(case_request(case, source.manifest), profile("chrome-nvidia")).plan.passes


def test_wgsl_is_the_text_that_the_loader_compiles_and_nothing_else():
    (one,) = planned(GOOD, "two_rows")
    assert shown(GOOD, *TWO_ROWS, "--wgsl").rstrip("\n") == one.wgsl.rstrip("\n")


def test_several_shaders_are_told_apart_and_pass_picks_one():
    parts, merge = planned(GOOD, "long_rows")
    result = show(GOOD, "--case", "long_rows", "--wgsl")
    assert "// parts, parts.wgsl.jinja\n" in result.stdout
    assert "// merge, merge.wgsl.jinja\n" in result.stdout
    assert "these are 2 modules" in result.stderr
    assert "--pass picks one of parts, merge" in result.stderr
    assert shown(GOOD, "--case", "long_rows", "--wgsl", "--pass", "merge").rstrip("\n") == merge.wgsl.rstrip("\n")
    assert parts.wgsl.rstrip("\n") in result.stdout


def test_wgsl_of_a_refused_call_is_nothing():
    result = show(GOOD, "--shapes", "x=float16[2x3]", "--wgsl")
    assert (result.exit_code, result.stdout) == (1, "")
    result = show(SCAN, "--shapes", "initial_state=4,scan_input=9x5", "--wgsl")
    assert "`serial`: `shapes.initial_state[0] == channels` is false" in result.stderr


def test_a_shader_without_what_steers_a_terminal_means_the_same():
    text = "// a \x1b[2J b\r\nfn main() {}\x85let x\u2028= 1;\u200e\t// \u202e"
    assert safe_wgsl(text) == "// a \\x1b[2J b\nfn main() {}\nlet x\n= 1; \t// \\u202e"


# Reports and terminals


@pytest.mark.parametrize(
    ("arguments", "part", "status"),
    [
        ([GOOD], "overview", 0),
        ([SCAN], "overview", 0),
        ([SCAN, "--case", "no_channels_forward_7x0"], "call", 0),
        ([GOOD, *TWO_ROWS, "--all-devices"], "devices", 0),
        ([GOOD, "--case", "long_rows", "-v"], "call", 0),
        ([GOOD, "--shapes", "x=int32[3x2000],bias=9"], "call", 1),
        ([GOOD, "--shapes", "x=float16[1]", "--all-devices"], "devices", 1),
    ],
)
def test_every_report_fits_its_schema(arguments, part, status, tmp_path):
    file = tmp_path / "report.json"
    result = show(*arguments, "--json", file)
    assert result.exit_code == status
    assert result.stdout
    content = json.loads(file.read_text(encoding="utf-8"))
    assert schema_problems(content, "show-report") == []
    assert [name for name in ("overview", "call", "devices") if content[name]] == [part]


def test_values_that_json_lacks_are_texts(package):
    edit(package, lambda m: m["derive"].update(odd="0 // 0", most="1 // 0", absent="attrs.nothing"))
    values = {item["name"]: item["value"] for item in report(package, *TWO_ROWS)["call"]["derive"]}
    assert (values["odd"], values["most"], values["absent"]) == ("NaN", "Infinity", "undefined")


def test_what_a_package_says_cannot_steer_the_terminal(package):
    evil = "\x1b[2J\x07 \u202e"
    edit(package, lambda m: m.update(description=evil, tunables={"width": {"default": 64}, "w": {"default": evil}}))
    edit(package, lambda m: m["inputs"]["x"].update(description=evil))
    edit(package, lambda m: m["attributes"].update({evil: {"default": evil}}))
    edit(package, lambda m: m["derive"].update(evil=f"'{evil}'"))
    edit(package, lambda m: m["variants"][0]["when"].append(f"attrs.mode == '{evil}'"))
    edit(package, lambda t: t["cases"][0].update(name=evil), "test.json")
    replace_in(package, "rows.wgsl.jinja", "fn main", f"/* {evil} */ fn main")
    for arguments in ([], ["--case", evil], ["--case", evil, "-v"], ["--case", evil, "--wgsl"], ["--case", "x"],
                      ["--case", evil, "--all-devices"], ["--case", evil, "--attr", f"{evil}=1"]):  # fmt: skip
        result = show(package, *arguments)
        said = result.stdout + result.stderr
        assert result.exit_code in (0, 2), said
        assert not {"\x1b", "\x07", "\u202e"} & set(said)
        assert "\\x1b[2J" in said or arguments == ["--case", "x"]


def test_markup_in_a_package_is_text(package):
    edit(package, lambda m: m.update(description="[red]not red[/red] [/] :smile: [link=file:///x]here[/link]"))
    assert "[red]not red[/red] [/] :smile: [link=file:///x]here[/link]" in shown(package)


def test_a_long_value_is_cut_and_a_deep_one_ends(package):
    edit(package, lambda m: m["derive"].update(many="fill(1, 5000)", deep=[[[[[[[[[[[[1]]]]]]]]]]]]))
    text = shown(package, *TWO_ROWS)
    assert "characters)" in text
    assert max(map(len, text.splitlines())) <= 120


def test_lines_fit_into_80_columns_of_a_terminal():
    lines = _on_terminal("show", SCAN, "--case", "forward_1536x64_integers", "-v")
    assert any("\x1b[" in line for line in lines), "a terminal gets colours"
    plain = [click.unstyle(line) for line in lines]
    assert max(map(len, plain)) <= 80
    assert any("@group(0)" in line for line in plain), "the shaders are shown"


def _on_terminal(*arguments):
    """What the command writes to a terminal of 80 columns."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "40"}
    environment.pop("NO_COLOR", None)
    chunks = []

    def read():
        while True:
            try:
                chunk = os.read(leader, 65536)
            except OSError:
                return
            if not chunk:
                return
            chunks.append(chunk)

    with subprocess.Popen(
        [sys.executable, "-m", "scanbuild", *map(str, arguments)], stdout=follower, env=environment
    ) as process:
        os.close(follower)
        reader = threading.Thread(target=read)
        reader.start()
        assert process.wait(60) == 0
        reader.join(10)
    os.close(leader)
    return b"".join(chunks).decode().replace("\r", "").splitlines()


def test_help_has_examples_and_exit_statuses():
    text = shown("--help")
    assert "scanbuild show . --case by_hand_forward_3x1 --all-devices" in text
    assert "Exit status:" in text


def documented():
    """The commands in the pages about show, with the lines that they are said to print; None stands for some others."""
    page = (data_folder("templates").parent / "docs" / "show.md").read_text(encoding="utf-8")
    for block in page.split("```console\n")[1:]:
        command, *lines = block.partition("```")[0].splitlines()
        yield command, [None if line == "..." else line for line in lines]


@pytest.mark.parametrize(
    ("command", "lines"), list(documented()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_what_the_page_says_is_printed(command, lines):
    folder = str(data_folder("templates"))
    arguments = command.removeprefix("$ scanbuild show ").replace("templates/", f"{folder}/").split()
    said = iter(shown(*arguments).splitlines())
    for line in lines:
        assert line is None or line in said, f"{line!r} is not printed, or not there"
