"""The inputs of a ``Scan``: what the model and the body say of their shapes, brought together, and their names."""

from dataclasses import dataclass

from scanbuild.lowering.enclosing import Dim, Enclosing, Info, info_of
from scanbuild.lowering.graph import Port, Shape
from scanbuild.lowering.names import Namer, is_good, sanitized
from scanbuild.lowering.parts import Candidate
from scanbuild.lowering.scopes import distinct
from scanbuild.lowering.signature import Signature
from scanbuild.lowering.sizes import Size
from scanbuild.lowering.translate import RefusedError, Symbols
from scanbuild.lowering.translate.symbols import ANY, INNER, OUTER, ROLE, UnequalError
from scanbuild.lowering.translate.values import dtype_name


@dataclass(frozen=True, kw_only=True, slots=True)
class Given:
    """An input of the node. ``axis`` is that of the steps, None for a state; ``inner`` is its name in the body."""

    port: Port
    axis: int | None
    inner: str


class Ports:
    """Makes ports, with names of their own and shapes over the symbols."""

    def __init__(self, candidate: Candidate, signature: Signature, around: Enclosing, symbols: Symbols) -> None:
        self.namer = Namer()
        self.steps = symbols.fresh("steps", ROLE)
        self.batch = symbols.fresh("batch", ROLE)
        self._signature = signature
        self._around = around
        self._symbols = symbols
        self._inputs, self._outputs = distinct(candidate)

    def given(self, number: int) -> Given:
        """Input ``number`` of the node, states first. RefusedError if its type is not known, or contradicts itself."""
        signature = self._signature
        count = len(signature.states)
        outer = self._around.infos.get(signature.inputs[number], Info())
        value = signature.body.input[number]
        inner = info_of(value)
        if outer.dtype and inner.dtype and outer.dtype != inner.dtype:
            raise RefusedError(f"it is {_dtype(outer.dtype)}, and its body expects {_dtype(inner.dtype)}", "cast one")
        if not outer.dtype and not inner.dtype:
            raise RefusedError("its type is not known", "declare it as an input, or in value_info")
        dtype = dtype_name(outer.dtype or inner.dtype)
        axis = signature.input_axes[number - count] if number >= count else None
        shape, place = self._shape(outer, inner, axis)
        base = sanitized(value.name, "state" if axis is None else "element")
        wish = signature.inputs[number]
        if not is_good(wish) or self.namer.has(wish):
            wish = f"initial_{base}" if axis is None else base
        port = Port(name=self.namer.take(wish), dtype=dtype, shape=shape, onnx=self._inputs[number])
        return Given(port=port, axis=place, inner=value.name)

    def _shape(self, outer: Info, inner: Info, axis: int | None) -> tuple[Shape, int | None]:
        """The whole shape, and the axis of the steps counted from the front."""
        more = int(self._signature.batched) + int(axis is not None)
        if outer.dims is None and inner.dims is None:
            raise RefusedError("its rank is not known", "declare its shape in the model, sizes may be names")
        dims = outer.dims if outer.dims is not None else (None,) * (len(inner.dims or ()) + more)
        rank = len(dims)
        if rank < more or (inner.dims is not None and len(inner.dims) + more != rank):
            expected = rank - more
            found = f"has rank {rank}, so that the body's input needs rank {expected}"
            raise RefusedError(
                f"it {found}, not {len(inner.dims or ())}" if expected >= 0 else f"it has rank {rank}: too few"
            )
        shape = [self._size(dim, "outer", OUTER) for dim in dims]
        place = None
        if axis is not None:
            if not -rank <= axis < rank:
                raise RefusedError(
                    f"axis {axis} is out of range for its rank {rank}", f"it can be {-rank} to {rank - 1}"
                )
            place = axis % rank
            shape[place] = self._equal(shape[place], self.steps, "the number of steps, one for all scan inputs")
        if self._signature.batched:
            shape[0] = self._equal(shape[0], self.batch, "the batch size, one for all inputs")
        rest = [i for i in range(rank) if i != place and not (self._signature.batched and i == 0)]
        for i, dim in zip(rest, inner.dims or (), strict=False):
            if dim is not None:
                shape[i] = self._equal(shape[i], self._size(dim, "inner", INNER), f"axis {i}, as the body declares it")
        return tuple(shape), place

    def _size(self, dim: Dim, scope: str, worth: int) -> Size:
        if isinstance(dim, int):
            return Size.of(dim)
        if dim is None:
            return self._symbols.fresh()
        good = is_good(dim) and not dim.startswith("unk__")
        return self._symbols.named(scope, dim, dim if good else "", worth if good else ANY)

    def _equal(self, left: Size, right: Size, what: str) -> Size:
        try:
            return self._symbols.equal(left, right)
        except UnequalError:
            left, right = self._symbols.resolve(left), self._symbols.resolve(right)
            raise RefusedError(f"{what}, would have to be both {left} and {right}") from None

    def shape(self, info: Info) -> Shape:
        """The shape of a value around the ``Scan``, of known rank, in the symbols of the ports."""
        return tuple(self._size(dim, "outer", OUTER) for dim in info.dims or ())

    def captured(self, name: str) -> Port:
        """A value from outside as a port. RefusedError if its type or its rank is not known."""
        info = self._around.infos.get(name)
        if info is None or not info.dtype:
            raise RefusedError(
                "the body reads it from outside, where nothing declares it", "declare its type in value_info"
            )
        if info.dims is None:
            raise RefusedError(
                "the body reads it from outside, and its rank is not known", "declare its shape in value_info"
            )
        shape = tuple(self._size(dim, "outer", OUTER) for dim in info.dims)
        wish = name if is_good(name) and not self.namer.has(name) else sanitized(name, "captured")
        return Port(name=self.namer.take(wish), dtype=dtype_name(info.dtype), shape=shape, onnx=name)

    def results(self) -> list[tuple[str, str]]:
        """For each output of the node, states first, the name of its port and its name in the model."""
        return [(self._result(number), self._outputs[number]) for number in range(len(self._outputs))]

    def _result(self, number: int) -> str:
        signature = self._signature
        wish = (*signature.finals, *signature.outputs)[number]
        if is_good(wish) and not self.namer.has(wish):
            return self.namer.take(wish)
        if number < len(signature.states):
            return self.namer.take(f"final_{sanitized(signature.body.input[number].name, 'state')}")
        return self.namer.take(sanitized(signature.body.output[number].name, "output"))


def _dtype(number: int) -> str:
    try:
        return dtype_name(number)
    except RefusedError as refusal:
        return refusal.reason
