"""Operators that are sums of products."""

import re
from collections.abc import Sequence

from scanbuild.lowering.sizes import ONE
from scanbuild.lowering.translate.builder import Builder
from scanbuild.lowering.translate.registry import Call, operator
from scanbuild.lowering.translate.values import RefusedError, Value

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


@operator("MatMul")
def matrix_product(call: Call) -> Value:
    """As NumPy's ``matmul``: vectors have no axis of their own in the result, leading axes broadcast."""
    left, right = call.input(0), call.input(1)
    if not left.rank or not right.rank:
        raise RefusedError("an operand is a scalar", "use Mul")
    batch = max(left.rank, right.rank, 2) - 2
    letters = iter(_LETTERS)
    outer = [next(letters) for _ in range(batch)]
    row, inner, column = (next(letters) for _ in range(3))
    first = [*outer[batch - max(left.rank - 2, 0) :], *([row] if left.rank > 1 else []), inner]
    second = [*outer[batch - max(right.rank - 2, 0) :], inner, *([column] if right.rank > 1 else [])]
    result = [*outer, *([row] if left.rank > 1 else []), *([column] if right.rank > 1 else [])]
    return contracted(call.builder, (left, first), (right, second), result)


Labelled = tuple[Value, Sequence[str]]
"""A value, and a letter for each of its axes."""


def contracted(builder: Builder, left: Labelled, right: Labelled, out: Sequence[str]) -> Value:
    """An Einstein sum. An axis of size 1 goes with any size of the same label."""
    if left[0].dtype != right[0].dtype:
        raise RefusedError(f"the operands have the types {left[0].dtype} and {right[0].dtype}", "cast one")
    if left[0].dtype == "bool":
        raise RefusedError("this is not supported for bool", "cast to a number")
    single = {
        label
        for this, other in ((left, right), (right, left))
        for label, size in zip(this[1], this[0].shape, strict=True)
        if builder.symbols.resolve(size) == ONE and label in other[1]
    }
    both = _thinned(builder, left, single), _thinned(builder, right, single)
    if set(out).issuperset((*both[0][1], *both[1][1])):
        return builder.map("mul", *(_laid_out(builder, operand, out) for operand in both))
    kept = set(both[0][1]) | set(both[1][1])
    whole = [label for label in out if label in kept]
    made = builder.contract(both[0][0], both[1][0], ("".join(both[0][1]), "".join(both[1][1]), "".join(whole)))
    sizes = dict(zip(whole, made.shape, strict=True))
    return builder.reshape(made, tuple(sizes.get(label, ONE) for label in out))


def _laid_out(builder: Builder, operand: Labelled, out: Sequence[str]) -> Value:
    """A value with its axes in the order of the result, and axes of size 1 for labels that it does not have."""
    value, labels = operand
    order = [list(labels).index(label) for label in out if label in labels]
    sizes = dict(zip(labels, value.shape, strict=True))
    return builder.reshape(builder.transpose(value, order), tuple(sizes.get(label, ONE) for label in out))


def _thinned(builder: Builder, value: Labelled, labels: set[str]) -> Labelled:
    """Without those of the axes that have size 1."""
    pairs = [
        (label, size)
        for label, size in zip(value[1], value[0].shape, strict=True)
        if label not in labels or builder.symbols.resolve(size) != ONE
    ]
    return builder.reshape(value[0], tuple(size for _, size in pairs)), [label for label, _ in pairs]


@operator("Gemm")
def general_product(call: Call) -> Value:
    left, right = call.input(0), call.input(1)
    if left.rank != 2 or right.rank != 2:
        raise RefusedError(f"its operands have the ranks {left.rank} and {right.rank}, not 2")
    first = "ki" if call.attribute("transA", 0) else "ik"
    second = "jk" if call.attribute("transB", 0) else "kj"
    made = contracted(call.builder, (left, first), (right, second), "ij")
    alpha, beta = float(call.attribute("alpha", 1.0)), float(call.attribute("beta", 1.0))
    made = made if alpha == 1 else call.map("mul", made, alpha)
    added = call.optional(2)
    if added is None or beta == 0:
        return made
    if call.builder.broadcast_shapes([added.shape, made.shape]) != call.builder.symbols.resolve_all(made.shape):
        raise RefusedError("what it adds does not broadcast to its result")
    return call.map("add", made, added if beta == 1 else call.map("mul", added, beta))


@operator("Einsum")
def einstein_sum(call: Call) -> Value:
    """Operands are taken together from the left, labels kept as long as one behind, or the result, needs them."""
    operands, out = _equation(call)
    current = _with_distinct(operands[0])
    if len(operands) == 1:
        return _reordered(call, current, out)
    for position, operand in enumerate(operands[1:], 1):
        later = {label for _, labels in operands[position + 1 :] for label in labels} | set(out)
        other = _with_distinct(operand)
        last = position == len(operands) - 1
        labels = dict.fromkeys([*current[1], *other[1]])
        kept = list(out) if last else [label for label in labels if label in later]
        current = (contracted(call.builder, current, other, kept), kept)
    return current[0]


def _reordered(call: Call, operand: Labelled, out: Sequence[str]) -> Value:
    """A sum over the labels that are not in the result, and the others in its order."""
    value, labels = operand
    summed = [axis for axis, label in enumerate(labels) if label not in out]
    reduced = call.builder.reduce("add", value, summed)
    rest = [axis for axis in range(value.rank) if axis not in summed]
    thin = call.builder.reshape(reduced, tuple(value.shape[axis] for axis in rest))
    return call.builder.transpose(thin, [[labels[axis] for axis in rest].index(label) for label in out])


def _with_distinct(operand: Labelled) -> Labelled:
    if len(set(operand[1])) != len(operand[1]):
        raise RefusedError(f"an operand has the labels {''.join(operand[1])}, one of them twice", "take the diagonal")
    return operand


def _equation(call: Call) -> tuple[list[Labelled], list[str]]:
    """The operands with their labels, and those of the result. Axes behind ``...`` get letters that are free."""
    text = str(call.attribute("equation", "")).replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(call.inputs):
        raise RefusedError(f"its equation `{text}` has {len(terms)} operands, and it has {len(call.inputs)} inputs")
    if not re.fullmatch(r"[A-Za-z.,]*", left) or not re.fullmatch(r"[A-Za-z.]*", right):
        raise RefusedError(f"its equation `{text}` cannot be read", "use letters, commas, `...` and one `->`")
    free = [letter for letter in _LETTERS if letter not in text]
    hidden = [value.rank - len(term.replace("...", "")) for value, term in zip(call.inputs, terms, strict=True)]
    most = max([count for count, term in zip(hidden, terms, strict=True) if "..." in term], default=0)
    if most > len(free) or any(
        count < 0 or (count and "..." not in term) for count, term in zip(hidden, terms, strict=True)
    ):
        raise RefusedError(f"its equation `{text}` does not fit the ranks of its inputs")
    shared = free[:most]
    operands: list[Labelled] = []
    for value, term, count in zip(call.inputs, terms, hidden, strict=True):
        operands.append((value, list(term.replace("...", "".join(shared[most - count :])))))
    if arrow:
        out = list(right.replace("...", "".join(shared)))
    else:
        letters = sorted(letter for letter in set(left) if letter.isalpha() and left.count(letter) == 1)
        out = [*shared, *letters]
    known = {label for _, labels in operands for label in labels}
    if len(set(out)) != len(out) or not known.issuperset(out):
        raise RefusedError(f"its equation `{text}` has a result that its operands do not give")
    return operands, out
