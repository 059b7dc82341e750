"""Views: operations that only move elements, as functions of indices."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from scanbuild.lowering import wgsl
from scanbuild.lowering.blocks import Block, Value, deepest
from scanbuild.lowering.graph import Node, Shape
from scanbuild.lowering.sizes import ONE, Size, product

if TYPE_CHECKING:
    from scanbuild.lowering.elements import Emitter

Index = tuple[Size, ...]
_ZERO: Final = Size()


def index_text(size: Size, spelled: Callable[[str], str], block: Block) -> Value:
    """A polynomial as u32 arithmetic."""
    if size.number is not None:
        return Value(f"{size.number % 2**32}u", block, atomic=True, cheap=True)
    text = ""
    for monomial, factor in sorted(size.terms, key=lambda term: (term[1] < 0, -len(term[0]))):
        words = [spelled(symbol) for symbol in sorted(monomial, key=_variable_first)]
        words += [f"{abs(factor)}u"] if abs(factor) != 1 or not words else []
        term = " * ".join(words)
        if text:
            text += f" - {term}" if factor < 0 else f" + {term}"
        else:
            text = f"0u - {term}" if factor < 0 else term
    cheap = text.isidentifier()
    return Value(text, block, atomic=wgsl.is_atomic(text), cheap=cheap)


def _variable_first(symbol: str) -> tuple[bool, str]:
    return (not symbol.startswith("%"), symbol)


def _reshape(emit: "Emitter", node: Node, index: Index) -> Value:
    (name,) = node.inputs
    return emit.value(name, reshaped(emit, index, node.shape, emit.nodes[name].shape))


def reshaped(emit: "Emitter", index: Index, shape: Shape, inner: Shape) -> Index:
    """The index into ``inner`` of the element at an index of ``shape``; both hold as many elements.

    Runs of axes with the same number of elements on both sides are taken by themselves, so that most reshapes need
    no division.
    """
    found: list[Size] = []
    left, right = 0, 0
    while left < len(shape) or right < len(inner):
        if right < len(inner) and inner[right] == ONE:
            found.append(_ZERO)
            right += 1
            continue
        if left < len(shape) and shape[left] == ONE:
            left += 1
            continue
        upto, over = _run(shape[left:], inner[right:])
        flat = emit.offset(index[left : left + upto], shape[left : left + upto])
        found += unflattened(emit, flat, inner[right : right + over], product(list(shape[left : left + upto])))
        left, right = left + upto, right + over
    return tuple(found)


def _run(shape: Shape, inner: Shape) -> tuple[int, int]:
    """How many axes of both sides, at least one each, hold the same number of elements."""
    for total in range(2, len(shape) + len(inner) + 1):
        for upto in range(1, min(total, len(shape) + 1)):
            over = total - upto
            if 1 <= over <= len(inner) and product(list(shape[:upto])) == product(list(inner[:over])):
                return upto, over
    return len(shape), len(inner)


def unflattened(emit: "Emitter", flat: Size, shape: Shape, extent: Size) -> list[Size]:
    """The index of an element of which the number is known, which is below ``extent``."""
    found: list[Size] = []
    rest, bound = flat, extent
    for axis in range(len(shape) - 1):
        inner = product(list(shape[axis + 1 :]))
        if inner == ONE:
            found.append(rest)
            rest = _ZERO
            continue
        quotient, rest = divided(emit, rest, inner, bound)
        found.append(quotient)
        bound = inner
    return [*found, rest] if shape else found


def divided(emit: "Emitter", flat: Size, by: Size, extent: Size) -> tuple[Size, Size]:
    """Quotient and remainder of an index below ``extent``, by arithmetic of polynomials where that is exact."""
    whole, rest = _ZERO, _ZERO
    for monomial, factor in flat.terms:
        term = Size(((monomial, factor),))
        quotient = term.divided(by)
        if quotient is None:
            rest += term
        else:
            whole += quotient
    bound = _bound(emit, rest)
    if bound is not None and _at_most(bound, by - 1):
        return whole, rest
    key = ("divided", flat, by)
    known = emit.recall(key)
    if known is None:
        value = emit.index_value(flat)
        block = deepest([value.block, emit.block.floor()])
        divisor = emit.index_value(by).operand
        named = emit.bind(Value(value.text, block, value.atomic, value.cheap), "flat")
        row = emit.variable(f"{named.operand} / {divisor}", block, extent.divided(by) or flat, "row")
        column = emit.variable(f"{named.operand} % {divisor}", block, by, "column")
        known = block.indices[key] = (row, column)
    return known[0], known[1]


def _bound(emit: "Emitter", size: Size) -> Size | None:
    """The largest value of an index, if all of its terms are positive."""
    total = _ZERO
    for monomial, factor in size.terms:
        if factor < 0:
            return None
        term = Size.of(factor)
        for symbol in monomial:
            largest = emit.variables[symbol].extent - 1 if symbol.startswith("%") else Size.of(symbol)
            term = term * largest
        total += term
    return total


def _at_most(left: Size, right: Size) -> bool:
    difference = right - left
    return all(factor >= 0 for _, factor in difference.terms)


def _transpose(emit: "Emitter", node: Node, index: Index) -> Value:
    inner = list(index)
    for axis, source in enumerate(node.attributes["perm"]):
        inner[source] = index[axis]
    return emit.value(node.inputs[0], tuple(inner))


def _expand(emit: "Emitter", node: Node, index: Index) -> Value:
    return emit.value(node.inputs[0], emit.broadcast(node.inputs[0], index))


def _slice(emit: "Emitter", node: Node, index: Index) -> Value:
    starts, steps = node.attributes["starts"], node.attributes["steps"]
    inner = (Size.of(start) + at * step for at, start, step in zip(index, starts, steps, strict=True))
    return emit.value(node.inputs[0], tuple(inner))


def _concat(emit: "Emitter", node: Node, index: Index) -> Value:
    axis = node.attributes["axis"]
    at, before = index[axis], _ZERO
    parts: list[tuple[str, Size, Size]] = []
    for name in node.inputs:
        size = emit.nodes[name].shape[axis]
        if size.number != 0:
            parts.append((name, before, size))
        before += size
    known = at.number
    for name, first, size in parts:
        inside = known is not None and first.number is not None and size.number is not None
        if inside and (first.number or 0) <= (known or 0) < (first.number or 0) + (size.number or 0):
            return emit.value(name, (*index[:axis], at - first, *index[axis + 1 :]))
    result = emit.names.take(node.name)
    with emit.detached() as body:
        body.add(f"var {result}: {wgsl.SCALARS[node.dtype]};")
        for number, (name, first, size) in enumerate(parts):
            end = emit.index_value(first + size).text
            last = number == len(parts) - 1
            head = "else" if last else f"{'else ' if number else ''}if ({emit.index_value(at).text} < {end})"
            if len(parts) == 1:
                head = "if (true)"
            with emit.inside(head, "branch", joined=number > 0) as branch:
                value = emit.value(name, (*index[:axis], at - first, *index[axis + 1 :]))
                branch.add(f"{result} = {value.text};")
    return Value(result, emit.place(body), atomic=True, cheap=True)


def _pad(emit: "Emitter", node: Node, index: Index) -> Value:
    name = node.inputs[0]
    shape, mode = emit.nodes[name].shape, node.attributes["mode"]
    before = [Size.of(size) for size in node.attributes["before"]]
    after = [Size.of(size) for size in node.attributes["after"]]
    inner = [at - size for at, size in zip(index, before, strict=True)]
    padded = [axis for axis in range(len(shape)) if not (_is_cut(before[axis]) and _is_cut(after[axis]))]
    if mode != "constant":
        for axis in padded:
            inner[axis] = _edge(emit, inner[axis], shape[axis], mode)
        return emit.value(name, tuple(inner))
    if not padded:
        return emit.value(name, tuple(inner))
    result = emit.names.take(node.name)
    with emit.detached() as body:
        other = emit.operand(emit.value(node.inputs[1], ()))
        body.add(f"var {result}: {wgsl.SCALARS[node.dtype]} = {other.text};")
        # Positions before the first element wrap around to very large ones.
        tests = [f"{emit.index_value(inner[axis]).text} < {emit.index_value(shape[axis]).text}" for axis in padded]
        with emit.inside(f"if ({' && '.join(tests)})", "branch") as branch:
            branch.add(f"{result} = {emit.value(name, tuple(inner)).text};")
    return Value(result, emit.place(body), atomic=True, cheap=True)


def _is_cut(size: Size) -> bool:
    return size.number is not None and size.number <= 0


def _edge(emit: "Emitter", at: Size, extent: Size, mode: str) -> Size:
    """The position that stands for one beyond the ends."""
    position, length = emit.index_value(at), emit.index_value(extent)
    block = deepest([position.block, emit.block.floor()])
    signed, limit = f"i32({position.text})", f"i32({length.text})"
    if mode == "edge":
        text = f"u32(clamp({signed}, 0i, {limit} - 1i))"
    elif mode == "wrap":
        text = f"u32(mod_i32({signed}, {limit}))"
    else:
        text = f"reflected({signed}, {limit})"
    return emit.variable(text, block, extent, "inner")


def _gather(emit: "Emitter", node: Node, index: Index) -> Value:
    data, indices = node.inputs
    axis = node.attributes["axis"]
    rank = len(emit.nodes[indices].shape)
    at = _position(emit, indices, index[axis : axis + rank], emit.nodes[data].shape[axis])
    return emit.value(data, (*index[:axis], at, *index[axis + rank :]))


def _gather_elements(emit: "Emitter", node: Node, index: Index) -> Value:
    data, indices = node.inputs
    axis = node.attributes["axis"]
    at = _position(emit, indices, index, emit.nodes[data].shape[axis])
    return emit.value(data, (*index[:axis], at, *index[axis + 1 :]))


def _position(emit: "Emitter", indices: str, index: Index, extent: Size) -> Size:
    """An index that is a value: negative ones count from the end."""
    if extent == ONE:
        return _ZERO
    value = emit.value(indices, index)
    key = ("position", indices, index, extent)
    known = emit.recall(key)
    if known is not None:
        return known[0]
    length = emit.index_value(extent)
    dtype = emit.nodes[indices].dtype
    if wgsl.SCALARS[dtype] == "u32":
        text = value.text
    else:
        text = f"position_{'i64' if dtype == 'int64' else 'i32'}({value.text}, {length.text})"
    block = deepest([value.block, emit.block.floor()])
    at = emit.variable(text, block, extent, "at")
    block.indices[key] = (at,)
    return at


VIEWS: Final = {
    "reshape": _reshape,
    "transpose": _transpose,
    "expand": _expand,
    "slice": _slice,
    "concat": _concat,
    "pad": _pad,
    "gather": _gather,
    "gather_elements": _gather_elements,
}
