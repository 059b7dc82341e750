"""Firefox without a window. Its WebGPU is wgpu's, whose compiler takes other texts than Chromium's.

Playwright drives no Firefox as it is released, and nothing needs to be driven: it is started with the page's address.
"""

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from scanbuild.errors import NoAdapterError, Problem

NAMES: Final = ("firefox", "firefox-esr")
_DRIVERS: Final = ("/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d")
_END_LIMIT_S: Final = 10.0

# On Linux, WebGPU is off by default. The others keep it from talking to anybody but the page's server.
_PREFERENCES: Final = {
    "dom.webgpu.enabled": "true",
    "gfx.webgpu.ignore-blocklist": "true",
    "app.normandy.enabled": "false",
    "app.update.enabled": "false",
    "browser.aboutwelcome.enabled": "false",
    "browser.safebrowsing.update.enabled": "false",
    "browser.shell.checkDefaultBrowser": "false",
    "browser.startup.homepage_override.mstone": '"ignore"',
    "datareporting.healthreport.uploadEnabled": "false",
    "datareporting.policy.dataSubmissionEnabled": "false",
    "extensions.update.enabled": "false",
    "network.captive-portal-service.enabled": "false",
    "network.connectivity-service.enabled": "false",
    "services.settings.server": '""',
    "toolkit.telemetry.enabled": "false",
}


class Firefox:
    """A headless Firefox with a profile of its own that has the page open. Use it in a ``with``.

    With ``software`` it sees no Vulkan driver but Mesa's software one, where that is installed.
    """

    def __init__(self, path: Path, url: str, *, software: bool = True) -> None:
        self.url = url
        self._path = path
        self._software = software
        self._process: subprocess.Popen[bytes] | None = None
        self._profile: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def start(self) -> None:
        """Start it. Whether it opens the page shows when the page comes."""
        self._profile = tempfile.TemporaryDirectory(prefix="scanbuild-firefox-", ignore_cleanup_errors=True)
        lines = (f'user_pref("{name}", {value});\n' for name, value in _PREFERENCES.items())
        (Path(self._profile.name) / "user.js").write_text("".join(lines), encoding="utf-8")
        command = [str(self._path), "--headless", "--no-remote", "--profile", self._profile.name, self.url]
        try:
            # In a session of its own, so that Ctrl-C reaches this process alone, and all of its processes can be ended.
            self._process = subprocess.Popen(
                command,
                env={**os.environ, **(dict(_software_driver()) if self._software else {})},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            self.close()
            raise NoAdapterError(Problem(message=f"the browser {self._path} cannot be started: {error}")) from error

    def restart(self) -> None:
        """End it, whatever it does, and open the page anew in another."""
        self.close()
        self.start()

    def close(self) -> None:
        """End it. A second call does nothing."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(OSError):
                if hasattr(os, "killpg"):
                    os.killpg(process.pid, signal.SIGKILL)
                else:
                    process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_END_LIMIT_S)
        profile, self._profile = self._profile, None
        if profile is not None:
            profile.cleanup()


def is_firefox(program: str) -> bool:
    """Whether a name or path is Firefox's."""
    return "firefox" in Path(program).name.casefold()


def _software_driver() -> Iterator[tuple[str, str]]:
    """What lets the Vulkan loader see Mesa's software driver alone."""
    for folder in _DRIVERS:
        for file in sorted(Path(folder).glob("lvp_icd*.json")):
            # The second name is the older one.
            yield from ((name, str(file)) for name in ("VK_DRIVER_FILES", "VK_ICD_FILENAMES"))
            return
