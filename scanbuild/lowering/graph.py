"""The normal form of a ``Scan``: a graph of few operations on tensors of known rank.

ONNX has hundreds of operators; what the strategies see has the kinds below. Whatever is composed of others (Softmax,
Gemm, LayerNormalization, Gelu, ...) is taken apart when a model is read, functions and constants are gone, and negative
axes are counted from the front. A node has one value, named as the node is.

=================== ============================== =====================================================================
operation           attributes                     value
=================== ============================== =====================================================================
``input``                                          a state before the step, an element of a scan input, or a capture
``constant``        ``value`` (NumPy array)        a constant
``size``            ``size`` (:class:`Size`)       a size as a scalar of the node's dtype
a name of ``MAPS``                                 elementwise, with broadcasting as in NumPy (``operations``)
``cast``                                           the input in the node's dtype, as ONNX converts
``reshape``                                        the elements in row-major order in the node's shape
``transpose``       ``perm``                       axis i of the value is axis ``perm[i]`` of the input
``expand``                                         broadcast to the node's shape
``slice``           ``starts``, ``steps``          per axis: the elements from ``starts[i]`` on, each ``steps[i]`` apart
                                                   (may be negative); the shape tells how many. Starts are sizes
``concat``          ``axis``                       the inputs one after another
``pad``             ``before``, ``after``,         per axis elements added (negative: taken away), sizes; ``mode`` is
                    ``mode``                       ``constant`` (second input: the scalar), ``edge``,
                                                   ``reflect``, ``wrap``
``gather``          ``axis``                       ``numpy.take(data, indices, axis)``, negative indices too
``gather_elements`` ``axis``                       ``numpy.take_along_axis``, negative indices too
``reduce``          ``kind``, ``axes``             ``kind``: add, mul, min, max, over ``axes``, which stay, with size 1
``arg``             ``kind``, ``axis``, ``last``   ``kind``: min, max; the index (int64) of the first such element along
                                                   ``axis``, or the last; the axis stays, with size 1
``cumulate``        ``axis``, ``exclusive``,       running sum along ``axis``
                    ``reverse``
``contract``        ``left``, ``right``, ``out``   Einstein sum of two operands: an axis label (a letter) for each axis;
                                                   labels not in ``out`` are summed
=================== ============================== =====================================================================
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scanbuild.lowering.sizes import Size

Shape = tuple[Size, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """The ONNX node a node was made of, for messages: its name (or a stand-in) and operator."""

    name: str = ""
    operator: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """One operation. ``inputs`` are names of nodes before it; ``dtype`` is spelled as in ONNX (``float32``)."""

    name: str
    operation: str
    inputs: tuple[str, ...] = ()
    dtype: str
    shape: Shape
    attributes: Mapping[str, Any] = field(default_factory=dict)
    origin: Origin = Origin()


@dataclass(frozen=True, kw_only=True, slots=True)
class Port:
    """An input or output of the package to be: the shape of the whole tensor, scan axis included."""

    name: str
    dtype: str
    shape: Shape
    onnx: str = ""
    """The name in the model."""


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """A loop-carried value: nodes ``before`` (an ``input``) and ``after`` the step, of the same shape as both ports."""

    initial: Port
    final: Port
    before: str
    after: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Element:
    """A scan input. ``node`` is its slice in a step: the port's shape without ``axis``, from the end if ``reverse``."""

    port: Port
    axis: int
    reverse: bool
    node: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Capture:
    """A value of the enclosing graph that the body reads, the same in every step, brought by the caller."""

    port: Port
    node: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Output:
    """A scan output: the values of ``node`` along ``axis`` of the port, the first step's last if ``prepend``."""

    port: Port
    axis: int
    prepend: bool
    node: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Scan:
    """A whole ``Scan`` in normal form. ``nodes`` are in an order in which each stands behind what it reads.

    Every symbol in any shape is the whole of some dimension of an input port, ``steps`` one of an element's. What must
    hold of the symbols besides is in ``equalities``, and in ``nonnegative``: sizes that must not be below zero, such as
    ``n - 3`` where three elements are cut off.
    """

    name: str
    opset: int
    nodes: tuple[Node, ...]
    states: tuple[State, ...]
    elements: tuple[Element, ...]
    captures: tuple[Capture, ...]
    outputs: tuple[Output, ...]
    steps: Size
    equalities: tuple[tuple[Size, Size], ...] = ()
    nonnegative: tuple[Size, ...] = ()

    @property
    def inputs(self) -> tuple[Port, ...]:
        """All that a caller brings, in the order of the node's inputs, captures last."""
        return (
            *(state.initial for state in self.states),
            *(element.port for element in self.elements),
            *(capture.port for capture in self.captures),
        )

    @property
    def results(self) -> tuple[Port, ...]:
        """All that a caller gets, in the order of the node's outputs."""
        return (*(state.final for state in self.states), *(output.port for output in self.outputs))

    @property
    def by_name(self) -> dict[str, Node]:
        return {node.name: node for node in self.nodes}
