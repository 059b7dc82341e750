"""Expected values from ONNX Runtime on the CPU, or from ONNX's own reference evaluator.

The node is built from the manifest: domain, name, ``sinceVersion``, the ports' ``onnx`` names and the attributes.
Both packages are optional (the extra ``onnx``) and imported only when a case asks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from scanbuild.cases.fixtures import Array
from scanbuild.package.model import Manifest, Port

_EXTRA: Final = "install ONNX Runtime (pip install 'scanbuild[onnx]') for an oracle"
_IR_VERSION: Final = 10


class NoOracleError(Exception):
    """ONNX cannot tell the expected values; the text says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Schema:
    """What ONNX knows of an operator: formal names, in order, and attribute names."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: frozenset[str]
    version: int


def evaluate_node(
    manifest: Manifest, inputs: Mapping[str, Array], attrs: Mapping[str, Any], outputs: Sequence[str]
) -> dict[str, Array]:
    """The wanted outputs of the manifest's operator for these inputs; NoOracleError if ONNX does not tell."""
    try:
        import onnx  # noqa: F401
    except ImportError:
        raise NoOracleError(f"no reference is known; {_EXTRA}") from None
    schema = _schema(manifest)
    feeds = _by_onnx_name(manifest.inputs, inputs, schema.inputs, "input")
    names = {_onnx_name(manifest.outputs[name], schema.outputs): name for name in outputs if name in manifest.outputs}
    for name in names:
        if name not in schema.outputs:
            raise NoOracleError(f"{manifest.op_id} of ONNX has no output {name}")
    model = _model(manifest, schema, feeds, names, _attributes(attrs, manifest, schema))
    results = _run(model, feeds, list(names))
    return {names[name]: np.asarray(value) for name, value in zip(names, results, strict=True)}


def _onnx_domain(manifest: Manifest) -> str:
    return "" if manifest.domain == "ai.onnx" else manifest.domain


def _schema(manifest: Manifest) -> _Schema:
    """ONNX's own schema of the operator, or ONNX Runtime's for its own domain."""
    from onnx import defs

    domain, version = _onnx_domain(manifest), manifest.since_version
    newest = defs.onnx_opset_version()
    wanted = version if isinstance(version, int) and not isinstance(version, bool) and version > 0 else newest
    try:
        found = defs.get_schema(manifest.name, wanted if domain == "" else 1, domain)
    except Exception:
        found = _runtime_schema(manifest.name, domain)
    if found is None:
        raise NoOracleError(f"no reference is known, and ONNX has no operator {manifest.op_id}")
    return _Schema(
        inputs=tuple(item.name for item in found.inputs),
        outputs=tuple(item.name for item in found.outputs),
        attributes=frozenset(found.attributes),
        version=max(found.since_version, wanted if domain == "" else 1),
    )


def _runtime_schema(name: str, domain: str) -> Any:
    try:
        from onnxruntime.capi import onnxruntime_pybind11_state as state

        schemas = [item for item in state.get_all_operator_schema() if item.name == name and item.domain == domain]
    except Exception:
        return None
    return max(schemas, key=lambda item: item.since_version, default=None)


def _onnx_name(port: Port, formal: Sequence[str]) -> str:
    """The operator's name for a port: the one the manifest gives, else its own, whatever the case of its letters."""
    if port.onnx is not None:
        return port.onnx
    return next((name for name in formal if name.lower() == port.name.lower()), port.name)


def _by_onnx_name(
    ports: Mapping[str, Port], arrays: Mapping[str, Array], formal: Sequence[str], what: str
) -> dict[str, Array]:
    named = {_onnx_name(ports[name], formal): array for name, array in arrays.items() if name in ports}
    for name in named:
        if name not in formal:
            raise NoOracleError(f"the ONNX operator has no {what} {name}; the manifest's member `onnx` can name one")
    return named


def _attributes(attrs: Mapping[str, Any], manifest: Manifest, schema: _Schema) -> dict[str, Any]:
    """The attributes ONNX knows. One it does not know must have its default: then it asks for what ONNX does."""
    known = {}
    for name, value in attrs.items():
        if name in schema.attributes:
            if value is not None:
                known[name] = value
        elif value != manifest.attributes[name].default:
            raise NoOracleError(f"the ONNX operator has no attribute {name}")
    return known


def _model(
    manifest: Manifest, schema: _Schema, feeds: Mapping[str, Array], names: Mapping[str, str], attrs: Mapping[str, Any]
) -> Any:
    from onnx import helper

    domain = _onnx_domain(manifest)
    ordered = [name if name in feeds else "" for name in schema.inputs]
    results = [name if name in names else "" for name in schema.outputs]
    try:
        node = helper.make_node(
            manifest.name,
            _trimmed(ordered),
            [f"out_{name}" if name else "" for name in _trimmed(results)],
            domain=domain,
        )
        node.attribute.extend(helper.make_attribute(name, value) for name, value in attrs.items())
        graph = helper.make_graph(
            [node],
            "case",
            [
                helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
                for name, array in feeds.items()
            ],
            [helper.make_empty_tensor_value_info(f"out_{name}") for name in names],
        )
        imports = [helper.make_opsetid(domain, schema.version)]
        if domain:
            imports.append(helper.make_opsetid("", 21))
        return helper.make_model(graph, opset_imports=imports, ir_version=_IR_VERSION)
    except Exception as error:
        raise NoOracleError(f"no ONNX node can be made of this case: {error}") from error


def _trimmed(names: list[str]) -> list[str]:
    while names and not names[-1]:
        names = names[:-1]
    return names


def _run(model: Any, feeds: Mapping[str, Array], names: list[str]) -> list[Any]:
    wanted = [f"out_{name}" for name in names]
    reasons = []
    for evaluate in (_run_runtime, _run_reference):
        try:
            return list(evaluate(model, feeds, wanted))
        except Exception as error:
            reasons.append(str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__)
    raise NoOracleError("ONNX cannot compute this case: " + "; ".join(reasons))


def _run_runtime(model: Any, feeds: Mapping[str, Array], wanted: list[str]) -> list[Any]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return list(session.run(wanted, dict(feeds)))


def _run_reference(model: Any, feeds: Mapping[str, Array], wanted: list[str]) -> list[Any]:
    from onnx.reference import ReferenceEvaluator

    return list(ReferenceEvaluator(model).run(wanted, dict(feeds)))
