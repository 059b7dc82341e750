"""Random expressions and templates of the loader's language, most of them valid, some of them nearly so."""

from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

from scanbuild.dialect import UNDEFINED, DialectError, parse_template

CONTEXT: dict[str, Any] = {
    "i": 3,
    "zero": 0,
    "neg": -7,
    "half": 2.5,
    "four": 4.0,
    "tiny": 1e-7,
    "huge": 1e21,
    "big": 9007199254740992,
    "inf": float("inf"),
    "nan": float("nan"),
    "minus0": -0.0,
    "s": "Abc def",
    "empty": "",
    "num": " 12.5abc",
    "uni": "é😀ß x'y",
    "lines": "a\n\n  b\nc ",
    "yes": True,
    "no": False,
    "nil": None,
    "undef": UNDEFINED,
    "l": [1, 2, 3],
    "fl": [2.0, 0.5, -0.0],
    "mix": [1, "a", None, True, 2.5, [1, [2.0]], {"k": 1}],
    "m": [[1, 2], [3, 4], [5, 6]],
    "w": ["b", "A", "c", "B"],
    "o": {"a": 1, "B": [2], "c": None, "10": "x", "2": "y", "get": 5, "é": 0.5},
    "oo": {"b": {"c": [{"d": 7}]}},
    "recs": [{"k": 2, "v": "x", "n": {"p": [4]}}, {"k": 1, "v": "Y", "n": {"p": [3]}}, {"k": 3, "n": {"p": []}}],
    "el": [],
    "eo": {},
}
LISTS = ["l", "fl", "mix", "m", "w", "recs", "el"]
TEXTS = ["s", "empty", "num", "uni", "lines"]
OBJECTS = ["o", "oo", "eo"]
NUMBERS = ["i", "zero", "neg", "half", "four", "tiny", "huge", "big", "inf", "nan", "minus0"]
ODDS = ["yes", "no", "nil", "undef"]
NAMES = [*CONTEXT]
BARE_FILTERS = [
    "list",
    "first",
    "last",
    "length",
    "reverse",
    "sort",
    "join",
    "string",
    "unique",
    "upper",
    "lower",
    "title",
    "capitalize",
    "trim",
    "indent",
    "int",
    "float",
    "abs",
    "bool",
    "items",
    "keys",
    "values",
    "dictsort",
    "safe",
    "tojson",
    "default",
    "nope",
]
SUITED = [
    (LISTS, "list first last length reverse sort join string unique tojson"),
    (TEXTS, "length upper lower title capitalize trim indent join string int float tojson"),
    (NUMBERS, "abs int float string tojson safe"),
    (OBJECTS, "items length keys values dictsort tojson"),
    (["yes", "no"], "bool int float string"),
]
TESTS = [
    "boolean",
    "callable",
    "odd",
    "even",
    "true",
    "false",
    "none",
    "string",
    "number",
    "integer",
    "iterable",
    "mapping",
    "sequence",
    "lower",
    "upper",
    "defined",
    "undefined",
    "eq",
    "nope",
]
METHODS = [
    "upper",
    "lower",
    "strip",
    "lstrip",
    "rstrip",
    "title",
    "capitalize",
    "startswith",
    "endswith",
    "split",
    "replace",
    "get",
    "items",
    "keys",
    "values",
    "dictsort",
    "length",
    "nope",
]
BINARY = ["+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", ">", "<=", ">=", "in", "and", "or"] + ["not in"]
SPACES = [" ", " ", " ", "", "  ", "\n", "\t", "\u00a0", "\ufeff"]
NUMBER_TEXTS = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "10",
    "007",
    "1.0",
    "2.0",
    "2.5",
    "0.1",
    "0.30",
    "100000000000000000000000",
    "9007199254740993",
    "1.7976931348623157",
    "-1",
    "-0",
    "+2",
    "-2.5",
    "0.0000001",
    "123456789.125",
]
STRING_TEXTS = [
    '"a"', "'b'", '""', '"abc def"', "'x\\n y'", '"\\t\\\\"', "'12'", "'-1.5e3'", "'é'", '"😀é"', "'a' 'b'", '"k"', '"v"',
    '"Abc"', "'%}'", "'{%'", "'A,b,,c'", "' pad '", "'2'", "'ǅ'", "'}}'", "'\"'", '"Infinity"', "'0x10'", '"\\u0041"',
    "'İß'", "'x\ny'",
]  # fmt: skip
JUNK = ["!", "&", "..", ",", ")", "]", "}", "=", "if", "else", "is", "not", ":", "|", "1.", ".5", "1e3", "{{", "#", "é"]


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

    def sound(self, depth: int) -> str:
        """An expression that mostly has a value: in a template, one failure hides all the rest."""
        for _ in range(0 if self.chance(4) else 6):
            text = self.value(depth)
            with suppress(DialectError):
                parse_template("{{ " + text + " }}").render(CONTEXT)
                return text
        return self.value(depth)

    def expression(self, depth: int = 4) -> str:
        """Any expression; now and then one that is broken."""
        text = self.value(depth)
        if self.chance(3):
            place = self.random.randrange(len(text) + 1)
            text = text[:place] + self.pick(JUNK) + text[place:]
        if self.chance(1) and text:
            place = self.random.randrange(len(text))
            text = text[:place] + text[place + 1 :]
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
            return str(self.pick(self.names))
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
            return f"{self.numeric(depth - 1)} {self.pick(['+', '-', '*', '/', '//', '%', '**'])} {self.numeric(depth - 1)}"
        return str(self.pick(NUMBER_TEXTS)) if self.chance(50) else self.of(NUMBERS)

    def unary(self, depth: int) -> str:
        sign = self.pick(["-", "+", "not ", "- ", "--", "not not ", "-+"])
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
        return f"({self.pick([', ', ',', ' , ', ', ', ' '] if self.chance(20) else [', ']).join(parts)}{',' * self.chance(4)})"

    def tested(self, depth: int) -> str:
        tests = "".join(f" is {'not ' * self.chance(30)}{self.pick(TESTS)}" for _ in range(self.pick([1, 1, 1, 2])))
        return self.operand(depth) + tests

    def indexed(self, depth: int) -> str:
        index = self.pick(["0", "1", "-1", "9", "-9", "2.0", "none", "'k'", '"length"', "1 - 1", self.value(depth - 2)])
        text = f"{self.operand(depth)}[{index}]"
        return text + str(self.pick(["", "", "[0]", ".k", ".length", ".0"]))

    def sliced(self, depth: int) -> str:
        bound = lambda: self.pick(
            ["", "", "0", "1", "2", "-1", "-2", "9", "-9", "i", "undef", "2.0", "0 // 0", "1 // 0"]
        )
        form = self.pick(["{}:{}", "{}:{}:{}", "{}:", ":{}", "::{}", ":", "{}:{}:{}"])
        return f"{self.operand(depth)}[{form.format(bound(), bound(), self.pick(['', '1', '2', '-1', '-2', '0', '-9', '1 // 0', 'i']))}]"

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
        name = self.pick(["a", "k", "length", "b", "B", "0", "1", "-1", "zz", "c", "get", "b.c", "b.c.0.d", "10"])
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

    # Templates

    def template(self) -> str:
        """A whole template."""
        self.names = list(NAMES)
        return self.body(3)

    def body(self, depth: int) -> str:
        return "".join(self.statement(depth) for _ in range(self.random.randrange(1, 5)))

    def statement(self, depth: int) -> str:
        simple: list[Callable[[int], str]] = [
            self.plain_text,
            self.plain_text,
            self.printing,
            self.printing,
            self.comment,
        ]
        simple += [self.assignment, self.assignment, self.jump]
        nested: list[Callable[[int], str]] = [self.loop, self.loop, self.branch, self.macro, self.call_block]
        nested += [self.set_block, self.filter_block, self.macro_call, self.namespace_use, self.generation]
        return str(self.pick(simple if depth <= 0 or self.chance(50) else simple + nested * 2)(depth))

    def tag(self, content: str) -> str:
        opening = self.pick(["{%", "{%", "{%", "{%-"])
        closing = self.pick(["%}", "%}", "%}", "-%}"])
        blank = self.pick([" ", " ", " ", "", "\n"])
        return f"{opening}{blank}{content}{blank}{closing}"

    def plain_text(self, depth: int) -> str:
        pieces = [
            "a",
            "b ",
            " ",
            "\n",
            "  ",
            "\t",
            "x\n  ",
            "\r\n",
            "}}",
            "%}",
            "#}",
            "{ ",
            "é",
            "\u2028 ",
            "-}\n",
            "  {- x",
            "1\n\n",
        ]
        return "".join(self.pick(pieces) for _ in range(self.random.randrange(1, 4)))

    def printing(self, depth: int) -> str:
        text = self.sound(2) if self.chance(60) else self.pick(self.names)
        opening, closing = self.pick(["{{ ", "{{ ", "{{", "{{- "]), self.pick([" }}", " }}", "}}", " -}}"])
        return f"{opening}{text}{closing}"

    def comment(self, depth: int) -> str:
        return str(
            self.pick(["{# c #}", "{#- c #}", "{# c -#}\n", "{#-#}", "{##}", "{# {{ x }} #}", "{#- -#}", "  {# c #}\n"])
        )

    def variable(self) -> str:
        name = self.pick(["v1", "v2", "loopvar", "ns", "i", "l", "namespace", "loop", "varargs", "kwargs"])
        if name not in self.names:
            self.names.append(name)
        return str(name)

    def assignment(self, depth: int) -> str:
        kind = self.random.randrange(10)
        if kind < 6:
            return self.tag(f"set {self.variable()} = {self.sound(2)}")
        if kind < 8:
            values = self.pick(
                ["1, 2", "[1, 2]", "m[0]", "(1, 'b')", "[[]|first, 1]"] if self.chance(90) else ["l", "s", "1, 2, 3"]
            )
            targets = self.pick(["{}, {}", "({}, {})"] if self.chance(93) else ["{}, ({}, x)"]).format(
                self.variable(), self.variable()
            )
            return self.tag(f"set {targets} = {values}")
        odd = ["ns['a']", "o.a", "ns[a]", "1", "ns.a.b", "a | upper", "f()"]
        target = self.pick(odd if self.chance(6) else ["ns.a", "ns.b"])
        if target in ("ns.a", "ns.b") and "ns" not in self.names:
            return self.namespace_use(depth)
        return self.tag(f"set {target} = {self.sound(1)}")

    def namespace_use(self, depth: int) -> str:
        self.names.append("ns")
        made = self.pick(
            ["namespace(a=1)", "namespace()", "namespace(o, z=2)", "namespace([['a', 1]])", "namespace(['ab'])"]
        )
        if self.chance(6):
            made = self.pick(["namespace(1)", "namespace(o, o)", "namespace('ab')", "namespace([1])"])
        use = self.pick(
            ["{{ ns }}", "{{ ns.a }}", "{{ ns.b is defined }}"]
            if self.chance(80)
            else [
                "{{ ns }}",
                "{{ ns.a }}",
                "{{ ns.a is defined }}",
                "{{ ns['a'] }}",
                "{{ ns == ns }}",
                "{{ not ns }}",
                "{{ ns | tojson }}",
                "{{ [ns] | map(attribute='a') | join }}",
                "{{ ns.get }}",
                "{{ ns ~ 'x' }}",
                "{{ 'a' in ns }}",
                "{{ ns | length }}",
                "{% for q in ns %}{% endfor %}",
                "{{ ns is mapping }}{{ ns is sequence }}",
            ]
        )
        return self.tag(f"set ns = {made}") + self.body(depth - 1) + use

    def loop(self, depth: int) -> str:
        target = self.pick(["x", "x", "x", "y", "i", "(x)", "ns"] if self.chance(90) else ["a, b", "a, (b, c)", "x.y"])
        iterable = self.pick(
            [
                "l",
                "w",
                "m",
                "o",
                "range(3)",
                "el",
                "recs",
                "mix",
                "range(5, 0, -2)",
                "range(0, 1, 0.25)",
                "range(half)",
                "[2, 'é']",
            ]
        )
        if self.chance(20):
            target = self.pick(["a, b", "(a, b)", "x, (y)"])
            iterable = self.pick(["m", "o.items()", "o | dictsort", "[[1, 'a']]"])
        if self.chance(8):
            iterable = self.pick(
                [
                    "l",
                    "w",
                    "m",
                    "o",
                    "range(3)",
                    "range(i)",
                    "el",
                    "o.items()",
                    "recs",
                    "o | dictsort",
                    "mix",
                    "s",
                    "undef",
                    "[1, 2] + l",
                    "range(5, 0, -2)",
                    "range(0, 1, 0.25)",
                    self.sound(1),
                ]
            )
        test = self.pick(
            ["", "", "", f" if {self.pick(['x', 'x is odd', 'loop is defined', 'x > 1', 'not x', self.sound(1)])}"]
        )
        if test and self.chance(20):
            iterable, test = f"({iterable}{test})", ""
        self.names += ["x", "loop", "a", "loop.index"]
        body = self.body(depth - 1)
        if self.chance(40):
            body += self.pick(
                [
                    "{{ loop.index }}",
                    "{{ loop.last }}",
                    "{{ loop.previtem }}",
                    "{{ loop.nextitem }}",
                    "{{ loop.revindex0 }}",
                    "{{ x }}",
                    "{{ loop }}",
                    "{{ loop.cycle }}",
                    "{{ loop.length }}{{ loop.first }}",
                    "{{ a }}-{{ b }}",
                ]
            )
        if self.chance(20):
            body += (
                self.tag(f"if {self.pick(['loop.first', 'x == 2', 'loop.index > 1', 'x'])}")
                + self.tag(self.pick(["break", "continue"]))
                + self.tag("endif")
                + self.plain_text(0)
            )
        otherwise = self.tag("else") + self.body(depth - 1) if self.chance(25) else ""
        return self.tag(f"for {target} in {iterable}{test}") + body + otherwise + self.tag("endfor")

    def jump(self, depth: int) -> str:
        return self.tag(self.pick(["break", "continue"])) if self.chance(4) else self.plain_text(0)

    def branch(self, depth: int) -> str:
        text = self.tag(f"if {self.sound(2)}") + self.body(depth - 1)
        while self.chance(30):
            text += self.tag(f"elif {self.sound(1)}") + self.body(depth - 1)
        if self.chance(50):
            text += self.tag("else") + self.body(depth - 1)
        return text + self.tag(self.pick(["endif"] * 20 + ["endfor", "endif x"]))

    def parameters(self) -> str:
        forms = [
            "()",
            "(p)",
            "(p, q)",
            "(p, q=2)",
            "(p=1, q=p)",
            "(p=x, q=loop)",
            "(p q)",
            "(p, varargs)",
            "(p=1,)",
            "(p, p)",
            "(p=1, q)",
            "(varargs=1)",
        ]
        return str(self.pick(forms[:6] if self.chance(80) else forms))

    def macro(self, depth: int) -> str:
        self.names += ["p", "q", "m1()", "m1(1, 2)", "m1(q=3)"]
        special = (
            ""
            if self.chance(60)
            else self.pick(
                [
                    "",
                    "{{ varargs }}",
                    "{{ kwargs }}",
                    "{{ varargs | length }}{{ kwargs }}",
                    "{% if false %}{{ kwargs }}{% endif %}",
                    "{% set varargs = 1 %}{{ varargs }}",
                    "{{ caller() }}",
                    "{{ caller(1) }}",
                    "{{ caller(1, w=2) }}",
                ]
            )
        )
        body = (
            self.body(depth - 1)
            + special
            + self.pick(
                ["{{ p }}", "[{{ p }}{{ q }}]", "", "{% break %}"]
                if self.chance(20)
                else ["{{ p }}", "[{{ p }}|{{ q }}]"]
            )
        )
        return (
            self.tag(f"macro {self.pick(['m1', 'm1', 'm2', '(m1)'])}{self.parameters()}")
            + body
            + self.tag("endmacro")
            + self.macro_call(depth)
        )

    def macro_call(self, depth: int) -> str:
        arguments = self.pick(
            ["()", "(1)"]
            if self.chance(70)
            else [
                "()",
                "(1)",
                "(1, 2)",
                "(1, q=2)",
                "(q=5)",
                "(1, 2, 3)",
                "(*l)",
                "(**o)",
                "(p=undef)",
                "(none, nope)",
                "(z=1)",
                "(*el, **eo)",
                "(1, p=2)",
                "(el | first)",
                self.arguments(2),
            ]
        )
        return f"{{{{ {self.pick(['m1'] * 9 + ['m2'])}{arguments}{self.pick(['', '', '', ' | upper', ' ~ 1', ' + 1', '.strip()', ' is string'])} }}}}"

    def call_block(self, depth: int) -> str:
        arguments = self.pick(["()", "(1)"] if self.chance(70) else ["()", "(1)", "(1, 2)", "(q=2)", "(1, z=2)"])
        own = self.pick(["", "", "(u)", "(u, v=3)", "(u=1)", "()"])
        callee = self.pick(
            ["m1"] if self.chance(85) else ["m2", "range", "namespace", "caller", "nope", "s.upper", "(m1)"]
        )
        self.names += ["u", "caller()"]
        body = self.body(depth - 1) + self.pick(["", "{{ u }}", "{{ varargs }}", "{{ kwargs }}", "{{ p }}"])
        definition = (
            self.tag("macro m1(p=1, q=2)") + "<{{ caller(1) }}{{ p }}>" + self.tag("endmacro")
            if self.chance(85)
            else ""
        )
        return definition + self.tag(f"call{own} {callee}{arguments}") + body + self.tag("endcall")

    def set_block(self, depth: int) -> str:
        name = self.variable()
        return self.tag(f"set {name}") + self.body(depth - 1) + self.tag("endset") + f"{{{{ {name} }}}}"

    def filter_block(self, depth: int) -> str:
        applied = self.pick(
            ["upper", "indent", "trim", "title", "length", "replace('a', 'bb')"]
            if self.chance(75)
            else [
                "upper",
                "indent",
                "indent(2, true)",
                "replace('a', 'bb')",
                "length",
                "trim",
                "tojson",
                "list",
                "int",
                "'a'",
                "(upper)",
                "upper | lower",
                "default('x')",
                "join('-')",
                "nope",
                "title",
                "upper()",
                "replace('a', 'b').x",
                self.filter(2),
            ]
        )
        return self.tag(f"filter {applied}") + self.body(depth - 1) + self.tag("endfilter")

    def generation(self, depth: int) -> str:
        tag = self.pick(
            [
                "{% generation %}",
                "{%- generation %}",
                "{% generation -%}",
                "{%-endgeneration-%}",
                "{%\ngeneration%}",
                "{% endgeneration %}\n",
            ]
        )
        return f"{self.pick([' ', '  ', '', chr(10)])}{tag}{self.pick([' ', '  ', '', chr(10)])}" * self.pick([1, 1, 2])
