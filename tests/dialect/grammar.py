"""Random expressions of the loader's language, most of them valid, some of them nearly so."""

from collections.abc import Callable
from random import Random
from typing import Any

from .vocabulary import (
    BARE_FILTERS,
    BINARY,
    JUNK,
    LISTS,
    METHODS,
    NAMES,
    NUMBER_TEXTS,
    NUMBERS,
    OBJECTS,
    ODDS,
    SPACES,
    STRING_TEXTS,
    SUITED,
    TESTS,
    TEXTS,
    WORDS,
)


class Grammar:
    """Writes texts, choosing with ``random``. ``loops``: names that loops and macros have bound."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.names = list(NAMES)
        self.in_template = False

    def pick(self, options: Any) -> Any:
        return options[self.random.randrange(len(options))]

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    # Expressions

    def expression(self, depth: int = 4) -> str:
        """Any expression; now and then one that is broken."""
        text = self.value(depth)
        if self.chance(3):
            place = self.random.randrange(len(text) + 1)
            text = text[:place] + self.pick(JUNK) + text[place:]
        if self.chance(2) and text:
            place = self.random.randrange(len(text))
            text = text[:place] + text[place + self.pick([1, 1, 2, 5]) :]
        return text

    def value(self, depth: int) -> str:
        if depth <= 0 or self.chance(12):
            return self.atom()
        forms: list[tuple[int, Callable[[int], str]]] = [
            (8, self.binary),
            (3, self.unary),
            (3, self.conditional),
            (5, self.filtered),
            (3, self.called_filter),
            (2, self.tested),
            (3, self.indexed),
            (2, self.sliced),
            (3, self.method),
            (3, self.collection),
            (2, lambda d: f"({self.value(d - 1)})"),
            (1, self.attribute),
        ]
        total = self.random.randrange(sum(weight for weight, _ in forms))
        for weight, form in forms:
            total -= weight
            if total < 0:
                return form(depth)
        raise AssertionError

    def atom(self) -> str:
        kind = self.random.randrange(10)
        if kind < 4:
            return str(self.pick(WORDS if self.chance(3) else self.names))
        if kind < 7:
            return str(self.pick(NUMBER_TEXTS))
        if kind < 9:
            return str(self.pick(STRING_TEXTS))
        return str(self.pick(["true", "none", "False", "[]", "{}", "None"]))

    def of(self, names: list[str]) -> str:
        """A value of a kind, mostly."""
        return self.atom() if self.chance(15) else str(self.pick(names))

    def space(self) -> str:
        return str(self.pick(SPACES))

    def binary(self, depth: int) -> str:
        text = self.value(depth - 1)
        for _ in range(self.pick([1, 1, 1, 2, 3])):
            operator = self.pick(BINARY)
            blank = " " if operator.isalpha() or operator == "not in" or self.chance(70) else self.space()
            text += f"{blank}{operator}{blank}{self.numeric(depth) if self.chance(50) else self.value(depth - 1)}"
        return text

    def numeric(self, depth: int) -> str:
        if depth > 1 and self.chance(30):
            operator = self.pick(["+", "-", "*", "/", "//", "%", "**"])
            return f"{self.numeric(depth - 1)} {operator} {self.numeric(depth - 1)}"
        return str(self.pick(NUMBER_TEXTS)) if self.chance(50) else self.of(NUMBERS)

    def unary(self, depth: int) -> str:
        sign = self.pick(["-", "+", "not ", "- ", "--", "not not ", "-+", "not -", "- not ", "not(", "-\n"])
        if sign.endswith("("):
            return f"{sign}{self.value(depth - 1)})"
        return f"{sign}{self.value(depth - 1)}"

    def conditional(self, depth: int) -> str:
        chosen, test = self.value(depth - 1), self.value(depth - 1)
        return f"{chosen} if {test}" + (f" else {self.value(depth - 1)}" if self.chance(85) else "")

    def operand(self, depth: int) -> str:
        """Something that filters and methods apply to."""
        kind = self.random.randrange(10)
        if kind < 3:
            return self.of(LISTS)
        if kind < 5:
            return self.of(TEXTS)
        if kind < 6:
            return self.of(OBJECTS)
        if kind < 7:
            return self.of(NUMBERS + ODDS)
        return f"({self.value(depth - 1)})" if kind < 9 else self.value(depth - 1)

    def filtered(self, depth: int) -> str:
        if self.chance(50):
            names, filters = self.pick(SUITED)
            return f"{self.of(names)} | {self.pick(filters.split())}"
        filters = "".join(f"{self.space()}|{self.space()}{self.filter(depth)}" for _ in range(self.pick([1, 1, 2])))
        return self.operand(depth) + filters

    def filter(self, depth: int) -> str:
        if self.chance(70):
            return str(self.pick(BARE_FILTERS))
        return self.filter_call(depth)

    def called_filter(self, depth: int) -> str:
        return f"{self.operand(depth)} | {self.filter_call(depth)}"

    def filter_call(self, depth: int) -> str:
        value = lambda: self.value(min(depth - 1, 1))  # noqa: E731
        flag = lambda: self.pick(["true", "false", "none", "1", "yes", value()])  # noqa: E731
        text = lambda: self.pick([*STRING_TEXTS, "s", "empty"])  # noqa: E731
        key = lambda: self.pick(['"k"', '"v"', '"n"', '"n.p"', '"n.p.0"', '"zz"', '"k" ""', "s", "0"])  # noqa: E731
        forms: list[Callable[[], str]] = [
            lambda: f"default({value()})",
            lambda: f"default({value()}, {flag()})",
            lambda: f"default({value()}, boolean={flag()})",
            lambda: "default()",
            lambda: f"join({text()})",
            lambda: f"join(separator={text()})",
            lambda: f"int({value()})",
            lambda: f"float(default={value()})",
            lambda: "int()",
            lambda: f"sort({flag()})",
            lambda: f"sort(reverse={flag()}, case_sensitive={flag()})",
            lambda: f"sort(attribute={key()})",
            lambda: f"sort({flag()}, {flag()}, {key()})",
            lambda: f"map(attribute={key()})",
            lambda: f"map(attribute={key()}, default={value()})",
            lambda: f"selectattr({key()})",
            lambda: f"rejectattr({key()}, {self.pick([repr(test) for test in TESTS])})",
            lambda: f"selectattr({key()}, 'eq', {self.pick(STRING_TEXTS)})",
            lambda: f"indent({self.pick(['2', '0', '-1', 'i', '2.0', 'none'])}, {flag()}, blank={flag()})",
            lambda: f"indent(width={self.pick(['1', '3', 'neg'])})",
            lambda: f"replace({text()}, {text()})",
            lambda: f"replace({text()}, {text()}, {self.pick(['1', '0', '-1', 'none', '2.5', 'count=1'])})",
            lambda: f"tojson(indent={self.pick(['0', '1', '2', '4', 'none', '-1', '1.5'])})",
            lambda: f"tojson(ensure_ascii={flag()}, sort_keys={flag()})",
            lambda: "tojson(separators=[',', ':'])",
            lambda: f"tojson(indent=2, separators=({text()}, {text()}), ensure_ascii=true)",
            lambda: (
                f"dictsort({flag()}, {self.pick(['by=' + repr('value'), repr('key'), repr('value'), 'reverse=true'])})"
            ),
            lambda: f"get({text()}, {value()})",
            lambda: f"{self.pick(BARE_FILTERS)}()",
            lambda: f"{self.pick(BARE_FILTERS)}{self.arguments(depth)}",
        ]
        return str(self.pick(forms)())

    def arguments(self, depth: int) -> str:
        """A call's arguments, in any form."""
        parts = [self.value(min(depth - 1, 1)) for _ in range(self.pick([0, 1, 1, 2, 3]))]
        if self.chance(10):
            parts.append(f"*{self.of(LISTS)}")
        if self.chance(15):
            parts.append(f"{self.pick(['a', 'default', 'count', 'by', 'reverse'])}={self.value(min(depth - 1, 1))}")
        if self.chance(8):
            parts.append(f"**{self.of(OBJECTS)}")
        if self.chance(5):
            self.random.shuffle(parts)
        comma = str(self.pick([", ", ",", " , ", ", ", " "] if self.chance(20) else [", "]))
        return f"({comma.join(parts)}{',' * self.chance(4)})"

    def tested(self, depth: int) -> str:
        tests = "".join(f" is {'not ' * self.chance(30)}{self.pick(TESTS)}" for _ in range(self.pick([1, 1, 1, 2])))
        return self.operand(depth) + tests

    def indexed(self, depth: int) -> str:
        index = self.pick(
            ["0", "1", "-1", "9", "-9", "2.0", "none", "'k'", '"length"', "1 - 1", "0 1", "", "+1", "0 if no",
             "::", ":::", "1::2", "1:2 -1", "0 // 0", "1 // 0", "0 * -1", self.value(depth - 2)]
        )  # fmt: skip
        text = f"{self.operand(depth)}[{index}]"
        return text + str(self.pick(["", "", "[0]", ".k", ".length", ".0"]))

    def sliced(self, depth: int) -> str:
        bounds = self.random.choices(
            ["", "", "0", "1", "2", "-1", "-2", "9", "-9", "i", "undef", "2.0", "0 // 0", "1 // 0"],
            k=2,
        )
        form = self.pick(["{}:{}", "{}:{}:{}", "{}:", ":{}", "::{}", ":", "{}:{}:{}"])
        step = self.pick(["", "1", "2", "-1", "-2", "0", "-9", "1 // 0", "i"])
        return f"{self.operand(depth)}[{form.format(bounds[0], bounds[1], step)}]"

    def method(self, depth: int) -> str:
        if self.chance(40):
            method = self.pick(["upper", "lower", "strip", "lstrip", "rstrip", "title", "capitalize", "split"])
            return f"{self.pick([*TEXTS, *STRING_TEXTS])}.{method}()"
        if self.chance(15):
            method = self.pick(["items", "keys", "values", "dictsort"])
            return f"{self.pick(OBJECTS)}.{method}()"
        receiver = self.of(TEXTS) if self.chance(60) else self.operand(depth)
        text = lambda: self.pick([*STRING_TEXTS, '" "', '","', '"b"', "none", "w", "1"])  # noqa: E731
        call = self.pick(
            [
                lambda: f"{self.pick(METHODS)}()",
                lambda: f"{self.pick(METHODS)}{self.arguments(depth)}",
                lambda: f"startswith({text()})",
                lambda: f"endswith([{text()}, {text()}])",
                lambda: f"split({text()})",
                lambda: f"split({text()}, {self.pick(['0', '1', '2', '-1', '-2', '1.0', '1 // 0', 'none'])})",
                lambda: f"replace({text()}, {text()})",
                lambda: f"replace({text()}, {text()}, {self.pick(['1', '0', '-1', 'none', 'count=2', 'count=none'])})",
                lambda: f"get({text()}, 5)",
                lambda: f"dictsort(by={text()})",
            ]
        )()
        return f"{receiver}.{call}"

    def attribute(self, depth: int) -> str:
        name = self.pick(
            ["a", "k", "length", "b", "B", "0", "1", "-1", "zz", "c", "get", "b.c", "b.c.0.d", "10", "0.1", "1.0",
             "-1.0", " 1 . 0", "00", "1.5", "+1", "- 1", "'a'", "(a)", "[0]", "not", "if", "in", "is", "items", "upper",
             "a()"]
        )  # fmt: skip
        return f"{self.operand(depth)}.{name}"

    def collection(self, depth: int) -> str:
        items = [self.value(depth - 2) for _ in range(self.pick([0, 1, 2, 3]))]
        comma = self.pick([", ", ", ", ",", " , ", " "])
        kind = self.random.randrange(10)
        if kind < 5:
            return f"[{comma.join(items)}{',' * self.chance(8)}]"
        if kind < 7:
            return f"({comma.join([*items, self.value(depth - 2)])}{',' * self.chance(3)})"
        pairs = [
            f"{self.pick([*STRING_TEXTS, '1', 's'] if self.chance(60) else ['1', '10', repr('z')])}: {item}"
            for item in items
        ]
        return f"{{{comma.join(pairs)}{',' * self.chance(5)}}}"
