"""Writing tuned defaults into the manifest of a source package, and touching nothing else in the file."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scanbuild.bench.tuning import Choice
from scanbuild.errors import InputError, Problem
from scanbuild.package.jsonfile import Path, json_path, locate, parse_json, parse_path, value_at
from scanbuild.package.model import Json, Manifest

_DECODER: Final = json.JSONDecoder()
_LINE_END: Final = re.compile("\r\n|\n|\r")


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """A default that is written: its JSON path, and the value before and after."""

    path: str
    before: Json
    after: Json


@dataclass(frozen=True, kw_only=True, slots=True)
class Rewriting:
    """The new text of a manifest, what changed, and a problem for each value that could not be written."""

    text: str
    changes: tuple[Change, ...]
    problems: tuple[Problem, ...]


def rewrite(text: str, file: str, manifest: Manifest, choices: Sequence[Choice]) -> Rewriting:
    """The manifest with the chosen defaults.

    A default that stands in a variant is changed there, any other at the manifest's own tunables. Where several
    variants share a default and do not want the same, it stays, and a problem says so.
    """
    wishes = _wishes(parse_json(text, file), manifest, choices)
    changes, problems = [], []
    for path, wanted in wishes.items():
        before = value_at(parse_json(text, file), path)
        why = _objection(manifest, path, before, wanted)
        if why is not None:
            line, column = locate(text, path)
            problems.append(why.at(file, line, column))
            continue
        after = next(iter(wanted.values()))
        if after != before:
            changes.append((path, Change(path=json_path(path), before=before, after=after)))
    # From the end of the text to its beginning, so that the places of the others stay true.
    for path, change in sorted(changes, key=lambda item: -_offset(text, item[0])):
        text = _replaced(text, path, change.after)
    return Rewriting(text=text, changes=tuple(change for _, change in changes), problems=tuple(problems))


def _objection(manifest: Manifest, path: Path, before: Json, wanted: Mapping[str, Json]) -> Problem | None:
    """Why a default stays as it is: its variants do not want the same, or it is no value but what a family fills in."""
    told = ", ".join(f"{variant} {json.dumps(value)}" for variant, value in wanted.items())
    if any(manifest.variant(variant).tunables[str(path[-2])] != before for variant in wanted):
        message = f"this is no value, but a place which its family fills in; fastest are: {told}"
        hint = "write them into the cases of the family"
    elif len({json.dumps(value) for value in wanted.values()}) > 1:
        message = f"variants share this default and are fastest with different values: {told}"
        hint = "give each variant a tunable of its own, then tune again"
    else:
        return None
    place = json_path(path)
    return Problem(message=message, rule="tune-default", hint=hint, path=place, severity="warning", stage="own")


def _wishes(value: Json, manifest: Manifest, choices: Sequence[Choice]) -> dict[Path, dict[str, Json]]:
    """By the path of a default: which variant wants which value. One that is best with its default wants to keep it."""
    wishes: dict[Path, dict[str, Json]] = {}
    for choice in choices:
        variant = manifest.variant(choice.variant)
        for name in sorted({*choice.setting, *choice.tuned} & variant.tunables.keys()):
            path = _declared(value, parse_path(variant.path), name)
            wishes.setdefault(path, {})[choice.variant] = choice.setting.get(name, variant.tunables[name])
    return wishes


def _declared(value: Json, variant: Path, name: str) -> Path:
    """The path of the default that a variant sees."""
    for path in ((*variant, "tunables", name, "default"), ("tunables", name, "default")):
        try:
            value_at(value, path)
        except (KeyError, IndexError, TypeError):
            continue
        return path
    raise InputError(Problem(message=f"the manifest declares no default of the tunable {name}", rule="tune"))


def _replaced(text: str, path: Path, value: Json) -> str:
    start = _offset(text, path)
    _, end = _DECODER.raw_decode(text, start)
    return text[:start] + json.dumps(value) + text[end:]


def _offset(text: str, path: Path) -> int:
    """Where the value at a path begins."""
    line, column = locate(text, path)
    starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    return starts[line - 1] + column - 1
