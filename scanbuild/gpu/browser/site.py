"""What the server hands out, and to whom: pure functions, so that the rules can be read and tested by themselves."""

import hmac
import ipaddress
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

PAGE: Final = Path(__file__).resolve().parent / "page"
SOCKET: Final = "socket"
TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

HEADERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "Cache-Control": "no-store",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "Server": "scanbuild",
    }
)
"""Sent with every answer: the page loads nothing from elsewhere, nobody frames it, and its address stays with it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PageFile:
    """A file of the page."""

    content: bytes
    media_type: str


def page_files() -> Mapping[str, PageFile]:
    """The files of the page by name; the page itself is "". They are read once: no request names a path on disk."""
    files = {
        path.name: PageFile(content=path.read_bytes(), media_type=TYPES[path.suffix])
        for path in sorted(PAGE.iterdir())
        if path.suffix in TYPES
    }
    files[""] = files.pop("index.html")
    return MappingProxyType(files)


def new_token() -> str:
    """What an address must know: 128 random bits."""
    return secrets.token_urlsafe(16)


def split_path(path: str, token: str) -> str | None:
    """The name behind ``/TOKEN/``, or None if the token is another. Comparing takes as long whatever is given."""
    _, _, rest = path.partition("/")
    given, slash, name = rest.partition("/")
    known = hmac.compare_digest(given.encode("utf-8", "replace"), token.encode())
    return name if known and slash else None


def is_own_host(header: str | None, names: frozenset[str]) -> bool:
    """Whether a Host header names this server: by an address, as ``localhost``, or by a name it was started with.

    A page of somebody else's can make its own name point here (DNS rebinding), but a browser then sends that name.
    The port may be another one, as behind a forwarded port.
    """
    name = host_name(header)
    return name is not None and (name == "localhost" or name in names or is_address(name))


def is_own_origin(origin: str | None, host: str | None) -> bool:
    """Whether a request came from the page of this very server. Browsers send Origin whenever they open a socket."""
    if not origin or not host:
        return False
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.netloc.casefold() == host.casefold()


def host_name(header: str | None) -> str | None:
    """The name in a Host header, in lower case and without port and brackets; None if it is none."""
    if not header:
        return None
    try:
        parts = urlsplit(f"//{header}")
        _ = parts.port  # ValueError if it is none
    except ValueError:
        return None
    return parts.hostname if parts.netloc == header and "@" not in header else None


def is_address(name: str) -> bool:
    """Whether a name is an IP address."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
