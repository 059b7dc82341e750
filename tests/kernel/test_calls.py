"""Kernels as Python functions."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scanbuild.errors import CallError, NoAdapterError
from scanbuild.gpu import Engine
from scanbuild.kernel import GpuTensor, Kernel, dispose_shared_engines, load_kernel
from scanbuild.planning.request import HostTensor
from tests.cases.packages import DOUBLE, manifest, variant, write_package

X = np.array([[1, -2, 3]], dtype=np.float32)

IN_PLACE = """{{ env.wgsl.resourceDeclarations }}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < params.n) { y[id.x] = y[id.x] + 1.0; }
}
"""


def test_a_kernel_takes_and_gives_numpy_arrays(kernel: Kernel):
    out = kernel({"x": X})
    assert list(out) == ["y"]
    assert out["y"].dtype == np.float32
    assert out["y"].tolist() == [[2, -4, 6]]
    assert kernel.op_id == "test.toys.Double"


def test_the_class_of_the_array_decides_the_dtype(kernel: Kernel):
    out = kernel({"x": np.array([3, -4], dtype=np.int32)})["y"]
    assert (out.dtype, out.tolist()) == (np.int32, [6, -8])


def test_an_array_that_is_no_kernel_input_says_what_to_do(kernel: Kernel):
    with pytest.raises(CallError, match="astype"):
        kernel({"x": X.astype(np.float64)})


def test_an_array_that_is_not_contiguous_is_read_row_by_row(kernel: Kernel):
    columns = np.arange(6, dtype=np.float32).reshape(2, 3).T
    assert kernel({"x": columns})["y"].tolist() == (2 * columns).tolist()


def test_an_empty_tensor_gives_an_empty_tensor(kernel: Kernel):
    assert kernel({"x": np.zeros((0, 4), np.float32)})["y"].shape == (0, 4)


def test_a_resident_result_goes_into_the_next_call(kernel: Kernel):
    with kernel({"x": X}, output="gpu")["y"] as first:
        assert isinstance(first, GpuTensor)
        assert (first.shape, first.dtype) == ((1, 3), "float32")
        assert kernel({"x": first})["y"].tolist() == [[4, -8, 12]]
        assert first.numpy().tolist() == [[2, -4, 6]]
    with pytest.raises(CallError, match="destroyed"):
        first.numpy()
    with pytest.raises(CallError, match="destroyed"):
        kernel({"x": first})


def test_a_resident_destination_is_written_and_returned_itself(kernel: Kernel):
    with kernel({"x": X}, output="gpu")["y"] as target:
        again = kernel({"x": X * 10}, outputs={"y": target}, output="gpu")
        assert again["y"] is target
        assert target.numpy().tolist() == [[20, -40, 60]]


def test_two_kernels_on_one_device_share_tensors(engine: Engine, root: Path):
    one, other = (load_kernel(root, device=engine.device) for _ in range(2))
    with one({"x": X}, output="gpu")["y"] as made:
        assert other({"x": made})["y"].tolist() == [[4, -8, 12]]


def test_nothing_is_left_on_the_device_by_calls_that_work_and_calls_that_do_not(engine: Engine, tmp_path: Path):
    broken = {"broken.wgsl.jinja": DOUBLE.replace("y[id.x] =", "z[id.x] =")}
    made = manifest(variant("good", when=["shapes.x[0] < 4"]), variant("bad", "broken.wgsl.jinja"))
    folder = write_package(tmp_path, made, None, broken)
    kernel = load_kernel(folder, device=engine.device)
    probe = kernel._engine()
    kernel({"x": np.ones(3, np.float32)})
    with pytest.raises(CallError, match=r"broken\.wgsl\.jinja"):
        kernel({"x": np.ones(5, np.float32)})
    with pytest.raises(CallError):
        kernel({"z": X})
    assert probe.live_buffers == 0


def test_an_inout_tensor_is_changed_in_place(engine: Engine, tmp_path: Path):
    made = manifest(
        {
            "id": "main",
            "passes": [
                {
                    "shader": "bump.wgsl",
                    "bindings": [
                        {"name": "y", "buffer": "storage"},
                        {"name": "params", "struct": [{"name": "n", "type": "u32", "value": "numel(shapes.y)"}]},
                    ],
                    "dispatch": {"x": 1},
                }
            ],
        },
        inputs={"y": {"dtype": "float32"}},
        outputs={"y": {"dtype": "float32", "shape": "shapes.y"}},
    )
    kernel = load_kernel(write_package(tmp_path, made, None, {"bump.wgsl": IN_PLACE}), device=engine.device)
    host = np.array([1, 2], np.float32)
    assert kernel({"y": host})["y"].tolist() == [2, 3]
    assert host.tolist() == [1, 2]
    with kernel({"y": host}, output="gpu")["y"] as resident:
        assert kernel({"y": resident}, output="gpu")["y"] is resident
        assert resident.numpy().tolist() == [3, 4]


def test_mistakes_of_a_request_are_told_without_an_adapter(root: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object, **__: object) -> Engine:
        raise NoAdapterError("there is none")

    monkeypatch.setattr("scanbuild.kernel._ENGINES.get", refuse)
    kernel = load_kernel(root)
    with pytest.raises(CallError, match="unknown input"):
        kernel({"z": X})
    with pytest.raises(NoAdapterError):
        kernel({"x": X})


@pytest.mark.parametrize("value", [None, 3, [X]])
def test_inputs_have_to_be_a_mapping(kernel: Kernel, value: object):
    with pytest.raises(CallError, match="`inputs` maps names to values"):
        kernel(value)  # type: ignore[arg-type]


def test_kernels_share_a_device_until_it_is_disposed_of(engine: Engine, root: Path):
    one, other = load_kernel(root), load_kernel(str(root))
    with one({"x": X}, output="gpu")["y"] as made:
        assert other({"x": made})["y"].tolist() == [[4, -8, 12]]
    kept = one({"x": X}, output="gpu")["y"]
    dispose_shared_engines()
    with pytest.raises(CallError):
        kept.numpy()
    assert one({"x": X})["y"].tolist() == [[2, -4, 6]]
    dispose_shared_engines()


def _refuse_to_open(*_: object, **__: object) -> Engine:
    raise AssertionError("a device is opened for a request that is wrong by itself")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ({"inputs": {"z": X}}, "unknown input"),
        ({"inputs": {"x": X, "n": None}}, "unknown input"),
        ({"inputs": {}}, "required"),
        ({"inputs": {"x": None}}, "leave an optional input out"),
        ({"inputs": {"x": 3}}, "is a tensor"),
        ({"inputs": {"x": np.float32(3)}}, "is a tensor"),
        ({"inputs": {"x": X.astype(np.float64)}}, "astype"),
        ({"inputs": {"x": X.astype(np.int8)}}, "does not admit"),
        ({"inputs": {"x": HostTensor(shape=[2, 2], array=X)}}, "3 values"),
        ({"inputs": {"x": HostTensor(shape=[-3], array=X)}}, "dimension 0"),
        ({"inputs": {"x": X}, "attrs": {"a": 1}}, "unknown attribute"),
        ({"inputs": {"x": X}, "args": {"n": 1}}, "unknown argument"),
        ({"inputs": {"x": X}, "outputs": {"z": {"shape": [1]}}}, "unknown output"),
        ({"inputs": {"x": X}, "outputs": {"y": X}}, "expected a tensor or a shape"),
        ({"inputs": {"x": X}, "outputs": {"y": {"shape": [1, 3], "dtype": "int32"}}}, "float32"),
    ],
)
def test_a_request_that_is_wrong_by_itself_opens_no_device(
    root: Path, monkeypatch: pytest.MonkeyPatch, call: dict[str, Any], words: str
):
    monkeypatch.setattr("scanbuild.kernel.open_engine", _refuse_to_open)
    kernel = load_kernel(root, adapter="none that exists")
    with pytest.raises(CallError, match=words):
        kernel(call.pop("inputs"), **call)


def test_loading_opens_no_device(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("scanbuild.kernel.open_engine", _refuse_to_open)
    assert repr(load_kernel(root)) == "<kernel test.toys.Double>"


class _Own(np.ndarray):
    """A subclass without a meaning of its own."""


@pytest.mark.parametrize(
    "array",
    [
        X[:, ::-1],
        X.astype(">f4"),
        np.array([1, -2], dtype=">i4"),
        np.array(2.5, dtype=np.float32),
        np.broadcast_to(np.float32(3), (2, 2)),
        np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)),
        np.frombuffer(bytes(X.tobytes()), dtype=np.float32),
        np.array([[1, 2], [3, 4]], dtype=np.float32).view(_Own),
    ],
    ids=["reversed", "big-endian", "big-endian integers", "rank 0", "broadcast", "columns", "read-only", "subclass"],
)
def test_an_array_counts_for_its_elements_however_they_lie_in_memory(kernel: Kernel, array: np.ndarray):
    before = array.copy()
    out = kernel({"x": array})["y"]
    assert out.tolist() == (array + array).tolist()
    assert out.shape == array.shape
    assert type(out) is np.ndarray
    assert out.dtype.isnative
    assert out.flags.writeable
    assert (array == before).all()


class _Lazy:
    def __array__(self, *_: object, **__: object) -> np.ndarray:
        return X


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([1.0, 2.0], "a `list` is no kernel input"),
        ((1.0, 2.0), "a `tuple` is no kernel input"),
        (b"abcd", "a `bytes` is no kernel input"),
        (memoryview(b"abcd"), "a `memoryview` is no kernel input"),
        (_Lazy(), "a `_Lazy` is no kernel input"),
        (np.ma.array([1, 2], mask=[False, True], dtype=np.float32), "masked"),
        (HostTensor(shape=[2], array=np.ma.array([1, 2], dtype=np.float32)), "masked"),
        (HostTensor(shape=[2], dtype="float32"), "the data of a HostTensor"),
        (HostTensor(shape=[2], array=[1, 2]), "the data of a HostTensor"),  # type: ignore[arg-type]
        (np.array([1, "a"], dtype=object), "array of object"),
        (np.zeros(2, dtype=[("a", "f4")]), "array of void"),
        (np.array(["a"]), "array of str"),
        (np.zeros(2, dtype=np.complex64), "array of complex64"),
    ],
)
def test_what_is_no_array_of_numbers_is_refused_in_words(kernel: Kernel, value: object, words: str):
    with pytest.raises(CallError, match=words):
        kernel({"x": value})


@pytest.mark.parametrize("option", ["inputs", "attrs", "args", "outputs"])
def test_names_are_texts(kernel: Kernel, option: str):
    call: dict[str, Any] = {"inputs": {"x": X}, option: {3: 4}}
    with pytest.raises(CallError, match="3 is no name"):
        kernel(call.pop("inputs"), **call)


@pytest.mark.parametrize("value", [{1, 2}, object(), b"a", {1: 2}, [[object()]], 1j])
def test_attributes_and_arguments_are_json_values(kernel: Kernel, value: object):
    for option in ("attrs", "args"):
        with pytest.raises(CallError, match=r"JSON|names in an object"):
            kernel({"x": X}, **{option: {"a": value}})  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["float32", np.float32, np.dtype("float32")])
@pytest.mark.parametrize("shape", [[1, 3], (1, 3), np.array([1, 3])])
def test_a_destination_may_be_described_as_numpy_does(kernel: Kernel, shape: object, dtype: object):
    assert kernel({"x": X}, outputs={"y": {"shape": shape, "dtype": dtype}})["y"].shape == (1, 3)
    with pytest.raises(CallError, match="unknown dtype"):
        kernel({"x": X}, outputs={"y": {"shape": shape, "dtype": np.float64}})


@pytest.mark.parametrize("output", ["cpu", "GPU", "host", ""])
def test_only_the_word_gpu_keeps_results_on_the_gpu(kernel: Kernel, output: str):
    assert isinstance(kernel({"x": X}, output=output)["y"], np.ndarray)


def test_a_destination_of_another_size_is_used_as_it_is(kernel: Kernel):
    with kernel({"x": np.ones(5, np.float32)}, output="gpu")["y"] as wide:
        again = kernel({"x": X[0]}, outputs={"y": wide})["y"]
        assert again.tolist() == [2, -4, 6, 2, 2]
        assert kernel({"x": wide})["y"].tolist() == [4, -8, 12, 4, 4]


def test_a_resident_tensor_is_refused_where_its_dtype_does_not_fit(kernel: Kernel):
    with kernel({"x": X}, output="gpu")["y"] as made, pytest.raises(CallError, match="float32"):
        kernel({"x": X.astype(np.int32)}, outputs={"y": made})


def test_a_tensor_cannot_be_read_and_written_by_one_pass(kernel: Kernel):
    with kernel({"x": X}, output="gpu")["y"] as made, pytest.raises(CallError, match="one buffer"):
        kernel({"x": made}, outputs={"y": made})


def test_a_destroyed_destination_is_refused(kernel: Kernel):
    made = kernel({"x": X}, output="gpu")["y"]
    made.destroy()
    with pytest.raises(CallError, match="destroyed"):
        kernel({"x": X}, outputs={"y": made})


def test_a_tensor_of_another_device_is_refused(kernel: Kernel, root: Path):
    other = load_kernel(root)
    with other({"x": X}, output="gpu")["y"] as made, pytest.raises(CallError, match="another device"):
        kernel({"x": made})
    dispose_shared_engines()


def test_a_kept_result_is_all_that_a_call_leaves(engine: Engine, root: Path):
    kernel = load_kernel(root, device=engine.device)
    probe = kernel._engine()
    with kernel({"x": X}, output="gpu")["y"] as first, kernel({"x": first}, output="gpu")["y"] as second:
        assert probe.live_buffers == 2
        with pytest.raises(CallError):
            kernel({"x": first}, outputs={"y": first}, output="gpu")
        with pytest.raises(CallError):
            kernel({"x": first}, outputs={"y": second}, attrs={"a": 1})
        kernel({"x": first}, outputs={"y": second}, output="gpu")
        kernel({"x": np.zeros((0, 2), np.float32)}, output="gpu")["y"].destroy()
        assert probe.live_buffers == 2
    assert probe.live_buffers == 0


def test_a_device_that_the_caller_brought_stays_open(engine: Engine, root: Path):
    load_kernel(root, device=engine.device)({"x": X})
    dispose_shared_engines()
    assert load_kernel(root, device=engine.device)({"x": X})["y"].tolist() == [[2, -4, 6]]


def test_opening_a_device_says_nothing_on_standard_error(root: Path, engine: Engine):
    code = (
        "import sys, numpy as np, scanbuild\n"
        "out = scanbuild.load_kernel(sys.argv[1])({'x': np.ones(2, np.float32)})\n"
        "import os; print(out['y'].tolist(), os.environ.get('XDG_RUNTIME_DIR'))"
    )
    environment = {name: value for name, value in os.environ.items() if name != "XDG_RUNTIME_DIR"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(root)],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        check=True,
    )
    assert (done.stdout.strip(), done.stderr.strip()) == ("[2.0, 2.0] None", "")
