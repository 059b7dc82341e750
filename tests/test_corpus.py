"""Every entry of the corpora: what the real loader answered is what scanbuild says.

``SCANBUILD_CORPUS`` names the folder, ``tests/corpus`` by default. Entries known to fail are listed by name in
``tests/corpus/expected_failures.json``.
"""

import dataclasses
import json
import re
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from scanbuild.errors import CallError, LoadError, NoAdapterError
from scanbuild.gpu import Engine, execute, open_engine
from scanbuild.package.fetching import FetchError
from scanbuild.package.load import LoadOptions, load_package
from scanbuild.planning.device import DeviceRecord, normalise, required_features, required_limits
from scanbuild.planning.passes import Program
from scanbuild.planning.planner import Planner, PreparedCall
from scanbuild.planning.request import Request, ResidentTensor
from scanbuild.planning.results import to_array
from tests.corpus_files import (
    WORDS,
    blank_tensor,
    case,
    compact,
    destination,
    host_array,
    make_package,
    number,
    plain,
    read,
    software_record,
)

LOAD = read("load.json") or []
EXPRESSIONS = read("expressions.json") or {"scopes": {}, "entries": []}
TEMPLATES = read("templates.json") or {"scopes": {}, "entries": []}
CALLS = read("calls.json") or {"device": {}, "calls": [], "adapters": []}
SOFTWARE = software_record()
MAIN = "@compute @workgroup_size(1)\nfn main() {}\n"


def test_the_corpora_are_there():
    assert LOAD or EXPRESSIONS["entries"] or TEMPLATES["entries"] or CALLS["calls"]


# --- load.json ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", [case("load", entry["name"], entry) for entry in LOAD])
def test_a_package_loads_or_not(entry, engine):
    files = {name: compact(content) for name, content in entry["files"].items()}

    def fetch(url: str) -> bytes:
        name = re.sub(r"^.*?build/webgpu/", "", url)
        if name not in files:
            raise FetchError("there is no such file")
        return files[name].encode("utf-8", "surrogatepass")

    try:
        package = load_package(entry.get("location", "http://pkg.test/x"), load_options(entry), fetch)
        if "call" in entry:
            prepared = Planner(package).prepare(load_request(entry["call"]), SOFTWARE)
            if entry["expect"] == "call-error" and engine is not None:
                # What is left to be found is for a shader compiler.
                execute(engine, prepared.plan, prepared.uploads)
        outcome = "ok"
    except LoadError:
        outcome = "load-error"
    except CallError:
        outcome = "call-error"
    assert outcome == entry["expect"]


def load_options(entry: dict[str, Any]) -> LoadOptions:
    given = entry.get("options")
    if given is None:
        metadata = entry["files"].get("metadata.json")
        name = metadata.get("name") if isinstance(metadata, dict) else "ai.onnx.Probe"
        given = {"version": 1, "trustRemoteCode": True, "expectedOpId": name}
    names = {"verifyHashes": "verify_hashes", "expectedOpId": "expected_op_id", "trustRemoteCode": "trust_remote_code"}
    known = {field.name for field in dataclasses.fields(LoadOptions)}
    options = {names.get(key, key): value for key, value in given.items()}
    return LoadOptions(**{key: value for key, value in options.items() if key in known})


def load_request(call: dict[str, Any]) -> Request:
    def tensor(value: Any) -> Any:
        return host_array({**value, "values": value["data"]}) if isinstance(value, dict) else value

    return Request(
        inputs={name: tensor(value) for name, value in call.get("inputs", {}).items()},
        attrs=call.get("attrs", {}),
        args=call.get("args", {}),
        outputs={name: destination(value) for name, value in call.get("outputs", {}).items()},
    )


# --- expressions.json --------------------------------------------------------------------------------------------


def expression_name(entry: dict[str, Any]) -> str:
    return f"{entry['scope']} {entry.get('stage', 'manifest')}: {entry['expr']}"


