"""The command line: one module a command, imported only when it is run, so that help is instant.

``main`` is the console script. It alone turns exceptions into words and exit statuses.
"""

from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn

import click

from scanbuild import __version__
from scanbuild.commands.console import Console, spell_what_an_encoding_lacks, verbosity_options
from scanbuild.commands.faults import report_failure

# Name -> (module:attribute, summary). In the order in which a newcomer meets them.
COMMANDS = {
    "init": ("scanbuild.commands.init:init", "Begin a kernel: write a source package that works."),
    "lower": ("scanbuild.commands.lower:lower", "Compile the Scan node of an ONNX model into a source package."),
    "check": ("scanbuild.commands.check:check", "Find what is wrong with a package, without a GPU."),
    "show": ("scanbuild.commands.show:show", "Tell what the loader would do with a call, and why."),
    "render": ("scanbuild.commands.render:render", "Turn a source package into a package the loader accepts."),
    "verify": ("scanbuild.commands.verify:verify", "Run a package's test cases on a WebGPU adapter."),
    "bench": ("scanbuild.commands.bench:bench", "Time a package's benchmark cases on a WebGPU adapter."),
    "diff": ("scanbuild.commands.diff:diff", "Tell what differs between two packages, and whether it breaks callers."),
    "serve": ("scanbuild.commands.serve:serve", "Serve packages on this machine, to the loader and as a page."),
    "publish": ("scanbuild.commands.publish:publish", "Lay a package out for the Hub, and push it there."),
}


class CommandGroup(click.Group):
    """A group that knows its commands by name and summary, and imports one when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = get_close_matches(name, COMMANDS, n=1)
            known = f"did you mean {near[0]!r}?" if near else "the commands are " + ", ".join(COMMANDS)
            ctx.fail(f"no command {name!r}: {known}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def main(  # type: ignore[override]  # it always exits, whatever standalone_mode says
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        """Run the command line and exit: with the command's status, or with that of what went wrong.

        A command may return its exit status; None counts as 0.
        """
        console = Console()
        spell_what_an_encoding_lacks()
        extra["standalone_mode"] = False
        try:
            result = super().main(args, prog_name, obj=console, **extra)
        except Exception as failure:
            raise SystemExit(report_failure(failure, console)) from None
        raise SystemExit(result if isinstance(result, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, BrokenPipeError) as failure:
            # Click would end both with the status of a failed check.
            return report_failure(failure, ctx.obj)


@click.group(
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="'scanbuild COMMAND --help' explains a command and shows examples.",
)
@click.version_option(__version__, "-V", "--version", prog_name="scanbuild", message="%(prog)s %(version)s")
@verbosity_options
def main() -> None:
    """Build, verify and ship WebGPU kernel packages for @huggingface/kernels.

    A source package is a folder with a manifest, shader templates and test cases. scanbuild renders it into
    build/webgpu/, the folder that the loader reads, runs its cases on a real WebGPU adapter, and lays it out
    for the Hub together with a kernel card:

    \b
      scanbuild check templates/ai.onnx.Scan
      scanbuild render templates/ai.onnx.Scan
      scanbuild verify
      scanbuild bench
      scanbuild publish

    Nothing is uploaded without publish --push, and the same sources give the same bytes on every machine.

    \b
    Exit status:
      0  all is well
      1  a check failed: a wrong result, a stale build, a digest that does not hold
      2  the input is wrong
      3  there is no usable WebGPU adapter
      4  an internal fault of scanbuild

    \b
    Environment:
      NO_COLOR         no colours and no progress bars; they are left out in a pipe, too
      SCANBUILD_DEBUG  set to 1, shows the traceback of an internal fault
    """
