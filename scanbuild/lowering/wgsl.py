"""WGSL of the elementwise operations: what ``operations`` defines in NumPy.

Values are computed in one scalar a dtype (``SCALARS``): halves in f32, rounded after each operation; narrow integers in
32 bits, wrapped after each operation; int64 as two words, low first, by functions. The functions are those of
``templates/_lowered/functions.wgsl.jinja``; :func:`library` finds the ones that a text needs.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from scanbuild.lowering.operations import FLOATS
from scanbuild.resources import data_folder

SCALARS: Final = {
    "float32": "f32",
    "float16": "f32",
    "int8": "i32",
    "int16": "i32",
    "int32": "i32",
    "int64": "vec2<u32>",
    "uint8": "u32",
    "uint32": "u32",
    "bool": "bool",
}
_SUFFIX: Final = {"f32": "f32", "i32": "i32", "u32": "u32", "vec2<u32>": "i64", "bool": "bool"}
_INFIX: Final = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "bit_and": "&",
    "bit_or": "|",
    "bit_xor": "^",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "and": "&&",
    "or": "||",
    "xor": "!=",
}
_COMPARISONS: Final = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
_WRAPPING: Final = frozenset({"add", "sub", "mul", "div", "neg", "abs", "pow", "bit_not", "shift_left"})
_BUILTIN_FLOAT: Final = frozenset({"floor", "ceil", "round", "abs"})
_BITS: Final = {"int8": 8, "int16": 16, "uint8": 8}
_EXACT_IN_HALVES: Final = frozenset({"neg", "abs", "sign", "min", "max", "floor", "ceil", "round", "where"})
_FUNCTION: Final = re.compile(r"(?:^//[^\n]*\n)*^fn (\w+)\(.*?^\}\n", re.MULTILINE | re.DOTALL)
_CALL: Final = re.compile(r"\b([a-z]\w*)\(")
_NUMBER: Final = re.compile(r"[0-9][0-9.e+-]*[fiu]?\Z")
_LITERAL: Final = re.compile(r"\(?-?[0-9][0-9.e+-]*f\)?\Z")


def is_atomic(text: str) -> bool:
    """Whether a text is an operand without parentheses: a name, a literal, a call, an element or in parentheses."""
    depth = 0
    for index, letter in enumerate(text):
        if letter in "([":
            depth += 1
        elif letter in ")]":
            depth -= 1
            if depth == 0 and index < len(text) - 1 and text[index + 1] not in "[.":
                return False
        elif depth == 0 and not (letter.isalnum() or letter in "_.<>,"):
            return _NUMBER.match(text) is not None
    return True


def is_literal(text: str) -> bool:
    """Whether a text is a finite literal of f32, of which nobody needs to ask whether it is NaN."""
    return _LITERAL.match(text) is not None


def map_text(operation: str, dtype: str, operands: Sequence[str]) -> str:
    """An operation of ``MAPS`` on operands of a dtype (those of ``where``: its last two).

    Operands are in parentheses where they need it; the result may need them.
    """
    if operation == "where":
        condition, yes, no = operands
        return f"select({no}, {yes}, {condition})"
    text = _raw(operation, dtype, operands)
    if dtype == "float16" and operation not in _COMPARISONS | _EXACT_IN_HALVES | {"is_nan", "is_inf"}:
        return f"half({text})"
    return wrapped(text, dtype) if operation in _WRAPPING else text


def _raw(operation: str, dtype: str, operands: Sequence[str]) -> str:
    scalar = SCALARS[dtype]
    if scalar == "vec2<u32>":
        return f"{operation}_i64({', '.join(operands)})"
    if dtype in FLOATS:
        special = _float(operation, operands)
        if special is not None:
            return special
    if scalar == "u32" and operation in ("abs", "sign", "neg"):
        return {"abs": operands[0], "sign": f"min({operands[0]}, 1u)", "neg": f"0u - {operands[0]}"}[operation]
    match operation:
        case "neg":
            return f"-{operands[0]}"
        case "not":
            return f"!{operands[0]}"
        case "bit_not":
            return f"~{operands[0]}"
        case "fmod":
            return f"{operands[0]} % {operands[1]}"
        case "mod":
            return f"{operands[0]} % {operands[1]}" if scalar == "u32" else f"mod_i32({', '.join(operands)})"
        case "min" | "max" | "abs" | "sign":
            return f"{operation}({', '.join(operands)})"
        case "pow" | "shift_left" | "shift_right":
            return f"{operation}_{_SUFFIX[scalar]}({', '.join(operands)})"
    if operation in _COMPARISONS and scalar != "bool":
        # In parentheses, because < and > around a comma would be read as a list of types.
        return f"({operands[0]} {_INFIX[operation]} {operands[1]})"
    return f"{operands[0]} {_INFIX[operation]} {operands[1]}"


def _float(operation: str, operands: Sequence[str]) -> str | None:
    """What is special about f32: NaN, which compilers take for impossible, and accuracy."""
    if operation in _COMPARISONS:
        asked = [item for item in operands if not is_literal(item)]
        nan = " || ".join(f"is_nan({item})" for item in dict.fromkeys(asked))
        plain = f"{operands[0]} {_INFIX[operation]} {operands[1]}"
        if not nan:
            return f"({plain})"
        if operation == "ne":
            return f"({plain} || {nan})"
        return f"({plain} && !({nan}))" if len(asked) > 1 else f"({plain} && !{nan})"
    if operation in ("add", "sub", "mul", "div", "neg") or operation in _BUILTIN_FLOAT:
        return None if operation not in _BUILTIN_FLOAT else f"{operation}({operands[0]})"
    if operation == "pow":
        simple = {"2.0f": "{0} * {0}", "1.0f": "{0}", "3.0f": "{0} * {0} * {0}", "(-1.0f)": "1.0f / {0}"}
        if operands[1] in simple and re.fullmatch(r"\w+", operands[0]):
            return simple[operands[1]].format(operands[0])
    return (
        f"{operation}_f32({', '.join(operands)})"
        if operation not in ("is_nan", "is_inf")
        else (f"{operation}({operands[0]})")
    )


def wrapped(text: str, dtype: str) -> str:
    """A value of an arithmetic operation brought back into the range of a narrow integer."""
    return f"extractBits({text}, 0u, {_BITS[dtype]}u)" if dtype in _BITS else text


def cast_text(text: str, source: str, target: str) -> str:
    """A value of one dtype in another, as ONNX converts: the text is in parentheses where it needs it."""
    before, after = SCALARS[source], SCALARS[target]
    if target == "bool":
        if source == "bool":
            return text
        if source == "int64":
            return f"any({text} != vec2<u32>(0u))"
        # The bits, since NaN counts as true and a compiler may think that it equals nothing, or everything.
        return f"((bitcast<u32>({text}) << 1u) != 0u)" if before == "f32" else f"({text} != {literal(0, source)})"
    if source == target:
        return text
    if source == "bool":
        return f"select({literal(0, target)}, {literal(1, target)}, {text})"
    if before == "f32":
        if target == "float16":
            return text if source == "float16" else f"half({text})"
        return text if after == "f32" else f"{target}_of({text})"
    if source == "int64":
        return (
            f"half(f32_of_i64({text}))"
            if target == "float16"
            else (f"f32_of_i64({text})" if after == "f32" else wrapped(_low(text, after), target))
        )
    if after == "vec2<u32>":
        return f"i64_of_{before}({text})"
    if after == "f32":
        return f"half(f32({text}))" if target == "float16" else f"f32({text})"
    narrow = text if before == after else f"bitcast<{after}>({text})"
    fits = target not in _BITS or (source == target) or (target == "int16" and source in ("int8", "uint8"))
    return narrow if fits else wrapped(narrow, target)


def _low(text: str, scalar: str) -> str:
    return f"low_i64({text})" if scalar == "u32" else f"bitcast<i32>(low_i64({text}))"


def literal(value: Any, dtype: str) -> str:
    """A scalar as a literal of the dtype's WGSL scalar."""
    scalar = SCALARS[dtype]
    if scalar == "bool":
        return "true" if value else "false"
    if scalar == "u32":
        return f"{int(value)}u"
    if scalar == "i32":
        number = int(value)
        return f"{number}i" if number >= 0 else f"({number}i)" if number > -(2**31) else "i32(-2147483648)"
    if scalar == "vec2<u32>":
        number = int(value) % 2**64
        return f"vec2<u32>({number % 2**32}u, {number // 2**32}u)"
    return _float_literal(np.float32(value))


