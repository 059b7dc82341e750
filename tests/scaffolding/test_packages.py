"""What init writes works at once, for every kind and dtype: it has no warnings, renders, verifies and is published."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from scanbuild import gpu
from scanbuild.checking.check import check_path
from scanbuild.commands import main
from scanbuild.errors import NoAdapterError
from scanbuild.gpu import choose_adapter
from scanbuild.scaffolding.answers import DTYPES, KINDS

WITHOUT_HALVES = tuple(dtype for dtype in DTYPES if dtype != "float16")
CHOICES = [*((dtype,) for dtype in DTYPES), WITHOUT_HALVES, DTYPES]
PACKAGES = {f"my.kernels.{kind.title()}_{'_'.join(dtypes)}": (kind, dtypes) for kind in KINDS for dtypes in CHOICES}
# Whether float16 is among the dtypes decides what the shaders are; the others only add cases, and are run together.
RUN = [op_id for op_id, (_, dtypes) in PACKAGES.items() if dtypes in (WITHOUT_HALVES, DTYPES)]


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in which every package was begun and rendered, ``<op id>/build/webgpu/`` each."""

    def none(*_: object, **__: object) -> None:
        raise NoAdapterError("none is needed to render")

    folder = tmp_path_factory.mktemp("begun")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpu, "open_engine", none)
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        patch.chdir(folder)
        for op_id, (kind, dtypes) in PACKAGES.items():
            good("init", op_id, "--like", kind, *(word for dtype in dtypes for word in ("--dtype", dtype)))
            good("render", f"templates/{op_id}", "--root", op_id)
        yield folder


@pytest.fixture(scope="module")
def runs(work: Path) -> dict[str, Any]:
    """What verify says of each package, run at once."""
    try:
        choose_adapter()
    except NoAdapterError as error:
        pytest.skip(str(error))
    depth = ["--all-variants", "--require-coverage", "--fuzz", "20"]
    subprocess.run(
        [sys.executable, "-m", "scanbuild", "verify", *RUN, *depth, "--json", "report.json", "-q"],
        cwd=work,
        check=False,
    )
    report = json.loads((work / "report.json").read_text())
    return {run["package"]: run for run in report["runs"]}


def good(*arguments: str) -> str:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("op_id", PACKAGES)
def test_check_has_nothing_to_say_of_a_new_package(work, op_id):
    result = check_path(work / "templates" / op_id)
    assert list(result.problems) == []
    assert result.suppressed == 0


@pytest.mark.parametrize("op_id", RUN)
def test_a_new_package_verifies_in_all_its_variants_and_with_generated_cases(runs, op_id):
    run = runs[op_id]
    _, dtypes = PACKAGES[op_id]
    cases = [case for case in run["cases"] if not case.get("forced")]
    assert len(cases) >= 8 * len(dtypes)
    assert {case["status"] for case in run["cases"]} == {"passed"}
    assert run["generated"] == {"seed": 0, "count": 20, "unjudged": 0, "failures": []}


def test_every_variant_of_a_new_package_is_reached_by_its_cases(runs):
    for run in runs.values():
        assert all(reached["cases"] for reached in run["variants"].values()), run["package"]
    assert [len(runs[op_id]["variants"]) for op_id in RUN] == [1, 1, 2, 2, 2, 2]


@pytest.mark.parametrize("op_id", PACKAGES)
def test_a_new_package_is_published(work, op_id):
    good("publish", op_id)
    assert (work / "dist" / op_id / "README.md").is_file()


@pytest.mark.parametrize("op_id", PACKAGES)
def test_the_files_of_a_new_package_are_of_their_language_and_keep_no_bracket_of_the_templates_they_were_made_from(
    work, op_id
):
    for path in (work / "templates" / op_id).iterdir():
        text = path.read_text()
        assert not [bracket for bracket in ("<:", ":>", "<%", "%>", "<#", "#>") if bracket in text], path.name
        assert text.endswith("\n")
        if path.suffix == ".json":
            json.loads(text)
        if path.suffix == ".py":
            compile(text, path.name, "exec", flags=ast.PyCF_ONLY_AST)


@pytest.mark.parametrize("op_id", PACKAGES)
def test_each_dtype_has_its_cases_and_no_other_has(work, op_id):
    _, dtypes = PACKAGES[op_id]
    tests = json.loads((work / "templates" / op_id / "test.json").read_text())
    bench = json.loads((work / "templates" / op_id / "bench.json").read_text())
    for cases in (tests["cases"], bench["cases"]):
        assert {case["inputs"]["x"]["dtype"] for case in cases} == set(dtypes)
