"""What cannot be lowered is refused in words that name the node, say why, and what would work."""

import numpy as np
import pytest
from onnx import TensorProto, helper

from scanbuild.errors import InputError

from .models import graph, node, read, running_sum, scan_model, tensor, typed

LINE = [("a", "float32", [3]), ("xs", "float32", ["seq", 3])]
SUM = [node("Add", "s x", "t"), node("Identity", "t", "z")]


def model(nodes=SUM, given=LINE, outputs=("t", "z"), opset=21, captures=(), initializers=(), **attributes):
    dtype = given[0][1]
    body = graph(nodes, [typed("s", dtype), typed("x", given[1][1])], outputs, initializers)
    return scan_model(body, given, 1, opset=opset, captures=captures, **attributes)


def refusal(proto) -> str:
    with pytest.raises(InputError) as caught:
        read(proto)
    assert caught.value.exit_status == 2
    return str(caught.value)


@pytest.mark.parametrize("number", [TensorProto.DOUBLE, TensorProto.COMPLEX64, TensorProto.STRING, TensorProto.UINT64])
def test_types_that_kernels_do_not_know_are_refused_by_name(number):
    proto = model()
    for item in proto.graph.input:
        item.type.tensor_type.elem_type = number
    body = next(item.g for item in proto.graph.node[0].attribute if item.name == "body")
    for item in body.input:
        item.type.tensor_type.elem_type = number
    text = refusal(proto)
    name = TensorProto.DataType.Name(number).lower()
    assert f"the Scan node `scan` cannot be lowered: initial state `a`: the type {name} is not supported" in text
    assert f"scan input `xs`: the type {name} is not supported (the types of kernels are float32," in text


def test_a_cast_to_double_is_refused():
    text = refusal(model([node("Cast", "x", "y", to=TensorProto.DOUBLE), *SUM]))
    assert "node `y` (Cast): the type double is not supported" in text


def test_a_rank_that_is_not_known_is_refused():
    text = refusal(model(given=[("a", "float32", None), ("xs", "float32", None)]))
    assert "initial state `a`: its rank is not known" in text
    assert "scan input `xs`: its rank is not known (declare its shape" in text


def test_operators_outside_of_the_list_are_refused_all_of_them():
    nodes = [node("NonZero", "x", "y"), node("Unique", "x", "u"), node("Neg", "y", "w"), *SUM]
    text = refusal(model(nodes))
    assert "node `y` (NonZero): this operator cannot be part of a kernel" in text
    assert "node `u` (Unique): this operator cannot be part of a kernel" in text
    assert "Neg" not in text


def test_a_state_that_changes_its_shape_is_refused():
    nodes = [node("Concat", "s x", "t", axis=0), node("Identity", "x", "z")]
    text = refusal(model(nodes))
    assert "state `s`, made by node `t` (Concat): a state has to keep its shape: the shapes [3] and [6] are not" in text


def test_a_state_that_changes_its_rank_or_its_type_is_refused():
    nodes = [node("ReduceSum", "x", "t", keepdims=0), node("Identity", "x", "z")]
    assert "made by node `t` (ReduceSum): a state has to keep its shape: the ranks 1 and 0" in refusal(model(nodes))
    nodes = [node("Greater", "s x", "t"), node("Identity", "x", "z")]
    assert "made by node `t` (Greater): it makes the state bool from float32 (cast it back)" in refusal(model(nodes))


@pytest.mark.parametrize("axis", [2, -3])
def test_axes_out_of_range_are_refused(axis):
    assert f"scan input `xs`: axis {axis} is out of range for its rank 2" in refusal(model(scan_input_axes=[axis]))
    text = refusal(model(scan_output_axes=[axis]))
    assert f"scan output `out_z`: axis {axis} is out of range for its rank 2 (it can be -2 to 1)" in text


def test_scan_inputs_of_unequal_lengths_are_refused():
    body = graph(SUM, [typed("s"), typed("x"), typed("y")], ["t", "z"])
    given = [("a", "float32", [2]), ("xs", "float32", [3, 2]), ("ys", "float32", [4, 2])]
    text = refusal(scan_model(body, given, 2))
    assert "scan input `ys`: the number of steps, one for all scan inputs, would have to be both 4 and 3" in text


def test_a_missing_body_is_refused():
    proto = running_sum()
    kept = [item for item in proto.graph.node[0].attribute if item.name != "body"]
    del proto.graph.node[0].attribute[:]
    proto.graph.node[0].attribute.extend(kept)
    assert "the Scan node `scan` has no body (its attribute `body` must be a graph)" in refusal(proto)


