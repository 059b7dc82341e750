"""Packages over HTTP on this machine: to the loader as the Hub has them, to people as pages.

:mod:`shelf` holds what is served, :mod:`paths` says what an address asks for, :mod:`files` answers with files of a
package, :mod:`pages` with pages made of :mod:`sheet`, and :mod:`trial` runs a package's cases in the browser that asks
for it. :mod:`server` brings them together. ``page/`` is what the pages are made of: templates, styles and modules,
without a build step. Importing this package imports none of what the server needs (the extra ``browser``).
"""

from typing import TYPE_CHECKING

from scanbuild.errors import InputError, Problem

if TYPE_CHECKING:
    from scanbuild.serving.server import PackageServer
    from scanbuild.serving.settings import ServeSettings
    from scanbuild.serving.shelf import Shelf


def open_server(shelf: "Shelf", settings: "ServeSettings") -> "PackageServer":
    """A server that listens. InputError for an address it cannot use, or without the packages it needs."""
    try:
        from scanbuild.serving.server import PackageServer
    except ImportError as error:
        message = f"serving needs the Python package {error.name or 'aiohttp'}, which is not installed"
        raise InputError(Problem(message=message, hint="pip install 'scanbuild[browser]'")) from error
    server = PackageServer(shelf, settings)
    server.start()
    return server
