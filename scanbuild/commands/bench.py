"""``scanbuild bench``: time a package's benchmark cases on a WebGPU adapter."""

import math
from pathlib import Path
from typing import Any

import click

from scanbuild.commands.bench_run import BenchRun
from scanbuild.commands.browser_options import BrowserOptions, one_browser_options
from scanbuild.commands.console import Console, verbosity_options


def _no_nan(_ctx: click.Context, _param: click.Parameter, value: float) -> float:
    """A range lets NaN through, which is on neither side of its ends."""
    if math.isnan(value):
        raise click.BadParameter("nan is no number here.")
    return value


def _share(_ctx: click.Context, _param: click.Parameter, value: str | None) -> float | None:
    """A percentage as a fraction."""
    from scanbuild.bench.against import parse_share

    if value is None:
        return None
    try:
        return parse_share(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is no percentage from 0 to 100.") from None


@click.command()
@click.argument("root", type=click.Path(path_type=Path), default=Path())
@click.option(
    "--engine",
    type=click.Choice(["wgpu", "dawn", "browser"]),
    default="wgpu",
    show_default=True,
    help="What runs WGSL; browser: a device that opens a page.",
)
@click.option("--adapter", metavar="TEXT", help="Use the best adapter whose description has this text.")
@click.option(
    "--case", "patterns", metavar="GLOB", multiple=True, help="Only cases with this in their name; * and ? are wild."
)
@click.option("--all-variants", is_flag=True, help="Time every variant that takes a case, not only the selected one.")
@click.option(
    "--vs", "other", type=click.Path(path_type=Path), metavar="ROOT2", help="Time another package beside this one."
)
@click.option("--json", "json_file", type=click.Path(path_type=Path), metavar="FILE", help="Write a report as JSON.")
@click.option("--html", "html_file", type=click.Path(path_type=Path), metavar="FILE", help="Write a page with a chart.")
@click.option(
    "--plot", "plot_file", type=click.Path(path_type=Path), metavar="FILE.png", help="Draw the chart (scanbuild[plot])."
)
@click.option(
    "--against", type=click.Path(path_type=Path), metavar="FILE", help="Compare with a report that --json wrote."
)
@click.option(
    "--max-regression",
    callback=_share,
    metavar="PERCENT",
    help="With --against: fail if a case loses more of its speed.  [default: 10%]",
)
@click.option("--tune", is_flag=True, help="Try the values that bench.json lists for tunables, and say which are best.")
@click.option("--write", is_flag=True, help="With --tune: write the best values into the source's manifest.")
@click.option("--source", type=click.Path(path_type=Path), metavar="DIR", help="With --write: the source package.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.01, max=3600),
    callback=_no_nan,
    default=3.0,
    show_default=True,
    help="Give up on more confidence in a case after so long.",
)
@click.option(
    "--precision",
    type=click.FloatRange(min=0.1, max=50),
    callback=_no_nan,
    default=1.0,
    show_default=True,
    metavar="PERCENT",
    help="Repeat until medians are known this well.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1, max=3600),
    callback=_no_nan,
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Give a device up that is busy for so long with one submission.",
)
@one_browser_options
@verbosity_options
@click.pass_obj
def bench(console: Console, /, **options: Any) -> int:
    """Time every case of a package's bench.json on a WebGPU adapter.

    ROOT is a source package, or a built one (a folder with build/webgpu/ in it, or that folder itself); default: the
    current folder. Times are of the device: a call's dispatches, and zeroing its scratch buffers, with the data there
    already. Beside each case a copy of as many bytes and an empty dispatch are timed, alternating with it. Inputs that
    would fit in a cache are spread over enough memory that they do not; where that matters both speeds are shown.

    With --engine browser, the command prints the address of a page, and whoever opens it lends the device for the time
    of the run; --launch starts a headless browser of this machine instead.

    \b
    Exit status:
      0  all cases were timed, or are beyond the device's limits (those are named)
      1  a case failed, no variant takes it, or it lost more speed than --max-regression allows
      2  the input is wrong
      3  there is no usable adapter, or it was lost for good: what was measured till then is shown and written

    \b
    Examples:
      scanbuild bench
      scanbuild bench templates/ai.onnx.Scan --case '*x64' --all-variants
      scanbuild bench --vs ../published --html report.html
      scanbuild bench --json baseline.json
      scanbuild bench --against baseline.json --max-regression 5%
      scanbuild bench templates/ai.onnx.Scan --tune --write
      scanbuild bench --engine browser --host 0.0.0.0
      scanbuild bench --engine browser --launch chromium --launch-on gpu
    """
    return BenchRun(console, {**options, "browser": BrowserOptions.taken_from(options)}).run()
