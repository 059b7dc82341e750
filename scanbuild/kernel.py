"""Kernels as Python functions: load a package, call it with NumPy arrays.

The call has the loader's semantics (section 8): a request is planned as the loader plans it, before anything is done
on the GPU, and whatever a call makes and does not return is released.
"""

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from scanbuild.errors import CallError, Problem
from scanbuild.gpu import Engine, EngineName, GpuBuffer, execute, open_engine
from scanbuild.package.load import LoadOptions, PackageCache
from scanbuild.package.loaded import Package
from scanbuild.package.model import ABSENT, Json, Manifest
from scanbuild.package.opening import open_package
from scanbuild.planning.planner import Planner
from scanbuild.planning.request import Destination, HostTensor, Request, ResidentTensor
from scanbuild.planning.results import to_array, to_resident

Array: TypeAlias = npt.NDArray[Any]
EngineSource: TypeAlias = Callable[[], Engine]

_PACKAGES: Final = PackageCache()
_AS_ARRAY: Final = "make it an array: np.asarray(value, dtype=np.float32), for instance"


class GpuTensor:
    """A result that stays on the GPU (``output="gpu"``): a later call takes it as input or destination.

    It belongs to the caller, who ends it with :meth:`destroy` or with ``with``.
    """

    def __init__(self, buffer: GpuBuffer) -> None:
        self._buffer = buffer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.destroy()

    def __repr__(self) -> str:
        return f"GpuTensor({self.dtype}{list(self.shape)}{', destroyed' if self._buffer.destroyed else ''})"

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape in elements."""
        return self._buffer.spec.shape

    @property
    def dtype(self) -> str:
        """The logical dtype."""
        return self._buffer.spec.logical

    @property
    def storage_dtype(self) -> str:
        """What the buffer holds: differs from ``dtype`` only for an int64 that is stored in 32 bits."""
        return self._buffer.spec.dtype

    def numpy(self) -> Array:
        """A copy on the host, in natural form. CallError if the tensor is destroyed or its device lost."""
        return to_array(self._buffer.spec, self._buffer.read())

    def destroy(self) -> None:
        """Release the memory. A second call does nothing."""
        self._buffer.destroy()

    def _resident(self) -> ResidentTensor:
        return to_resident(self._buffer.spec, self._buffer)


class Engines:
    """Opens an engine at the first call that needs it, and shares it between kernels, as the loader does."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[tuple[EngineName, str | None], Engine] = {}

    def get(self, name: EngineName, adapter: str | None) -> Engine:
        """The engine, opened anew if the last one is closed or lost. NoAdapterError if there is none."""
        with self._lock:
            engine = self._open.get((name, adapter))
            if engine is None or engine.lost:
                engine = self._open[name, adapter] = open_engine(name, adapter)
            return engine

    def close(self) -> None:
        """Close all; tensors that stayed on them are lost."""
        with self._lock:
            for engine in self._open.values():
                engine.close()
            self._open.clear()


_ENGINES: Final = Engines()


def dispose_shared_engines() -> None:
    """Destroy the devices that kernels share. Resident tensors on them are lost; the next call opens a new one."""
    _ENGINES.close()


def load_kernel(
    location: str | Path,
    *,
    version: object = None,
    revision: object = None,
    expected_op_id: object = None,
    trust_remote_code: object = False,
    verify_hashes: object = True,
    token: str | None = None,
    device: Any = None,
    adapter: str | None = None,
    engine: EngineName = "wgpu",
) -> "Kernel":
    """The kernel at a location: a folder with ``build/webgpu/``, that folder itself, an http(s) URL, or a repository
    ``ORG/NAME`` of the Hub.

    URLs and repositories obey the loader's rules: a ``version`` or ``revision``, ``trust_remote_code=True`` outside
    the official organisation, ``expected_op_id`` for a URL. Digests are verified unless ``verify_hashes=False``. The
    kernel runs on ``device`` (a device of wgpu or wgpudawn) or on the ``engine``'s best adapter, or its best one that
    matches the text ``adapter``, which is opened at the first call. Raises LoadError, or InputError for a folder that
    is not there.
    """
    options = LoadOptions(
        version=ABSENT if version is None else version,
        revision=revision,
        token=token,
        verify_hashes=verify_hashes,
        expected_op_id=ABSENT if expected_op_id is None else expected_op_id,
        trust_remote_code=trust_remote_code,
    )
    package = open_package(location, options, cache=_PACKAGES)
    if device is not None:
        own = open_engine(device=device)
        return Kernel(package, lambda: own)
    return Kernel(package, lambda: _ENGINES.get(engine, adapter))