def test_wrong_numbers_of_inputs_and_outputs_are_refused_together():
    proto = running_sum()
    proto.graph.node[0].input.append("xs")
    proto.graph.node[0].output.pop()
    text = refusal(proto)
    assert "the Scan node `scan` has 3 inputs, its body 2" in text
    assert "the Scan node `scan` has 1 outputs, its body 2" in text


@pytest.mark.parametrize("count", [0, 3, -1])
def test_an_impossible_number_of_scan_inputs_is_refused(count):
    proto = running_sum()
    next(item for item in proto.graph.node[0].attribute if item.name == "num_scan_inputs").i = count
    assert f"has num_scan_inputs = {count}, and 2 inputs" in refusal(proto)


def test_lists_of_a_wrong_length_and_directions_that_are_none_are_refused():
    text = refusal(running_sum(scan_input_axes=[0, 0], scan_output_directions=[2]))
    assert "has 2 values in `scan_input_axes`, where 1 are needed" in text
    assert "has [2] in `scan_output_directions`, where 0 (forward) and 1 (reverse) are known" in text


def test_sequence_lengths_of_version_8_are_refused():
    proto = model(opset=8, given=[("a", "float32", [2, 3]), ("xs", "float32", [2, "seq", 3])])
    proto.graph.node[0].input[0] = "lengths"
    proto.graph.input.append(typed("lengths", "int64", [2]))
    assert "has sequence lengths (`lengths`); only sequences of one length can be lowered" in refusal(proto)


@pytest.mark.parametrize("opset", [7, 26])
def test_opsets_without_a_known_scan_are_refused(opset):
    assert f"is of opset {opset}; known are 8 to 25" in refusal(model(opset=opset))


def test_what_the_body_declares_must_be_what_it_gets():
    body = graph(SUM, [typed("s", "float32", [3]), typed("x", "float32", [4])], ["t", "z"])
    assert "scan input `xs`: axis 1, as the body declares it, would have to be both 3 and 4" in refusal(
        scan_model(body, LINE, 1)
    )
    body = graph(SUM, [typed("s"), typed("x", "int32")], ["t", "z"])
    assert "scan input `xs`: it is float32, and its body expects int32" in refusal(scan_model(body, LINE, 1))


def test_shapes_that_do_not_broadcast_are_refused():
    nodes = [node("Add", "x w", "y"), *SUM]
    text = refusal(model(nodes, initializers=[tensor("w", [1, 2])]))
    assert "node `y` (Add): the shapes [3] and [2] do not broadcast" in text


def test_a_shape_that_depends_on_values_is_refused():
    nodes = [node("Cast", "x", "n", to=TensorProto.INT64), node("Expand", "s n", "e"), *SUM]
    text = refusal(model(nodes))
    assert "node `e` (Expand): its shape is computed from values" in text


def test_a_capture_that_nothing_declares_is_refused():
    text = refusal(model([node("Add", "x w", "y"), *SUM]))
    assert "captured value `w`: the body reads it from outside, where nothing declares it" in text
    text = refusal(model([node("Add", "x w", "y"), *SUM], captures=[("w", "float32", None)]))
    assert "captured value `w`: the body reads it from outside, and its rank is not known" in text


def test_branches_of_different_shapes_are_refused():
    branches = {
        "then_branch": graph([node("Neg", "x", "p")], [], ["p"]),
        "else_branch": graph([node("ReduceSum", "x", "q", keepdims=0)], [], ["q"]),
    }
    total = node("ReduceSum", "x", "total", keepdims=0)
    nodes = [total, node("Cast", "total", "c", to=9), node("If", "c", "y", **branches), *SUM]
    text = refusal(model(nodes))
    assert "node `y` (If): the branches differ: the ranks 1 and 0 are not equal (both branches" in text


def test_what_is_wrong_in_a_branch_is_told_with_its_path():
    branches = {
        "then_branch": graph([node("NonZero", "x", "p")], [], ["p"]),
        "else_branch": graph([node("Neg", "x", "q")], [], ["q"]),
    }
    choice = node("If", "c", "y", **branches)
    choice.name = "choice"
    total = node("ReduceSum", "x", "total", keepdims=0)
    text = refusal(model([total, node("Cast", "total", "c", to=9), choice, *SUM]))
    assert "node `choice.then_branch/p` (NonZero)" in text