def scope_package(
    scope: dict[str, Any],
    files: dict[str, str],
    *,
    manifest: Any = None,
    variant: Any = None,
    item: Any = None,
    group: Any = None,
) -> Planner:
    """A kernel of one variant and one pass around a scope; members are overlaid by those given."""
    made: Any = {
        "id": "pass_0",
        "shader": "main.wgsl.jinja",
        "bindings": ["x", "y"],
        "dispatch": {"x": 1},
        **scope.get("pass", {}),
        **(item or {}),
    }
    for index, around in enumerate(reversed([group] if group else scope.get("groups", []))):
        made = {"id": f"g{index}", "repeat": around, "passes": [made]}
    variants = [{"id": "main", "passes": [made], **scope.get("variant", {}), **(variant or {})}]
    return Planner(
        make_package({"manifest.json": {**scope["manifest"], **(manifest or {}), "variants": variants}, **files})
    )


def scope_request(scope: dict[str, Any]) -> Request:
    return Request(
        inputs={name: blank_tensor(tensor) for name, tensor in scope["tensors"].items()},
        attrs=scope.get("attrs", {}),
        args=scope.get("args", {}),
        outputs={name: destination(value) for name, value in scope.get("outputs", {}).items()},
    )


def with_derive(owner: dict[str, Any], expr: str) -> dict[str, Any]:
    return {"derive": {**owner.get("derive", {}), "zz_under_test": expr}}


def programs_of(planner: Planner, scope: dict[str, Any]) -> list[Program]:
    return planner.programs(scope_request(scope), SOFTWARE)


def evaluate_derive(entry: dict[str, Any], scope: dict[str, Any]) -> tuple[Any, str]:
    stage, expr = entry.get("stage"), entry["expr"]
    place = {None: "manifest", "variant": "variant", "pass": "item"}[stage]
    owner = scope.get({"manifest": "manifest", "variant": "variant", "item": "pass"}[place], {})
    files = {"main.wgsl.jinja": "{{ zz_under_test }}"}
    planner = scope_package(scope, files, **{place: with_derive(owner, expr)})
    program = programs_of(planner, scope)[0]
    return plain(program.scope.derives["zz_under_test"]), program.wgsl


def evaluate_stage(entry: dict[str, Any], scope: dict[str, Any]) -> Any:
    stage, expr = entry["stage"], entry["expr"]
    files, request = {"main.wgsl.jinja": MAIN}, scope_request(scope)
    if stage == "shape":
        port = "z" if entry["scope"] == "inout" else "y"
        outputs = {**scope["manifest"]["outputs"]}
        outputs[port] = {**outputs[port], "shape": expr}
        planner = scope_package(scope, files, manifest={"outputs": outputs})
        prepared = planner.prepare(request, SOFTWARE)
        return list(prepared.plan.outputs[port].shape)
    if stage == "when":
        verdicts = scope_package(scope, files, variant={"when": [expr]}).explain(request, SOFTWARE)
        return verdicts[0].accepted
    if stage == "repeat":
        planner = scope_package(scope, files, group={"index": "zz", "count": expr})
        return len(planner.prepare(request, SOFTWARE).plan.passes)
    if stage == "dispatch":
        passes = scope_package(scope, files, item={"dispatch": {"x": expr}}).prepare(request, SOFTWARE).plan.passes
        return passes[0].grid[0] if passes else 0
    uniform = {"name": "zz", "struct": [{"name": "v", "type": "f32", "value": expr}]}
    planner = scope_package(scope, files, item={"bindings": ["x", "y", uniform]})
    data = planner.prepare(request, SOFTWARE).plan.passes[0].bindings[2].data
    return plain(float(struct.unpack_from("<f", data)[0]))


