"""``scanbuild serve``."""

import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from scanbuild.commands.console import Console, verbosity_options
from scanbuild.errors import InputError

if TYPE_CHECKING:
    from scanbuild.serving.server import PackageServer
    from scanbuild.serving.settings import ServeSettings
    from scanbuild.serving.shelf import Shelf

PORT = 8000


@click.command()
@click.argument("roots", type=click.Path(path_type=Path), nargs=-1)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Where to listen; 0.0.0.0: for other devices, too, over https.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help=f"The port to listen on; 0: any that is free. Default: {PORT}, or any that is free if that is taken.",
)
@click.option(
    "--certificate",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Certificate and key, as PEM, for https; default with another --host: made for this run.",
)
@verbosity_options
@click.pass_obj
def serve(console: Console, roots: tuple[Path, ...], host: str, port: int | None, certificate: Path | None) -> int:
    """Serve built packages on this machine: to the loader as the Hub does, and to people as a page.

    ROOTS are folders with build/webgpu/ in them, or those folders themselves; default: the packages in dist/, else the
    one of the current folder. Files are read when they are asked for, so that a package that is rendered anew is seen
    at once.

    The page shows what each package takes and gives, its variants, its files with rendered WGSL, and the code that
    loads it, and runs its test cases in the browser that opened it. The loader takes ADDRESS/OP-ID as a location; with
    HF_ENDPOINT=ADDRESS, scanbuild takes every ORG/OP-ID from here. With -v, every request is told. Ctrl-C ends it.

    \b
    Examples:
      scanbuild serve
      scanbuild serve dist/* --port 9000
      scanbuild serve build/webgpu --host 0.0.0.0
    """
    from scanbuild.cases.origin import state_folder
    from scanbuild.serving.settings import ServeSettings
    from scanbuild.serving.shelf import default_roots, fill_shelf

    shelf = fill_shelf(roots or default_roots(Path(), console.say))
    settings = ServeSettings(
        host=host,
        port=PORT if port is None else port,
        certificate=certificate,
        notice=console.say,
        log=console.detail,
        state=state_folder(),
    )
    server = _open(console, shelf, settings, may_move=port is None)
    try:
        _welcome(console, shelf, server)
        while not threading.Event().wait(1.0):
            continue
    except KeyboardInterrupt:
        console.say("\nThe server has ended.")
    finally:
        server.close()
    return 0


def _open(console: Console, shelf: "Shelf", settings: "ServeSettings", *, may_move: bool) -> "PackageServer":
    """A server that listens; elsewhere than by default where that port is taken."""
    from scanbuild.serving import open_server

    try:
        return open_server(shelf, settings)
    except InputError as error:
        if not may_move:
            raise
        try:
            server = open_server(shelf, replace(settings, port=0))
        except InputError:
            raise error from None
        console.say(f"Port {settings.port} is taken, so that another one is used.")
        return server


def _welcome(console: Console, shelf: "Shelf", server: "PackageServer") -> None:
    """Say where everything is. The address is said even to those who want quiet."""
    from scanbuild.commands.browsing import show_code, show_fingerprint

    for place in shelf.places:
        title = place.first_title
        console.say(f"{title.op_id} {title.revision} from {place.root}")
        console.say(f"    {server.origin}/{place.path}")
    click.echo(f"Open this page:\n\n    {server.url}\n")
    if not server.is_private:
        show_code(console, server.url)
    if server.fingerprint:
        show_fingerprint(console, server.fingerprint)
    console.say(f"HF_ENDPOINT={server.origin} takes packages from here by name. Ctrl-C ends this.")
