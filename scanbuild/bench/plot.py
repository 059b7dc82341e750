"""A report as a picture, drawn with matplotlib, which is imported when one is asked for (``scanbuild[plot]``)."""

from importlib import import_module
from pathlib import Path
from typing import Any

from scanbuild.bench.report import BenchReport
from scanbuild.bench.series import rates_of, size_range, size_text, size_ticks
from scanbuild.errors import InputError, Problem

_COLOURS = ("#0072b2", "#d55e00", "#008f68", "#b8478f", "#8a6d00", "#7f4f24", "#6a51a3", "#c2185b")
_STYLES = ("-", "--", ":")


def require_matplotlib() -> None:
    """InputError if matplotlib is not installed."""
    try:
        import_module("matplotlib")
    except ImportError as error:
        raise InputError(
            Problem(message=f"a plot needs matplotlib: {error}", hint="pip install 'scanbuild[plot]'")
        ) from None


def draw(report: BenchReport, described: str, file: Path) -> None:
    """Write the picture: throughput against size, a line a variant, and the copy as roofline."""
    matplotlib: Any = import_module("matplotlib")
    figure_class: Any = import_module("matplotlib.figure").Figure
    canvas_class: Any = import_module("matplotlib.backends.backend_agg").FigureCanvasAgg
    # What a matplotlibrc in the current folder says does not count: it can name programs to run.
    plain = {name: value for name, value in matplotlib.rcParamsDefault.items() if not name.startswith("backend")}
    with matplotlib.rc_context({**plain, "font.size": 10, "axes.spines.top": False, "axes.spines.right": False}):
        figure = figure_class(figsize=(10, 5.5), layout="constrained")
        canvas_class(figure)
        axes = figure.add_subplot()
        for index, item in enumerate(rates_of(report)):
            sizes, high = zip(*item.line, strict=True)
            if item.is_roofline:
                axes.plot(sizes, high, color="#5b6570", linestyle=(0, (6, 3)), label=_plain(item.name))
                continue
            colour = _COLOURS[(index - 1) % len(_COLOURS)]
            style = _STYLES[(index - 1) // len(_COLOURS) % len(_STYLES)]
            axes.plot(sizes, high, color=colour, linestyle=style, label=_plain(item.name))
            axes.plot(
                [point.size for point in item.points],
                [point.value for point in item.points],
                color=colour,
                linestyle="",
                marker="o",
                markersize=4,
            )
        ticks = size_ticks(*size_range(outcome.bytes_moved for outcome in report.measured))
        axes.set_xscale("log", base=2)
        axes.set_xticks(ticks, [size_text(size) for size in ticks])
        axes.set_ylim(bottom=0)
        axes.set_xlabel("bytes moved a call")
        axes.set_ylabel("GB/s")
        axes.grid(color="#dde2e7", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.set_title(_plain(f"{report.packages[0]} on {described}"), loc="left", fontsize=10)
        axes.legend(frameon=False, fontsize=9)
        figure.savefig(file, dpi=150, format="png")


def _plain(text: str) -> str:
    """The text without what matplotlib would read as mathematics, and with a name it does not take for hidden."""
    return text.replace("$", r"\$").lstrip("_")
