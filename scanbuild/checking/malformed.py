"""Rules on rendered shaders that no compiler of WGSL takes; heuristics that are silent in doubt.

There is no compiler here, so only slips of people are looked for that are certain: words of other languages, a
workgroup without a size, brackets that do not match, and elements of something that is declared nowhere.
"""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from scanbuild.checking.nojson import unclosed_bracket
from scanbuild.checking.shaders import Rendered, rendered_passes, written_at
from scanbuild.checking.subject import Subject
from scanbuild.checking.trials import Trials
from scanbuild.checking.words import ATTRIBUTES, BUILTIN_VALUES, FREQUENT, PREFIXES, WORDS
from scanbuild.errors import Problem
from scanbuild.package.report import nearest

_FOREIGN: Final = (
    (re.compile(r"(?<=[\w)\]] )and(?= [\w(!])"), "and", "WGSL writes `&&`"),
    (re.compile(r"(?<=[\w)\]] )or(?= [\w(!])"), "or", "WGSL writes `||`"),
    (re.compile(r"===|!=="), "===", "WGSL writes `==` and `!=`"),
    (re.compile(r"\belif\b(?=\s*\()"), "elif", "WGSL writes `else if`"),
)
_DECLARES_WORD: Final = re.compile(r"\b(?:let|const|var|override|fn|alias|struct|return)\s*\Z")
_NO_SIZE: Final = re.compile(r"@\s*workgroup_size\s*\(\s*\)")
_ENTRY: Final = re.compile(r"(?:@\s*\w+(?:\s*\([^()]{0,200}\))?\s*){1,8}fn\s+main\b")
_ELEMENT: Final = re.compile(r"(?<![\w.@])([A-Za-z_]\w*)\s*(?:\[|\.\s*[A-Za-z_])")
_ATTRIBUTE: Final = re.compile(r"@\s*([A-Za-z_]\w*)")
_BUILTIN: Final = re.compile(r"@\s*builtin\s*\(\s*(\w+)\s*\)")
_NO_CODE: Final = re.compile(
    r"@\s*\w+(?:\s*\([^()]{0,200}\))?|\b(?:enable|requires|diagnostic)\b[^;]{0,200};|\.\s*[A-Za-z_]\w*"
)
_NAME: Final = re.compile(r"(?<![\w.])[A-Za-z_]\w+")
_ALIKE: Final = 0.8
"""Words that are less alike are not taken for misspellings: this has to be certain."""

_DECLARED: Final = re.compile(
    r"(?<!\w)(?:(?:let|const|var(?:\s*<[^;>]{0,100}>)?|override|fn|struct|alias)\s+([A-Za-z_]\w*)|([A-Za-z_]\w*)\s*:)"
)
_BRACKET: Final = re.compile(r"[()\[\]{}]")
_PAIRS: Final = {")": "(", "]": "[", "}": "{"}
_MAX_TEXT: Final = 200_000
_MAX_COMPARED: Final = 10_000
_MAX_LINE: Final = 160
_MAX_ATTRIBUTES: Final = 200


def malformed_shaders(subject: Subject, trials: Trials) -> Iterator[Problem]:
    """The first slip of every sampled shader that runs, each once for a template."""
    told: set[tuple[str, str]] = set()
    seen: set[tuple[str, str, frozenset[str]]] = set()
    for item in rendered_passes(subject, trials):
        looked_at = (item.item.shader, item.module.bare, frozenset(binding.name for binding in item.item.bindings))
        if not item.runs or len(item.module.bare) > _MAX_TEXT or looked_at in seen:
            continue
        seen.add(looked_at)
        found = _slip(item)
        if found is None or (item.item.shader, found[1]) in told:
            continue
        told.add((item.item.shader, found[1]))
        written, message, hint = found
        problem = Problem(message=f"{item.words}: {message}", rule="wgsl", hint=hint, stage="call")
        yield subject.template_problem(problem, *written_at(subject, item, written))


def _slip(item: Rendered) -> tuple[str, str, str] | None:
    """What is written in the template, what is wrong with it, and the way out."""
    bare = item.module.bare
    for pattern, word, hint in _FOREIGN:
        for found in pattern.finditer(bare):
            if _DECLARES_WORD.search(bare[max(0, found.start() - 20) : found.start()]) is None:
                return found[0], f"`{word}` is no operator of the shader's language", hint
    if _NO_SIZE.search(bare):
        return "@workgroup_size", "`@workgroup_size` has no size", "give it a number, or a tunable"
    entry = _ENTRY.search(bare)
    if entry is not None and "compute" in entry[0] and "workgroup_size" not in entry[0]:
        return "@compute", "the entry point has no `@workgroup_size`", "write `@compute @workgroup_size(64)`"
    return _open_bracket(bare) or _undeclared(item)


def _open_bracket(bare: str) -> tuple[str, str, str] | None:
    opened: list[str] = []
    for found in _BRACKET.finditer(bare):
        sign = found[0]
        if sign not in _PAIRS:
            opened.append(sign)
        elif not opened or opened.pop() != _PAIRS[sign]:
            return _line_of(bare, found.start()), f"a `{sign}` closes nothing that is open", "the brackets do not match"
    if not opened:
        return None
    place = unclosed_bracket(bare)
    line = bare.split("\n")[place[1] - 1].strip()[:_MAX_LINE] if place is not None else ""
    return line, f"a `{opened[-1]}` is not closed", "the brackets do not match"


def _line_of(text: str, offset: int) -> str:
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    return text[start : end if end >= 0 else len(text)].strip()[:_MAX_LINE]


def _undeclared(item: Rendered) -> tuple[str, str, str] | None:
    """An element or a member of something that is declared nowhere in the text; or a word that is almost declared."""
    bare = item.module.bare
    declared = {found[1] or found[2] for found in _DECLARED.finditer(bare)}
    bound = {binding.name for binding in item.item.bindings}
    for found in _ELEMENT.finditer(bare):
        name = found[1]
        if name not in declared and name not in bound:
            hint = nearest(name, sorted(declared | bound)) or f"the pass binds {', '.join(sorted(bound))}"
            return name, f"`{name}` is declared nowhere in the shader", hint
    for pattern, words, what in ((_ATTRIBUTE, ATTRIBUTES, "attribute"), (_BUILTIN, BUILTIN_VALUES, "builtin value")):
        for name in list(dict.fromkeys(pattern.findall(bare)))[:_MAX_ATTRIBUTES]:
            near = "" if name in words else nearest(name, sorted(words))
            if near:
                return name, f"WGSL has no {what} `{name}`", near
    return _misspelt(bare, declared | bound)


def _misspelt(bare: str, declared: set[str]) -> tuple[str, str, str] | None:
    """A word that is declared nowhere and almost like one that is."""
    known = sorted(declared | FREQUENT)
    names = dict.fromkeys(_NAME.findall(_NO_CODE.sub(" ", bare)))
    unknown = [name for name in names if name not in declared and name not in WORDS and not name.startswith(PREFIXES)]
    for name in unknown[: _MAX_COMPARED // max(1, len(known))]:
        near = [] if name in FREQUENT else get_close_matches(name, known, 1, _ALIKE)
        if near:
            return name, f"`{name}` is declared nowhere in the shader", f'did you mean "{near[0]}"?'
    return None
