"""Loops: operations that take many elements of an operand for one of their value."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from scanbuild.lowering import wgsl
from scanbuild.lowering.blocks import Block, Value, Variable
from scanbuild.lowering.graph import Node
from scanbuild.lowering.sizes import ONE, Size

if TYPE_CHECKING:
    from scanbuild.lowering.elements import Emitter

Index = tuple[Size, ...]
ZERO: Final = Size()
_UNROLL: Final = 4
_DEEP: Final = ((128, 16), (64, 8))
"""From which length on a loop is unrolled how often: many loads in flight make up for few invocations."""
_WIDE: Final = {"float16": "float32", "int8": "int32", "int16": "int32", "uint8": "uint32"}


def _reduce(emit: "Emitter", node: Node, index: Index) -> Value:
    (name,) = node.inputs
    shape = emit.nodes[name].shape
    axes = [axis for axis in node.attributes["axes"] if shape[axis] != ONE]
    kind = node.attributes["kind"]
    if not axes:
        return emit.value(name, index)

    def term(at: Sequence[Size]) -> Value:
        inner = list(index)
        for axis, position in zip(axes, at, strict=True):
            inner[axis] = position
        return emit.value(name, tuple(inner))

    total = _fold(emit, kind, node, [shape[axis] for axis in axes], term)
    return _rounded(emit, total, node)


def _contract(emit: "Emitter", node: Node, index: Index) -> Value:
    left, right, out = ("".join(node.attributes[side]) for side in ("left", "right", "out"))
    shapes = [emit.nodes[name].shape for name in node.inputs]
    extents: dict[str, Size] = {}
    for labels, shape in zip((left, right), shapes, strict=True):
        for label, size in zip(labels, shape, strict=True):
            if extents.get(label, ONE) == ONE:
                extents[label] = size
    known = dict(zip(out, index, strict=True))
    summed = [label for label in extents if label not in out and extents[label] != ONE]

    def term(at: Sequence[Size]) -> Value:
        here = known | dict(zip(summed, at, strict=True))
        factors = [
            emit.operand(
                emit.value(
                    name,
                    tuple(ZERO if size == ONE else here[label] for label, size in zip(labels, shape, strict=True)),
                )
            )
            for name, labels, shape in zip(node.inputs, (left, right), shapes, strict=True)
        ]
        wide = _WIDE.get(node.dtype, node.dtype)
        return emit.made(wgsl.map_text("mul", wide, [factor.operand for factor in factors]), factors)

    if not summed:
        return _rounded(emit, term(()), node)
    return _rounded(emit, _fold(emit, "add", node, [extents[label] for label in summed], term), node)


def _fold(
    emit: "Emitter", kind: str, node: Node, extents: list[Size], term: Callable[[Sequence[Size]], Value]
) -> Value:
    """A variable that collects terms over loops, the last loop unrolled where that can hide latencies."""
    scalar = wgsl.SCALARS[node.dtype]
    total = emit.names.take(node.name)
    outer, *rest = extents

    def collect(at: list[Size], left: list[Size]) -> None:
        if left:
            with emit.loop("k", left[0]) as variable:
                collect([*at, variable], left[1:])
            return
        value = emit.operand(term(at))
        _collect(emit, total, kind, node.dtype, value)

    with emit.detached() as body:
        body.add(f"var {total}: {scalar} = {wgsl.reduction(kind, node.dtype)};")
        if not rest and kind == "add":
            _unrolled(emit, outer, lambda at: collect([at], []))
        else:
            collect([], extents)
    return Value(total, emit.place(body), atomic=True, cheap=True)


def _collect(emit: "Emitter", total: str, kind: str, dtype: str, value: Value) -> None:
    plain = kind in ("add", "mul") and wgsl.SCALARS[dtype] in ("f32", "i32", "u32")
    if plain:
        emit.block.add(f"{total} {'+' if kind == 'add' else '*'}= {value.text};")
    else:
        emit.block.add(f"{total} = {wgsl.combine(kind, dtype, total, value.operand)};")


def _unrolled(emit: "Emitter", extent: Size, body: Callable[[Size], None]) -> None:
    """A loop whose body stands several times in it, with a second loop for what is left over."""
    number = extent.number
    fitting = (times for least, times in _DEEP if number is not None and number >= least and number % times == 0)
    times = next(fitting, _UNROLL)
    if number is not None and number <= _UNROLL:
        for at in range(number):
            body(Size.of(at))
        return
    whole = number is not None and number % times == 0
    name = emit.names.take("k")
    limit = emit.index_value(extent).text
    variable = Size.of(f"%{name}")
    if not whole:
        emit.block.add(f"var {name} = 0u;")
    start = f"var {name} = 0u" if whole else ""
    bound = f"{name} < {limit}" if whole else f"{name} + {times - 1}u < {limit}"
    with emit.inside(f"for ({start}; {bound}; {name} += {times}u)", "loop") as block:
        _repeated(emit, block, name, Variable(block, extent - (times - 1)), times, body)
    if not whole:
        with emit.inside(f"for (; {name} < {limit}; {name} += 1u)", "loop") as block:
            emit.variables[f"%{name}"] = Variable(block, extent)
            body(variable)


def _repeated(
    emit: "Emitter", block: Block, name: str, variable: Variable, times: int, body: Callable[[Size], None]
) -> None:
    """The body so many times, by a loop of the template; in braces if it has names of its own."""
    part = emit.names.take("part")
    block.add(f"{{% for {part} in range({times}) %}}")
    with emit.inside("{", "loop") as inner:
        emit.variables[f"%{name}"] = Variable(inner, variable.extent)
        emit.variables[f"%{part}"] = Variable(inner, Size.of(times))
        emit.spellings[f"%{part}"] = f"{{{{ {part} }}}}u"
        body(Size.of(f"%{name}") + Size.of(f"%{part}"))
    if all(isinstance(line, str) and not line.startswith(("let ", "var ")) for line in inner.lines):
        block.lines.remove(inner)
        block.lines += inner.lines
    block.add("{% endfor %}")


def _rounded(emit: "Emitter", value: Value, node: Node) -> Value:
    if node.dtype == "float16":
        return emit.made(f"half({value.text})", [value])
    return emit.made(wgsl.wrapped(value.text, node.dtype), [value]) if node.dtype in _WIDE else value


def _arg(emit: "Emitter", node: Node, index: Index) -> Value:
    (name,) = node.inputs
    axis, kind, last = node.attributes["axis"], node.attributes["kind"], node.attributes["last"]
    source = emit.nodes[name]
    best, where = emit.names.take(f"{node.name}_best"), emit.names.take(node.name)

    def at(position: Size) -> Value:
        return emit.value(name, (*index[:axis], position, *index[axis + 1 :]))

    with emit.detached() as body:
        first = at(ZERO)
        body.add(f"var {best} = {first.text};")
        body.add(f"var {where} = 0u;")
        with emit.loop("k", source.shape[axis], start=1) as variable:
            value = emit.bind(at(variable), name)
            compare = {("min", False): "lt", ("max", False): "gt", ("min", True): "le", ("max", True): "ge"}
            better = wgsl.map_text(compare[kind, bool(last)], source.dtype, (value.text, best))
            if wgsl.SCALARS[source.dtype] == "f32":
                # As in NumPy, NaN goes before everything, and the first (or last) one of several.
                better += f" || is_nan({value.text})" if last else f" || (is_nan({value.text}) && !is_nan({best}))"
            with emit.inside(f"if ({better})", "branch") as branch:
                branch.add(f"{best} = {value.text};")
                branch.add(f"{where} = {emit.index_value(variable).text};")
    return emit.made(f"i64_of_u32({where})", [Value(where, emit.place(body), True, True)])


def _cumulate(emit: "Emitter", node: Node, index: Index) -> Value:
    (name,) = node.inputs
    axis, exclusive, reverse = (node.attributes[key] for key in ("axis", "exclusive", "reverse"))
    extent, here = emit.nodes[name].shape[axis], index[axis]
    total = emit.names.take(node.name)
    # From one end up to here.
    first = ZERO if not reverse else here + (1 if exclusive else 0)
    stop = extent if reverse else here + (0 if exclusive else 1)
    with emit.detached() as body:
        body.add(f"var {total}: {wgsl.SCALARS[node.dtype]} = {wgsl.reduction('add', node.dtype)};")
        with emit.loop("k", extent, start=first, stop=stop) as variable:
            value = emit.operand(emit.value(name, (*index[:axis], variable, *index[axis + 1 :])))
            _collect(emit, total, "add", node.dtype, value)
    return _rounded(emit, Value(total, emit.place(body), atomic=True, cheap=True), node)


LOOPS: Final = {"reduce": _reduce, "contract": _contract, "arg": _arg, "cumulate": _cumulate}
