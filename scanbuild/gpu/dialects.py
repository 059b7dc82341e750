"""Small differences between the engines: names of features and limits, and WGSL that one of them does not take."""

import re
from collections.abc import Mapping
from typing import Any, Final

from scanbuild.gpu.adapters import EngineName
from scanbuild.planning.device import DEFAULT_LIMITS, required_limits

_WGPU_FEATURES: Final[Mapping[str, str]] = {"subgroup": "subgroups"}
_MORE_LIMITS: Final = (
    "maxStorageBuffersInVertexStage",
    "maxStorageBuffersInFragmentStage",
    "maxStorageTexturesInVertexStage",
    "maxStorageTexturesInFragmentStage",
)
_OPENING = re.compile(r"//[^\n]*|/\*")
_NESTING = re.compile(r"/\*|\*/")
_DIRECTIVE = re.compile(r"\s*(enable|requires|diagnostic)\b([^;]*);")
_NO_LINE_END = re.compile(r"[^\n]")


def webgpu_features(engine: EngineName, features: Any) -> list[str]:
    """The engine's feature names as WebGPU's."""
    names = _WGPU_FEATURES if engine == "wgpu" else {}
    return sorted(names.get(name, name) for name in features)


def engine_features(engine: EngineName, features: list[str]) -> list[str]:
    """WebGPU's feature names as the engine's."""
    names = {ours: theirs for theirs, ours in _WGPU_FEATURES.items()} if engine == "wgpu" else {}
    return [names.get(name, name) for name in features]


def webgpu_limits(limits: Mapping[str, Any]) -> dict[str, float]:
    """The engine's hyphenated limits under WebGPU's names. What WebGPU does not know is left out, and so is a
    limit of 0 where WebGPU's default is more: the layers give 0 for what they do not report."""
    known = {_hyphenated(name): name for name in (*DEFAULT_LIMITS, *_MORE_LIMITS)}
    named = {known[name]: value for name, value in limits.items() if name in known}
    return {name: value for name, value in named.items() if value > 0 or not DEFAULT_LIMITS.get(name)}


def limits_to_request(limits: Mapping[str, Any]) -> dict[str, Any]:
    """The limits of a device request, in the engine's names: the six of 6.1 at the adapter's value, the others at
    WebGPU's default, or at the adapter's where it offers less. (Left out, the layers would ask for the adapter's.)
    """
    raised = required_limits({"limits": webgpu_limits(limits)})
    wanted: dict[str, Any] = {}
    for name, default in DEFAULT_LIMITS.items():
        offered = limits.get(_hyphenated(name))
        if offered is None:
            continue
        worse = max if name.startswith("min") else min
        wanted[_hyphenated(name)] = int(raised.get(name, worse(default, offered)))
    return wanted


def adapt_wgsl(engine: EngineName, code: str) -> str:
    """The text in the form the engine's compiler takes, every line and column kept.

    wgpu's compiler has the subgroup built-ins and refuses the directive that enables them, so the directive is
    blanked out. A text without an entry point gets a trailing comment: wgpu's Python layer guesses from it whether a
    text is WGSL.
    """
    if engine != "wgpu":
        return code
    if "@compute" not in code:
        code = f"{code}\n// @compute"
    if "subgroups" not in code:
        return code
    return _blank(code, _subgroup_directives(code))


def _subgroup_directives(code: str) -> list[tuple[int, int]]:
    """Where the text enables subgroups. Directives stand before everything else in a module."""
    plain, spans, offset = _blank(code, _comments(code)), [], 0
    while directive := _DIRECTIVE.match(plain, offset):
        offset = directive.end()
        if directive[1] == "enable":
            spans.extend(_disabling(directive))
    return spans


def _disabling(directive: re.Match[str]) -> list[tuple[int, int]]:
    """What to blank in one directive: all of it, or the name in a list of several, with one comma."""
    names = [name.strip() for name in directive[2].split(",")]
    if "subgroups" not in names:
        return []
    if set(names) <= {"subgroups", ""}:
        return [(directive.start(1), directive.end())]
    found = re.search(r"\bsubgroups\b\s*,|,\s*subgroups\b", directive[2])
    start = directive.start(2)
    return [(start + found.start(), start + found.end())] if found else []


def _blank(code: str, spans: list[tuple[int, int]]) -> str:
    """The text with blanks in place of everything in the spans but line ends."""
    parts, last = [], 0
    for start, end in spans:
        parts += [code[last:start], _NO_LINE_END.sub(" ", code[start:end])]
        last = end
    return "".join([*parts, code[last:]])


def _comments(code: str) -> list[tuple[int, int]]:
    """Where the comments are. Block comments nest, and an unclosed one reaches to the end."""
    spans, offset = [], 0
    while opening := _OPENING.search(code, offset):
        offset = opening.end()
        depth = 0 if opening[0].startswith("//") else 1
        while depth:
            edge = _NESTING.search(code, offset)
            if edge is None:
                offset = len(code)
                break
            depth += 1 if edge[0] == "/*" else -1
            offset = edge.end()
        spans.append((opening.start(), offset))
    return spans


def _hyphenated(name: str) -> str:
    text = re.sub(r"(?<=\d)D$", "d", name)
    text = re.sub(r"(?<=[a-z])(\d)", r"-\1", text)
    return re.sub(r"(?<!^)([A-Z])", r"-\1", text).lower()