@pytest.mark.parametrize(
    "entry", [case("expressions", expression_name(entry), entry) for entry in EXPRESSIONS["entries"]]
)
def test_an_expression_has_its_value(entry):
    scope = EXPRESSIONS["scopes"][entry["scope"]]
    is_derive = entry.get("stage") in (None, "variant", "pass")
    if entry.get("error"):
        with pytest.raises(CallError) as caught:
            evaluate_derive(entry, scope) if is_derive else evaluate_stage(entry, scope)
        # That it fails is the loader's word. What the failure is called is ours, and only reported.
        rule = caught.value.problems[0].rule
        found = rule.removeprefix("expression-") if rule.startswith("expression-") else "value"
        if found != entry["kind"]:
            print(f"the loader calls this a {entry['kind']} error, scanbuild a {found} error")
        return
    if is_derive:
        result, printed = evaluate_derive(entry, scope)
        assert printed == entry.get("printed", printed)
    else:
        result = evaluate_stage(entry, scope)
    assert json.dumps(result) == json.dumps(plain(entry["result"]))


@pytest.mark.parametrize(
    "entry",
    [
        case("inline", expression_name(entry), entry)
        for entry in EXPRESSIONS["entries"]
        if entry["scope"] == "rich" and "stage" not in entry
    ],
)
def test_an_expression_written_into_a_template_prints(entry):
    scope = EXPRESSIONS["scopes"]["rich"]
    expected = entry.get("inline", {"error": True} if entry.get("error") else entry.get("printed", ""))
    planner = scope_package(scope, {"main.wgsl.jinja": "{{ " + entry["expr"] + " }}"})
    if expected == {"error": True}:
        with pytest.raises(CallError):
            programs_of(planner, scope)
    else:
        assert programs_of(planner, scope)[0].wgsl == expected


# --- templates.json ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", [case("templates", entry["name"], entry) for entry in TEMPLATES["entries"]])
def test_a_template_renders(entry):
    scope = TEMPLATES["scopes"][entry["scope"]]
    planner = scope_package(scope, entry["files"])
    try:
        texts = [program.wgsl for program in programs_of(planner, scope)]
    except CallError as error:
        assert entry.get("error"), str(error)
        return
    if entry.get("error"):
        assert entry["kind"] == "empty"
        assert "" in texts
        return
    assert list(dict.fromkeys(texts)) == entry.get("outputs", [entry.get("output")])


# --- calls.json --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine | None]:
    try:
        opened = open_engine()
    except NoAdapterError as error:
        print(f"no outputs are compared: {error}")
        yield None
        return
    yield opened
    opened.close()


class Calls:
    """The calls of one entry on one kernel: those before keep their outputs on the GPU, if there is one."""

    def __init__(self, entry: dict[str, Any], engine: Engine | None) -> None:
        self.planner = Planner(make_package(entry["files"]))
        self.record = DeviceRecord.from_json(CALLS["device"][entry["device"]])
        self.engine = engine
        self.kept: list[dict[str, ResidentTensor]] = []

    def prepare(self, request: dict[str, Any]) -> PreparedCall:
        def given(value: Any, other: Any) -> Any:
            if isinstance(value, dict) and "resident" in value:
                index, port = value["resident"]
                return self.kept[index][port]
            return other(value) if isinstance(value, dict) else number(value)

        return self.planner.prepare(
            Request(
                inputs={name: given(value, host_array) for name, value in request.get("inputs", {}).items()},
                attrs=request.get("attrs", {}),
                args={name: number(value) for name, value in request.get("args", {}).items()},
                outputs={name: given(value, destination) for name, value in request.get("outputs", {}).items()},
            ),
            self.record,
        )

    def run(self, prepared: PreparedCall, *, keep: bool) -> dict[str, Any]:
        """The outputs of a planned call: bytes, or buffers to keep."""
        assert self.engine is not None
        resident: Any = {name: tensor.buffer for name, tensor in prepared.resident.items()}
        return dict(execute(self.engine, prepared.plan, prepared.uploads, resident, keep).outputs)

    def keep(self, request: dict[str, Any]) -> None:
        """Make a call and keep its outputs."""
        prepared = self.prepare(request)
        buffers: Any = {} if self.engine is None else self.run(prepared, keep=True)
        self.kept.append(
            {
                name: ResidentTensor(
                    buffer=prepared.resident[name].buffer if name in prepared.resident else buffers.get(name, object()),
                    shape=spec.shape,
                    dtype=spec.dtype,
                    logical=spec.logical,
                    packed=spec.packed,
                )
                for name, spec in prepared.plan.outputs.items()
            }
        )


