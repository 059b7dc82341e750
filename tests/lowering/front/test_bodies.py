"""Bodies with shapes that are computed, branches, functions and captures; names and sizes of ports."""

import pytest
from onnx import helper

from .models import compare, graph, node, read, scan_model, tensor, typed
from .operators import floats, whole

GIVEN = [("a", "float32", ["lanes"]), ("xs", "float32", ["seq", "lanes"])]
FEEDS = {"a": floats(3), "xs": floats(4, 3)}


def body(nodes, outputs=("t", "z"), states=("s",), elements=("x",), initializers=()):
    return graph(nodes, [typed(name) for name in (*states, *elements)], outputs, initializers)


def operations(scan):
    return [item.operation for item in scan.nodes if item.operation not in ("input", "constant")]


def test_a_shape_that_is_computed_leaves_no_operation_behind():
    nodes = [
        node("Shape", "x", "shape"),
        node("Gather", "shape zero", "size", axis=0),
        node("Unsqueeze", "size first", "row"),
        node("Concat", "one row", "wanted", axis=0),
        node("Reshape", "x wanted", "matrix"),
        node("Mul", "size size", "square"),
        node("Div", "square size", "again"),
        node("Reshape", "again one", "back"),
        node("Reshape", "matrix back", "flat"),
        node("Add", "s flat", "t"),
        node("ConstantOfShape", "back", "zeros"),
        node("Add", "t zeros", "z"),
    ]
    constants = [tensor("zero", 0, "int64"), tensor("first", [0], "int64"), tensor("one", [1], "int64")]
    scan = compare(scan_model(body(nodes, initializers=constants), GIVEN, 1), FEEDS)
    assert operations(scan) == ["add", "add"]


def test_a_size_can_be_a_value():
    nodes = [
        node("Shape", "x", "shape"),
        node("Cast", "shape", "n", to=1),
        node("Div", "x n", "y"),
        node("Add", "s y", "t"),
        node("Identity", "shape", "z"),
    ]
    scan = compare(scan_model(body(nodes), GIVEN, 1), FEEDS)
    assert operations(scan).count("size") == 2


def test_expand_by_the_shape_of_another_broadcasts():
    nodes = [
        node("Shape", "s", "shape"),
        node("Equal", "shape minus", "same"),
        node("Where", "same one shape", "wanted"),
        node("Expand", "scalar wanted", "wide"),
        node("Mul", "x wide", "y"),
        node("Add", "s y", "t"),
        node("Identity", "wide", "z"),
    ]
    constants = [tensor("minus", [-1], "int64"), tensor("one", [1], "int64"), tensor("scalar", 3)]
    scan = compare(scan_model(body(nodes, initializers=constants), GIVEN, 1), FEEDS)
    assert operations(scan) == ["expand", "mul", "add"]


@pytest.mark.parametrize("known", [True, False])
def test_both_branches_are_computed_and_one_is_chosen(known):
    then = graph([node("Add", "s x", "p"), node("Neg", "x", "q")], [], ["p", "q"])
    other = graph([node("Sub", "s x", "u"), node("Identity", "w", "v")], [], ["u", "v"])
    compute = (
        [node("Constant", "", "c", value=tensor("", True, "bool"))]
        if known
        else [node("ReduceSum", "x", "total", keepdims=0), node("Greater", "total limit", "c")]
    )
    nodes = [*compute, node("If", "c", "t z", then_branch=then, else_branch=other)]
    model = scan_model(body(nodes, initializers=[tensor("limit", 0)]), GIVEN, 1, captures=[("w", "float32", ["lanes"])])
    scan = compare(model, {**FEEDS, "w": floats(3, seed=9)})
    assert operations(scan).count("where") == (0 if known else 2)


