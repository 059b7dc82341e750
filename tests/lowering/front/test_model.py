"""Finding a ``Scan``, whatever holds it, and reading what lies outside of the model's file."""

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, save_model
from onnx.external_data_helper import set_external_data

from scanbuild.errors import InputError
from scanbuild.lowering import model as models
from scanbuild.lowering.read import read_scan

from .models import compare, graph, node, running_sum, scan_model, tensor, typed

ROWS = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
ZEROS = np.zeros(2, np.float32)


def sum_body(extra=()):
    return graph(
        [node("Add", "s x", "t"), *extra, node("Identity", "t", "z")],
        [typed("s", "float32", [2]), typed("x", "float32", [2])],
        ["t", "z"],
    )


def sum_node(given: str, made: str, name: str = ""):
    scan = node("Scan", given, made, num_scan_inputs=1, body=sum_body())
    scan.name = name
    return scan


def whole(nodes, outputs, inputs=None, functions=(), imports=()):
    given = inputs or [typed("a", "float32", [2]), typed("xs", "float32", ["seq", 2])]
    return helper.make_model(
        graph(nodes, given, outputs),
        opset_imports=[helper.make_opsetid("", 21), *imports],
        ir_version=10,
        functions=list(functions),
    )


def read(proto: ModelProto):
    return models.read_model(proto.SerializeToString(), "m.onnx", None)


@pytest.mark.parametrize("data", [b"", b"\x08", b"not a model at all", bytes(range(256)), b"\x00" * 1000])
def test_what_is_no_model_is_refused(data):
    with pytest.raises(InputError, match=r"m\.onnx: this is no ONNX model"):
        models.read_model(data, "m.onnx", None)


def test_a_model_cut_off_anywhere_is_refused_or_read_and_nothing_else():
    data = running_sum().SerializeToString()
    for length in range(0, len(data), 7):
        try:
            found = models.read_model(data[:length], "m.onnx", None)
            read_scan(found, models.find(found, None))
        except InputError:
            continue


def test_a_model_without_a_scan_is_refused():
    with pytest.raises(InputError, match=r"no node of the operator Scan"):
        models.find(read(whole([node("Neg", "a", "b")], ["b"])), None)


def test_one_of_several_is_chosen_by_its_name_or_its_first_output():
    proto = whole([sum_node("a xs", "p q", "first"), sum_node("p xs", "r u")], ["q", "u"])
    found = read(proto)
    assert [item.path for item in models.candidates(found)] == ["first", "Scan_1"]
    with pytest.raises(InputError, match=r"2 Scan nodes.*--node: `first`, `Scan_1`"):
        models.find(found, None)
    with pytest.raises(InputError, match=r"no Scan node `other`.*`first`, `Scan_1`"):
        models.find(found, "other")
    assert models.find(found, "Scan_1").node.output[0] == "r"
    assert models.find(found, "r").name == "Scan_1"
    for name in ("first", "r"):
        compare(proto, {"a": ZEROS, "p": ZEROS, "xs": ROWS}, name=name)


def test_nodes_of_one_name_are_told_apart():
    found = read(whole([sum_node("a xs", "p q", "same"), sum_node("p xs", "r u", "same")], ["q", "u"]))
    assert [item.name for item in models.candidates(found)] == ["Scan_0", "Scan_1"]


def test_a_scan_in_a_branch_is_found_and_reads_what_is_around_the_branch():
    branch = graph([sum_node("a xs", "p q", "inner")], [], ["q"])
    other = graph([node("Identity", "xs", "same")], [], ["same"])
    choice = node("If", "c", "r", then_branch=branch, else_branch=other)
    choice.name = "choice"
    inputs = [typed("c", "bool", []), typed("a", "float32", [2]), typed("xs", "float32", ["seq", 2])]
    proto = whole([choice], ["r"], inputs)
    assert models.find(read(proto), None).path == "choice.then_branch/inner"
    compare(proto, {"a": ZEROS, "xs": ROWS})


