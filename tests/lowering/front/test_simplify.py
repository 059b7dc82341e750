"""What is left of a graph: as little as gives the same values."""

import numpy as np
import pytest

from .models import compare, graph, node, scan_model, tensor, typed
from .operators import floats

FEEDS = {"a": floats(2, 3), "xs": floats(4, 2, 3)}


def left(nodes, *, outputs=("t", "z"), initializers=()):
    """The operations that are left, when the values are those of ONNX Runtime."""
    given = [("a", "float32", ["rows", "lanes"]), ("xs", "float32", ["seq", "rows", "lanes"])]
    body = graph(nodes, [typed("s"), typed("x")], outputs, initializers)
    scan = compare(scan_model(body, given, 1), FEEDS)
    names = [item.name for item in scan.nodes]
    assert all(name in names[: names.index(item.name)] for item in scan.nodes for name in item.inputs)
    return [item.operation for item in scan.nodes if item.operation != "input"]


def test_what_is_computed_twice_is_computed_once():
    nodes = [
        node("Exp", "x", "e"),
        node("Exp", "x", "f"),
        node("Add", "s e", "t"),
        node("Add", "f s", "u"),
        node("Mul", "t u", "z"),
    ]
    assert left(nodes) == ["exp", "add", "mul"]


def test_what_nothing_reads_is_left_out():
    nodes = [node("Add", "s x", "t"), node("Exp", "x", "e"), node("Neg", "e", "f"), node("Identity", "t", "z")]
    assert left(nodes) == ["add"]


def test_moves_there_and_back_are_left_out():
    nodes = [
        node("Transpose", "x", "b", perm=[1, 0]),
        node("Transpose", "b", "c", perm=[1, 0]),
        node("Reshape", "c flat", "d"),
        node("Unsqueeze", "d zero", "e"),
        node("Reshape", "e like", "f"),
        node("Add", "s f", "t"),
        node("Identity", "t", "z"),
        node("Shape", "x", "like"),
    ]
    constants = [tensor("flat", [-1], "int64"), tensor("zero", [0], "int64")]
    nodes.insert(0, nodes.pop())
    assert left(nodes, initializers=constants) == ["add"]


def test_factors_of_one_and_terms_of_zero_are_left_out():
    nodes = [
        node("Mul", "x one", "b"),
        node("Mul", "one b", "c"),
        node("Div", "c one", "d"),
        node("Sub", "d zero", "e"),
        node("Cast", "e", "f", to=1),
        node("Add", "s f", "t"),
        node("Identity", "t", "z"),
    ]
    assert left(nodes, initializers=[tensor("one", 1), tensor("zero", [0])]) == ["add"]


def test_a_factor_of_one_that_makes_a_value_larger_stays():
    nodes = [
        node("ReduceSum", "x axis", "row"),
        node("Mul", "row wide", "y"),
        node("Add", "s y", "t"),
        node("Identity", "y", "z"),
    ]
    constants = [tensor("axis", [1], "int64"), tensor("wide", np.ones(3))]
    assert left(nodes, initializers=constants) == ["reduce", "constant", "mul", "add"]


def test_an_operand_that_broadcasts_is_not_expanded():
    nodes = [
        node("Shape", "x", "shape"),
        node("ConstantOfShape", "shape", "zeros"),
        node("Greater", "x zeros", "c"),
        node("Where", "c x zeros", "y"),
        node("Add", "s y", "t"),
        node("Identity", "t", "z"),
    ]
    assert left(nodes) == ["constant", "gt", "where", "add"]


def test_an_operand_that_gives_the_rank_stays_expanded():
    nodes = [
        node("ReduceMax", "x first", "row", keepdims=0),
        node("Expand", "row shape", "wide"),
        node("Mul", "wide half", "y"),
        node("Add", "s y", "t"),
        node("Identity", "y", "z"),
    ]
    constants = [tensor("first", [0], "int64"), tensor("shape", [1, 1], "int64"), tensor("half", 0.5)]
    assert left(nodes, initializers=constants) == ["reduce", "reshape", "expand", "constant", "mul", "add"]


def test_constants_are_computed_beforehand():
    nodes = [
        node("Sub", "one rate", "rest"),
        node("Sqrt", "rest", "root"),
        node("Concat", "root root", "both", axis=0),
        node("ReduceMax", "both", "factor", keepdims=0),
        node("Mul", "x factor", "y"),
        node("Add", "s y", "t"),
        node("Identity", "t", "z"),
    ]
    assert left(nodes, initializers=[tensor("one", [1]), tensor("rate", [0.19])]) == ["constant", "mul", "add"]


@pytest.mark.parametrize("equation", ["ij,ij->ij", "ij,j->ij", "ij,ij->ji"])
def test_a_product_without_a_sum_is_elementwise(equation):
    second = "row" if equation == "ij,j->ij" else "x"
    nodes = [
        node("Add", "s x", "t"),
        node("ReduceMax", "x first", "row", keepdims=0),
        node("Einsum", f"x {second}", "z", equation=equation),
    ]
    assert "contract" not in left(nodes, initializers=[tensor("first", [0], "int64")])


def test_powers_by_small_numbers_are_products():
    nodes = [node("Pow", "x two", "y"), node("Pow", "x three", "w"), node("Add", "s y", "t"), node("Add", "w x", "z")]
    assert left(nodes, initializers=[tensor("two", 2), tensor("three", [3], "int64")]) == ["mul", "mul", "add", "add"]


def test_a_product_takes_its_operands_as_they_lie():
    nodes = [
        node("Transpose", "x", "turned"),
        node("MatMul", "turned x", "square"),
        node("Transpose", "square", "same", perm=[1, 0]),
        node("MatMul", "x same", "y"),
        node("Add", "s y", "t"),
        node("Identity", "t", "z"),
    ]
    assert left(nodes) == ["contract", "contract", "add"]
