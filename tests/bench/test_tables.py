"""Tables that fit the terminal."""

import pytest

from scanbuild.bench.report import BenchReport
from scanbuild.commands import bench_tables
from scanbuild.commands.bench_tables import present
from scanbuild.commands.console import Console
from tests.bench.reports import figures, measured, outcome, report

LONG, SHORT = "workgroup_per_row", "invocation_per_row"


def two_variants() -> BenchReport:
    cached = measured(LONG, cached=figures(5e-4, 0.9))
    return report(outcome("4096x1024", cached, measured(SHORT, 2e-3, 0.4, selected=False, ratio=2.0)))


def two_packages() -> BenchReport:
    rivals = [measured(name, 3e-3, 0.3, package=1, ratio=3.0) for name in (LONG, "theirs")]
    rows = [outcome(name, measured(LONG), rival) for name, rival in zip(("alike", "apart"), rivals, strict=True)]
    return report(*rows, packages=("pack", "other"))


def table_of(
    found: BenchReport, width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    monkeypatch.setattr(bench_tables, "_PIPE_WIDTH", width)
    present(Console(), found, "a device", 0.01)
    return capsys.readouterr().out.partition("\n1 case")[0].partition("\n2 cases")[0].splitlines()


@pytest.mark.parametrize(
    ("width", "gone"),
    [(160, []), (110, ["in cache"]), (88, ["in cache", "p10 - p90"]), (80, ["in cache", "p10 - p90", "empty"])],
)
def test_a_narrow_table_goes_without_columns_before_it_folds_names(width: int, gone: list[str], capsys, monkeypatch):
    head, *rows = table_of(two_variants(), width, capsys, monkeypatch)
    assert [name for name in ("time", "p10 - p90", "GB/s", "of the copy", "empty", "in cache") if name not in head] == [
        name for name in ("p10 - p90", "empty", "in cache") if name in gone
    ]
    assert "to selected" in head
    assert [row[:30].split() for row in rows] == [["4096x1024", LONG], [SHORT]]
    assert all(len(row.rstrip()) <= width for row in [head, *rows])


def test_where_nothing_is_left_to_go_without_names_are_folded(capsys, monkeypatch):
    lines = table_of(two_variants(), 60, capsys, monkeypatch)
    assert len(lines) > 3
    assert all(len(line.rstrip()) <= 60 for line in lines)


def test_two_packages_fit_in_80_columns_and_a_variant_of_the_same_name_is_the_same(capsys, monkeypatch):
    head, *rows = table_of(two_packages(), 80, capsys, monkeypatch)
    assert "GB/s" not in head
    assert "times as fast" in head
    assert all(len(line.rstrip()) <= 80 for line in [head, *rows])
    assert [row.split()[:2] for row in rows] == [["alike", LONG], ["apart", LONG]]
    assert "same" in rows[0]
    assert "theirs" in rows[1]
