"""``scanbuild lower``."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scanbuild.commands.console import Console, check_writable, counted, verbosity_options, write_report
from scanbuild.errors import InputError, Problem

if TYPE_CHECKING:
    from scanbuild.lowering.lower import Read

STANDARD_INPUT = "-"
TEMPLATES = Path("templates")
MANIFEST = "manifest.json"


@click.command()
@click.argument("model", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@click.option("--op-id", metavar="DOMAIN.NAME", help="What the kernel is called; needed unless --explain is given.")
@click.option("--node", metavar="NAME", help="The Scan node, by name, path or first output, where there are several.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the source package.  [default: templates/DOMAIN.NAME]",
)
@click.option(
    "--explain", is_flag=True, help="Write nothing; show the analysis and why each strategy does or does not apply."
)
@click.option("--json", "report", type=click.Path(path_type=Path, dir_okay=False), help="Write the analysis to a file.")
@click.option("--force", is_flag=True, help="Replace a source package even if it was edited, or written by hand.")
@verbosity_options
@click.pass_obj
def lower(
    console: Console,
    model: Path,
    op_id: str | None,
    node: str | None,
    out: Path | None,
    explain: bool,
    report: Path | None,
    force: bool,
) -> None:
    """Compile the Scan node of an ONNX model into a source package.

    MODEL is an .onnx file, or - for standard input. The node's body is known here, so it becomes WGSL: the folder that
    is written has a manifest, templates, test cases with ONNX Runtime's values and benchmark cases, and render, verify,
    bench and publish treat it like any other. Needs the extra onnx (pip install 'scanbuild[onnx]').

    A folder that was lowered before is replaced, unless a file of it was edited since. What cannot be compiled is
    named with its node and operator, the exit status is 2, and nothing is written.

    \b
    Examples:
      scanbuild lower model.onnx --op-id my.models.RunningMean
      scanbuild lower model.onnx --node encoder/loop --op-id my.Encoder --out /tmp/my.Encoder
      scanbuild lower model.onnx --explain
      cat model.onnx | scanbuild lower - --explain --json analysis.json
    """
    from scanbuild.lowering.lower import check_op_id, read

    if op_id is not None:
        check_op_id(op_id)
    elif not explain:
        raise InputError(Problem(message="--op-id is needed: what shall the kernel be called?", hint="my.models.Name"))
    if report is not None:
        check_writable(report)
    data, where, folder = _bytes(model)
    found = read(data, where, folder, node)
    if explain or report is not None:
        from scanbuild.lowering.explain import explanation

        told = explanation(found)
        if report is not None:
            write_report(report, json.dumps(told, indent=2, ensure_ascii=False) + "\n")
        if explain:
            from scanbuild.commands.lower_report import show

            show(console, told)
            return
    assert op_id is not None
    _write(console, found, op_id, out or TEMPLATES / op_id, where, force=force)


def _bytes(model: Path) -> tuple[bytes, str, Path | None]:
    """The model, what it is called in messages, and the folder in which its external data may lie."""
    if str(model) == STANDARD_INPUT:
        return sys.stdin.buffer.read(), "standard input", Path.cwd()
    return model.read_bytes(), str(model), model.parent


def _write(console: Console, found: "Read", op_id: str, target: Path, where: str, *, force: bool) -> None:
    from scanbuild.lowering.cases import WRITTEN
    from scanbuild.lowering.lower import RECORD, package_files
    from scanbuild.publishing.writer import write_folder

    _check_target(target, force=force)
    files = package_files(found, op_id)
    write_folder(target, files, (RECORD, MANIFEST) if force else (RECORD,))
    tests = json.loads(files["test.json"])
    cases = len(tests["cases"])
    variants = ", ".join(variant.id for variant in found.variants)
    console.say(
        f"lowered {op_id} from {where}: `{found.candidate.path}` became "
        f"{counted(len(found.variants), 'variant')} ({variants}) with {counted(cases, 'case')}"
    )
    console.say(f"in {target}")
    remarks = tests["$comment"].removeprefix(WRITTEN).strip()
    if remarks:
        console.problems([Problem(message=remarks, file=str(target / "test.json"), severity="note")])


def _check_target(target: Path, *, force: bool) -> None:
    """Raise InputError if the folder holds another's work."""
    from scanbuild.lowering.lower import edited

    if force or not target.is_dir() or not any(target.iterdir()):
        return
    names = [path.relative_to(target) for path in sorted(target.rglob("*")) if path.is_file()]
    # Running reference.py leaves its bytecode behind.
    kept = [name for name in names if not any(part.startswith((".", "__pycache__")) for part in name.parts)]
    files = {name.as_posix(): (target / name).read_bytes() for name in kept}
    changed = edited(files)
    if changed is None:
        message = "the folder was not written by scanbuild lower"
        hint = "choose another with --out, or replace a source package with --force"
        raise InputError(Problem(message=message, file=str(target), hint=hint))
    if changed:
        message = f"the folder was edited since it was lowered: {', '.join(changed[:5])}"
        hint = "--force replaces it all the same; --out writes another folder"
        raise InputError(Problem(message=message, file=str(target), hint=hint))
