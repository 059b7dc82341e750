"""Fetching over HTTP, with the loader's rule for the token (1.3), a time limit and a size limit."""

import os
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from http.client import HTTPException, HTTPMessage
from typing import IO, Final

from scanbuild.package.fetching import MAX_BYTES, FetchError
from scanbuild.package.load import HUB

LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
_KEPT: Final = "%/:?#[]@!$&'()*+,;=~"
_CHUNK: Final = 2**16
_WEB: Final = re.compile("https?:", re.IGNORECASE)


class UrlFetch:
    """Fetches http and https URLs. The bearer token goes to the Hub and nowhere else, redirects included.

    ``hub`` is the address that stands in for the Hub's, as ``HF_ENDPOINT`` names it: a mirror, or one of a test.
    """

    def __init__(
        self,
        token: str | None = None,
        *,
        timeout: float = 30,
        deadline: float = 120,
        max_bytes: int = MAX_BYTES,
        hub: str = HUB,
    ) -> None:
        """``timeout`` is in seconds of silence, ``deadline`` in seconds for a whole file."""
        self._token, self._timeout, self._deadline, self._max_bytes = token, timeout, deadline, max_bytes
        self._hub = f"{hub.rstrip('/')}/"
        self._opener = urllib.request.build_opener(_Redirects(token, self._hub))

    def __call__(self, url: str) -> bytes:
        """The body found at a URL. Raises FetchError for anything but a good answer in time."""
        if url.startswith(HUB):
            url = self._hub + url.removeprefix(HUB)
        if _WEB.match(url) is None:
            raise FetchError(f"{url} is no http or https URL")
        try:
            request = urllib.request.Request(_escaped(url), headers={"User-Agent": "scanbuild"})
            for name, value in bearer(url, self._token, self._hub).items():
                request.add_unredirected_header(name, value)
            with self._opener.open(request, timeout=self._timeout) as answer:
                return self._body(answer)
        except urllib.error.HTTPError as error:
            raise FetchError(f"{url} answers {error.code} {error.reason}") from None
        except urllib.error.URLError as error:
            raise FetchError(f"{url} cannot be reached: {error.reason}") from None
        except (OSError, HTTPException, ValueError) as error:
            raise FetchError(f"{url} cannot be read: {error or type(error).__name__}") from None

    def _body(self, answer: IO[bytes]) -> bytes:
        end = time.monotonic() + self._deadline
        chunks: list[bytes] = []
        size = 0
        while chunk := answer.read(_CHUNK):
            size += len(chunk)
            if size > self._max_bytes:
                raise FetchError(f"the answer is larger than {self._max_bytes} bytes")
            if time.monotonic() > end:
                raise FetchError(f"the answer took longer than {self._deadline:g} seconds")
            chunks.append(chunk)
        return b"".join(chunks)


def bearer(url: str, token: str | None, hub: str = HUB) -> dict[str, str]:
    """The header that carries the token, if the URL is one that gets it. An empty token is a token.

    FetchError for a token that no header can carry, in words of our own: those of the HTTP client would show it; and
    for one that anybody on the way could read.
    """
    if token is None or not url.startswith(hub):
        return {}
    if urllib.parse.urlsplit(url).scheme != "https" and urllib.parse.urlsplit(url).hostname not in LOOPBACK:
        raise FetchError(f"{url} cannot be asked: the token would go there without encryption")
    if not is_sendable(token):
        raise FetchError(f"{url} cannot be asked: the token holds characters that no token has")
    return {"Authorization": f"Bearer {token}"}


def is_sendable(token: str) -> bool:
    """Whether a header can carry the token: printable ASCII without blanks."""
    return all("!" <= char <= "~" for char in token)


def hub_address() -> str:
    """Where the Hub is: where the environment's ``HF_ENDPOINT`` says, as for other programs that use it."""
    return os.environ.get("HF_ENDPOINT") or HUB


def _escaped(url: str) -> str:
    """The URL with blanks and non-ASCII characters escaped, as a browser sends it."""
    return urllib.parse.quote(url, safe=_KEPT)


class _Redirects(urllib.request.HTTPRedirectHandler):
    def __init__(self, token: str | None, hub: str) -> None:
        self._token, self._hub = token, hub

    def redirect_request(  # the signature is urllib's
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        """Follow to http and https only, with the token if the new URL is the Hub's as well."""
        if _WEB.match(newurl) is None:
            raise FetchError(f"{req.full_url} redirects to {newurl}")
        request = super().redirect_request(req, fp, code, msg, headers, newurl)
        if request is not None:
            for name, value in bearer(newurl, self._token, self._hub).items():
                request.add_unredirected_header(name, value)
        return request
