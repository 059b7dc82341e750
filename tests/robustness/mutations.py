"""From a seed to a package: a base, and some things done to it that people, disks and attackers do.

JSON is mutated as a value and written by :func:`dump`, which can also write what no value stands for: raw words,
doubled keys, lone surrogates. The same seed gives the same package everywhere.
"""

import copy
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.robustness.bases import Base, bases
from tests.robustness.explosions import EXPLOSIONS
from tests.robustness.hostile import EXPRESSIONS, NAMES, NO_NUMBERS, NUMBERS, TEMPLATES

JSON_FILES = ("manifest.json", "manifest.json", "manifest.json", "test.json", "metadata.json", "bench.json")
LARGEST = 17 * 2**20
"""Files are cut there, which is more than scanbuild reads of one."""

STAGES = ("json", "json", "json", "expression", "expression", "template", "bytes", "file", "shape", "explosion")


@dataclass(frozen=True, slots=True)
class Raw:
    """A piece of JSON text that is written as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class Doubled:
    """A member that is written twice, first with another value."""

    first: Any
    second: Any


@dataclass(kw_only=True, slots=True)
class Mutant:
    """A mutated package: bytes by path (``../`` leads to the folder beside it), links, folders in the way, a call."""

    base: str
    files: dict[str, bytes]
    links: dict[str, str] = field(default_factory=dict)
    odd: dict[str, str] = field(default_factory=dict)
    request: Any = None
    log: list[str] = field(default_factory=list)


class Mutation:
    """One package in the making."""

    def __init__(self, base: Base, chance: random.Random) -> None:
        self.chance = chance
        self.values: dict[str, Any] = {}
        self.texts = dict(base.files)
        self.mutant = Mutant(base=base.name, files={}, request=copy.deepcopy(base.request))

    def run(self, times: int) -> Mutant:
        """Mutate so many times and write the files."""
        for _ in range(times):
            stage = self.chance.choice(STAGES)
            try:
                note = getattr(self, f"_{stage}")()
            except (TypeError, AttributeError, KeyError, ValueError):
                note = "does not fit what the package has become"
            self.mutant.log.append(f"{stage}: {note}")
        for name, value in self.values.items():
            self.texts[name] = dump(value, self.chance)
        if self.chance.random() < 0.5:
            self.texts.pop("metadata.json", None)  # then commands take it for a source package
        written = {name: text.encode("utf-8", "surrogatepass")[:LARGEST] for name, text in self.texts.items()}
        self.mutant.files = {**written, **self.mutant.files}
        return self.mutant

    def value(self, name: str) -> Any:
        """The value of a JSON file, from now on the file's content."""
        if name not in self.values:
            try:
                self.values[name] = json.loads(self.texts[name])
            except (KeyError, ValueError, RecursionError):
                self.values[name] = {}
        return self.values[name]

    def container(self, name: str) -> Any:
        """An object or list with something in it, deep ones as likely as others."""
        found = containers(self.value(name))
        return self.chance.choice(found) if found else None

    def _json(self) -> str:
        name = self.chance.choice(JSON_FILES)
        node = self.container(name)
        if node is None:
            return f"{name} is empty"
        key = self.chance.choice(list(node) if isinstance(node, dict) else range(len(node)))
        change = self.chance.choice(CHANGES)
        change(node, key, self.chance)
        return f"{name} {change.__name__} at {str(key)[:40]!r}"

    def _expression(self) -> str:
        places = [
            (node, key)
            for node in containers(self.value("manifest.json"))
            for key in (node if isinstance(node, dict) else range(len(node)))
            if isinstance(node[key], str | int) or key in ("shape", "count", "value")
        ]
        if not places:
            return "nowhere"
        node, key = self.chance.choice(places)
        name = self.chance.choice(list(EXPRESSIONS))
        node[key] = EXPRESSIONS[name]
        return f"{name} at {str(key)[:40]!r}"

    def _template(self) -> str:
        names = [name for name in self.texts if name.endswith((".wgsl", ".wgsl.jinja"))]
        if not names:
            return "no template"
        name = self.chance.choice(names)
        text = self.texts[name]
        if self.chance.random() < 0.3:
            start = self.chance.randrange(len(text) + 1)
            end = min(start + self.chance.randrange(1, 40), len(text))
            self.texts[name] = text[:start] + text[end:]
            return f"{name}: cut {start} to {end}"
        chosen = self.chance.choice(list(TEMPLATES))
        hostile = TEMPLATES[chosen].replace("SELF", name)
        if "{{" in text and self.chance.random() < 0.4:
            expression = self.chance.choice(list(EXPRESSIONS))
            start = text.find("{{", self.chance.randrange(len(text)) if len(text) else 0)
            end = text.find("}}", start)
            if 0 <= start < end:
                self.texts[name] = f"{text[: start + 2]} {EXPRESSIONS[expression]} {text[end:]}"
                return f"{name}: {expression}"
        where = self.chance.randrange(len(text) + 1) if self.chance.random() < 0.5 else 0
        self.texts[name] = text[:where] + hostile + text[where:]
        self._needed_by(chosen)
        return f"{name}: {chosen} at {where}"

    def _needed_by(self, chosen: str) -> None:
        if chosen == "includes a circle":
            self.texts["circle-a.wgsl.jinja"] = '{% include "circle-b.wgsl.jinja" %}'
            self.texts["circle-b.wgsl.jinja"] = '{% include "./circle-a.wgsl.jinja" %}'
        elif chosen == "includes a tree":
            for depth in range(40):
                self.texts[f"tree-{depth}.wgsl.jinja"] = f'{{% include "tree-{depth + 1}.wgsl.jinja" %}}' * 2
            self.texts["tree-40.wgsl.jinja"] = "x" * self.chance.choice([0, 1, 1000])

    def _bytes(self) -> str:
        """Damage done to a file as it lies there; values mutated later are lost on it."""
        name = self.chance.choice(sorted(self.texts))
        if name in self.values:
            self.texts[name] = dump(self.values.pop(name), self.chance)
        data = self.mutant.files.get(name, self.texts[name].encode("utf-8", "surrogatepass"))
        damage = self.chance.choice(DAMAGES)
        self.mutant.files[name] = damage(data, self.chance)
        return f"{name} {damage.__name__}"

    def _file(self) -> str:
        """Files that are missing, elsewhere, or no files."""
        name = self.chance.choice(sorted(self.texts))
        match self.chance.randrange(8):
            case 0:
                self.mutant.links[name] = "/etc/passwd"
            case 1:
                self.mutant.links[name] = "../outside/secret.wgsl"
            case 2:
                self.mutant.links[name] = name.rpartition("/")[2]
            case 3:
                self.mutant.links["more"] = self.chance.choice(["/etc", "..", ".", "/proc/self"])
            case 4:
                self.mutant.odd[name] = self.chance.choice(["folder", "fifo", "large"])
            case 5:
                self.texts.pop(name)
                self.values.pop(name, None)
            case 6:
                odd = self.chance.choice(["-x.wgsl", "a b.wgsl.jinja", "\u00e9.wgsl", "..wgsl", "a\n.wgsl", "x" * 200])
                self.texts[odd] = self.texts.get(name, "")
            case _:
                self.mutant.links["_shared"] = "/etc"
        return name

    def _shape(self) -> str:
        """Shapes and values of calls, in the test cases and in the request."""
        sizes: list[Any] = [0, 1, -1, 0.5, 2**31, 2**32, 2**53, 2**53 + 2, Raw("1e999"), None, "3", True, [2]]
        shape: Any = [self.chance.choice(sizes) for _ in range(self.chance.choice([0, 1, 1, 2, 3, 40]))]
        if self.chance.random() < 0.2:
            shape = self.chance.choice([None, "x", {}, 7, [[1]], [1] * 100_000])
        for case in (*_cases(self.value("test.json")), *_cases(self.value("bench.json"))):
            tensors = [item for item in case["inputs"].values() if isinstance(item, dict)]
            if tensors:
                self.chance.choice(tensors)["shape"] = shape
        inputs = self.mutant.request.get("inputs") if isinstance(self.mutant.request, dict) else None
        if inputs and isinstance(inputs, dict):
            chosen = inputs[self.chance.choice(sorted(inputs))]
            if isinstance(chosen, dict):
                chosen["shape"] = (
                    [size for size in shape if not isinstance(size, Raw)] if isinstance(shape, list) else 0
                )
        return repr(shape)[:80]

    def _explosion(self) -> str:
        """Little text that stands for very much."""
        manifest = self.value("manifest.json")
        if not isinstance(manifest, dict):
            return "no manifest"
        chosen = self.chance.choice(EXPLOSIONS)
        chosen(manifest, self.chance)
        return chosen.__name__