def test_a_scan_within_the_body_of_another_is_found():
    outer = graph(
        [node("Scan", "s x", "t z", num_scan_inputs=1, body=sum_body())],
        [typed("s", "float32", [2]), typed("x", "float32", [3, 2])],
        ["t", "z"],
    )
    proto = scan_model(outer, [("a", "float32", [2]), ("xs", "float32", [4, 3, 2])], 1, name="outer")
    found = read(proto)
    assert [item.path for item in models.candidates(found)] == ["outer", "outer.body/Scan_1"]
    compare(proto, {"s": ZEROS, "x": ROWS}, name="Scan_1")


def test_a_scan_in_a_function_of_the_model_is_found():
    function = helper.make_function(
        "own", "Sums", ["v", "w"], ["y"], [sum_node("v w", "f y")], [helper.make_opsetid("", 21)]
    )
    call = helper.make_node("Sums", ["a", "xs"], ["r"], domain="own")
    proto = whole([call], ["r"], functions=[function], imports=[helper.make_opsetid("own", 1)])
    compare(proto, {"a": ZEROS, "xs": ROWS})


def test_large_initializers_are_brought_by_the_caller_and_small_ones_are_not():
    body = graph(
        [node("MatMul", "s big", "m"), node("Add", "m x", "b"), node("Add", "b small", "t"), node("Neg", "t", "z")],
        [typed("s"), typed("x")],
        ["t", "z"],
    )
    rng = np.random.default_rng(0)
    big = rng.normal(size=(20, 20)).astype(np.float32) / 20
    proto = scan_model(
        body,
        [("a", "float32", [20]), ("xs", "float32", ["seq", 20])],
        1,
        initializers=[tensor("big", big), tensor("small", np.ones(20))],
    )
    scan = compare(proto, {"a": np.zeros(20, np.float32), "xs": rng.normal(size=(3, 20)).astype("f"), "big": big})
    assert [item.port.name for item in scan.captures] == ["big"]


def test_one_value_may_be_the_start_of_two_states_and_be_read_besides():
    body = graph(
        [node("Add", "s x", "t"), node("Mul", "r x", "u"), node("Sub", "t zero", "z")],
        [typed("s"), typed("r"), typed("x")],
        ["t", "u", "z"],
    )
    proto = scan_model(body, [("zero", "float32", [2]), ("xs", "float32", ["seq", 2])], 1)
    scan_node = proto.graph.node[0]
    scan_node.input.insert(1, "zero")
    scan = read_scan(read(proto), models.find(read(proto), None))
    assert len({port.onnx for port in scan.inputs}) == len({port.name for port in scan.inputs}) == 4
    compare(proto, {port.onnx: ROWS if port.onnx == "xs" else ROWS[0] for port in scan.inputs})


def test_an_initializer_that_a_caller_can_override_is_an_input():
    body = sum_body([node("Mul", "x w", "unused")])
    proto = scan_model(
        body, [("a", "float32", [2]), ("xs", "float32", ["seq", 2])], 1, captures=[("w", "float32", [2])]
    )
    proto.graph.initializer.append(tensor("w", [1, 2]))
    scan = compare(proto, {"a": ZEROS, "xs": ROWS, "w": ZEROS})
    assert [item.port.name for item in scan.captures] == ["w"]


def external(
    proto: ModelProto, name: str, location: str, offset: int | None = None, length: int | None = None
) -> ModelProto:
    """The model with an initializer's elements elsewhere."""
    made = ModelProto()
    made.CopyFrom(proto)
    item = next(item for item in made.graph.initializer if item.name == name)
    set_external_data(item, location, offset=offset, length=length)
    item.ClearField("raw_data")
    item.data_location = TensorProto.EXTERNAL
    return made


def with_weights() -> ModelProto:
    body = graph(
        [node("Mul", "x w", "y"), node("Add", "s y", "t"), node("Identity", "t", "z")],
        [typed("s"), typed("x")],
        ["t", "z"],
    )
    given = [("a", "float32", [2]), ("xs", "float32", ["seq", 2])]
    return scan_model(body, given, 1, initializers=[tensor("w", [2, 3])])