@pytest.mark.parametrize("entry", [case("calls", entry["name"], entry) for entry in CALLS["calls"]])
def test_a_call_is_planned_and_run(entry, engine):
    expected = entry["expect"]
    if expected.get("error") == "load":
        with pytest.raises(LoadError):
            make_package(entry["files"])
        return
    able = engine if engine is not None and set(entry.get("needs", ())) <= engine.record.features else None
    calls = Calls(entry, able)
    for request in entry.get("before", ()):
        calls.keep(request)
    if "error" in expected:
        with pytest.raises(CallError):
            refuse(calls, entry["request"])
        return
    prepared = calls.prepare(entry["request"])
    assert planned(prepared) == {name: expected[name] for name in planned(prepared)}
    assert sorted(prepared.plan.returned) == sorted(expected["outputs"])
    for name, wanted in expected["outputs"].items():
        spec = prepared.plan.outputs[name]
        assert (spec.logical, list(spec.shape)) == (wanted["dtype"], wanted["shape"])
    if able is None:
        print(f"{entry['name']}: outputs not compared, no adapter offers {entry.get('needs', 'anything')}")
        return
    outputs = calls.run(prepared, keep=False)
    for name, wanted in expected["outputs"].items():
        found = to_array(prepared.plan.outputs[name], outputs[name])
        assert_values(found, wanted)


def refuse(calls: Calls, request: dict[str, Any]) -> None:
    """Plan a call and, where planning finds no fault in it, let the engine judge its shaders."""
    prepared = calls.prepare(request)
    if calls.engine is None:
        pytest.skip("only a shader compiler refuses this call, and there is no adapter")
    calls.run(prepared, keep=False)


def planned(prepared: PreparedCall) -> dict[str, Any]:
    passes = prepared.plan.passes
    uniforms = [binding.data.hex() for item in passes for binding in item.bindings if binding.access == "uniform"]
    return {
        "variant": prepared.plan.variant,
        "shaders": [item.wgsl for item in passes],
        "dispatches": [list(item.grid) for item in passes],
        "uniforms": uniforms,
        "bindingSizes": [[binding.size for binding in item.bindings] for item in passes],
    }


def assert_values(found: Any, wanted: dict[str, Any]) -> None:
    values = [WORDS.get(value, value) if isinstance(value, str) else value for value in wanted["values"]]
    if found.dtype == np.int64:
        assert found.reshape(-1).tolist() == [int(value) for value in values]
        return
    expected = np.array(values, dtype=np.float64).astype(found.dtype).reshape(wanted["shape"])
    np.testing.assert_array_equal(found, expected)
    if found.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(found[expected == 0]), np.signbit(expected[expected == 0]))


@pytest.mark.parametrize("entry", [case("adapters", entry["name"], entry) for entry in CALLS["adapters"]])
def test_an_adapter_gives_its_device_record(entry):
    adapter, expected = entry["adapter"], entry["expect"]
    assert required_features(adapter) == expected["requiredFeatures"]
    assert required_limits(adapter) == expected["requiredLimits"]
    record = normalise(adapter, entry["entryPoint"], entry["device"]).to_json()
    assert record == expected["record"]
    assert list(record["adapterInfo"]) == list(expected["record"]["adapterInfo"])
