"""init as a user meets it: flags, questions, mistakes, and folders that are in the way."""

import json
import os
import pty
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from scanbuild.commands import init, main
from scanbuild.scaffolding.answers import answers, dtype_problem, kind_problem, license_problem, op_id_problem
from scanbuild.scaffolding.scaffold import package_files

OP_ID = "my.kernels.Softsign"


pytestmark = pytest.mark.usefixtures("bare")


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(init, "_on_terminal", lambda: True)


def run(*arguments: str, typed: str = "") -> Result:
    return CliRunner().invoke(main, ["init", *arguments], input=typed)


def written(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def files_of(op_id: str = OP_ID, **chosen) -> dict[str, bytes]:
    return package_files(answers(op_id, **chosen))


def test_a_pipe_is_never_asked_and_gets_the_defaults():
    result = run(OP_ID, typed="my.other.Name\nscan\n")
    assert result.exit_code == 0, result.output
    assert written(Path("templates") / OP_ID) == files_of(kind="elementwise", dtypes=("float32", "float16"))


def test_flags_answer_every_question(tmp_path):
    result = run(
        *("a.B", "--like", "scan", "--dtype", "uint32", "--dtype", "float32", "--license", "mit"),
        *("--description", 'Says "hello"\n  {{ to }} you.', "--out", str(tmp_path / "there")),
    )
    assert result.exit_code == 0, result.output
    made = json.loads((tmp_path / "there" / "manifest.json").read_text())
    assert (made["domain"], made["name"], made["description"]) == ("a", "B", 'Says "hello" {{ to }} you.')
    assert made["typeConstraints"]["T"] == ["float32", "uint32"]
    assert json.loads((tmp_path / "there" / "publish.json").read_text()) == {"version": 1, "license": "mit"}


def test_on_a_terminal_what_was_not_given_is_asked_for_and_asked_again_if_it_is_wrong(terminal):
    typed = "Softsign\nmy.kernels.Softsign\nscam\nf32, int32\nfloat32 int32\n\nMIT\nmit\n"
    result = run("--like", "scan", typed=typed.replace("scam\n", ""))
    assert result.exit_code == 0, result.output
    assert "did you mean float32?" in result.output and "did you mean mit?" in result.output
    made = files_of(kind="scan", dtypes=("float32", "int32"), license_id="mit")
    assert written(Path("templates") / OP_ID) == made


def test_on_a_terminal_yes_asks_nothing(terminal):
    result = run(OP_ID, "--yes")
    assert (result.exit_code, "[" in result.output) == (0, False)


def test_on_a_terminal_a_wrong_flag_is_told_before_anything_is_asked(terminal):
    result = run("--dtype", "f32")
    assert result.exit_code == 2
    assert "did you mean float32?" in result.output and "Op id" not in result.output


def test_a_terminal_is_recognised():
    """In a pseudo-terminal, whose other end answers the one question that is left."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "scanbuild", "init", OP_ID, "--like", "scan", "--dtype", "int32"]
    os.write(ours, b"It sums.\n\n")
    done = subprocess.run(command, stdin=theirs, stdout=theirs, stderr=theirs, timeout=60, check=False)
    seen = os.read(ours, 10000).decode()
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 0, seen
    assert "What does it do" in seen
    assert json.loads((Path("templates") / OP_ID / "manifest.json").read_text())["description"] == "It sums."


def test_all_mistakes_are_told_at_once():
    Path("there").mkdir()
    Path("there/mine.txt").write_text("x")
    mistakes = ("--like", "reductoin", "--dtype", "f16", "--dtype", "int8", "--license", "MIT", "--out", "there")
    result = run("Softsign", *mistakes)
    assert result.exit_code == 2
    for words in ("my.kernels.Softsign?", "reduction?", "float16?", "int8", "mit?", "the folder is not empty"):
        assert words in result.output
    assert [*Path().rglob("*")] == [Path("there"), Path("there/mine.txt")]


def test_a_description_that_is_no_text_is_told_with_the_other_mistakes():
    result = run(OP_ID, "--description", os.fsdecode(b"caf\xe9"), "--like", "reductoin")
    assert result.exit_code == 2
    assert "\\udce9" in result.output and "UTF-8" in result.output and "reduction?" in result.output
    assert [*Path().rglob("*")] == []


def test_a_description_may_hold_whatever_is_text():
    odd = '\x1b[31m {{ 7 * 7 }} <: 7 :> <% x %> " \\ \u202e \U0001f600 */ #} ::error::'
    assert run(OP_ID, "--description", odd).exit_code == 0
    folder = Path("templates") / OP_ID
    assert json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["description"] == odd
    assert CliRunner().invoke(main, ["check", str(folder)]).exit_code == 0


def test_without_a_name_the_way_to_give_one_is_told():
    result = run()
    assert result.exit_code == 2
    assert "scanbuild init DOMAIN.NAME" in result.output


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("Softsign", "my.kernels.Softsign"),
        ("My.kernels.Softsign", "my.kernels.Softsign"),
        ("my-kernels.Softsign", "mykernels.Softsign"),
        ("someone/my.kernels.Softsign", "my.kernels.Softsign"),
        ("my..kernels.Softsign", "my.kernels.Softsign"),
        ("1my.Softsign", "my.Softsign"),
        ("my.Soft--sign", "my.Soft_sign"),
        ("my.Softsign-", "my.Softsign"),
        ("my.Soft sign\n", "my.Soft_sign"),
    ],
)
def test_a_wrong_op_id_is_told_with_the_nearest_one(given, meant):
    problem = op_id_problem(given)
    assert problem is not None and f"did you mean {meant}?" in problem.hint
    assert op_id_problem(meant) is None


@pytest.mark.parametrize("given", ["", ".", "é.ü", "a." + "x" * 95, "my.kernels.git", "my.kernels.IPYNB"])
def test_an_op_id_with_no_near_one_is_told_with_the_rule(given):
    problem = op_id_problem(given)
    assert problem is not None and "did you mean" not in problem.hint


@pytest.mark.parametrize("given", ["a.B", "ai.onnx.Scan", "my.Kernels2.soft_sign-2", "a." + "x" * 94])
def test_an_op_id_that_loader_and_hub_take_is_taken(given):
    assert op_id_problem(given) is None


def test_a_name_of_the_standard_is_taken_with_a_note():
    result = run("ai.onnx.Softsign")
    assert result.exit_code == 0
    assert "note" in result.output and "which this is not yet" in result.output


def test_words_with_nothing_near_are_told_what_there_is():
    for problem in (kind_problem("sorting"), dtype_problem("complex64"), license_problem("???")):
        assert problem is not None and "did you mean" not in problem.hint


def test_a_file_in_the_way_stays_as_it_is():
    Path("templates").mkdir()
    Path("templates", OP_ID).write_text("mine")
    result = run(OP_ID)
    assert result.exit_code == 2
    assert "there is a file of this name" in result.output
    assert Path("templates", OP_ID).read_text() == "mine"


def test_the_current_folder_is_not_replaced():
    result = run(OP_ID, "--out", ".")
    assert result.exit_code == 2
    assert "cannot be the current folder" in result.output
    assert [*Path().iterdir()] == []


def test_an_empty_folder_behind_a_link_is_filled_and_the_link_stays():
    Path("there").mkdir()
    Path("link").symlink_to("there")
    assert run(OP_ID, "--out", "link").exit_code == 0
    assert Path("link").is_symlink()
    assert written(Path("there")) == files_of()


def test_an_empty_folder_is_no_hindrance():
    Path("templates", OP_ID).mkdir(parents=True)
    assert run(OP_ID).exit_code == 0
    assert written(Path("templates", OP_ID)) == files_of()


def test_a_disk_that_fills_up_leaves_nothing_behind(monkeypatch):
    write = Path.write_bytes

    def failing(path: Path, data: bytes) -> int:
        if path.name == "reference.py":
            raise OSError(28, "No space left on device", str(path))
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", failing)
    result = run(OP_ID)
    assert result.exit_code == 2
    assert "no space left" in result.output
    assert [*Path("templates").iterdir()] == []


def test_what_follows_can_be_pasted():
    output = run(OP_ID, "--out", "my kernels/it's").output
    commands = [shlex.split(line) for line in output.splitlines() if line.startswith("  scanbuild ")]
    assert [words[1] for words in commands] == ["check", "render", "verify", "bench", "publish"]
    for words in commands:
        if words[1] in ("check", "render", "publish"):
            result = CliRunner().invoke(main, words[1:])
            assert result.exit_code == 0, result.output
    assert Path("dist", OP_ID, "README.md").is_file()
