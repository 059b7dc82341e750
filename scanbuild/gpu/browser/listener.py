"""An HTTP server in a thread of its own, so that whoever started it goes on, and blocks as it likes."""

import asyncio
import contextlib
import errno
import logging
import ssl
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Final, TypeAlias

from aiohttp import web

from scanbuild.errors import InputError, Problem
from scanbuild.gpu.browser import addresses
from scanbuild.gpu.browser.certificate import own_certificate, server_context
from scanbuild.gpu.browser.settings import ServerSettings

START_LIMIT_S: Final = 20.0

_LOG: Final = logging.getLogger("scanbuild.browser")
_LOG.addHandler(logging.NullHandler())
_LOG.propagate = False
_MOST_SENT: Final = 1024
"""So many bytes the body of a request may have."""

Answer: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]
"""What answers every request, whatever its path and method."""


class Listener:
    """Listens from :meth:`start` to :meth:`close`. ``headers`` go with every answer, and before what it has itself."""

    def __init__(self, settings: ServerSettings, answer: Answer, headers: Mapping[str, str]) -> None:
        self.settings = settings
        self.port = settings.port
        self.fingerprint = ""
        self.names = addresses.own_names(settings.host)
        self._answer = answer
        self._headers = headers
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="scanbuild-browser", daemon=True)
        self._runner: web.AppRunner | None = None

    @property
    def origin(self) -> str:
        """The beginning of every address here: scheme, host and port."""
        scheme = "https" if self.is_encrypted else "http"
        return f"{scheme}://{addresses.reachable(self.settings.host)}:{self.port}"

    @property
    def is_encrypted(self) -> bool:
        """Whether it speaks https, as browsers want it for WebGPU except on the machine they run on."""
        return self.settings.certificate is not None or not addresses.is_loopback(self.settings.host)

    @property
    def is_started(self) -> bool:
        """Whether it listens, or did."""
        return self._thread.ident is not None

    def start(self) -> None:
        """Listen. InputError if the address or the certificate cannot be used."""
        self._thread.start()
        try:
            self.do(self._listen(), START_LIMIT_S)
        except BaseException as error:
            self.close()
            if not isinstance(error, OSError | ValueError):
                raise
            taken = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
            reason = "another program listens there" if taken else error
            message = f"cannot listen on {self.settings.host}, port {self.settings.port}: {reason}"
            hint = "choose another with --host and --port, and see that --certificate holds a certificate and its key"
            raise InputError(Problem(message=message, hint=hint)) from error

    def close(self, parting: Callable[[], Coroutine[Any, Any, Any]] | None = None) -> None:
        """Do what ``parting`` gives, and stop listening. A second call does nothing."""
        if self._loop.is_closed():
            return
        if self._thread.is_alive():
            with contextlib.suppress(Exception):
                self.do(self._shut(parting), START_LIMIT_S)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(START_LIMIT_S)
        if not self._loop.is_running():
            self._loop.close()

    def do(self, work: Coroutine[Any, Any, Any], limit_s: float) -> Any:
        """Run something in the server's thread and wait for it; TimeoutError, and it is cancelled, if it takes long."""
        try:
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:
            work.close()
            raise
        try:
            return future.result(limit_s)
        except TimeoutError:
            future.cancel()
            raise

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    async def _listen(self) -> None:
        app = web.Application(client_max_size=_MOST_SENT)
        app.router.add_route("*", "/{path:.*}", self._answer)
        app.on_response_prepare.append(self._add_headers)
        # Whatever strangers send is no news for whoever runs this.
        self._loop.set_exception_handler(lambda _loop, context: _LOG.debug("%s", context))
        self._runner = web.AppRunner(app, access_log=None, logger=_LOG, handle_signals=False, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.settings.host, self.settings.port, ssl_context=self._tls())
        await site.start()
        self.port = self._runner.addresses[0][1]

    def _tls(self) -> ssl.SSLContext | None:
        if not self.is_encrypted:
            return None
        if self.settings.certificate is not None:
            return server_context(self.settings.certificate)
        pem, self.fingerprint = own_certificate({*self.names, addresses.host_of(self.settings.host), "localhost"})
        return server_context(pem)

    async def _shut(self, parting: Callable[[], Coroutine[Any, Any, Any]] | None) -> None:
        if parting is not None:
            await parting()
        if self._runner is not None:
            await self._runner.cleanup()

    async def _add_headers(self, _request: web.Request, response: web.StreamResponse) -> None:
        response.headers.update(self._headers)
