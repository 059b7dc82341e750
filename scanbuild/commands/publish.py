"""``scanbuild publish``."""

from pathlib import Path

import click

from scanbuild.commands.console import Console, verbosity_options


@click.command()
@click.argument("root", type=click.Path(path_type=Path, exists=True, file_okay=False), default=".")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default="dist",
    show_default=True,
    help="Folder in which the repository's folder is made.",
)
@verbosity_options
@click.pass_obj
def publish(console: Console, root: Path, out: Path) -> None:
    """Lay a rendered package out for the Hub: OUT/<op id>/ with build/webgpu/ and README.md, the kernel card.

    ROOT is a folder that holds build/webgpu/, or that folder itself; it defaults to the current one. A package whose
    digests do not hold, or that the loader would refuse, is not published (exit status 1). The card is made from the
    manifest. Nothing is uploaded.

    \b
    Examples:
      scanbuild publish
      scanbuild publish build/webgpu --out /tmp/hub
    """
    from scanbuild.publishing.layout import TARGET_MARKS, check_target, published_files, sound_package
    from scanbuild.publishing.writer import write_folder

    package, files = sound_package(root)
    target = out / package.manifest.op_id
    check_target(target, root)
    write_folder(target, published_files(package, files), TARGET_MARKS)
    console.say(f"published {package.manifest.op_id} from {package.location}: {len(files)} files and the kernel card")
    console.say(f"in {target}")
