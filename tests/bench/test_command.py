"""``scanbuild bench``, from the command line to tables and files."""

import json
from pathlib import Path
from typing import Any

import pytest

from scanbuild.bench.session import Session
from scanbuild.bench.worker import Ready, performer
from scanbuild.cases.schema import schema_problems
from scanbuild.commands import main
from scanbuild.gpu import Engine
from scanbuild.gpu.timing import Timer
from tests.bench.packages import TUNED, bench_case, tuned_manifest, write_bench, write_source
from tests.cases.packages import DOUBLE, manifest, variant

SMALL = bench_case("small", [64, 16], group="some")
TWO = [SMALL, bench_case("tiny \x1b[31m", [64])]
FAST = ("--seconds", "0.05", "--precision", "50")


@pytest.fixture
def bench(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Runs the command in a folder of its own: status, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            main(["bench", *map(str, arguments)])
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        assert isinstance(caught.value.code, int)
        return caught.value.code, said.out, said.err

    return run


@pytest.fixture
def here(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets jobs be done in this process on the device that is open, which spares the start of a worker."""

    def start(self: Session) -> Ready:
        self.perform, ready = performer(self.settings, engine, Timer(engine))  # type: ignore[attr-defined]
        return ready

    monkeypatch.setattr(Session, "start", start)
    monkeypatch.setattr(Session, "run", lambda self, job, name: self.perform(job))


def read(file: Path) -> dict[str, Any]:
    found = json.loads(file.read_text())
    assert schema_problems(found, "bench-report") == []
    assert isinstance(found, dict)
    return found


def test_a_package_is_timed_and_the_report_says_so(engine, bench, tmp_path: Path):
    variants = [variant("first", priority=1), variant("second")]
    cases = [*TWO, bench_case("huge", [2**28])]
    write_bench(tmp_path, manifest(*variants), cases)
    files = ("--json", "report.json", "--html", "page.html")
    status, out, err = bench(*FAST, *files, "--all-variants", "--case", "small", "--case", "huge")
    assert status == 0
    report = read(tmp_path / "report.json")
    assert [(item["name"], item["variant"], item["selected"]) for item in report["cases"]] == [
        ("small", "first", True),
        ("small", "second", False),
    ]
    assert report["notMeasured"][0]["status"] == "skipped"
    assert "warning: huge is skipped: tensor" in err
    assert "of the copy" in out
    assert "1 case measured on" in out
    assert "timestamp queries" in out
    assert "Selection picks the fastest variant, or one within 5% of it, in" in out
    assert "<svg" in (tmp_path / "page.html").read_text()


def test_a_saved_report_is_a_baseline(here, bench, tmp_path: Path):
    write_bench(tmp_path, manifest(), TWO)
    assert bench(*FAST, "--json", "base.json", "--case", "small")[0] == 0
    base = read(tmp_path / "base.json")
    base["cases"][0]["fractionOfCopy"] *= 1000
    (tmp_path / "better.json").write_text(json.dumps(base))
    status, out, err = bench(*FAST, "--against", "better.json", "--max-regression", "50%", "--case", "small")
    assert status == 1
    assert "error: small:" in err
    assert "50.0% is allowed" in err
    assert "Against the baseline: 1 case" in out
    base["cases"][0]["fractionOfCopy"] /= 1e6
    (tmp_path / "worse.json").write_text(json.dumps(base))
    status, out, _ = bench(*FAST, "--against", "worse.json", "-q")
    assert (status, out) == (0, "")


def test_two_packages_are_compared_and_hostile_names_are_shown_harmlessly(here, bench, tmp_path: Path):
    write_bench(tmp_path / "mine", manifest(), TWO)
    write_bench(tmp_path / "theirs", manifest(variant("other")), [])
    status, out, _ = bench("mine", "--vs", "theirs", *FAST, "--json", "report.json")
    assert status == 0
    assert "times as fast as theirs (geometric mean" in out
    assert "tiny \\x1b[31m" in out
    assert "\x1b[31m" not in out
    rivals = [item for item in read(tmp_path / "report.json")["cases"] if item.get("vs")]
    assert [item["variant"] for item in rivals] == ["other", "other"]
    assert all(item["ratio"]["median"] > 0 for item in rivals)


def test_tuning_writes_into_the_source_and_never_into_a_build(here, bench, tmp_path: Path):
    loop = "var s = 0.0; for (var i = 0u; i < {{ tunables.rounds }}u; i++) { s += f32(i) * x[0]; } y[id.x] = s +"
    made = tuned_manifest()
    made["tunables"]["rounds"] = {"default": 5000}
    shaders = {"tuned.wgsl.jinja": TUNED.replace("y[id.x] =", loop)}
    tune = {"width": [60], "rounds": [1]}
    folder = write_bench(tmp_path, made, [SMALL], {"tuned.wgsl.jinja": shaders["tuned.wgsl.jinja"]}, tune)
    source = write_source(tmp_path / "src", made, [SMALL], shaders, tune)
    built = (folder / "manifest.json").read_bytes()
    status, _, err = bench(*FAST, "--tune", "--write")
    assert status == 2
    assert "name it with --source" in err
    status, out, err = bench(*FAST, "--tune", "--write", "--source", source, "-v", "--json", "report.json")
    assert status == 0, err
    assert "main: rounds=1 takes" in out
    assert "$.tunables.rounds.default: 5000 is now 1" in out
    assert "`tunables.width % 8 == 0` is false" in out
    assert json.loads((source / "manifest.json").read_text())["tunables"]["rounds"]["default"] == 1
    assert (folder / "manifest.json").read_bytes() == built
    assert read(tmp_path / "report.json")["tuned"][0]["tunables"] == {"rounds": 1}


def test_a_case_that_no_variant_takes_fails_and_the_others_are_timed(here, bench, tmp_path: Path):
    write_bench(tmp_path, manifest(variant("main", when=["shapes.x[0] != 3"])), [bench_case("odd", [3]), SMALL])
    status, out, err = bench(*FAST)
    assert status == 1
    assert "error: odd: $.variants: no variant takes this request" in err.replace("manifest.json: ", "")
    assert "no variant of the package takes this case" in err
    assert "small" in out


def test_a_kernel_that_leaves_its_work_undone_is_not_praised(here, bench, tmp_path: Path):
    idle = variant("idle")
    idle["passes"][0]["dispatch"] = {"x": 1}
    write_bench(tmp_path, manifest(idle), [bench_case("large", [1 << 20])])
    status, _, err = bench(*FAST)
    assert status == 0
    assert "warning: large: variant idle is" in err
    assert "scanbuild verify" in err


def test_a_lost_adapter_ends_the_run_with_what_was_measured(here, bench, tmp_path: Path, monkeypatch):
    from scanbuild.errors import NoAdapterError, Problem

    write_bench(tmp_path, manifest(), TWO)
    real = Session.run

    def run(self, job, name):
        if job.index:
            raise NoAdapterError(Problem(message="the card fell off the bus"))
        return real(self, job, name)

    monkeypatch.setattr(Session, "run", run)
    status, out, err = bench(*FAST, "--json", "report.json")
    assert status == 3
    assert "1 case measured on" in out
    assert "the card fell off the bus" in err
    assert "Not measured: tiny" in err
    report = read(tmp_path / "report.json")
    assert [item["name"] for item in report["cases"]] == ["small"]
    assert report["notMeasured"][0]["status"] == "missing"


def test_an_interrupted_run_shows_and_writes_what_was_measured(here, bench, tmp_path: Path, monkeypatch):
    write_bench(tmp_path, manifest(), TWO)
    real = Session.run

    def run(self, job, name):
        if job.index:
            raise KeyboardInterrupt
        return real(self, job, name)

    monkeypatch.setattr(Session, "run", run)
    status, out, err = bench(*FAST, "--json", "report.json")
    assert status == 130
    assert "1 case measured on" in out
    assert "interrupted" in err
    report = read(tmp_path / "report.json")
    assert [item["name"] for item in report["cases"]] == ["small"]
    assert [item["message"] for item in report["notMeasured"]] == ["interrupted"]


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["elsewhere"], 2, "there is no such folder"),
        (["--vs", "elsewhere"], 2, "there is no such folder"),
        (["--case", "nothing"], 2, "no case matches 'nothing'"),
        (["--write"], 2, "--write goes with --tune"),
        (["--max-regression", "10%"], 2, "--max-regression goes with --against"),
        (["--source", "."], 2, "--source goes with --write"),
        (["--tune", "--all-variants"], 2, "leave --vs and --all-variants out"),
        (["--tune"], 2, "there are no values of tunables to try"),
        (["--against", "none.json"], 2, "cannot read the baseline"),
        (["--against", "build/webgpu/manifest.json"], 2, "$"),
        (["--against", "x", "--max-regression", "lots"], 2, "is no percentage"),
        (["--json", "nowhere/report.json"], 2, "no such folder to write the report to"),
        (["--html", "."], 2, "this is a folder"),
        (["--plot", "nowhere/plot.png"], 2, "no such folder"),
        (["--engine", "metal"], 2, "metal"),
        (["--precision", "0"], 2, "--precision"),
        (["--seconds", "nan"], 2, "--seconds"),
        (["--adapter", "no such adapter"], 3, "no adapter of wgpu matches"),
    ],
)
def test_what_cannot_be_done_says_why(bench, tmp_path: Path, arguments: list[str], status: int, words: str):
    write_bench(tmp_path, manifest(), [SMALL])
    found, out, err = bench(*arguments)
    assert (found, out) == (status, "")
    assert words in err


def test_a_broken_bench_file_is_told_as_a_whole_with_its_places(bench, tmp_path: Path):
    source = write_source(tmp_path / "src", manifest(), [], {"double.wgsl.jinja": DOUBLE})
    (source / "bench.json").write_text(
        '{\n"cases": [{"name": 3, "inputs": {}},\n'
        '{"name": "a", "inputs": {"z": {"dtype": "float32"}}}],\n"tune": {"w": []}}'
    )
    status, _, err = bench("src")
    assert status == 2
    for words in ("bench.json:2:20", "$.cases[0].name", "$.cases[1].inputs.z", "$.tune.w"):
        assert words in err


def test_an_edited_build_is_not_timed(bench, tmp_path: Path):
    folder = write_bench(tmp_path, manifest(), [SMALL])
    (folder / "more.txt").write_text("")
    status, _, err = bench()
    assert status == 1
    assert "more.txt" in err