def _float_literal(value: np.float32) -> str:
    bits = int(value.view(np.uint32))
    if not needs_bits(value):
        text = f"{value:.1f}" if value == np.round(value) and abs(value) < 1e6 else str(value)
        return f"{text}f" if value >= 0 else f"({text}f)"
    return f"from_bits(0x{bits:08x}u)"


def needs_bits(value: np.float32) -> bool:
    """Whether compilers do not reliably take the value as a literal: infinities, NaN, -0 and subnormals."""
    small = abs(value) < np.finfo(np.float32).tiny and (value != 0 or bool(np.signbit(value)))
    return bool(not np.isfinite(value) or small)


def reduction(kind: str, dtype: str) -> str:
    """The value that a reduction starts from."""
    scalar = SCALARS[dtype]
    if kind in ("add", "mul"):
        return literal(0 if kind == "add" else 1, dtype)
    lowest = kind == "max"
    if scalar == "f32":
        return literal(-np.inf if lowest else np.inf, dtype)
    if scalar == "bool":
        return "false" if lowest else "true"
    info = np.iinfo(dtype)
    return literal(info.min if lowest else info.max, dtype)


def combine(kind: str, dtype: str, left: str, right: str) -> str:
    """One step of a reduction; of halves in f32, without rounding, and of narrow integers without wrapping."""
    wide = {"float16": "float32", "int8": "int32", "int16": "int32", "uint8": "uint32"}.get(dtype, dtype)
    if wide == "bool":
        return f"{left} {'||' if kind in ('max', 'add') else '&&'} {right}"
    return map_text(kind, wide, (left, right))