def test_functions_of_the_model_are_put_in_place_with_their_attributes():
    inner = helper.make_function(
        "own",
        "Twice",
        ["v"],
        ["y"],
        [node("Add", "v v", "y")],
        [helper.make_opsetid("", 21)],
    )
    leaky = node("LeakyRelu", "d", "e")
    reference = leaky.attribute.add()
    reference.name, reference.ref_attr_name, reference.type = "alpha", "slope", 1
    outer = helper.make_function(
        "own",
        "Step",
        ["v", "w", "missing"],
        ["y"],
        [node("Twice", "v", "d", "own"), leaky, node("Add", "e w", "f"), node("Clip", "f - missing", "y")],
        [helper.make_opsetid("", 21), helper.make_opsetid("own", 1)],
        ["slope"],
    )
    nodes = [
        node("Step", "x s", "t", "own", slope=0.5),
        node("Step", "x s", "z", "own", slope=0.25),
    ]
    model = scan_model(body(nodes), GIVEN, 1, functions=[inner, outer], imports={"own": 1})
    scan = compare(model, FEEDS)
    assert operations(scan).count("add") == 3


def test_a_symbol_that_meets_a_number_is_that_number():
    nodes = [node("Mul", "x w", "y"), node("Add", "s y", "t"), node("Identity", "t", "z")]
    scan = compare(scan_model(body(nodes, initializers=[tensor("w", [1, 2, 3])]), GIVEN, 1), FEEDS)
    assert [[str(size) for size in port.shape] for port in scan.inputs] == [["3"], ["seq", "3"]]


def test_sizes_that_the_model_does_not_tell_get_names():
    nodes = [node("Add", "s x", "t"), node("MatMul", "t w", "z")]
    given = [("a", "float32", [None]), ("xs", "float32", [None, None])]
    model = scan_model(body(nodes), given, 1, captures=[("w", "float32", [None, "unk__7"])])
    scan = compare(model, {**FEEDS, "w": floats(3, 5)})
    assert [[str(size) for size in port.shape] for port in scan.inputs] == [["n"], ["steps", "n"], ["n", "m"]]


def test_a_name_that_means_something_else_is_not_used_for_a_size():
    given = [("a", "float32", ["fn"]), ("xs", "float32", ["shapes", "fn"]), ("lanes", "float32", ["shapes", "a b"])]
    nodes = [node("Add", "s x", "t"), node("Mul", "y y", "z")]
    scan = read(scan_model(body(nodes, elements=("x", "y")), given, 2))
    assert [[str(size) for size in port.shape] for port in scan.inputs] == [["n"], ["steps", "n"], ["steps", "m"]]


def test_ports_have_the_names_of_the_model_if_these_are_good_and_of_the_body_else():
    given = [("/rnn/Zeros_0", "float32", [3]), ("var", "float32", ["seq", 3])]
    model = scan_model(body([node("Add", "s x", "t"), node("Neg", "t", "z")]), given, 1)
    model.graph.node[0].output[:] = ["42", "good"]
    del model.graph.output[:]
    model.graph.output.extend([helper.make_empty_tensor_value_info("42"), helper.make_empty_tensor_value_info("good")])
    scan = compare(model, {"/rnn/Zeros_0": FEEDS["a"], "var": FEEDS["xs"]})
    assert [(port.name, port.onnx) for port in scan.inputs] == [("initial_s", "/rnn/Zeros_0"), ("x", "var")]
    assert [(port.name, port.onnx) for port in scan.results] == [("final_s", "42"), ("good", "good")]
    names = [item.name for item in scan.nodes] + [port.name for port in (*scan.inputs, *scan.results)]
    assert len(set(names)) == len(names)


