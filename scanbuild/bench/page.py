"""A report as one HTML page that needs nothing else: a chart and a table."""

from html import escape
from math import log2

from scanbuild.bench.report import MICROSECONDS, BenchReport, Measured, Outcome
from scanbuild.bench.series import Series, label, rates_of, shares_of, size_range, size_text, size_ticks, value_ticks

_WIDE = (960, 440)
_NARROW = (400, 400)
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 16, 16, 44
_COLOURS = 8
_DASHES = ("", "6 3", "2 3")

_STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1c2126; --soft: #5b6570; --line: #dde2e7; --panel: #f5f7f9;
  --s0: #0072b2; --s1: #d55e00; --s2: #008f68; --s3: #b8478f; --s4: #8a6d00; --s5: #7f4f24; --s6: #6a51a3;
  --s7: #c2185b; --good: #1a7f4b; --fair: #a06a00; --poor: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14181c; --ink: #e6eaee; --soft: #9aa6b2; --line: #313941; --panel: #1c2228;
    --s0: #56b4e9; --s1: #ff8c42; --s2: #2fd6a2; --s3: #e58fc6; --s4: #f0c93a; --s5: #d9a46b; --s6: #b9a2f0;
    --s7: #ff7ba6; --good: #4cc38a; --fair: #e5b454; --poor: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1080px; padding: 24px 20px 48px; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 32px 0 8px; }
p { margin: 4px 0; color: var(--soft); }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--soft); font-size: 12px; }
svg .grid { stroke: var(--line); stroke-width: 1; }
svg .roofline { stroke: var(--soft); stroke-dasharray: 7 4; }
svg polyline { fill: none; stroke-width: 2; stroke-linejoin: round; }
svg circle { stroke: var(--paper); stroke-width: 1; }
.narrow { display: none; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 8px 0 0; padding: 0; list-style: none;
  font-size: .9rem; }
.legend svg { display: inline-block; width: 28px; height: 10px; margin-right: 6px; vertical-align: middle; }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: 6px 12px; text-align: right; white-space: nowrap; border-top: 1px solid var(--line); }
thead th { background: var(--panel); border-top: 0; font-weight: 600; }
th:first-child, td:first-child, .left { text-align: left; }
tbody tr:hover { background: var(--panel); }
tr.group th { background: var(--panel); font-weight: 600; text-align: left; }
.bar { display: inline-block; width: 90px; height: 9px; margin-right: 8px; border-radius: 3px; background: var(--line);
  overflow: hidden; vertical-align: middle; }
.bar i { display: block; height: 100%; }
.good { background: var(--good); } .fair { background: var(--fair); } .poor { background: var(--poor); }
@media (max-width: 640px) {
  body { padding: 16px 12px 32px; } .wide { display: none; } .narrow { display: block; }
  th, td { padding: 5px 8px; } }
"""


def page(report: BenchReport, described: str) -> str:
    """The page. Whatever comes from a package or a driver is escaped."""
    title = f"Benchmark of {report.packages[0]}"
    clock = "timestamp queries of the device" if report.clock.source == "timestamps" else "batches, by the host's clock"
    notes = [described, f"Times by {clock}. The copy beside the largest case moves {report.copy_rate / 1e9:.4g} GB/s."]
    if report.adapter["software"]:
        notes.append("This is a software adapter: its speed says nothing of a GPU's.")
    if len(report.packages) > 1:
        notes.append(f"Compared with {report.packages[1]}; its variants are those called other.")
    chart = _charts(report) if report.measured else "<p>Nothing was measured.</p>"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n"
        + "".join(f"<p>{escape(note)}</p>\n" for note in notes)
        + f"<h2>Throughput against size</h2>\n{chart}\n<h2>Cases</h2>\n{_table(report)}\n"
        + f"{_left_out(report)}</body>\n</html>\n"
    )


def _charts(report: BenchReport) -> str:
    """Throughput, and what it is of the copy's; each for wide and for narrow screens."""
    rates, shares = rates_of(report), shares_of(report)
    items = "".join(f"<li>{_swatch(item, index)}{escape(item.name)}</li>" for index, item in enumerate(rates))
    legend = f'<ul class="legend">{items}</ul>'
    throughput = _both(rates, "Throughput against size", "GB/s")
    fractions = _both(shares, "Fraction of the copy against size", "of the copy")
    return f"{throughput}\n{legend}\n<h2>Fraction of the copy against size</h2>\n{fractions}\n{legend}"


def _both(lines: list[Series], title: str, unit: str) -> str:
    wide = f'<div class="wide">{_chart(lines, title, unit, *_WIDE)}</div>'
    narrow = f'<div class="narrow">{_chart(lines, title, unit, *_NARROW)}</div>'
    return f"{wide}\n{narrow}"


