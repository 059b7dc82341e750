"""Where expected values come from: the case, the source package's reference, or ONNX."""

import importlib.util
import traceback
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from scanbuild.cases.casefile import Case
from scanbuild.cases.fixtures import Array, expected_array
from scanbuild.cases.onnx_oracle import NoOracleError, evaluate_node
from scanbuild.cases.origin import REFERENCE
from scanbuild.errors import InputError, Problem
from scanbuild.package.model import Manifest
from scanbuild.planning.attributes import resolve_attributes

Reference = Callable[[Mapping[str, Array], Mapping[str, Any], Mapping[str, Any]], Any]

ONNX_DOMAINS: Final = ("ai.onnx", "com.microsoft")
INTERNAL: Final = "internal-lowering"


class FailedReferenceError(Exception):
    """The source package's reference failed; the text says how."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Expectation:
    """Expected arrays by output. ``missing`` says of the others why nothing tells their values."""

    arrays: dict[str, Array] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Oracle:
    """The sources of expected values of one package. ``reference`` is None unless the package was built here."""

    manifest: Manifest
    reference: Reference | None = None

    def expect(self, case: Case, inputs: Mapping[str, Array]) -> Expectation:
        """What a case must give, output by output: stated, else by the reference, else by ONNX.

        Raises FailedReferenceError if the reference itself fails.
        """
        arrays = {
            name: expected_array(item.fixture) for name, item in case.outputs.items() if item.fixture.data is not None
        }
        unknown = [name for name in case.outputs if name not in arrays]
        if not unknown:
            return Expectation(arrays=arrays)
        computed, reason = self._compute(case, inputs)
        arrays.update({name: computed[name] for name in unknown if name in computed})
        return Expectation(arrays=arrays, missing={name: reason for name in unknown if name not in computed})

    def _compute(self, case: Case, inputs: Mapping[str, Array]) -> tuple[Mapping[str, Array], str]:
        attrs = resolve_attributes(self.manifest, case.attrs)
        if self.reference is not None:
            return _ask_reference(self.reference, inputs, attrs, case.args), "the reference does not give it"
        if self.manifest.domain not in ONNX_DOMAINS:
            return {}, f"no reference is known, and {self.manifest.domain} is no domain of ONNX"
        if self.manifest.conformance == INTERNAL:
            return {}, f"no reference is known, and an {INTERNAL} is not the ONNX operator of its name"
        try:
            return evaluate_node(self.manifest, inputs, attrs, tuple(case.outputs)), "ONNX does not give it"
        except NoOracleError as error:
            return {}, str(error)


def load_reference(source: Path) -> Reference | None:
    """The function ``reference`` of a source folder's ``reference.py``; None if there is no such file.

    This runs the file: call it for a package that was built here, only. InputError if it cannot be loaded.
    """
    file = source / REFERENCE
    if not file.is_file():
        return None
    spec = importlib.util.spec_from_file_location("scanbuild_reference", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise InputError(
            Problem(
                message=f"cannot be loaded: {type(error).__name__}: {error}",
                file=str(file),
                line=_line(error),
                rule="reference",
            )
        ) from error
    function = getattr(module, "reference", None)
    if not callable(function):
        message = "does not define the function reference(inputs, attrs, args)"
        raise InputError(Problem(message=message, file=str(file), rule="reference"))
    return function  # type: ignore[no-any-return]


def _ask_reference(
    reference: Reference, inputs: Mapping[str, Array], attrs: Mapping[str, Any], args: Mapping[str, Any]
) -> dict[str, Array]:
    try:
        # NumPy warns of what means of nothing and quotients by zero are; the comparison tells whether they are right.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            outputs = reference(dict(inputs), dict(attrs), dict(args))
    except (Exception, SystemExit) as error:
        line = _line(error)
        place = REFERENCE if line is None else f"{REFERENCE}:{line}"
        words = f"{place} raises {type(error).__name__}: {error}"
        raise FailedReferenceError(words) from error
    if not isinstance(outputs, Mapping):
        raise FailedReferenceError(f"{REFERENCE} returns a {type(outputs).__name__}, not a dict of arrays")
    return {str(name): _as_array(str(name), value) for name, value in outputs.items()}


def _line(error: BaseException) -> int | None:
    """The innermost line of the reference that an error came through."""
    steps = traceback.walk_tb(error.__traceback__)
    lines = [line for frame, line in steps if Path(frame.f_code.co_filename).name == REFERENCE]
    return lines[-1] if lines else None


def _as_array(name: str, value: Any) -> Array:
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise FailedReferenceError(f"{REFERENCE} gives no array as {name}: {error}") from error
    if array.dtype.kind not in "biuf":
        raise FailedReferenceError(f"{REFERENCE} gives no numbers as {name}, but {array.dtype}")
    return array