def test_functions_that_make_too_many_nodes_are_refused():
    functions = [
        helper.make_function(
            "own",
            f"F{level}",
            ["v"],
            ["y"],
            [node(f"F{level + 1}", "v", "w", "own"), node(f"F{level + 1}", "w", "y", "own")],
            [helper.make_opsetid("own", 1)],
        )
        for level in range(30)
    ]
    last = helper.make_function("own", "F30", ["v"], ["y"], [node("Neg", "v", "y")], [helper.make_opsetid("", 21)])
    text = refusal(model([node("F0", "x", "y", "own"), *SUM], functions=[*functions, last], imports={"own": 1}))
    assert "the body: it has too many nodes" in text


def test_sizes_that_only_grow_are_given_up():
    nodes = [node("Shape", "x", "n0")]
    nodes += [node("Mul", f"n{i} n{i}", f"n{i + 1}") for i in range(40)]
    text = refusal(
        model(
            [*nodes, node("Expand", "x n40", "y"), *SUM],
            given=[("a", "float32", ["n"]), ("xs", "float32", ["seq", "n"])],
        )
    )
    assert "node `y` (Expand): its shape is computed from values" in text


def test_a_function_that_calls_itself_is_refused():
    again = helper.make_function(
        "own", "Again", ["v"], ["y"], [node("Again", "v", "y", "own")], [helper.make_opsetid("own", 1)]
    )
    nodes = [node("Again", "x", "y", "own"), *SUM]
    assert "functions call each other without end" in refusal(model(nodes, functions=[again], imports={"own": 1}))


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ([node("Reshape", "x four", "y")], "node `y` (Reshape): [3] cannot become [4]: 3 and 4 are not equal"),
        ([node("Transpose", "x", "y", perm=[1, 0])], "node `y` (Transpose): its permutation [1, 0] is none of 1 axes"),
        ([node("Squeeze", "x zero", "y")], "node `y` (Squeeze): axis 0 cannot be squeezed: 3 and 1 are not equal"),
        ([node("ReduceSum", "x four", "y")], "node `y` (ReduceSum): axis 4 is out of range for 1 dimensions"),
        ([node("Gather", "x four", "y")], "node `y` (Gather): it has indices from 4 to 4 for an axis of 3"),
        ([node("MatMul", "x w", "y")], "node `y` (MatMul): what is summed over must have one size: 3 and 2 are not"),
        ([node("Mod", "x x", "y")], "node `y` (Mod): of float32 it needs the attribute fmod = 1 (set it)"),
        ([node("BitwiseNot", "x", "y")], "node `y` (BitwiseNot): this is not supported for float32 (cast to one of"),
        ([node("Add", "x zero", "y")], "node `y` (Add): the operands have the types float32, int64 (cast one)"),
        ([node("Einsum", "x w", "y", equation="i,j->k")], "node `y` (Einsum): its equation `i,j->k` has a result"),
        ([node("Split", "x", "y u", num_outputs=2, axis=3)], "node `y` (Split): axis 3 is out of range"),
        ([node("LSTM", "x x x", "y")], "node `y` (LSTM): this operator cannot be part of a kernel"),
        ([node("Neg", "x", "y", "com.example")], "node `y` (Neg): this operator cannot be part of a kernel"),
        ([node("Neg", "", "y")], "node `y` (Neg): ONNX does not accept it: Node with"),
        ([node("Constant", "", "y", value_string="a")], "node `y` (Constant): its value is no dense tensor"),
        ([node("Softmax", "x", "y", axis="last")], "node `y` (Softmax): ONNX does not accept it: Mismatched"),
        (
            [node("Neg", "later", "y"), node("Neg", "x", "later")],
            "captured value `later`: the body reads it from outside, where nothing declares it",
        ),
        ([node("Cast", "x", "y")], "node `y` (Cast): ONNX does not accept it: Required attr"),
        ([node("Pad", "x zero", "y", mode="odd")], "node `y` (Pad): its mode is `odd`"),
        ([node("Dropout", "x - yes", "y")], "node `y` (Dropout): it is in training mode"),
    ],
    ids=lambda item: item[0].op_type if isinstance(item, list) else "",
)
def test_a_node_that_makes_no_sense_is_refused(nodes, reason):
    constants = [tensor("four", [4], "int64"), tensor("zero", [0], "int64"), tensor("w", [1, 2])]
    constants.append(tensor("yes", np.array(True), "bool"))
    assert reason in refusal(model([*nodes, *SUM], initializers=constants))
