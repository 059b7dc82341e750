"""What init writes works at once, for every kind and dtype: it has no warnings, renders, verifies and is published.

Whether float16 is among the dtypes decides what the shaders are; the others only add cases. So the everyday tests look
at packages without and with it, the long ones at those for each of the other choices.
"""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
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

VARIANTS = {"elementwise": 1, "reduction": 2, "scan": 2}
EVERYDAY = [("float32",), DTYPES]
OTHERS = [("float16",), ("int32",), ("uint32",), ("float32", "int32", "uint32")]


@dataclass(frozen=True)
class Begun:
    """A folder in which packages were begun and rendered, ``<op id>/build/webgpu/`` each; their kinds and dtypes."""

    folder: Path
    packages: Mapping[str, tuple[str, tuple[str, ...]]]

    @cached_property
    def runs(self) -> list[dict[str, Any]]:
        """What verify says of the packages, which are run at once."""
        try:
            choose_adapter()
        except NoAdapterError as error:
            pytest.skip(str(error))
        options = ["--all-variants", "--require-coverage", "--fuzz", "20", "--json", "report.json"]
        command = [sys.executable, "-m", "scanbuild", "verify", *self.packages, *options]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        runs: list[dict[str, Any]] = json.loads((self.folder / "report.json").read_text())["runs"]
        assert [run["package"] for run in runs] == list(self.packages)
        return runs


@pytest.fixture(scope="module", params=[EVERYDAY, pytest.param(OTHERS, marks=pytest.mark.long)], ids=["some", "others"])
def begun(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Begun]:
    def none(*_: object, **__: object) -> None:
        raise NoAdapterError("none is needed to render")

    made = {f"my.kernels.{kind}_{'_'.join(dtypes)}": (kind, dtypes) for kind in KINDS for dtypes in request.param}
    folder = tmp_path_factory.mktemp("begun")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpu, "open_engine", none)
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        patch.chdir(folder)
        for op_id, (kind, dtypes) in made.items():
            good("init", op_id, "--like", kind, *(word for dtype in dtypes for word in ("--dtype", dtype)))
            good("render", f"templates/{op_id}", "--root", op_id)
        yield Begun(folder, made)


def good(*arguments: str) -> str:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return result.output


def test_check_has_nothing_to_say_of_a_new_package(begun: Begun):
    for op_id in begun.packages:
        result = check_path(begun.folder / "templates" / op_id)
        assert (list(result.problems), result.suppressed) == ([], 0), op_id


def test_a_new_package_verifies_in_all_its_variants_and_with_generated_cases(begun: Begun):
    for run in begun.runs:
        kind, dtypes = begun.packages[run["package"]]
        cases = [case for case in run["cases"] if not case.get("forced")]
        assert len(cases) >= 8 * len(dtypes)
        assert {case["status"] for case in run["cases"]} == {"passed"}
        assert run["generated"] == {"seed": 0, "count": 20, "unjudged": 0, "failures": []}
        reached = [variant["cases"] for variant in run["variants"].values()]
        assert len(reached) == VARIANTS[kind] and all(reached)


def test_a_new_package_is_published(begun: Begun):
    for op_id in begun.packages:
        good("publish", op_id)
        assert (begun.folder / "dist" / op_id / "README.md").is_file()


def test_the_files_of_a_new_package_are_of_their_language_and_keep_no_bracket_of_what_they_were_made_from(begun: Begun):
    for op_id in begun.packages:
        for path in (begun.folder / "templates" / op_id).iterdir():
            text = path.read_text()
            assert not [bracket for bracket in ("<:", ":>", "<%", "%>", "<#", "#>") if bracket in text], path
            assert text.endswith("\n")
            if path.suffix == ".json":
                json.loads(text)
            if path.suffix == ".py":
                compile(text, path.name, "exec", flags=ast.PyCF_ONLY_AST)


def test_each_dtype_has_its_cases_and_no_other_has(begun: Begun):
    for op_id, (_, dtypes) in begun.packages.items():
        for name in ("test.json", "bench.json"):
            cases = json.loads((begun.folder / "templates" / op_id / name).read_text())["cases"]
            assert {case["inputs"]["x"]["dtype"] for case in cases} == set(dtypes)