def test_external_data_is_read_from_the_folder_of_the_model(tmp_path):
    save_model(with_weights(), tmp_path / "m.onnx", save_as_external_data=True, size_threshold=0, location="w.bin")
    data = (tmp_path / "m.onnx").read_bytes()
    found = models.read_model(data, "m.onnx", tmp_path)
    scan = read_scan(found, models.find(found, None))
    values = [item.attributes["value"].tolist() for item in scan.nodes if item.operation == "constant"]
    assert values == [[2.0, 3.0]]
    with pytest.raises(InputError, match=r"`w` cannot be read.*standard input.*path of the model"):
        models.read_model(data, "-", None)


@pytest.mark.parametrize("location", ["../w.bin", "/etc/passwd", "sub/../../w.bin", "link.bin", "none.bin", "", "a\0b"])
def test_external_data_from_elsewhere_is_refused(tmp_path, location):
    (tmp_path / "w.bin").write_bytes(bytes(8))
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "link.bin").symlink_to(tmp_path / "w.bin")
    proto = external(with_weights(), "w", location)
    with pytest.raises(InputError, match=r"`w` cannot be read: .* no file in the model's folder|no location"):
        models.read_model(proto.SerializeToString(), "m.onnx", folder)


def test_a_constant_in_a_function_is_read_from_nowhere_else_either(tmp_path, monkeypatch):
    (tmp_path / "w.bin").write_bytes(bytes(8))
    (tmp_path / "model").mkdir()
    monkeypatch.chdir(tmp_path)
    value = external(with_weights(), "w", "w.bin").graph.initializer[0]
    function = helper.make_function(
        "own",
        "F",
        ["v"],
        ["y"],
        [node("Constant", "", "c", value=value), node("Mul", "v c", "y")],
        [helper.make_opsetid("", 21)],
    )
    body = graph([node("F", "x", "y", "own"), node("Add", "s y", "t")], [typed("s"), typed("x")], ["t", "y"])
    given = [("a", "float32", [2]), ("xs", "float32", ["seq", 2])]
    data = scan_model(body, given, 1, functions=[function], imports={"own": 1}).SerializeToString()
    with pytest.raises(InputError, match=r"`w` cannot be read: w\.bin is no file in the model's folder"):
        models.read_model(data, "m.onnx", tmp_path / "model")
    found = models.read_model(data, "m.onnx", tmp_path)
    assert any(item.operation == "constant" for item in read_scan(found, models.find(found, None)).nodes)


def test_external_data_that_ends_too_early_is_refused(tmp_path):
    (tmp_path / "w.bin").write_bytes(bytes(8))
    proto = external(with_weights(), "w", "w.bin", offset=4, length=8)
    with pytest.raises(InputError, match=r"ends before byte 12"):
        models.read_model(proto.SerializeToString(), "m.onnx", tmp_path)


def before(operator, domain="", **attributes):
    """A model whose scan input comes out of an operator."""
    first = helper.make_node(operator, ["ys"], ["xs"], domain=domain, **attributes)
    inputs = [typed("a", "float32", [2]), typed("ys", "float32", [2, "seq"])]
    return whole([first, sum_node("a xs", "r u")], ["u"], inputs, imports=[helper.make_opsetid("own", 1)])


def test_types_that_the_model_does_not_declare_are_inferred():
    scan = compare(before("Transpose"), {"a": ZEROS, "xs": ROWS})
    assert [str(size) for size in scan.elements[0].port.shape] == ["seq", "2"]


def test_an_operator_before_the_scan_that_onnx_does_not_know_leaves_its_type_open():
    proto = before("Mystery", "own")
    compare(proto, {"a": ZEROS, "xs": ROWS})
    proto.graph.node.insert(1, node("EyeLike", "xs", "eye", dtype=7))
    found = read(proto)
    assert read_scan(found, models.find(found, None)).elements[0].port.dtype == "float32"


def test_names_that_are_no_text_are_refused():
    data = running_sum().SerializeToString()
    with pytest.raises(InputError, match="a name in the model is no UTF-8 text"):
        models.read_model(data.replace(b"initial", b"initi\xffl"), "m.onnx", None)