def test_what_is_computed_around_the_scan_from_constants_and_shapes_is_a_constant():
    before = [
        node("Shape", "other", "shape"),
        node("Gather", "shape last", "lanes", axis=0),
        node("Concat", "one lanes", "wanted", axis=0),
        node("Sqrt", "scale", "root"),
    ]
    nodes = [
        node("Reshape", "x wanted", "row"),
        node("Squeeze", "row zero", "flat"),
        node("Mul", "flat root", "y"),
        node("Add", "s y", "t"),
        node("Identity", "t", "z"),
    ]
    constants = [tensor("last", [1], "int64"), tensor("one", [1], "int64"), tensor("scale", [0.25])]
    model = scan_model(body(nodes, initializers=[tensor("zero", [0], "int64")]), GIVEN, 1, initializers=constants)
    model.graph.input.append(typed("other", "float32", ["any", 3]))
    for number, item in enumerate(before):
        model.graph.node.insert(number, item)
    scan = compare(model, FEEDS)
    assert not scan.captures
    assert operations(scan) == ["mul", "add"]


@pytest.mark.parametrize("source", ["xs", "other"])
def test_a_size_that_is_computed_around_the_scan_is_a_size(source):
    before = [
        node("Shape", source, "shape"),
        node("Gather", "shape last", "lanes", axis=0),
        node("Mul", "lanes two", "more"),
        node("Add", "more last", "sizes"),
        node("Concat", "one lanes", "wanted", axis=0),
    ]
    nodes = [
        node("Expand", "x wanted", "row"),
        node("Cast", "sizes", "number", to=1),
        node("Div", "row number", "y"),
        node("ReduceSum", "y zero", "flat", keepdims=0),
        node("Add", "s flat", "t"),
        node("Identity", "wanted", "z"),
    ]
    constants = [tensor("last", [1], "int64"), tensor("one", [1], "int64"), tensor("two", [2], "int64")]
    made = body(nodes, initializers=[tensor("zero", [0], "int64")])
    model = scan_model(made, GIVEN, 1, initializers=constants)
    model.graph.input.append(typed("other", "float32", ["any", "lanes"]))
    for number, item in enumerate(before):
        model.graph.node.insert(number, item)
    scan = compare(model, FEEDS)
    assert not scan.captures
    assert {str(item.attributes["size"]) for item in scan.nodes if item.operation == "size"} >= {"2 * lanes + 1"}


def test_a_size_that_no_input_tells_is_brought_by_the_caller():
    nodes = [
        node("Cast", "n", "number", to=1),
        node("Mul", "x number", "y"),
        node("Add", "s y", "t"),
        node("Neg", "t", "z"),
    ]
    model = scan_model(body(nodes), GIVEN, 1)
    model.graph.input.append(typed("other", "float32", ["any"]))
    model.graph.node.insert(0, node("Shape", "other", "n"))
    scan = compare(model, {**FEEDS, "n": whole(1, dtype="int64")})
    assert [item.port.onnx for item in scan.captures] == ["n"]


def test_what_is_computed_around_the_scan_from_values_is_brought_by_the_caller():
    nodes = [node("Mul", "x total", "y"), node("Add", "s y", "t"), node("Identity", "t", "z")]
    model = scan_model(body(nodes), GIVEN, 1, captures=[("other", "float32", ["any", 3])])
    model.graph.node.insert(0, node("ReduceSum", "other", "total", keepdims=0))
    scan = compare(model, {**FEEDS, "total": floats()})
    assert [item.port.onnx for item in scan.captures] == ["total"]


def test_outputs_that_the_model_leaves_out_are_there_nevertheless():
    model = scan_model(body([node("Add", "s x", "t"), node("Neg", "t", "z")]), GIVEN, 1)
    model.graph.node[0].output[0] = ""
    del model.graph.output[0]
    scan = compare(model, FEEDS)
    assert [port.name for port in scan.results] == ["final_s", "out_z"]


def test_what_is_cut_off_must_be_there():
    nodes = [
        node("Slice", "x from to", "y"),
        node("ReduceSum", "y", "r", keepdims=0),
        node("Add", "s r", "t"),
        node("Neg", "y", "z"),
    ]
    constants = [tensor("from", [1], "int64"), tensor("to", [2**62], "int64")]
    scan = compare(scan_model(body(nodes, initializers=constants), GIVEN, 1), FEEDS)
    assert [str(size) for size in scan.nonnegative] == ["lanes - 1"]


