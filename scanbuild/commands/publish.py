"""``scanbuild publish``."""

from pathlib import Path

import click

from scanbuild.commands.console import Console, verbosity_options

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_OUTPUT = click.Path(path_type=Path)


@click.command()
@click.argument("root", type=click.Path(path_type=Path, exists=True, file_okay=False), default=".")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default="dist",
    show_default=True,
    help="Folder in which the repository's folder is made.",
)
@click.option("--push", "repository", metavar="ORG/NAME", help="Push it to this kernel repository of the Hub, too.")
@click.option("--dry-run", is_flag=True, help="Tell what would happen; write nothing, and send nothing that writes.")
@click.option(
    "--verified",
    type=_FILE,
    metavar="FILE",
    help="The report of 'verify --json' to go by; default: the one that the last verify left in build/.",
)
@click.option("--force", is_flag=True, help="Push though it was not verified, or its sources have changes.")
@click.option("--json", "json_file", type=_OUTPUT, metavar="FILE", help="Write a report as JSON, if all went well.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1, max=3600),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Give up when the Hub says nothing for so long.",
)
@verbosity_options
@click.pass_obj
def publish(
    console: Console,
    root: Path,
    out: Path,
    repository: str | None,
    dry_run: bool,
    verified: Path | None,
    force: bool,
    timeout: float,
    json_file: Path | None,
) -> None:
    """Lay a rendered package out for the Hub: OUT/<op id>/ with build/webgpu/ and README.md, the kernel card.

    ROOT is a folder that holds build/webgpu/, or that folder itself; it defaults to the current one. The card is made
    from the manifest. Nothing is uploaded without --push.

    --push ORG/NAME uploads these files to the branch v<version> of a repository of type kernel, version being that of
    the contract in publish.json. The repository is created if need be; NAME has to be the op id, as the loader
    demands. All files come with one commit, which is there whole or not at all, and are read back and compared then.
    Pushing the same bytes again does nothing.

    Before anything is sent, a push asks for a report of verify on these very bytes in which every case passed, and for
    sources without changes that git does not know; --force does without either. A contract that breaks callers of what
    is on the branch is never pushed: raise "version" in publish.json. 'scanbuild diff' shows what differs.

    The token is that of huggingface_hub: HF_TOKEN, or the one of 'hf auth login'. HF_ENDPOINT names another Hub. The
    package huggingface_hub is needed: pip install 'scanbuild[hub]'.

    \b
    Exit status:
      1  something does not hold: digests, the verification, clean sources, the contract; or the Hub did not do its
         part: it could not be reached, was busy, or gives back other bytes. Trying again may help.
      2  what was given is wrong: no package or one that the loader refuses, the name of the repository, a report
         that is none, a missing token, or one that may not write there.

    \b
    Examples:
      scanbuild publish
      scanbuild publish build/webgpu --out /tmp/hub
      scanbuild publish --push ORG/ai.onnx.Scan --dry-run
      scanbuild publish --push ORG/ai.onnx.Scan
    """
    from scanbuild.commands.publishing import PublishOptions, run_publish

    run_publish(
        console,
        PublishOptions(
            root=root,
            out=out,
            repository=repository,
            dry_run=dry_run,
            verified=verified,
            force=force,
            timeout=timeout,
            json_file=json_file,
        ),
    )
