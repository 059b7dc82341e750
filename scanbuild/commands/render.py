"""``scanbuild render``."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scanbuild.commands.console import Console, counted, verbosity_options
from scanbuild.errors import CheckFailedError, InputError, Problem, ScanbuildError, raise_if_any

if TYPE_CHECKING:
    from scanbuild.publishing.build import Build

PACKAGE = Path("build", "webgpu")
METADATA_FILE, MANIFEST_FILE = "metadata.json", "manifest.json"
PACKAGE_MARKS = (METADATA_FILE, MANIFEST_FILE)
LOCAL = Path("build", "local")
DEVICE = "device.json"
LOCAL_MARKS = (DEVICE,)


@click.command()
@click.argument("source", type=click.Path(path_type=Path), required=False)
@click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False),
    default=".",
    show_default=True,
    help="Folder in which build/webgpu/ is made.",
)
@click.option("--check", is_flag=True, help="Write nothing; tell whether build/webgpu/ is what the source gives.")
@verbosity_options
@click.pass_obj
def render(console: Console, source: Path | None, root: Path, check: bool) -> None:
    """Turn a source package into ROOT/build/webgpu/, which the loader accepts.

    SOURCE is a folder with manifest.json, test.json, bench.json and *.wgsl.jinja; it defaults to the current folder
    if that is one, else to the only one under templates/. Everything is checked, and every case is planned on the
    built-in device profiles. The shaders that come out, for people to read, are in rendered/. No GPU is needed; where
    there is one, build/local/ shows the shaders that it would get.

    The folder is replaced at one stroke: after a failure the last good one is still there. With --check nothing is
    written, and the exit status is 1 if a file is stale, edited, missing or too many.

    \b
    Examples:
      scanbuild render
      scanbuild render templates/ai.onnx.Scan --root /tmp/scan
      scanbuild render --check
    """
    from scanbuild.cases.origin import remember_build, state_folder
    from scanbuild.planning.profiles import profiles
    from scanbuild.publishing.build import build, check_source
    from scanbuild.publishing.provenance import provenance_of
    from scanbuild.publishing.writer import write_folder

    folder, target = source or default_source(), root / PACKAGE
    _check_apart(folder, target)
    checked = check_source(folder)
    raise_if_any(static_errors(folder))
    built = build(checked, profiles(), provenance_of(*checked.folders))
    console.problems(built.warnings)
    if check:
        _check(console, built, target)
        return
    write_folder(target, built.files, PACKAGE_MARKS)
    if not remember_build(target, checked.source.folder, state_folder()):
        console.detail("the build could not be noted: verify needs --source to find reference.py")
    console.say(
        f"rendered {built.package.manifest.op_id} from {checked.source.folder}: {counted(len(built.cases), 'case')} on "
        f"{counted(len(built.rendering.devices), 'device profile')} lead to "
        f"{counted(len(built.rendering.files), 'shader')}"
    )
    console.say(f"in {target}")
    _render_locally(console, built, root / LOCAL)


def default_source() -> Path:
    """The current folder if it is a source package, else the only one under its ``templates/``."""
    here, folder = Path(), Path("templates")
    if (here / MANIFEST_FILE).is_file() and not (here / METADATA_FILE).is_file():
        return here
    found = sorted(path.parent for path in folder.glob("*/manifest.json") if not path.parent.name.startswith("_"))
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(map(str, found))
        raise InputError(Problem(message="there are several packages; name one", file=str(folder), hint=names))
    message = "there is no source package here, and none under templates/"
    raise InputError(
        Problem(message=message, hint="name the folder of one, or make one with scanbuild init DOMAIN.NAME")
    )


def static_errors(folder: Path) -> list[Problem]:
    """What is certain to fail at a call, each mistake once and where it stands.

    Planning the cases would find it as well, in the words of whatever fails of it first.
    """
    from scanbuild.checking.check import STATIC_RULES, apply
    from scanbuild.checking.reading import read_package

    read = read_package(folder)
    if read.kind != "source" or read.subject is None:
        return []
    errors = [problem for problem in apply(STATIC_RULES, read.subject) if problem.severity == "error"]
    # The variants of a family repeat what is written once.
    return list({(item.file, item.line, item.column, item.rule, item.path): item for item in errors}.values())


def _check_apart(source: Path, target: Path) -> None:
    """Refuse to replace the folder that is read from, or one around it."""
    if source.resolve(strict=False).is_relative_to(target.resolve(strict=False)):
        message = f"the source lies in {target}, which rendering replaces"
        raise InputError(Problem(message=message, file=str(source), hint="choose another folder with --root"))


def _check(console: Console, built: "Build", target: Path) -> None:
    from scanbuild.package.fetching import FetchError
    from scanbuild.package.folder import FolderFetch
    from scanbuild.package.metadata import METADATA_FILE
    from scanbuild.publishing.build import with_provenance_of
    from scanbuild.publishing.writer import differences

    try:
        files: Mapping[str, bytes] = with_provenance_of(built.files, FolderFetch(target)(METADATA_FILE))
    except FetchError:
        files = built.files
    found = differences(target, files)
    if found:
        raise CheckFailedError(*found)
    console.say(f"{target} is what the source gives: {len(files)} files")


def _render_locally(console: Console, built: "Build", folder: Path) -> None:
    """Write what the adapter at hand would get. Its trouble is not the package's, and only told."""
    from scanbuild.gpu import open_engine, quiet_drivers
    from scanbuild.publishing.rendering import render_cases
    from scanbuild.publishing.writer import remove_folder, write_folder

    try:
        with quiet_drivers(), open_engine("wgpu") as engine:
            record, name = engine.record, engine.adapter.describe()
        rendering = render_cases(built.package, built.cases, {"local": record}, refusals=True)
    except ScanbuildError as error:
        remove_folder(folder, LOCAL_MARKS)
        console.detail(f"no adapter at hand, so there is no {folder}: {error}")
        return
    device = json.dumps(record.to_json(), indent=2) + "\n"
    write_folder(folder, {**rendering.all_files(), DEVICE: device.encode()}, LOCAL_MARKS)
    console.say(f"in {folder}: {counted(len(rendering.files), 'shader')} for the adapter at hand, {name}")
