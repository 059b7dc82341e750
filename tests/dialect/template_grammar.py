"""Random templates of the loader's language, most of them valid, some of them nearly so."""

from collections.abc import Callable
from contextlib import suppress

from scanbuild.dialect import DialectError, parse_template

from .grammar import Grammar
from .vocabulary import COMMENTS, CONTEXT, JUNK, NAMES, PIECES, SCRAPS


class TemplateGrammar(Grammar):
    """Writes templates."""

    def sound(self, depth: int) -> str:
        """An expression that mostly has a value: in a template, one failure hides all the rest."""
        for _ in range(0 if self.chance(4) else 6):
            text = self.value(depth)
            with suppress(DialectError):
                parse_template("{{ " + text + " }}").render(CONTEXT)
                return text
        return self.value(depth)

    def template(self) -> str:
        """A whole template."""
        self.names = list(NAMES)
        text = self.body(3)
        for _ in range(self.pick([0] * 9 + [1, 2])):
            place = self.random.randrange(len(text) + 1)
            gone = self.pick([0, 0, 1, 1, 2, 9])
            text = (
                text[:place] + (self.pick(JUNK + SCRAPS) if not gone or self.chance(30) else "") + text[place + gone :]
            )
        return text

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
        blank = self.pick([" ", " ", " ", " ", "", "\n", "\r\n", "\u2028", "\n  "])
        return f"{opening}{blank}{content}{blank}{closing}"

    def plain_text(self, depth: int) -> str:
        return "".join(self.pick(PIECES) for _ in range(self.random.randrange(1, 4)))

    def printing(self, depth: int) -> str:
        text = self.sound(2) if self.chance(60) else self.pick(self.names)
        opening = self.pick(["{{ ", "{{ ", "{{ ", "{{", "{{- ", "{{-", "{{\n", "  {{ "])
        closing = self.pick([" }}", " }}", " }}", "}}", " -}}", "-}}", "\n}}", " }}\n"])
        return f"{opening}{text}{closing}"

    def comment(self, depth: int) -> str:
        return str(self.pick(COMMENTS))

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
        return self.tag(f"set ns = {made}") + self.body(depth - 1) + str(use)

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
        return str(
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
        use = self.pick(["", "", "", " | upper", " ~ 1", " + 1", ".strip()", " is string"])
        return f"{{{{ {self.pick(['m1'] * 9 + ['m2'])}{arguments}{use} }}}}"

    def call_block(self, depth: int) -> str:
        arguments = self.pick(
            ["()", "(1)"]
            if self.chance(70)
            else ["(1, 2)", "(q=2)", "(1, z=2)", "(*l)", "(**eo)", "(*m[0], q=1)", "", self.arguments(2)]
        )
        own = self.pick(["", "", "(u)", "(u, v=3)", "(u=1)", "()", "(u=i, v=u)", "(u v)", "(kwargs)"])
        callee = self.pick(
            ["m1"] if self.chance(85) else ["m2", "range", "namespace", "caller", "nope", "s.upper", "(m1)"]
        )
        self.names += ["u", "caller()"]
        body = self.body(depth - 1) + str(
            self.pick(
                [
                    "",
                    "{{ u }}",
                    "{{ varargs }}",
                    "{{ kwargs }}",
                    "{{ p }}",
                    "{% set u = 3 %}{{ u }}",
                    "{{ caller }}",
                    "{{ loop.index }}",
                ]
            )
        )
        definition = (
            self.tag("macro m1(p=1, q=2)")
            + str(
                self.pick(
                    [
                        "<{{ caller(1) }}{{ p }}>",
                        "{{ caller() }}",
                        "{% for x in l %}{{ caller(x) }}{% endfor %}",
                        "{{ caller(v=p) }}",
                    ]
                )
            )
            + self.tag("endmacro")
            if self.chance(85)
            else ""
        )
        return str(definition) + self.tag(f"call{own} {callee}{arguments}") + str(body) + self.tag("endcall")

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
        before, after = self.pick([" ", "  ", "", "\n"]), self.pick([" ", "  ", "", "\n"])
        return f"{before}{tag}{after}" * int(self.pick([1, 1, 2]))