class Kernel:
    """A loaded package, called like a function."""

    def __init__(self, package: Package, engine: EngineSource) -> None:
        """``engine`` gives the engine of a call; it is asked at every call, and first when one is made."""
        self._engine = engine
        self._planner = Planner(package)
        self._lock = threading.Lock()
        self.manifest: Manifest = package.manifest

    def __repr__(self) -> str:
        return f"<kernel {self.op_id}>"

    @property
    def op_id(self) -> str:
        """``<domain>.<name>``."""
        return self.manifest.op_id

    def __call__(
        self,
        inputs: Mapping[str, Any],
        *,
        attrs: Mapping[str, Json] | None = None,
        args: Mapping[str, Json] | None = None,
        outputs: Mapping[str, Any] | None = None,
        output: Literal["cpu", "gpu"] | str = "cpu",
    ) -> dict[str, Any]:
        """Run the kernel; the outputs by name, as NumPy arrays, or as :class:`GpuTensor` with ``output="gpu"``.

        ``inputs`` maps names to arrays (their NumPy dtype decides what they count as), to a HostTensor with a dtype
        of its own, to tensors of an earlier call, or to scalars, which go before those of ``args``. ``outputs`` asks
        for optional outputs: a tensor of an earlier call to write to, or ``{"shape": ..., "dtype": ...}``. Raises
        CallError for whatever the loader would refuse and for what the engine refuses, NoAdapterError without one.
        """
        given: dict[GpuBuffer, GpuTensor] = {}
        request = Request(
            inputs={name: _input(name, value, given) for name, value in _mapping(inputs, "inputs").items()},
            attrs=_mapping(attrs, "attrs"),
            args=_mapping(args, "args"),
            outputs={name: _destination(value, given) for name, value in _mapping(outputs, "outputs").items()},
        )
        # What is wrong with a request by itself is told before a device is opened.
        read = self._planner.read(request)
        engine = self._engine()
        with self._lock:
            prepared = self._planner.plan(read, engine.record)
        resident = {name: _buffer(tensor) for name, tensor in prepared.resident.items()}
        result = execute(engine, prepared.plan, prepared.uploads, resident, keep=output == "gpu")
        specs = prepared.plan.outputs
        return {
            name: given.get(made) or GpuTensor(made) if isinstance(made, GpuBuffer) else to_array(specs[name], made)
            for name, made in result.outputs.items()
        }


def _mapping(value: Any, name: str) -> dict[str, Any]:
    if value is None and name != "inputs":
        return {}
    if not isinstance(value, Mapping):
        raise _refusal(f"`{name}` maps names to values, found a `{type(value).__name__}`")
    for key in value:
        if not isinstance(key, str):
            raise _refusal(f"`{name}` maps names to values, and {key!r} is no name")
    return dict(value)


def _input(name: str, value: Any, given: dict[GpuBuffer, GpuTensor]) -> Any:
    """A tensor or a scalar as the planner takes it; CallError for any other Python object."""
    if isinstance(value, np.ndarray):
        value = HostTensor.of(value)
    if isinstance(value, HostTensor):
        if not isinstance(value.array, np.ndarray):
            raise _refusal(f"input `{name}`: the data of a HostTensor are a NumPy array", hint=_AS_ARRAY)
        if isinstance(value.array, np.ma.MaskedArray):
            raise _refusal(f"input `{name}` is a masked array", hint="give it values everywhere with .filled(value)")
        return value
    if value is None or isinstance(value, bool | int | float | str | np.generic | GpuTensor):
        return _known_tensor(value, given)
    raise _refusal(f"input `{name}`: a `{type(value).__name__}` is no kernel input", hint=_AS_ARRAY)


def _destination(value: Any, given: dict[GpuBuffer, GpuTensor]) -> Any:
    if not isinstance(value, Mapping):
        return _known_tensor(value, given)
    shape: Any = value.get("shape")
    dtype: Any = value.get("dtype")
    if isinstance(shape, np.ndarray):
        shape = shape.tolist()
    if isinstance(dtype, np.dtype) or (isinstance(dtype, type) and issubclass(dtype, np.generic)):
        dtype = np.dtype(dtype).name
    return Destination(shape=shape, dtype=dtype)


def _refusal(message: str, hint: str = "") -> CallError:
    return CallError(Problem(message=message, hint=hint, rule="call", stage="call"))


def _known_tensor(value: Any, given: dict[GpuBuffer, GpuTensor]) -> Any:
    if not isinstance(value, GpuTensor):
        return value
    given[value._buffer] = value
    return value._resident()


def _buffer(tensor: ResidentTensor) -> GpuBuffer:
    buffer = tensor.buffer
    assert isinstance(buffer, GpuBuffer)
    return buffer
