"""From an engine's exception to a CallError that says where in the rendered text, in words a user can act on."""

import re
from collections.abc import Mapping
from typing import Final

from scanbuild.errors import CallError, Problem
from scanbuild.gpu.interface import DispatchJob
from scanbuild.planning.plan import PassPlan

# "wgsl:12:5" in the words of naga, ":12:5 error: " in those of Tint.
_PLACES: Final = (re.compile(r"wgsl:(\d+):(\d+)"), re.compile(r"(?:^|\s):(\d+):(\d+) error: "))
_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "out-of-memory": (
        "outofmemory",
        "out of memory",
        "not enough memory",
        "memoryerror",
        "out_of_device_memory",
        "out_of_host_memory",
    ),
    "device-lost": ("is lost", "device lost", "devicelost", "device_lost", "parent device", "destroyed device"),
}
_MOST_CHARACTERS: Final = 4000


def engine_error(error: BaseException, doing: str) -> CallError:
    """The CallError for something that the engine refused outside of compilation.

    Its rule is ``out-of-memory`` or ``device-lost`` where the engine's words say so.
    """
    rule = _kind(error) or "engine-validation"
    return CallError(Problem(message=f"the engine failed while {doing}: {_words(error)}", rule=rule, stage="call"))


def loss(error: CallError) -> str:
    """Why a device cannot be used after an error; "" if it can."""
    lost = any(problem.rule == "device-lost" for problem in error.problems)
    return "the device was lost" if lost else ""


def _kind(error: BaseException) -> str:
    """The rule for an error that has nothing to do with what was asked for; "" for others."""
    said = f"{type(error).__name__} {error}".casefold()
    return next((name for name, words in _KINDS.items() if any(word in said for word in words)), "")


def text_error(error: BaseException, rule: str) -> CallError:
    """The CallError for a text that was compiled by itself, to see whether it can be."""
    words = _words(error)
    line, column = _place(words)
    return CallError(Problem(message=words, rule=_kind(error) or rule, line=line, column=column, stage="call"))


def compile_error(error: BaseException, item: PassPlan | DispatchJob) -> CallError:
    """The CallError for a pass whose shader the engine does not take.

    ``line`` and ``column`` are those of the rendered text, whose template is ``file``: the message says so, because
    a template's own lines are others.
    """
    words = _words(error)
    line, column = _place(words)
    where = f", line {line} of the rendered text" if line else ""
    shown = _shown_line(item.wgsl, line)
    return CallError(
        Problem(
            message=f"pass {item.id}: the WGSL rendered from {item.template or 'its template'} does not compile"
            f"{where}{shown}\n{words}",
            rule=_kind(error) or "shader-compilation",
            file=item.template,
            line=line,
            column=column,
            stage="call",
        )
    )


def _words(error: BaseException) -> str:
    """What the engine says, without its stack of calls, and not without limit: it may quote a shader."""
    lines = [line.rstrip() for line in str(error).splitlines()]
    kept = [
        line for line in lines if line and not line.lstrip().startswith(("- While calling", "In wgpu", "Caused by"))
    ]
    text = "\n".join(line for line in kept if line != "Validation Error") or type(error).__name__
    return text if len(text) <= _MOST_CHARACTERS else text[:_MOST_CHARACTERS] + " …"


def _place(words: str) -> tuple[int | None, int | None]:
    for pattern in _PLACES:
        found = pattern.search(words)
        if found:
            return int(found[1]), int(found[2])
    return None, None


def _shown_line(wgsl: str, line: int | None) -> str:
    lines = wgsl.split("\n")
    if line is None or not 1 <= line <= len(lines):
        return ""
    return f": {lines[line - 1].strip()[:200]}"