def mutant(seed: int) -> Mutant:
    """The package of a seed."""
    chance = random.Random(f"package {seed}")
    return Mutation(chance.choice(bases()), chance).run(chance.choice([1, 1, 1, 2, 2, 3, 5, 8]))


def dump(value: Any, chance: random.Random) -> str:
    """JSON text of a value, lone surrogates now and then as they are. What is longer than a file may be is cut."""
    parts, size = [], 0
    for piece in _pieces(value, chance):
        parts.append(piece)
        size += len(piece)
        if size > LARGEST:
            break
    return "".join(parts)


def _pieces(value: Any, chance: random.Random) -> Iterator[str]:
    """The texts that make up the JSON of a value, however deep it is."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Raw):
            yield value.text
        elif isinstance(value, str):
            yield json.dumps(value, ensure_ascii=chance.random() < 0.9)
        elif isinstance(value, dict):
            members = [piece for key, item in value.items() for piece in _member(json.dumps(str(key)), item)]
            waiting += reversed([Raw("{"), *members[1:], Raw("}")])
        elif isinstance(value, list):
            waiting += reversed([Raw("["), *[piece for item in value for piece in (Raw(","), item)][1:], Raw("]")])
        else:
            yield json.dumps(value)


def _member(name: str, value: Any) -> list[Any]:
    if isinstance(value, Doubled):
        return [Raw(","), Raw(f"{name}:"), value.first, Raw(","), Raw(f"{name}:"), value.second]
    return [Raw(","), Raw(f"{name}:"), value]


def containers(value: Any) -> list[Any]:
    """Every object and list of a value that is not empty."""
    found: list[Any] = []
    pending = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, dict | list) and node and len(found) < 5_000:
            found.append(node)
            pending.extend(node.values() if isinstance(node, dict) else node)
    return found


def _cases(value: Any) -> list[dict[str, Any]]:
    """The cases of a case file that still look like some."""
    cases = value.get("cases") if isinstance(value, dict) else None
    found = cases if isinstance(cases, list) else []
    return [case for case in found if isinstance(case, dict) and isinstance(case.get("inputs"), dict)]


# --- changes of one member -----------------------------------------------------------------------------------------

Change = Callable[[Any, Any, random.Random], None]


def dropped(node: Any, key: Any, chance: random.Random) -> None:
    del node[key]


def doubled(node: Any, key: Any, chance: random.Random) -> None:
    other = chance.choice([None, 1, "x", [], {}, copy.deepcopy(node[key])])
    if isinstance(node, dict):
        node[key] = Doubled(other, node[key]) if chance.random() < 0.5 else Doubled(node[key], other)
    else:
        node[key:key] = [copy.deepcopy(node[key])] * chance.choice([1, 1, 2, 1000])


def retyped(node: Any, key: Any, chance: random.Random) -> None:
    value = node[key]
    node[key] = chance.choice(
        [None, True, False, 0, 1.5, "", "x", str(value)[:200], [], {}, [value], {"x": value}, {"": None}]
    )


def cut(node: Any, key: Any, chance: random.Random) -> None:
    value = node[key]
    if isinstance(value, str):
        node[key] = value[: chance.randrange(len(value) + 1)]
    elif isinstance(value, list):
        del value[chance.randrange(len(value) + 1) :]
    else:
        node[key] = {}


def number(node: Any, key: Any, chance: random.Random) -> None:
    node[key] = Raw(chance.choice(NUMBERS))


def no_json(node: Any, key: Any, chance: random.Random) -> None:
    node[key] = Raw(chance.choice(NO_NUMBERS))


def nested(node: Any, key: Any, chance: random.Random) -> None:
    depth = chance.choice([10, 100, 255, 260, 1_000, 100_000])
    opening, closing = chance.choice([("[", "]"), ('{"a":', "}"), ('{"passes":[', "]}")])
    node[key] = Raw(opening * depth + "1" + closing * (depth if chance.random() < 0.9 else depth // 2))


def renamed(node: Any, key: Any, chance: random.Random) -> None:
    name = chance.choice([*NAMES, str(key)[:-1], f"{key}s", str(key).upper()])
    if isinstance(node, dict):
        node[name] = node.pop(key)
    else:
        node[key] = name


def named(node: Any, key: Any, chance: random.Random) -> None:
    node[key] = chance.choice(NAMES)


def repeated(node: Any, key: Any, chance: random.Random) -> None:
    times = chance.choice([2, 50, 5_000])
    if isinstance(node, list):
        node.extend(Raw("1") if times > 50 else copy.deepcopy(node[key]) for _ in range(times))
    else:
        node.update({f"{str(key)[:50]}{index}": Raw("1") for index in range(times)})


def moved(node: Any, key: Any, chance: random.Random) -> None:
    """Put a member in another's place."""
    others = [item for item in containers(node) if item is not node]
    if others:
        target = chance.choice(others)
        place = chance.choice(list(target) if isinstance(target, dict) else range(len(target)))
        target[place] = copy.deepcopy(node[key]) if node[key] is not target else None


