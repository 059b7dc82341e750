"""Reading the corpora: packages from entries, host data from listed values, expected failures by name."""

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scanbuild.dialect import UNDEFINED
from scanbuild.package.digest import digest_text
from scanbuild.package.load import package_from_files
from scanbuild.package.loaded import Package
from scanbuild.planning.device import DeviceRecord
from scanbuild.planning.request import Destination, HostTensor

FOLDER = Path(os.environ.get("SCANBUILD_CORPUS") or Path(__file__).parent / "corpus")
EXPECTED_FAILURES: dict[str, list[str]] = json.loads(
    (Path(__file__).parent / "corpus" / "expected_failures.json").read_text(encoding="utf-8")
)

CLASSES: dict[str, type[np.generic]] = {
    "Float32Array": np.float32,
    "Float64Array": np.float64,
    "Float16Array": np.float16,
    "Int8Array": np.int8,
    "Int16Array": np.int16,
    "Int32Array": np.int32,
    "Uint8Array": np.uint8,
    "Uint8ClampedArray": np.uint8,
    "Uint16Array": np.uint16,
    "Uint32Array": np.uint32,
    "BigInt64Array": np.int64,
    "BigUint64Array": np.uint64,
}
NATURAL: dict[str, type[np.generic]] = {
    "float32": np.float32,
    "float16": np.float16,
    "int8": np.int8,
    "int16": np.int16,
    "int32": np.int32,
    "int64": np.int64,
    "uint8": np.uint8,
    "uint32": np.uint32,
    "bool": np.uint8,
}
WORDS = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf, "-0": -0.0}


def read(name: str) -> Any:
    """A corpus file; None where the folder has none of that name."""
    path = FOLDER / name
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def case(group: str, name: str, entry: Any) -> Any:
    """A test case named after its entry, expected to fail if it is listed."""
    marks = [pytest.mark.xfail(strict=True)] if name in EXPECTED_FAILURES.get(group, []) else []
    return pytest.param(entry, id=re.sub(r"[^\x20-\x7e]", "?", name.replace("::", ":")), marks=marks)


def compact(value: Any) -> str:
    """An object of a corpus as the text it stands for."""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def make_package(files: dict[str, Any]) -> Package:
    """A package from manifest and shaders, with the metadata that fit them."""
    texts = {name: compact(content) for name, content in files.items()}
    if "metadata.json" not in texts:
        texts["metadata.json"] = compact(metadata_for(files["manifest.json"], texts))
    return package_from_files(texts)


def metadata_for(manifest: Any, texts: dict[str, str]) -> dict[str, Any]:
    """Metadata that list every shader file for every variant, and the digests of all files."""
    shaders = [name for name in texts if name.endswith((".wgsl", ".wgsl.jinja"))]
    variants = {item.get("id", f"variant_{index}"): shaders for index, item in enumerate(manifest["variants"])}
    return {
        "name": f"{manifest.get('domain', 'ai.onnx')}.{manifest['name']}",
        "backend": {"type": "webgpu"},
        "webgpu": {"manifestSpec": "2.1", "variants": variants},
        "digest": {"algorithm": "sha256", "files": {name: digest_text(text) for name, text in texts.items()}},
    }


def host_array(tensor: dict[str, Any]) -> HostTensor:
    """A listed tensor as host data: of the class it names, else of the natural class of its dtype."""
    values = [WORDS.get(value, value) if isinstance(value, str) else value for value in tensor["values"]]
    array_class, dtype = tensor.get("array"), tensor.get("dtype")
    kind = np.dtype(CLASSES[array_class] if array_class else NATURAL.get(dtype or "", np.float32))
    if kind == np.int64:
        array = np.array([int(value) for value in values], dtype=np.int64)
    else:
        array = np.array(values, dtype=np.float64).astype(kind)
    return HostTensor(array=array, shape=tensor["shape"], dtype=dtype, array_class=array_class)


def blank_tensor(tensor: dict[str, Any]) -> HostTensor:
    """A tensor of a scope: its elements are all zero."""
    shape = tensor["shape"]
    return HostTensor(array=np.zeros(shape, dtype=NATURAL[tensor["dtype"]]), shape=shape, dtype=tensor["dtype"])


def number(value: Any) -> Any:
    """A scalar argument, the words for special numbers read."""
    return WORDS[value] if isinstance(value, str) and value in WORDS and value != "-0" else value


def destination(value: Any) -> Any:
    """A wish for an output."""
    return Destination(shape=value.get("shape"), dtype=value.get("dtype"))


def plain(value: Any) -> Any:
    """A result as the corpora write it."""
    if value is UNDEFINED:
        return {"$undefined": True}
    if isinstance(value, float):
        if np.isnan(value):
            return {"$float": "NaN"}
        if np.isinf(value):
            return {"$float": "Infinity" if value > 0 else "-Infinity"}
        if value == 0 and np.signbit(value):
            return {"$float": "-0"}
        return int(value) if value.is_integer() else value
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def software_record() -> DeviceRecord:
    """The record of the device that answered the load corpus."""
    calls = read("calls.json")
    if calls is None:
        calls = json.loads((Path(__file__).parent / "corpus" / "calls.json").read_text(encoding="utf-8"))
    return DeviceRecord.from_json(calls["device"]["software"])
