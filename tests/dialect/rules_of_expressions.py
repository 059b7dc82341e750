"""The rules of section 3 of the format, the expression language: examples that each accepts and refuses."""

import math
from dataclasses import dataclass
from typing import Any

from scanbuild.dialect import UNDEFINED

SCOPE: dict[str, Any] = {
    "n": 3,
    "half": 2.5,
    "word": "abc",
    "items": [3, 1, 2],
    "empty": [],
    "nothing": None,
    "missing": UNDEFINED,
    "record": {"a": 1, "b": 2},
    "pairs": [{"k": "x", "v": 1}, {"k": "y"}, {"k": "x", "v": 0}],
    "attrs": {},
}


@dataclass(frozen=True)
class Rule:
    """A sentence of the specification: texts it accepts, with what they give, and texts it refuses."""

    section: str
    sentence: str
    accepts: dict[str, Any]
    refuses: list[str]


NAN = math.nan
INFINITY = math.inf

RULES = [
    # 3.1
    Rule("3.1", "an expression is not blank", {" 1 ": 1}, ["", "  ", "\n"]),
    Rule("3.1", "only the value of the first of several tags counts", {"1 }} 2": 1}, ["1 }} {{ nobody"]),
    Rule(
        "3.1", "comments and statements are no part of an expression", {"'{# #}'": "{# #}"}, ["{# c #} 1", "{% if n %}"]
    ),
    Rule("3.1", "text is prepared as a template's is, inside literals too", {"'a %}\nb'": "a %}b"}, ["'a %}\nb"]),
    # 3.2
    Rule("3.2", "all white space of JavaScript separates tokens", {"1\u00a0+\u2028\ufeff2": 3}, ["1\u200b+ 2"]),
    Rule("3.2", "a number has digits on both sides of its dot", {"1.50": 1.5, "007": 7}, ["1.", ".5", "1e3", "0x1"]),
    Rule("3.2", "numbers are doubles", {"9007199254740993": 9007199254740992}, ["9_0"]),
    Rule("3.2", "digits behind a dot index twice", {"[[1, 2]].0.1": 2}, ["1.5.2"]),
    Rule(
        "3.2",
        "a string knows the escapes n t r b f v and of quotes",
        {r"'\n\t\'\\'": "\n\t'\\"},
        [r"'\u0041'", r"'\0'"],
    ),
    Rule("3.2", "strings beside each other are one", {"'a' \"b\"": "ab", "'a' 'b'.upper()": "AB"}, ["'a' 1"]),
    Rule("3.2", "a string may go over lines and has to end", {"'a\nb'": "a\nb"}, ["'a", "\"a'"]),
    Rule("3.2", "a name is of ASCII letters, digits and underscores", {"word": "abc"}, ["wörd", "1word"]),
    Rule(
        "3.2",
        "keywords are names where no keyword can stand",
        {"record.if": None, "{'in': 1}.in": 1},
        ["if", "else + 1"],
    ),
    Rule("3.2", "no blank is needed between a number and a word", {"1if true else 2": 1, "1in[1]": True}, ["1 2"]),
    Rule("3.2", "a sign binds to the digits behind it, except after a value", {"2 -1": 1, "[-1]": [-1]}, ["{} - 1"]),
    Rule("3.2", "a sign after a keyword is unary", {"1 if false else -1": -1}, ["1 if false else"]),
    Rule(
        "3.2",
        "other characters are errors",
        {"n % 2": 1},
        ["n & 1", "n ^ 1", "!n", "n ? 1 : 2", "@n", "n;", "$n", "`n`"],
    ),
    # 3.3
    Rule(
        "3.3",
        "a conditional takes the first of two",
        {"1 if n else 2": 1, "1 if empty else 2 if n else 3": 2},
        ["if n 1"],
    ),
    Rule(
        "3.3",
        "a conditional without else is undefined, and ends there",
        {"1 if empty": None},
        ["1 if n if n", "(1 if empty) + 1"],
    ),
    Rule(
        "3.3", "or and and give an operand", {"0 or 'x'": "x", "n and 0": 0, "n or nothing.x + 1": 3}, ["0 or", "and 1"]
    ),
    Rule("3.3", "not is no operand of a comparison or sum", {"not n == 4": True}, ["1 + not n", "1 == not n"]),
    Rule("3.3", "comparisons go from left to right and are not chained", {"1 < 2 == true": True}, ["1 < 2 < 3"]),
    Rule("3.3", "the tilde binds as plus does", {"1 ~ 2 * 3": "16", "1 + 2 ~ 3": "33"}, ["~ 1"]),
    Rule("3.3", "powers go from left to right, behind signs", {"2 ** 3 ** 2": 64, "-2 ** 2": 4}, ["2 ** ** 2"]),
    Rule(
        "3.3",
        "a test may be repeated but takes no arguments",
        {"n is odd is true": True},
        ["n is odd(1)", "n is", "n is odd | string"],
    ),
    Rule("3.3", "a filter binds tighter than arithmetic", {"half * half | int": 5.0}, ["(n | )", "n |"]),
    Rule("3.3", "what a filter gives is not indexed", {"(items | sort)[0]": 1}, ["items | sort[0]", "items | sort.0"]),
    Rule(
        "3.3",
        "true, false and none have two spellings",
        {"[True, true, none, None]": [True, True, None, None]},
        ["TRUE", "null"],
    ),
    Rule("3.3", "a tuple has two elements or more", {"(1, 2)": [1, 2], "(1)": 1}, ["()", "(1,)", "(1, 2,)"]),
    Rule(
        "3.3", "of equal keys the last wins, and keys are strings", {"{'a': 1, 'a': 2}": {"a": 2}}, ["{1: 2}", "{a: 1}"]
    ),
    Rule("3.3", "one comma may be missing and one may trail", {"[1 2, 3,]": [1, 2, 3]}, ["[,1]", "[1,,2]"]),
    Rule("3.3", "positional arguments come first", {"max(1, *[2, 3])": 3}, ["max(*[1], 2)", "max(*[1], *[2])"]),
    Rule(
        "3.3",
        "there are no comprehensions, lambdas or sets",
        {"[n]": [3]},
        ["[x for x in items]", "lambda x: x", "{1, 2}"],
    ),
    # 3.4
    Rule("3.4", "tuples leave an expression as lists", {"(1, (2, 3))": [1, [2, 3]]}, ["(1, (2, 3)"]),
    Rule("3.4", "empty lists and objects are false", {"1 if [] else 2": 2, "{} or 5": 5}, ["[] or"]),
    Rule(
        "3.4",
        "not takes lists and objects for true, empty ones too",
        {"not []": False, "not {}": False, "not ''": True},
        ["not"],
    ),
    Rule(
        "3.4", "a name read twice is the same list", {"items == items": True, "[1] == [1]": False}, ["items == nobody"]
    ),
    # 3.5
    Rule(
        "3.5",
        "equality is JavaScript's loose one",
        {"1 == '1'": True, "[2.0] == 2": True, "none == 0": False},
        ["1 === 1"],
    ),
    Rule(
        "3.5", "null equals undefined only", {"nothing == missing": True, "nothing == ''": False}, ["nothing = missing"]
    ),
    Rule(
        "3.5",
        "operators refuse an undefined operand",
        {"1 in missing": False},
        ["missing + 1", "1 < missing", "missing ~ 'x'"],
    ),
    Rule(
        "3.5",
        "operators refuse a null operand",
        {"nothing is none": True},
        ["nothing + 1", "1 ~ nothing", "1 in nothing"],
    ),
    Rule(
        "3.5",
        "the tilde joins JavaScript's text",
        {"2.0 ~ 'x'": "2x", "true ~ [1, none]": "true1,undefined"},
        ["'x' ~"],
    ),
    Rule(
        "3.5",
        "arithmetic is of numbers, not of booleans",
        {"1 + 2.5": 3.5, "2 * 3": 6},
        ["true + 1", "'2' * 2", "[] - 1"],
    ),
    Rule(
        "3.5",
        "plus joins lists, and strings with anything",
        {"[1] + [2]": [1, 2], "'a' + 1": "a1"},
        ["[1] + 1", "{} + 1"],
    ),
    Rule("3.5", "a quotient by zero is infinite or NaN", {"1 / 0": INFINITY, "0 / 0": NAN}, ["1 / '0'"]),
    Rule("3.5", "whole quotients round down", {"-7 // 2": -4, "7.5 // 2": 3, "7 // 0": INFINITY}, ["7 // true"]),
    Rule("3.5", "a remainder has the sign of the dividend", {"-7 % 3": -1, "7 % -3": 1, "1 % 0": NAN}, ["7 % 'a'"]),
    Rule("3.5", "a power is finite", {"2 ** -1": 0.5, "true ** 2": 1}, ["0 ** -1", "10 ** 400", "(0 / 0) ** 1"]),
    Rule("3.5", "an order is of numbers", {"1 < 2.5": True, "2 >= 2": True}, ["'a' < 'b'", "true < 2", "[1] < [2]"]),
    Rule(
        "3.5",
        "a list holds what is strictly equal",
        {"1 in [1.0]": True, "1 in ['1']": False},
        ["[1] in [[1]]", "1 in 12"],
    ),
    Rule("3.5", "a string holds strings", {"'b' in word": True}, ["1 in '123'"]),
    Rule("3.5", "an object holds keys", {"'a' in record": True, "'get' in record": False}, ["1 in record"]),
    Rule("3.5", "a sign is for numbers and booleans", {"-true": -1, "+ n": 3}, ["-'1'", "- nothing"]),
    Rule(
        "3.5",
        "a list is indexed by integers, from the end too",
        {"items[-1]": 2, "items[9]": None},
        ["items[1.0]", "items[true]"],
    ),
    Rule("3.5", "an object is indexed by strings", {"record['a']": 1, "record.zzz": None}, ["record[0]", "record.0"]),
    Rule(
        "3.5",
        "members of numbers and null are undefined, elements errors",
        {"n.x": None, "nothing.x": None},
        ["n[0]", "nothing[0]"],
    ),
    Rule("3.5", "a list has a length and no methods", {"items.length": 3}, ["items.append(1)"]),
    Rule(
        "3.5",
        "an object has get, items, keys, values and dictsort",
        {"record.get('z', 7)": 7},
        ["record.pop('a')"],
    ),
    Rule(
        "3.5",
        "slices are Python's",
        {"items[::-1]": [2, 1, 3], "word[1:]": "bc", "items[::0]": []},
        ["n[1:]", "items[1.0:]"],
    ),
    Rule("3.5", "only functions are called", {"min(2, 1)": 1}, ["n()", "'a'()", "record.a()"]),
    Rule(
        "3.5",
        "strings split at white space or at a separator",
        {"' a b '.split()": ["a", "b"], "'a,,b'.split(',')": ["a", "", "b"]},
        ["'a'.split('')", "'a'.split(',', 1.0)"],
    ),
    Rule(
        "3.5",
        "startswith takes a string or a list of them",
        {"word.startswith(['x', 'a'])": True, "word.endswith([])": False},
        ["word.startswith(1)"],
    ),
    Rule(
        "3.5",
        "replace changes all, or the first",
        {"'aaa'.replace('a', 'b', 2)": "bba"},
        ["'aaa'.replace('a', 'b', 1.0)"],
    ),
    Rule(
        "3.5",
        "strings have no other methods",
        {"word.upper()": "ABC"},
        ["word.find('a')", "word.count('a')", "word.format()", "word.join([])"],
    ),
    # 3.6
    Rule(
        "3.6",
        "int rounds down, and reads the head of a string",
        {"-1.5 | int": -2, "'12abc' | int": 12, "'x' | int": 0},
        ["[1] | int"],
    ),
    Rule("3.6", "float reads a string with an exponent", {"'1e3' | float": 1000, "true | float": 1}, ["none | float"]),
    Rule(
        "3.6",
        "int and float with parentheses leave numbers alone",
        {"2.7 | int()": 2.7, "'x' | int(5)": 5},
        ["[] | int(1)"],
    ),
    Rule(
        "3.6",
        "default is for what is undefined",
        {"missing | default(1)": 1, "nothing | default(1)": None, "0 | default(1, true)": 1},
        ["missing | default", "0 | default(1, 1)"],
    ),
    Rule(
        "3.6",
        "first and last are of lists",
        {"items | first": 3, "empty | last": None},
        ["word | first", "(empty | first) + 1"],
    ),
    Rule(
        "3.6",
        "length is of lists, strings and objects",
        {"items | length": 3, "record | length": 2},
        ["n | length", "items | length()"],
    ),
    Rule(
        "3.6",
        "filters other than the listed ones take no parentheses",
        {"word | upper": "ABC"},
        ["word | upper()", "n | abs()", "items | first()"],
    ),
    Rule(
        "3.6",
        "unknown filters fail where they are reached",
        {"1 if true else (n | round)": 1},
        ["n | round", "items | sum", "items | min"],
    ),
    Rule(
        "3.6",
        "null and functions have few filters",
        {"nothing | tojson": "null"},
        ["nothing | length", "max | tojson", "nothing | string"],
    ),
    Rule("3.6", "unique is by strict equality", {"[1, 1.0, '1'] | unique": [1, "1"]}, ["n | unique"]),
    Rule(
        "3.6",
        "join needs a string between",
        {"[1, none, 2.0] | join('-')": "1--2"},
        ["items | join(1)", "n | join('')"],
    ),
    Rule(
        "3.6",
        "sort compares likes",
        {"items | sort": [1, 2, 3], "['b', 'A'] | sort": ["A", "b"], "items | sort(true)": [3, 2, 1]},
        ["[1, 'a'] | sort", "[[1], [2]] | sort", "items | sort('k')"],
    ),
    Rule(
        "3.6",
        "map takes an attribute of objects",
        {"pairs | map(attribute='v', default=9)": [1, 9, 0]},
        ["pairs | map('upper')", "items | map(attribute='v')"],
    ),
    Rule(
        "3.6",
        "selectattr and rejectattr take strings",
        {"pairs | selectattr('v') | length": 1, "pairs | rejectattr('k', 'eq', 'x') | length": 1},
        ["pairs | selectattr('v', 'eq', 1)", "items | selectattr('v')"],
    ),
    Rule(
        "3.6",
        "indent leaves the first line alone",
        {"'a\nb' | indent(2)": "a\n  b"},
        ["'a' | indent(-1)", "'a' | indent(1.0)"],
    ),
    Rule(
        "3.6",
        "tojson writes JSON with blanks",
        {"[1, 2.0, {'a': none}] | tojson": '[1, 2, {"a": null}]'},
        ["(1, 2) | tojson", "[1] | tojson(indent=-1)"],
    ),
    Rule("3.6", "odd and even are of integers", {"3 is odd": True, "4 is even": True}, ["2.0 is even", "'a' is odd"]),
    Rule(
        "3.6",
        "a number is no boolean, and a whole float no integer",
        {"true is number": False, "2.0 is integer": False},
        ["1 is float"],
    ),
    Rule(
        "3.6",
        "tests are lower-case and known",
        {"word is string": True, "nothing is none": True},
        ["word is String", "n is divisibleby", "n is eq"],
    ),
    # 3.7
    Rule(
        "3.7",
        "a name must exist, in untaken branches too",
        {"1 if true else n": 1},
        ["1 if true else nobody", "nobody | default(1)"],
    ),
    Rule(
        "3.7",
        "a name may be missing where it is asked whether it is defined",
        {"nobody is defined": False, "not (nobody is undefined)": False},
        ["nobody.x is defined"],
    ),
    Rule(
        "3.7",
        "an absent member is undefined",
        {"attrs.axis | default(0)": 0, "attrs.axis is defined": False},
        ["attrs.axis + 1"],
    ),
    Rule(
        "3.7",
        "what templates have besides is not there",
        {"namespace is defined": True},
        ["range(3)", "namespace()", "loop.index", "env.device"],
    ),
    # 3.8
    Rule("3.8", "min and max take scalars", {"min(3, 1)": 1, "max(*items)": 3, "min()": INFINITY}, ["min(1 | nobody)"]),
    Rule("3.8", "ceilDiv rounds up", {"ceilDiv(7, 2)": 4, "ceilDiv(1, 0)": INFINITY}, ["ceilDiv(7, nobody)"]),
    Rule(
        "3.8", "powers of two are found", {"pow2ceil(5)": 8, "log2ceil(5)": 3, "log2ceil(0)": 0}, ["pow2ceil(nobody)"]
    ),
    Rule("3.8", "numel multiplies a list", {"numel(items)": 6, "numel([])": 1}, ["numel(nothing)"]),
    Rule(
        "3.8",
        "dim reduces its axis",
        {"dim(items, -1)": 2, "dim(items, 4)": 1, "dim([], 0)": None},
        ["dim(missing, 0)"],
    ),
    Rule(
        "3.8",
        "outer, inner and rows multiply around an axis",
        {"outer(items, 1)": 3, "inner(items, 1)": 2, "rows(items, 1)": 6},
        ["outer(nothing, 0)"],
    ),
    Rule("3.8", "prefix and suffix cut", {"prefix(items, 2)": [3, 1], "suffix(items, 2)": [2]}, ["prefix(nothing, 1)"]),
    Rule("3.8", "fill takes a count", {"fill(1, 2)": [1, 1]}, ["fill(1, -1)", "fill(1, 1.5)"]),
    Rule(
        "3.8",
        "moveAxis wants axes of the shape",
        {"moveAxis(items, 0, -1)": [1, 2, 3]},
        ["moveAxis(items, 3, 0)", "moveAxis([], 0, 0)"],
    ),
    Rule(
        "3.8",
        "permuteShape wants each axis once",
        {"permuteShape(items, [2, -2, 0])": [2, 1, 3]},
        ["permuteShape(items, [0, 0, 1])", "permuteShape(items, [0, 1])"],
    ),
    Rule("3.8", "reversedAxes counts down", {"reversedAxes(3)": [2, 1, 0]}, ["reversedAxes(-1)", "reversedAxes(0.5)"]),
    Rule(
        "3.8",
        "broadcastShape is NumPy's",
        {"broadcastShape([2, 1], [3])": [2, 3], "broadcastShape([1], [0])": [0]},
        ["broadcastShape([2], [3])"],
    ),
    Rule(
        "3.8",
        "matmulShape is NumPy's",
        {"matmulShape([2, 3], [3])": [2], "matmulShape([3], [3])": []},
        ["matmulShape([2, 3], [2, 3])", "matmulShape([], [3])"],
    ),
    Rule(
        "3.8",
        "sameShape compares elements",
        {"sameShape(items, [3, 1, 2])": True, "sameShape([1], [1, 1])": False},
        ["sameShape(items, nothing)"],
    ),
    Rule(
        "3.8",
        "broadcastable asks one way",
        {"broadcastable([1], [2, 3])": True, "broadcastable([2, 3], [3])": False},
        ["broadcastable(nothing, [1])"],
    ),
    Rule(
        "3.8",
        "hasAxis and axisValue reduce axes",
        {"hasAxis([-1], 2, 3)": True, "axisValue([7, 8], [0, -1], 2, 3, 0)": 8},
        ["hasAxis(nothing, 0, 1)"],
    ),
    Rule(
        "3.8",
        "isUniqueIntList wants integer bounds",
        {"isUniqueIntList([0, 1], 0, 2)": True, "isUniqueIntList([0], 0.5, 2)": False},
        ["isUniqueIntList([0], nobody, 2)"],
    ),
    Rule(
        "3.8",
        "has asks for own members",
        {"has(record, 'a')": True, "has(record, 'get')": False, "has(n, 'a')": False},
        ["has(record"],
    ),
    Rule(
        "3.8",
        "dtypeBytes knows the dtypes",
        {"dtypeBytes('bool')": 4, "dtypeBytes('f16')": 2},
        ["dtypeBytes('float64')"],
    ),
    Rule("3.8", "onnxDtypeCode knows dtype names", {"onnxDtypeCode('float16')": 10}, ["onnxDtypeCode('f16')"]),
    Rule(
        "3.8",
        "pick takes the first pair that holds",
        {"pick([[0, 'a'], [[], 'b']], 'c')": "b", "pick([], 4)": 4},
        ["pick([1], 2)", "pick([[1]], 2)"],
    ),
]