def joined(node: Any, key: Any, chance: random.Random) -> None:
    """Text with something odd in the middle."""
    odd = chance.choice(["\0", "\ufeff", "\ud800", "\u202e", "\n", "\u2028", "{", "{x}", "$", "  ", "é", "'", '"'])
    value = node[key] if isinstance(node[key], str) else "x"
    place = chance.randrange(len(value) + 1)
    node[key] = value[:place] + odd + value[place:]


CHANGES: tuple[Change, ...] = (
    dropped,
    dropped,
    doubled,
    retyped,
    retyped,
    cut,
    cut,
    number,
    number,
    no_json,
    nested,
    renamed,
    renamed,
    named,
    repeated,
    moved,
    moved,
    joined,
)

# --- damage to bytes -----------------------------------------------------------------------------------------------


def truncated(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def emptied(data: bytes, chance: random.Random) -> bytes:
    return chance.choice([b"", b" ", b"\n", b"\0", b"null", b"[]", b"{}", b"\xef\xbb\xbf"])


def flipped(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice([1, 1, 3, 30])):
        if changed:
            changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def inserted(data: bytes, chance: random.Random) -> bytes:
    odd = [b"\xef\xbb\xbf", b"\0", b"\xff\xfe", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x1b[31m", b"\r", b"/*", b"//"]
    place = chance.choice([0, chance.randrange(len(data) + 1)])
    return data[:place] + chance.choice(odd) + data[place:]


def lengthened(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data) + 1)
    piece = data[start : start + chance.choice([1, 10, 100])]
    return data[:start] + piece * chance.choice([2, 100, 10_000]) + data[start:]


def with_carriage_returns(data: bytes, chance: random.Random) -> bytes:
    return data.replace(b"\n", chance.choice([b"\r\n", b"\r", b"\n\r"]))


def in_utf_16(data: bytes, chance: random.Random) -> bytes:
    return data.decode("utf-8", "replace").encode("utf-16")


DAMAGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    truncated,
    truncated,
    emptied,
    flipped,
    inserted,
    lengthened,
    with_carriage_returns,
    in_utf_16,
)