def test_a_model_without_states_or_without_outputs_is_read():
    compare(scan_model(body([node("Neg", "x", "z")], ["z"], []), GIVEN[1:], 1), FEEDS)
    compare(scan_model(body([node("Add", "s x", "t")], ["t"]), GIVEN, 1), FEEDS)


@pytest.mark.parametrize("reverse", [0, 1])
def test_version_8_has_a_batch_in_front(reverse):
    nodes = [
        node("Softmax", "x", "y", axis=0),
        node("MatMul", "y w", "m"),
        node("Add", "m s", "t"),
        node("ReduceMax", "t", "peak", keepdims=0),
        node("Unsqueeze", "w", "wide", axes=[0]),
        node("Transpose", "wide", "turned", perm=[0, 2, 1]),
        node("Concat", "t x", "both", axis=0),
        node("ArgMax", "x", "i", axis=0, keepdims=0),
        node("Gather", "w i", "row"),
        node("Gather", "t i", "item"),
    ]
    made = body(nodes, ["t", "peak", "turned", "both", "row", "item"], initializers=[tensor("w", floats(3, 3))])
    given = [("a", "float32", ["batch", 3]), ("xs", "float32", ["batch", "seq", 3])]
    model = scan_model(made, given, 1, opset=8, directions=[reverse])
    scan = compare(model, {"a": floats(2, 3), "xs": floats(2, 4, 3)})
    assert all(str(port.shape[0]) == "batch" for port in (*scan.inputs, *scan.results))


def test_version_8_knows_no_sizes_yet():
    model = scan_model(
        body([node("Add", "s x", "t"), node("Neg", "t", "z")]),
        [("a", "float32", [None, None]), ("xs", "float32", [None] * 3)],
        1,
        opset=8,
    )
    scan = compare(model, {"a": floats(2, 3), "xs": floats(2, 4, 3)})
    assert [[str(size) for size in port.shape] for port in scan.inputs] == [["batch", "n"], ["batch", "steps", "n"]]


def test_constants_of_every_form_are_read():
    nodes = [
        node("Constant", "", "f", value_float=0.5),
        node("Constant", "", "fs", value_floats=[1.0, 2.0, 3.0]),
        node("Constant", "", "i", value_int=1),
        node("Constant", "", "is", value_ints=[3, 1]),
        node("Constant", "", "h", value=tensor("", [[1], [2], [3]])),
        node("ConstantOfShape", "is", "zeros"),
        node("ConstantOfShape", "is", "sevens", value=tensor("", [7], "float32")),
        node("Range", "first last i", "count"),
        node("Cast", "count", "counted", to=1),
        node("Sum", "h zeros sevens", "column"),
        node("Squeeze", "column axis", "flat"),
        node("Sum", "f fs flat counted", "all"),
        node("Mul", "x all", "y"),
        node("Add", "s y", "t"),
        node("Identity", "t", "z"),
    ]
    constants = [tensor("first", 2, "int64"), tensor("last", 5, "int64"), tensor("axis", [1], "int64")]
    scan = compare(scan_model(body(nodes, initializers=constants), GIVEN, 1), FEEDS)
    assert operations(scan) == ["mul", "add"]


def test_a_range_up_to_a_size_counts():
    nodes = [
        node("Shape", "x", "shape"),
        node("Squeeze", "shape", "n"),
        node("Range", "zero n one", "count"),
        node("Range", "one n one", "rest"),
        node("Cast", "count", "c", to=1),
        node("Add", "s c", "t"),
        node("Identity", "rest", "z"),
    ]
    constants = [tensor("zero", 0, "int64"), tensor("one", 1, "int64")]
    compare(scan_model(body(nodes, initializers=constants), GIVEN, 1), FEEDS)
