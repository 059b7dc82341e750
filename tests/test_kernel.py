"""Kernels as Python functions."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

import scanbuild
from scanbuild.errors import CallError, InputError, LoadError, NoAdapterError
from scanbuild.gpu import Engine, open_engine
from scanbuild.kernel import GpuTensor, Kernel, dispose_shared_engines, load_kernel
from tests.cases.packages import DOUBLE, manifest, sign, variant, write_package

X = np.array([[1, -2, 3]], dtype=np.float32)

IN_PLACE = """{{ env.wgsl.resourceDeclarations }}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < params.n) { y[id.x] = y[id.x] + 1.0; }
}
"""


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    try:
        opened = open_engine("wgpu")
    except NoAdapterError as error:
        pytest.skip(str(error))
    with opened:
        yield opened


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("double")
    write_package(folder, manifest(), None)
    return folder


@pytest.fixture
def kernel(engine: Engine, root: Path) -> Kernel:
    return load_kernel(root, device=engine.device)


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


def test_the_public_name_is_that_of_the_package():
    assert scanbuild.load_kernel is load_kernel


def test_a_folder_that_is_not_there_is_an_input_error(tmp_path: Path):
    with pytest.raises(InputError):
        load_kernel(tmp_path / "nothing")


def test_an_edited_template_is_refused_at_the_call_that_needs_it(engine: Engine, tmp_path: Path):
    folder = write_package(tmp_path, manifest(), None)
    (folder / "double.wgsl.jinja").write_text(DOUBLE + "// edited\n")
    with pytest.raises(CallError, match="digest"):
        load_kernel(folder, device=engine.device)({"x": X})
    trusting = load_kernel(folder, device=engine.device, verify_hashes=False)
    assert trusting({"x": X})["y"].tolist() == [[2, -4, 6]]
    sign(folder)
    assert load_kernel(folder, device=engine.device)({"x": X})["y"].tolist() == [[2, -4, 6]]


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def server(root: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Silent, directory=str(root))) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{served.server_port}/"
        served.shutdown()


def test_a_package_behind_a_url_obeys_the_loader_s_rules(engine: Engine, server: str):
    known = {"trust_remote_code": True, "expected_op_id": "test.toys.Double", "version": 1}
    kernel = load_kernel(server, device=engine.device, **known)  # type: ignore[arg-type]
    assert kernel({"x": X})["y"].tolist() == [[2, -4, 6]]
    for missing in known:
        with pytest.raises(LoadError):
            load_kernel(server, **{name: value for name, value in known.items() if name != missing})  # type: ignore[arg-type]


def test_a_url_with_another_kernel_than_expected_is_refused(server: str):
    with pytest.raises(LoadError, match=r"test\.toys\.Double"):
        load_kernel(server, trust_remote_code=True, expected_op_id="test.toys.Triple", version=1)
