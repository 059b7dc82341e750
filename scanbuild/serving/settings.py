"""What a server of packages is told, apart from it so that it needs none of its packages."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from scanbuild.gpu.browser.settings import ServerSettings


@dataclass(frozen=True, kw_only=True, slots=True)
class ServeSettings(ServerSettings):
    """``state`` is where this user's builds are remembered: only theirs may run their ``reference.py``.

    ``log`` is told of every request, from another thread.
    """

    state: Path = Path(os.devnull)
    log: Callable[[str], None] = field(default=lambda _text: None)
