"""What a server and a hub are told, apart from them so that it needs none of their packages."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerSettings:
    """Where to listen; ``port`` 0 is any that is free.

    ``certificate`` is a PEM file with certificate and key. Without it, the server makes one of its own unless it
    listens on this machine alone, where browsers want none. ``notice`` is told, from another thread, of browsers that
    came and cannot take part.
    """

    host: str = "127.0.0.1"
    port: int = 0
    certificate: Path | None = None
    notice: Callable[[str], None] = field(default=lambda _text: None)


@dataclass(frozen=True, kw_only=True, slots=True)
class HubSettings(ServerSettings):
    """``launch`` names or gives the path of a browser to start, which with ``software`` computes on the CPU."""

    launch: str | None = None
    software: bool = True
