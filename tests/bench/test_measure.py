"""Measuring cases of small packages on a device."""

from dataclasses import replace
from pathlib import Path

import pytest

from scanbuild.bench import measure
from scanbuild.bench.measure import BenchRunner, moved_by
from scanbuild.bench.packages import matching_cases, open_subject, read_cases, tuned
from scanbuild.bench.tuning import play_off, players, sweep
from scanbuild.cases.casefile import Case
from scanbuild.errors import CheckFailedError, InputError
from scanbuild.gpu import Engine
from scanbuild.gpu.timing import Timer
from tests.bench.conftest import FAST
from tests.bench.packages import TUNED, bench_case, tuned_manifest, write_bench, write_source
from tests.cases.packages import DOUBLE, manifest, sign, variant

SMALL = bench_case("small", [64, 16])
LOOP = "var s = 0.0; for (var i = 0u; i < {count}u; i++) {{ s += f32(i) * x[0]; }}"


def opened(engine: Engine, *roots: Path, settings=FAST) -> tuple[BenchRunner, dict[str, Case]]:
    packages = [open_subject(root) for root in roots]
    cases = read_cases(roots[0], packages[0].manifest).cases
    return BenchRunner(packages, engine, Timer(engine), settings), {case.name: case for case in cases}


def test_a_case_is_measured_beside_the_rooflines(engine: Engine, tmp_path: Path):
    write_bench(tmp_path, manifest(), [bench_case("small", [64, 16], group="some")])
    runner, cases = opened(engine, tmp_path)
    found = runner.run(cases["small"])
    assert (found.status, found.group, found.bytes_moved) == ("measured", "some", 2 * 64 * 16 * 4)
    (only,) = found.entries
    assert (only.variant, only.selected, only.launches, only.ratio) == ("main", True, 1, None)
    assert 0 < only.figures.time.p10 <= only.figures.time.median <= only.figures.time.p90 < 1
    assert only.cached is not None
    assert found.slices == 1024
    assert found.roofline is not None
    for time in (found.roofline.copy, found.roofline.empty):
        assert 0 < time.median < 1
    assert only.figures.fraction.median == pytest.approx(found.roofline.copy.median / only.figures.time.median, rel=0.5)
    assert engine.live_buffers == 0


def test_a_case_that_fits_in_no_cache_is_measured_in_one_place(engine: Engine, tmp_path: Path):
    write_bench(tmp_path, manifest(), [bench_case("large", [1 << 20])])
    runner, cases = opened(engine, tmp_path)
    runner.cache_bytes = 1 << 20
    found = runner.run(cases["large"])
    assert (found.slices, found.entries[0].cached) == (1, None)
    assert found.roofline is not None
    assert found.roofline.cached is None


def test_the_bytes_that_a_case_states_count(engine: Engine, tmp_path: Path):
    write_bench(tmp_path, manifest(), [bench_case("small", [64], bytesMoved=1e6)])
    runner, cases = opened(engine, tmp_path)
    found = runner.run(cases["small"])
    assert found.bytes_moved == 1e6
    assert found.rate(found.entries[0].figures.time) == pytest.approx(1e6 / found.entries[0].figures.time.median)


def test_every_variant_that_takes_a_case_is_measured_the_selected_one_first(engine: Engine, tmp_path: Path):
    variants = [
        variant("late"),
        variant("picky", when=["shapes.x[0] == 3"]),
        variant("broken", "broken.wgsl.jinja"),
        variant("first", priority=2),
    ]
    write_bench(tmp_path, manifest(*variants), [SMALL], {"broken.wgsl.jinja": DOUBLE.replace("x[id.x]", "z")})
    runner, cases = opened(engine, tmp_path)
    found = runner.run(cases["small"], all_variants=True)
    assert [(item.variant, item.selected) for item in found.entries] == [("first", True), ("late", False)]
    assert found.entries[1].ratio is not None
    reasons = dict(found.not_taken)
    assert "`shapes.x[0] == 3` is false" in reasons["variant picky"]
    assert "does not compile" in reasons["variant broken"]
    assert engine.live_buffers == 0


def test_two_packages_are_measured_beside_one_another(engine: Engine, tmp_path: Path):
    heavy = DOUBLE.replace("y[id.x] =", f"{LOOP.format(count=3000)} y[id.x] = s +")
    write_bench(tmp_path / "one", manifest(), [SMALL])
    write_bench(tmp_path / "two", manifest(variant("heavy", "heavy.wgsl.jinja")), [], {"heavy.wgsl.jinja": heavy})
    runner, cases = opened(engine, tmp_path / "one", tmp_path / "two")
    found = runner.run(cases["small"])
    assert found.rival is not None
    assert found.rival.ratio is not None
    assert found.rival.variant == "heavy"
    assert found.rival.ratio.median > 1
    assert found.chosen is not None
    assert found.chosen.variant == "main"


