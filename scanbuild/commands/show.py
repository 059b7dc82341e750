"""``scanbuild show``: what a kernel takes and gives, and what the loader would do with a call of it, and why."""

from typing import Any

import click

from scanbuild.commands.console import Console, verbosity_options
from scanbuild.commands.json_report import json_option


@click.command()
@click.argument("package", default=".")
@click.option("--case", metavar="NAME", help="Explain the call of this case of test.json or bench.json.")
@click.option(
    "--shapes", multiple=True, metavar="NAME=SHAPE,...", help="Explain a call with such inputs: a=2x3,b=float16[4]."
)
@click.option("--dtype", "dtypes", multiple=True, metavar="NAME=DTYPE,...", help="The dtype of an input.")
@click.option("--attr", "attrs", multiple=True, metavar="NAME=VALUE", help="An attribute of the call; repeatable.")
@click.option("--arg", "args", multiple=True, metavar="NAME=VALUE", help="A scalar argument; repeatable.")
@click.option(
    "--output", "outputs", multiple=True, metavar="NAME[=SHAPE],...", help="Ask for an optional output, or a shape."
)
@click.option("--device", metavar="PROFILE", help="A built-in device profile, or a device record as a JSON file.")
@click.option("--all-devices", is_flag=True, help="Tell which variant each built-in profile selects.")
@click.option("--variant", metavar="ID", help="Explain this variant in place of the one that is selected.")
@click.option("--wgsl", is_flag=True, help="Print the WGSL of the passes that run, and nothing else.")
@click.option("--pass", "pass_id", metavar="ID", help="With --wgsl: of this pass alone.")
@click.option("--version", type=click.IntRange(min=0), metavar="N", help="Of a repository: the branch vN.")
@click.option("--revision", metavar="REV", help="Of a repository: this revision.")
@click.option("--expected-op-id", metavar="ID", help="At a URL: the op id; default: what the URL ends in.")
@json_option
@verbosity_options
@click.pass_obj
def show(console: Console, /, **options: Any) -> int:
    """Show what a package's kernel takes and gives, and what the loader would do with a call of it, and why.

    PACKAGE is a source package, a folder with build/webgpu/ in it, that folder itself, an http(s) URL, or a repository
    ORG/NAME of the Hub with --version or --revision; default: the current folder. Nothing of it is run, and no GPU is
    needed.

    Without --case or --shapes you see the contract of the kernel, and its variants in the order in which they are
    tried. With one of them you see a call: why each variant is taken or not, with the values that its conditions read;
    the derives with their values; and for each pass its grid, its bindings with bytes, and its uniforms. With -v all
    conditions and the WGSL are shown, too.

    A SHAPE is 2x3, or float16[2x3] with a dtype, or nothing or "scalar" for no dimensions. A dtype that is not given is
    that of the port, or the first that it admits. A VALUE is JSON, or else a text. With --case, such options change the
    case.

    \b
    Exit status:
      0  what was asked for is shown
      1  the loader refuses the call (with --all-devices: on every device)
      2  there is no such package, case, port, variant or device

    \b
    Examples:
      scanbuild show templates/ai.onnx.Scan
      scanbuild show dist/ai.onnx.Scan --case by_hand_forward_3x1
      scanbuild show . --shapes initial_state=64,scan_input=4096x64 --attr reverse=1
      scanbuild show . --shapes scan_input=float16[9x5],initial_state=5 --device webgpu-defaults
      scanbuild show . --case by_hand_forward_3x1 --all-devices
      scanbuild show . --case by_hand_forward_3x1 --wgsl > shader.wgsl
    """
    from scanbuild.commands.showing import ShowOptions, run_show

    return run_show(console, ShowOptions(**options))
