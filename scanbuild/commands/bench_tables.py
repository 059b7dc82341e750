"""What ``scanbuild bench`` shows in a terminal: tables with bars, and sentences below them."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from scanbuild.commands.console import Console, counted, printable
from scanbuild.errors import Problem

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from scanbuild.bench.against import Compared, Comparison
    from scanbuild.bench.report import BenchReport, Measured, Outcome
    from scanbuild.bench.statistics import Summary
    from scanbuild.bench.tuning import Choice

_PIPE_WIDTH = 160
_LEAST_WIDTH = 72
_UNBOUNDED = 10_000
_BAR = 14
_SHORT_BAR = 6
_LONG_BARS = "long bars"
_COPY = "of the copy"
_DISPENSABLE = ("in cache", _LONG_BARS, "p10 - p90", "empty", "GB/s")
"""What a narrow terminal goes without, the first first: names that are folded letter by letter tell nobody anything."""
_DISPENSABLE_VERSUS = (_LONG_BARS, "GB/s", _COPY)
_EIGHTHS = " ▏▎▍▌▋▊▉"
_GOOD, _FAIR = 0.85, 0.5
_STEADY = 1.5
_LARGE, _INCREDIBLE = 1 << 20, 1.25
_CLOSE = 1.05
"""Within so much of the fastest variant, selection counts as right."""


def present(console: Console, report: "BenchReport", described: str, precision: float) -> None:
    """Print the tables that the report calls for, the problems, and what they amount to."""
    if console.verbosity >= 0 and report.measured:
        versus = len(report.packages) > 1
        if versus:
            _print(partial(_versus_table, report), _DISPENSABLE_VERSUS)
        else:
            _print(partial(_table, report), _DISPENSABLE)
    console.problems(_complaints(report.outcomes))
    for item in report.outcomes:
        for what, why in item.not_taken:
            console.detail(f"{item.name}: {what}: {why}")
    for line in [*_conditions(report, described, precision), *_verdicts(report)]:
        console.say(line)


def present_tuning(console: Console, choices: "Sequence[Choice]") -> None:
    """Say what is best over all cases of each variant."""
    from scanbuild.bench.report import setting_text

    for item in choices:
        if item.setting:
            told = f"{setting_text(item.setting)} takes {item.ratio:.2f} of the time of the present values"
            console.say(f"{item.variant}: {told} (geometric mean of {counted(item.cases, 'case')})")
        else:
            console.say(f"{item.variant}: the present values are best over all its cases, or within 2% of it")


def present_comparison(
    console: Console, comparison: "Comparison", baseline: Mapping[str, Any], report: "BenchReport", most: float
) -> None:
    """Say how the cases fare against a baseline, as fractions of the copy; regressions are problems."""
    from scanbuild.bench.statistics import geometric_mean

    then, now = baseline["adapter"]["name"], report.adapter["name"]
    if then != now or baseline["engine"] != report.engine:
        there = f"{then} through {baseline['engine']}"
        console.say(f"The baseline was measured on {there}; fractions of the copy are compared.")
    regressions = comparison.regressions(most)
    console.problems(
        Problem(
            message=f"{item.name}: {item.after:.1%} of the copy, it was {item.before:.1%}: {item.loss:.1%} of the "
            f"speed is lost, {most:.1%} is allowed{_other_variant(item)}",
            rule="regression",
            stage="own",
        )
        for item in regressions
    )
    for names, words in ((comparison.only_now, "not in the baseline"), (comparison.only_before, "not measured now")):
        if names:
            console.say(f"{words.capitalize()}: {', '.join(names)}")
    ratios = [item.after / item.before for item in comparison.cases if item.before > 0 and item.after > 0]
    mean = f", {geometric_mean(ratios):.2f} times the speed (geometric mean)" if ratios else ""
    lost = f"{len(regressions)} lost more than {most:.1%}" if regressions else f"none lost more than {most:.1%}"
    console.say(f"Against the baseline: {counted(len(comparison.cases), 'case')}{mean}; {lost}.")


def time_text(seconds: float) -> str:
    """A time with four digits, in the unit that suits it."""
    for factor, unit in ((1e6, "us"), (1e3, "ms")):
        if seconds * factor < 1000:
            return f"{seconds * factor:.4g} {unit}"
    return f"{seconds:.4g} s"


def bar(fraction: float, width: int = _BAR) -> str:
    """A bar of ``width`` characters for 1, in eighths of a character."""
    eighths = round(min(max(fraction, 0.0), 1.0) * width * 8)
    whole, part = divmod(eighths, 8)
    return ("█" * whole + (_EIGHTHS[part] if part else "")).ljust(width)


def _other_variant(item: "Compared") -> str:
    if item.variant_after == item.variant_before:
        return ""
    return f"; {item.variant_after} is selected now, {item.variant_before} was"


def _table(report: "BenchReport", without: frozenset[str]) -> "Table":
    """A row a case and variant, without some columns; where several were measured, the selected one is marked."""
    several = any(len(item.entries) > 1 for item in report.measured)
    rows = [
        (outcome, {**_row(outcome, item, without, is_first=index == 0), **(_to_selected(item) if several else {})})
        for outcome in report.measured
        for index, item in enumerate(outcome.entries)
    ]
    names = [name for name in (rows[0][1] if rows else ()) if name not in without]
    table = _empty_table(*names[:2])
    for name in names[2:]:
        table.add_column(name, justify="left" if name == _COPY else "right", no_wrap=True)
    group = None
    for outcome, cells in rows:
        if outcome.group != group and group is not None:
            table.add_section()
        group = outcome.group
        table.add_row(*(cells[name] for name in names))
    return table


def _row(outcome: "Outcome", item: "Measured", without: frozenset[str], *, is_first: bool) -> "dict[str, Text | str]":
    """The cells by their columns."""
    from rich.text import Text

    from scanbuild.bench.series import label

    time, roofline = item.figures.time, outcome.roofline
    cached = item.cached if item.cached is not None and item.cache_differs else None
    assert roofline is not None
    return {
        "case": Text(printable(outcome.name) if is_first else ""),
        "variant": Text(printable(label(item))),
        "time": time_text(time.median),
        "p10 - p90": f"{time_text(time.p10).rpartition(' ')[0]} - {time_text(time.p90)}",
        "GB/s": f"{outcome.rate(time) / 1e9:.4g}",
        _COPY: _fraction(item.figures.fraction.median, without),
        "empty": _multiple(time.median / roofline.empty.median) if roofline.empty.median else "-",
        "in cache": f"{outcome.rate(cached.time) / 1e9:.4g} ({cached.fraction.median:.0%})"
        if cached is not None
        else "",
    }


def _to_selected(item: "Measured") -> "dict[str, Text | str]":
    return {"to selected": _ratio(item.ratio) if item.ratio else "selected"}


def _multiple(ratio: float) -> str:
    return f"{ratio:.1f}x" if ratio < 100 else f"{ratio:.0f}x"


def _versus_table(report: "BenchReport", without: frozenset[str]) -> "Table":
    """A row a case: both packages, and how many times as fast the first is; without some columns."""
    table = _empty_table("case", "variant")
    for name in ("time", "GB/s"):
        if name not in without:
            table.add_column(name, justify="right", no_wrap=True)
    if _COPY not in without:
        table.add_column(_COPY, no_wrap=True)
    table.add_column("other's", overflow="fold")
    table.add_column("time", justify="right", no_wrap=True)
    table.add_column("times as fast", justify="right", no_wrap=True)
    for outcome in report.measured:
        for item in outcome.entries:
            if not item.package:
                table.add_row(*_versus_row(outcome, item, without))
    return table


def _versus_row(outcome: "Outcome", item: "Measured", without: frozenset[str]) -> "Iterator[Text | str]":
    from rich.text import Text

    own, time = item is outcome.chosen, item.figures.time
    rival = outcome.rival if own else None
    yield Text(printable(outcome.name) if own else "")
    yield Text(printable(item.variant))
    yield time_text(time.median)
    if "GB/s" not in without:
        yield f"{outcome.rate(time) / 1e9:.4g}"
    if _COPY not in without:
        yield _fraction(item.figures.fraction.median, without)
    yield Text(printable("same" if rival.variant == item.variant else rival.variant) if rival is not None else "")
    yield time_text(rival.figures.time.median) if rival is not None else ""
    yield _ratio(rival.ratio, towards="high") if rival is not None and rival.ratio is not None else ""


def _empty_table(*names: str) -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(name, overflow="fold")
    return table


def _print(build: "Callable[[frozenset[str]], Table]", dispensable: Sequence[str]) -> None:
    """Print the table that is built without some of its columns: without as few as there is no room for."""
    from rich.console import Console as RichConsole

    output = RichConsole(file=sys.stdout, no_color=bool(os.environ.get("NO_COLOR")))
    output.width = max(output.width, _LEAST_WIDTH) if sys.stdout.isatty() else _PIPE_WIDTH
    unbounded = output.options.update(width=_UNBOUNDED)
    for count in range(len(dispensable) + 1):
        table = build(frozenset(dispensable[:count]))
        if output.measure(table, options=unbounded).maximum <= output.width:
            break
    output.print(table)


def _fraction(value: float, without: frozenset[str]) -> "Text":
    from rich.text import Text

    colour = "green" if value >= _GOOD else "yellow" if value >= _FAIR else "red"
    return Text.assemble((bar(value, _SHORT_BAR if _LONG_BARS in without else _BAR), colour), f" {value:4.0%}")


def _ratio(ratio: "Summary", towards: str = "low") -> "Text":
    """A ratio with its spread; ``towards`` says on which side of 1 it is welcome."""
    from rich.text import Text

    good = ratio.median >= 1 if towards == "high" else ratio.median <= 1
    spread = f" ({ratio.p10:.2f} - {ratio.p90:.2f})"
    return Text.assemble((f"{ratio.median:.2f}", "green" if good else "red"), spread)


def _complaints(outcomes: "Sequence[Outcome]") -> Iterator[Problem]:
    for item in outcomes:
        if item.status == "skipped":
            yield Problem(message=f"{item.name} is skipped: {item.message}", severity="warning", stage="own")
        elif item.status == "refused":
            hint = "no variant of the package takes this case: mend the case, or the variants' conditions"
            yield Problem(message=f"{item.name}: {item.message}", rule="case", hint=hint, stage="own")
        elif item.status == "failed":
            yield Problem(message=f"{item.name}: {item.message}", rule="case", stage="own")
        yield from _incredible(item)
    missing = [item for item in outcomes if item.status == "missing"]
    if missing:
        names = ", ".join(item.name for item in missing)
        yield Problem(message=f"{missing[0].message}\nNot measured: {names}", rule="adapter", stage="own")


def _incredible(outcome: "Outcome") -> Iterator[Problem]:
    """A warning for what is much faster than a copy, which no kernel can be that reads and writes as much."""
    if outcome.bytes_moved < _LARGE:
        return
    for item in outcome.entries:
        share = item.figures.fraction.median
        if share > _INCREDIBLE:
            hint = "see with scanbuild verify if its results are right, and if the case's bytesMoved is"
            words = f"{outcome.name}: variant {item.variant} is {share:.1f} times as fast as a copy of as many bytes"
            yield Problem(message=words, hint=hint, severity="warning", stage="own")


def _conditions(report: "BenchReport", described: str, precision: float) -> Iterator[str]:
    """How it was measured, and how well the medians are known."""
    measured = report.measured
    yield f"{counted(len(measured), 'case')} measured on {described}"
    if report.clock.source == "host":
        yield "This device has no timestamps: the times are of batches, by the host's clock, submission included."
    else:
        yield f"Timed by timestamp queries of the device, in steps of {time_text(report.clock.tick_s)}."
    if report.adapter["software"]:
        yield "This is a software adapter: it computes on the CPU, and its speed says nothing of a GPU's."
    if not measured:
        return
    worst = max(measured, key=lambda item: max(entry.figures.time.uncertainty for entry in item.entries))
    spread = max(entry.figures.time.uncertainty for entry in worst.entries)
    if spread <= precision:
        yield f"Every median is known to within {precision:.1%} with 95% confidence."
    else:
        yield f"Not every median is known to within {precision:.1%} with 95% confidence; {worst.name}: {spread:.1%}."
    empties = [item.roofline.empty.median for item in measured if item.roofline is not None]
    if min(empties) and max(empties) > _STEADY * min(empties) and not report.adapter["software"]:
        yield (
            f"The device did not keep its speed: an empty dispatch took {time_text(min(empties))} in one case and "
            f"{time_text(max(empties))} in another. Fractions of the copy hold, absolute times do not."
        )
    yield f"The copy moves {report.copy_rate / 1e9:.4g} GB/s beside the largest case."


def _verdicts(report: "BenchReport") -> Iterator[str]:
    """What follows from measuring several variants, or two packages."""
    from scanbuild.bench.statistics import geometric_mean

    compared = [item for item in report.measured if len(item.own_variants) > 1]
    if compared:
        wrong = [item for item in compared if _excess(item) > _CLOSE]
        right = len(compared) - len(wrong)
        yield f"Selection picks the fastest variant, or one within 5% of it, in {right} of {len(compared)} cases."
        for item in wrong:
            assert item.fastest is not None and item.chosen is not None
            yield (
                f"  {item.name}: {item.fastest.variant} is {_excess(item):.2f} times as fast as the selected "
                f"{item.chosen.variant}"
            )
    ratios = [item.rival.ratio.median for item in report.measured if item.rival is not None and item.rival.ratio]
    if ratios:
        faster = sum(ratio > 1 for ratio in ratios)
        yield (
            f"{report.packages[0]} is {geometric_mean(ratios):.2f} times as fast as {report.packages[1]} "
            f"(geometric mean; faster in {faster} of {counted(len(ratios), 'case')})"
        )


def _excess(outcome: "Outcome") -> float:
    """The selected variant's time over that of the fastest."""
    if outcome.chosen is None or outcome.fastest is None or not outcome.fastest.relative:
        return 1.0
    return outcome.chosen.relative / outcome.fastest.relative
