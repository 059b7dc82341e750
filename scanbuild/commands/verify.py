"""``scanbuild verify``: run a package's test cases on WebGPU engines, and look for faults that values do not show."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scanbuild.commands.browser_options import BrowserOptions, browser_options
from scanbuild.commands.console import Console, verbosity_options

if TYPE_CHECKING:
    from scanbuild.gpu import EngineName

_ENGINES = ("wgpu", "dawn")
_FILE = click.Path(path_type=Path)


def _no_nan(_ctx: click.Context, _param: click.Parameter, value: float) -> float:
    """A range lets NaN through, which is on neither side of its ends."""
    if math.isnan(value):
        raise click.BadParameter("nan is no number of seconds.")
    return value


def _kinds(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> frozenset[str]:
    from scanbuild.cases.findings import KINDS
    from scanbuild.package.report import nearest

    for value in values:
        if value not in KINDS:
            raise click.BadParameter(
                f"there is no kind of finding {value!r}; {nearest(value, KINDS) or ', '.join(KINDS)}"
            )
    return frozenset(values)


@click.command()
@click.argument("roots", type=_FILE, nargs=-1)
@click.option(
    "--engine",
    type=click.Choice([*_ENGINES, "browser", "all"]),
    default="wgpu",
    show_default=True,
    help="What runs WGSL; browser: a page that you open anywhere; all: every engine that is present.",
)
@click.option("--adapter", metavar="TEXT", help="Use the best adapter whose description has this text.")
@click.option("--list-adapters", is_flag=True, help="List the engine's adapters, best first, and do nothing else.")
@click.option("-k", "pattern", metavar="PATTERN", help="Run the cases with this in their name; * and ? are wild.")
@click.option("--source", type=_FILE, metavar="DIR", help="Take reference.py from this folder.")
@click.option("--all-variants", is_flag=True, help="Run each case on every variant that takes it, too.")
@click.option("--require-coverage", is_flag=True, help="Fail if no case reaches a variant, on any engine or profile.")
@click.option("--fuzz", type=click.IntRange(min=0), metavar="N", help="Run N generated cases, too.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Where generated cases start from."
)
@click.option(
    "--repeat",
    type=click.IntRange(min=1, max=100000),
    metavar="N",
    help="Run each case N times, from 3 on once with workgroups in reverse order.",
)
@click.option(
    "--compile", "compile_all", is_flag=True, help="Compile every rendered shader, too, on every engine present."
)
@click.option(
    "--deep",
    is_flag=True,
    help="--all-variants --require-coverage --compile --repeat 10 --fuzz 100, as far as they are not given.",
)
@click.option(
    "--allow", "allowed", multiple=True, callback=_kinds, metavar="KIND", help="Tell such findings, but pass."
)
@click.option("--json", "json_file", type=_FILE, metavar="FILE", help="Write a report as JSON.")
@click.option("--junit", "junit_file", type=_FILE, metavar="FILE", help="Write a report as JUnit's XML.")
@click.option("--html", "html_file", type=_FILE, metavar="FILE", help="Write a report as a single HTML page.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1, max=86400),
    callback=_no_nan,
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="Give a case up when a run of it takes so long on the device.",
)
@click.option("-j", "--jobs", type=click.IntRange(1, 64), default=1, show_default=True, help="Run so many workers.")
@browser_options
@verbosity_options
@click.pass_obj
def verify(console: Console, /, **options: Any) -> int:
    """Run every case of a package's test.json on a WebGPU adapter, compare what comes out, and look for hidden faults.

    ROOTS are folders with build/webgpu/ in them, or those folders themselves; default: the current folder. The digests
    are checked first. Hardware goes before software adapters.

    Each case runs twice: as the loader would run it, and with outputs that start as NaN and more NaN behind the end of
    every tensor. So it shows if an element is never written, if a shader reads or writes past an end, which robust
    access hides, and if the bits differ from run to run. The cause of a failure is named where it can be found.
    With several packages or engines, or with --all-variants, the table has only what did not pass; -v shows the rest.

    Expected values are those of the case, else those of the source package's reference.py, else those of ONNX
    (Runtime, on the CPU). A reference.py is code: it is run only for a package that was rendered on this machine by
    you, or from a folder that you name with --source.

    Beside a package in build/webgpu/, the report is left as build/verify-report.json, where publish --push looks for
    it. Ctrl-C ends a run; the reports then hold what had been done. In GitHub Actions, failures become annotations.

    \b
    Examples:
      scanbuild verify
      scanbuild verify dist/* --json report.json --html report.html
      scanbuild verify --engine all --all-variants
      scanbuild verify --deep -j 2
      scanbuild verify --fuzz 500 --seed 7
      scanbuild verify --engine browser --host 0.0.0.0
      scanbuild verify --engine all --launch chromium --launch firefox
      scanbuild verify --list-adapters
      scanbuild verify --adapter llvmpipe -k 'reverse_*'
    """
    if options["list_adapters"]:
        return _list_adapters(console, options["engine"])
    from scanbuild.commands.verifying import VerifyOptions, run_verify

    options.pop("list_adapters")
    return run_verify(console, VerifyOptions.of(browser=BrowserOptions.taken_from(options), **options))


def _list_adapters(console: Console, engine: str) -> int:
    from scanbuild.errors import InputError, NoAdapterError, Problem
    from scanbuild.gpu import choose_adapter, quiet_drivers
    from scanbuild.gpu import list_adapters as found

    if engine == "browser":
        hint = "the page of --engine browser shows what its browser has"
        raise InputError(Problem(message="adapters of browsers cannot be listed from here", hint=hint))

    def of_engine(name: "EngineName") -> list[str]:
        return [item.describe() for item in found(name) or [choose_adapter(name)]]

    with quiet_drivers():
        if engine != "all":
            lines = of_engine("dawn" if engine == "dawn" else "wgpu")
        else:
            lines = []
            for name in _ENGINES:
                try:
                    lines += [f"{name}: {line}" for line in of_engine("dawn" if name == "dawn" else "wgpu")]
                except NoAdapterError as error:
                    lines.append(f"{name}: none ({error})")
    for line in lines:
        console.say(line)
    return 0