def test_a_package_that_does_not_take_a_case_of_the_other_is_told_of(engine: Engine, tmp_path: Path):
    write_bench(tmp_path / "one", manifest(), [SMALL])
    write_bench(tmp_path / "two", manifest(variant("never", when=["false"])), [])
    runner, cases = opened(engine, tmp_path / "one", tmp_path / "two")
    found = runner.run(cases["small"])
    assert (found.status, found.rival) == ("measured", None)
    assert "no variant takes this request" in dict(found.not_taken)["the other package"]


def test_a_case_that_no_variant_takes_is_refused_with_the_reasons(engine: Engine, tmp_path: Path):
    write_bench(tmp_path, manifest(variant("never", when=["shapes.x[0] > 99"])), [SMALL])
    runner, cases = opened(engine, tmp_path)
    found = runner.run(cases["small"])
    assert found.status == "refused"
    assert "`never`: `shapes.x[0] > 99` is false" in found.message


def test_a_case_that_needs_a_feature_of_other_devices_is_skipped(engine: Engine, tmp_path: Path, monkeypatch):
    needy = variant("half", requires={"features": ["shader-f16"]})
    write_bench(tmp_path, manifest(needy), [SMALL])
    lacking = replace(engine.record, features=engine.record.features - {"shader-f16"})
    monkeypatch.setattr(engine, "record", lacking)
    runner, cases = opened(engine, tmp_path)
    found = runner.run(cases["small"])
    assert found.status == "skipped"
    assert "shader-f16" in found.message


@pytest.mark.parametrize("limit", ["maxStorageBufferBindingSize", "maxBufferSize"])
def test_a_shape_beyond_the_device_is_skipped_before_anything_is_allocated(
    engine: Engine, tmp_path: Path, monkeypatch, limit: str
):
    write_bench(tmp_path, manifest(), [bench_case("huge", [2**28])])
    monkeypatch.setattr(engine, "record", replace(engine.record, limits={**engine.record.limits, limit: 2**20}))
    runner, cases = opened(engine, tmp_path)

    def allocated(*_: object) -> None:
        raise AssertionError("a buffer was made")

    monkeypatch.setattr(engine, "create_buffer", allocated)
    found = runner.run(cases["huge"])
    assert found.status == "skipped"
    assert "tensor" in found.message
    assert "x" in found.message
    assert str(2**30) in found.message


def test_a_software_adapter_is_not_given_all_memory_of_the_machine(engine: Engine, tmp_path: Path, monkeypatch):
    if not engine.software:
        pytest.skip("this is about software adapters")
    write_bench(tmp_path, manifest(), [bench_case("large", [1 << 24])])
    monkeypatch.setattr(measure, "SOFTWARE_MEMORY", 1 << 27)
    runner, cases = opened(engine, tmp_path)
    found = runner.run(cases["large"])
    assert found.status == "skipped"
    assert str(1 << 28) in found.message


def test_a_shader_that_does_not_compile_fails_its_case_and_no_other(engine: Engine, tmp_path: Path):
    broken = variant("broken", "broken.wgsl.jinja", priority=1, when=["shapes.x[0] == 3"])
    write_bench(
        tmp_path,
        manifest(broken, variant("main")),
        [bench_case("bad", [3]), SMALL],
        {"broken.wgsl.jinja": "fn main( {"},
    )
    runner, cases = opened(engine, tmp_path)
    found = runner.run(cases["bad"])
    assert (found.status, found.lost) == ("failed", False)
    assert "broken.wgsl.jinja" in found.message
    assert runner.run(cases["small"]).status == "measured"


def test_a_case_without_work_has_nothing_to_time(engine: Engine, tmp_path: Path):
    write_bench(tmp_path, manifest(), [bench_case("empty", [0])])
    runner, cases = opened(engine, tmp_path)
    found = runner.run(cases["empty"])
    assert found.status == "failed"
    assert "no work on the device" in found.message


