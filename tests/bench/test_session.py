"""Measuring in another process: what is measured stays measured."""

from pathlib import Path

import pytest

from scanbuild.bench.session import Session, adapter_is_gone, outcomes
from scanbuild.bench.worker import Job, WorkerSettings
from scanbuild.errors import NoAdapterError, Problem
from tests.bench.conftest import FAST
from tests.bench.packages import SLOW, bench_case, write_bench
from tests.bench.reports import outcome
from tests.cases.packages import manifest, variant


def settings(*folders: Path, **more) -> WorkerSettings:
    return WorkerSettings(folders=folders, sampling=FAST, **more)


def test_a_shader_that_does_not_end_costs_its_case_and_the_next_is_measured(engine, tmp_path: Path):
    slow = variant("slow", "slow.wgsl.jinja", priority=1, when=["shapes.x[0] == 3"])
    slow["passes"][0]["dispatch"] = {"x": 65535, "y": 1000}
    cases = [bench_case("hangs", [3]), bench_case("small", [64])]
    write_bench(tmp_path, manifest(slow, variant("main")), cases, {"slow.wgsl.jinja": SLOW})
    with Session(settings(tmp_path, limit_s=1.5)) as session:
        ready = session.start()
        assert ready.clock.tick_s > 0
        first, second = outcomes(session, [(Job(index=0), "hangs"), (Job(index=1), "small")])
    assert (first.status, first.lost) == ("failed", True)
    assert "variant slow" in first.message
    assert "within 1.5 s" in first.message
    assert (second.status, second.entries[0].variant) == ("measured", "main")


class Scripted(Session):
    """A session whose worker ends over a case, and which cannot be started again."""

    def __init__(self, folder: Path, steps: list[object]) -> None:
        super().__init__(settings(folder))
        self.steps = steps

    def run(self, job, name):
        step = self.steps.pop(0)
        if isinstance(step, Exception):
            raise step
        return step


def test_an_adapter_that_is_lost_for_good_leaves_what_was_measured(tmp_path: Path):
    lost = NoAdapterError(Problem(message="there is no WebGPU adapter"))
    with Scripted(tmp_path, [outcome("a"), lost]) as session:
        found = list(outcomes(session, [(Job(index=index), name) for index, name in enumerate("abc")]))
    assert [(item.name, item.status) for item in found] == [("a", "measured"), ("b", "missing"), ("c", "missing")]
    assert "there is no WebGPU adapter" in found[2].message
    assert adapter_is_gone(found)
    assert not adapter_is_gone(found[:1])


def test_a_worker_that_dies_is_told_with_its_last_words(engine, tmp_path: Path):
    write_bench(tmp_path, manifest(), [bench_case("small", [64])])
    with Session(settings(tmp_path)) as session:
        session.start()
        assert session._worker._process is not None
        session._worker._log.write_text("the driver gave up\n")
        session._worker._process.kill()
        session._worker._process.join()
        found = session.run(Job(index=0), "small")
        assert (found.status, found.lost) == ("failed", True)
        assert "ended unexpectedly" in found.message
        assert "the driver gave up" in found.message


def test_what_hinders_the_start_is_raised(tmp_path: Path):
    write_bench(tmp_path, manifest(), [])
    with (
        Session(settings(tmp_path, adapter="no such adapter")) as session,
        pytest.raises(NoAdapterError, match="no such adapter"),
    ):
        session.start()