@cache
def _functions() -> dict[str, str]:
    text = (data_folder("templates") / "_lowered" / "functions.wgsl.jinja").read_text(encoding="utf-8")
    return {found[1]: found[0] for found in _FUNCTION.finditer(text)}


def library(text: str) -> str:
    """The functions that a shader's text calls, and those that they call, each in front of its callers."""
    known = _functions()
    wanted: set[str] = set()
    open_texts = [text]
    while open_texts:
        for name in _CALL.findall(open_texts.pop()):
            if name in known and name not in wanted:
                wanted.add(name)
                open_texts.append(known[name])
    return "\n".join(source for name, source in known.items() if name in wanted)


def reserved() -> frozenset[str]:
    """Names of functions that a shader's own names must not hide."""
    return frozenset(_functions())


def table(name: str, array: "np.ndarray[Any, Any]", dtype: str, *, bits: bool) -> str:
    """A constant as an array of the module, in row-major order; ``bits``: floats by their bits, for ``from_bits``."""
    values = array.reshape(-1)
    scalar = SCALARS[dtype]
    if bits:
        scalar, words = "u32", [f"0x{int(item):08x}u" for item in values.astype(np.float32).view(np.uint32)]
    elif dtype == "bool":
        scalar, words = "u32", [f"{int(item)}u" for item in values]
    else:
        words = [literal(item, dtype).strip("()") if scalar != "vec2<u32>" else literal(item, dtype) for item in values]
    lines, line = [], ""
    for word in words:
        if line and len(line) + len(word) > 110:
            lines.append(f"  {line.rstrip()}\n")
            line = ""
        line += f"{word}, "
    lines.append(f"  {line.rstrip()}\n")
    return f"const {name} = array<{scalar}, {values.size}>(\n{''.join(lines)});\n"