def test_tuning_finds_what_is_faster_and_names_what_is_refused(engine: Engine, tmp_path: Path):
    slow = TUNED.replace("y[id.x] =", f"{LOOP.format(count='{{ tunables.rounds }}')} y[id.x] = s +")
    made = tuned_manifest(64)
    made["tunables"] = {"width": {"default": 64}, "rounds": {"default": 4000}, "unused": {"default": 1}}
    tune = {"width": [32, 60, 64], "rounds": [1, 4000], "unused": [1, 2]}
    write_bench(tmp_path, made, [SMALL], {"tuned.wgsl.jinja": slow}, tune)
    runner, cases = opened(engine, tmp_path)
    found = sweep(runner, cases["small"], read_cases(tmp_path, open_subject(tmp_path).manifest).tune)
    assert found.entries[0].tunables == {}
    best = min(found.entries[1:], key=lambda item: item.relative)
    assert best.tunables["rounds"] == 1
    assert best.relative < 0.9
    assert found.tuned == ("width", "rounds")
    refused = dict(found.not_taken)
    assert "`tunables.width % 8 == 0` is false" in refused["variant main with width=60"]
    (setting, *_) = players([found])["main"]
    assert setting["rounds"] == 1
    again = play_off(runner, cases["small"], [setting, {"width": 60}, {"unused": 2}])
    assert [item.tunables for item in again.entries] == [{}, setting]
    assert "variant main with width=60" in dict(again.not_taken)


def test_a_device_is_kept_busy_before_each_round_and_the_memory_for_it_is_given_back(engine: Engine, tmp_path: Path):
    write_bench(tmp_path, manifest(), [SMALL])
    runner, cases = opened(engine, tmp_path)
    unheated = runner.heater
    assert unheated is None
    runner.heat_s, runner.heated_bytes = 2e-3, 1 << 20
    heater = runner.heater
    assert heater is not None
    assert heater is runner.heater
    assert heater.run.times >= 1
    (taken,) = runner.timer.measure([heater.run])
    assert 2e-4 < taken < 0.5
    assert runner.run(cases["small"]).status == "measured"
    assert engine.live_buffers > 0
    runner.close()
    assert engine.live_buffers == 0


def test_tunables_are_overlaid_wherever_they_are_declared(tmp_path: Path):
    made = tuned_manifest(64)
    made["variants"][0]["tunables"] = {"width": {"default": 128}, "other": {"default": 1}}
    write_bench(tmp_path, made, [SMALL], {"tuned.wgsl.jinja": TUNED})
    package = open_subject(tmp_path)
    changed = tuned(package, {"width": 8}).manifest
    assert changed.tunables == {"width": 8}
    assert changed.variant("main").tunables == {"width": 8, "other": 1}
    assert tuned(package, {}) is package


def test_a_source_is_measured_as_it_stands(engine: Engine, tmp_path: Path):
    write_source(tmp_path / "src", manifest(), [SMALL], {"double.wgsl.jinja": DOUBLE})
    runner, cases = opened(engine, tmp_path / "src")
    assert runner.run(cases["small"]).status == "measured"


def test_a_build_that_was_edited_is_not_measured(tmp_path: Path):
    folder = write_bench(tmp_path, manifest(), [SMALL])
    (folder / "bench.json").write_text('{"cases": []}')
    with pytest.raises(CheckFailedError, match=r"bench\.json"):
        open_subject(tmp_path)


def test_a_package_without_benchmark_cases_says_where_they_stand(tmp_path: Path):
    folder = write_bench(tmp_path, manifest(), [SMALL])
    (folder / "bench.json").unlink()
    sign(folder)
    with pytest.raises(InputError, match=r"bench\.json.*beside the manifest"):
        read_cases(tmp_path, open_subject(tmp_path).manifest)


def test_a_case_is_named_by_its_whole_name_or_by_a_part_of_it():
    cases = [Case(name=name) for name in ("1x1", "1x100", "2x1 reverse")]

    def names(*patterns: str) -> list[str]:
        return [case.name for case in matching_cases(cases, patterns)]

    assert names() == ["1x1", "1x100", "2x1 reverse"]
    assert names("1x1") == ["1x1"]
    assert names("x1") == ["1x1", "1x100", "2x1 reverse"]
    assert names("*x1", "REV") == ["1x1", "2x1 reverse"]
    assert names("none") == []


def test_what_a_call_moves_is_every_tensor_once_each_way(engine: Engine, tmp_path: Path):
    write_bench(tmp_path, manifest(), [bench_case("halves", [100], "float16")])
    runner, cases = opened(engine, tmp_path)
    assert moved_by(runner.candidate(cases["halves"]).plan) == 2 * 200
