"""A browser as an engine: any device that can open a page can run plans.

::

    with open_hub(HubSettings(launch="chromium")) as hub:   # a page at hub.url, for whoever knows that address
        engine = hub.next_engine(limit_s=60.0)              # the next browser that opens it: an Executor
        engine.show("begin", {"title": "a package", "total": 3})
        engine.run(job)                                     # CallError; engine.lost says why nothing runs any more
        hub.revive(engine)                                  # wait for its page, or start the browser anew

:mod:`messages` says what goes over the wire, :mod:`jobjson` how a job looks there, :mod:`site` who is answered and
:mod:`launch` how a headless browser of this machine is started. ``page/`` is what the browser loads: plain files
without a build step. Importing this package imports none of what it needs (the extra ``browser``).
"""

from typing import TYPE_CHECKING

from scanbuild.errors import NoAdapterError, Problem

if TYPE_CHECKING:
    from scanbuild.gpu.browser.hub import Hub
    from scanbuild.gpu.browser.settings import HubSettings


def open_hub(settings: "HubSettings") -> "Hub":
    """A hub that listens; NoAdapterError without the packages it needs, InputError for an address it cannot use."""
    try:
        from scanbuild.gpu.browser.hub import Hub

        return Hub(settings)
    except ImportError as error:
        raise missing_extra(error.name or "aiohttp") from error


def missing_extra(package: str) -> NoAdapterError:
    """The error for a package that is not installed."""
    message = f"the engine browser needs the Python package {package}, which is not installed"
    return NoAdapterError(Problem(message=message, hint="pip install 'scanbuild[browser]'"))
