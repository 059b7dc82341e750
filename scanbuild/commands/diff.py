"""``scanbuild diff``: what differs between two packages, and whether it breaks callers."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from scanbuild.commands.console import Console, verbosity_options
from scanbuild.commands.json_report import check_json_file, clear_the_way, json_option, write_json
from scanbuild.errors import InputError, Problem

if TYPE_CHECKING:
    from scanbuild.bench.between import Between
    from scanbuild.publishing.diff_sides import Side

_BREAKS: Final = 1
_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("old")
@click.argument("new")
@click.option("--patch", "-p", is_flag=True, help="Show the changed lines of files and of rendered WGSL.")
@click.option(
    "--bench", "reports", type=_FILE, nargs=2, metavar="OLD.json NEW.json", help="Compare two reports of bench --json."
)
@click.option(
    "--strict", is_flag=True, help="Let changes fail, too, of which it is unknown whether they break callers."
)
@json_option
@verbosity_options
@click.pass_obj
def diff(
    console: Console,
    old: str,
    new: str,
    patch: bool,
    reports: tuple[Path, Path] | None,
    strict: bool,
    json_file: Path | None,
) -> int:
    """Tell what differs between two packages: contract, variants, files, rendered WGSL, and performance.

    OLD and NEW are each a source package, a built one (a folder with build/webgpu/ in it, or that folder itself), a
    published folder, an http(s) URL, or a version on the Hub: ORG/NAME@v1. Nothing of them is run, and no GPU is
    needed. A source is compared as its build would be.

    The contract is what callers rely on: ports, dtypes, shapes, attributes, arguments, and which calls are taken on
    which devices. Each change of it is breaking, compatible, or unknown. Where the manifests do not tell, as of a
    reworded condition or shape, the cases of both packages are planned on the built-in device profiles in both. The
    same plans tell which cases select another variant, and which WGSL changed.

    Performance is compared where --bench names two reports of scanbuild bench, or where both packages have one as
    build/bench-report.json in their folder.

    \b
    Exit status:
      0  no caller breaks, as far as is known; or NEW has a higher contract version than OLD
      1  callers break under the same version (with --strict: or may break)
      2  there is no package at OLD or NEW, or a file cannot be read

    \b
    Examples:
      scanbuild diff dist/ai.onnx.Scan templates/ai.onnx.Scan
      scanbuild diff webgpu-kernels/ai.onnx.Scan@v1 build/webgpu --patch
      scanbuild diff old new --bench old.json new.json
      scanbuild diff old new --strict --json - | jq .contract
    """
    from scanbuild.planning.profiles import profiles
    from scanbuild.publishing.diff import compare_packages

    check_json_file(json_file)
    one, other = _open_both(old, new)
    performance = _performance(console, one, other, reports)
    found = compare_packages(one, other, profiles())
    console.problems(found.notes)
    clear_the_way(console, json_file)
    from scanbuild.commands.diff_tables import present

    present(console, found, performance, patch=patch, strict=strict)
    report = found.to_json(strict=strict)
    report["performance"] = None if performance is None else performance.to_json()
    write_json(json_file, report)
    return _BREAKS if found.fails(strict=strict) else 0


def _open_both(old: str, new: str) -> tuple["Side", "Side"]:
    """Both packages; InputError with what is wrong with either."""
    from scanbuild.publishing.diff_sides import open_side

    sides: list[Side] = []
    problems: list[Problem] = []
    for location in (old, new):
        try:
            sides.append(open_side(location, token=os.environ.get("HF_TOKEN") or None))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(*dict.fromkeys(problems))
    return sides[0], sides[1]


def _performance(console: Console, old: "Side", new: "Side", reports: tuple[Path, Path] | None) -> "Between | None":
    """The two reports that are named, or lie beside both packages, compared; None if there are none.

    InputError with what is wrong with either.
    """
    from scanbuild.bench.against import read_baseline
    from scanbuild.bench.between import between

    reports = reports or _reports_beside(console, old, new)
    if reports is None:
        return None
    read: list[dict[str, Any]] = []
    problems: list[Problem] = []
    for file in reports:
        try:
            read.append(read_baseline(file))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(*dict.fromkeys(problems))
    return between(read[0], read[1])


def _reports_beside(console: Console, old: "Side", new: "Side") -> tuple[Path, Path] | None:
    """The reports that lie in the folders of both packages. One that a link puts there is anybody's file."""
    from scanbuild.publishing.diff_sides import BENCH_REPORT

    folders = [side.folder for side in (old, new) if side.folder is not None]
    files = [folder / BENCH_REPORT for folder in folders]
    if len(files) < 2 or files[0] == files[1] or not all(file.is_file() for file in files):
        return None
    for folder, file in zip(folders, files, strict=True):
        if not file.resolve().is_relative_to(folder.resolve()):
            message = "the report lies outside of the package's folder, and is not read"
            hint = "name both reports with --bench"
            console.problems([Problem(message=message, file=str(file), hint=hint, severity="warning", stage="own")])
            return None
    return files[0], files[1]