def _chart(lines: list[Series], title: str, unit: str, width: int, height: int) -> str:
    """Bytes moved on a logarithmic axis to the right, the speed upwards."""
    points = [point for item in lines for point in item.points]
    low, high = size_range(point.size for point in points)
    values = value_ticks(max(point.value for point in points))
    across, up = width - _LEFT - _RIGHT, height - _TOP - _BOTTOM

    def at(size: float, value: float) -> tuple[float, float]:
        x = _LEFT + across * log2(max(size, 1) / low) / log2(high / low)
        return x, _TOP + up * (1 - value / values[-1])

    parts = [f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{title}">']
    for value in values:
        x, y = at(low, value)
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{y:.1f}" x2="{width - _RIGHT}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:.4g}</text>')
    for size in size_ticks(low, high, width // 110):
        x, y = at(size, 0)
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{x:.1f}" y="{y + 18:.1f}" text-anchor="middle">{size_text(size)}</text>')
    parts.append(f'<text x="{width - _RIGHT}" y="{height - 6}" text-anchor="end">bytes moved a call</text>')
    parts.append(f'<text x="{_LEFT + 6}" y="{_TOP + 12}">{unit}</text>')
    for index, item in enumerate(lines):
        vertices = " ".join("{:.1f},{:.1f}".format(*at(*vertex)) for vertex in item.line)
        parts.append(f'<polyline {_stroke(item, index)} points="{vertices}"/>')
        for point in () if item.is_roofline else item.points:
            x, y = at(point.size, point.value)
            parts.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{_colour(index)}">'
                f"<title>{escape(point.words)}</title></circle>"
            )
    return "\n".join([*parts, "</svg>"])


def _swatch(item: Series, index: int) -> str:
    return f'<svg viewBox="0 0 28 10" aria-hidden="true"><polyline {_stroke(item, index)} points="0,5 28,5"/></svg>'


def _stroke(item: Series, index: int) -> str:
    if item.is_roofline:
        return 'class="roofline"'
    dash = _DASHES[(index - 1) // _COLOURS % len(_DASHES)]
    return f'stroke="{_colour(index)}"' + (f' stroke-dasharray="{dash}"' if dash else "")


def _colour(index: int) -> str:
    return f"var(--s{(index - 1) % _COLOURS})"


def _table(report: BenchReport) -> str:
    compared = any(item.ratio is not None for outcome in report.measured for item in outcome.entries)
    names = ["case", "variant", "time", "p10 - p90", "GB/s", "of the copy", "empty", "in cache"]
    names += ["time to the first"] if compared else []
    head = "".join(f"<th{' class=left' if name in ('variant', 'of the copy') else ''}>{name}</th>" for name in names)
    rows, group = [], ""
    for outcome in report.measured:
        if outcome.group and outcome.group != group:
            rows.append(f'<tr class="group"><th colspan="{len(names)}">{escape(outcome.group)}</th></tr>')
        group = outcome.group
        rows += [_row(outcome, item, compared=compared) for item in outcome.entries]
    body = "\n".join(rows)
    return f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'


def _row(outcome: Outcome, item: Measured, *, compared: bool) -> str:
    time, fraction = item.figures.time, item.figures.fraction.median
    assert outcome.roofline is not None
    empty = outcome.roofline.empty.median
    grade = "good" if fraction >= 0.85 else "fair" if fraction >= 0.5 else "poor"
    bar = f'<span class="bar"><i class="{grade}" style="width:{min(fraction, 1):.1%}"></i></span>{fraction:.0%}'
    cached = (
        f"{outcome.rate(item.cached.time) / 1e9:.4g} GB/s" if item.cached is not None and item.cache_differs else ""
    )
    cells = [
        f"<td>{escape(outcome.name)}</td>",
        f'<td class="left">{escape(label(item))}</td>',
        f"<td>{_micro(time.median)} us</td>",
        f"<td>{_micro(time.p10)} - {_micro(time.p90)}</td>",
        f"<td>{outcome.rate(time) / 1e9:.4g}</td>",
        f'<td class="left">{bar}</td>',
        f"<td>{time.median / empty:.1f}x</td>" if empty else "<td></td>",
        f"<td>{cached}</td>",
    ]
    if compared:
        ratio = item.ratio
        cells.append(f"<td>{ratio.median:.3f} ({ratio.p10:.2f} - {ratio.p90:.2f})</td>" if ratio else "<td></td>")
    return f"<tr>{''.join(cells)}</tr>"


def _left_out(report: BenchReport) -> str:
    left = [item for item in report.outcomes if item.status != "measured"]
    if not left:
        return ""
    items = "".join(f"<li>{escape(item.name)} ({item.status}): {escape(item.message)}</li>" for item in left)
    return f"<h2>Not measured</h2>\n<ul>{items}</ul>\n"


def _micro(seconds: float) -> str:
    return f"{seconds * MICROSECONDS:.4g}"
