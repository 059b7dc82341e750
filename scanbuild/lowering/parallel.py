"""Parallel scan: the steps are cut into tiles that are computed side by side and put together by an associative rule.

It applies where every update can be regrouped (``algebra``). Recurrences whose coefficients depend on other states need
those first: they are scanned in a later pass, which reads the states' values of all steps from a scratch.
"""

from collections.abc import Sequence
from typing import Any, Final

from scanbuild.lowering.algebra import Recurrence
from scanbuild.lowering.analysis import Analysis, analyse
from scanbuild.lowering.draft import Draft, Refusal, Variant
from scanbuild.lowering.elements import CannotExpressError
from scanbuild.lowering.graph import Scan, Shape
from scanbuild.lowering.heading import heading
from scanbuild.lowering.parallel_code import Code, Layer, lanes_of, trail_name, write_layer
from scanbuild.lowering.parallel_tiles import tile_derives
from scanbuild.lowering.sizes import Size, product
from scanbuild.lowering.storage import Shader, shape_text

PRIORITY: Final = 40
LEAST_STEPS: Final = 128
MOST_LANES: Final = 65536
MOST_LAYERS: Final = 4
MOST_WORDS: Final = 8
"""Of an element, 32 bits each. Two states in a circle take 6; three would take 12, for which compilers of software
adapters need minutes, since an element is combined and passed on in many places."""
_MOST_BUFFERS: Final = 8
_TUNABLES: Final = {
    "tileWorkgroups": {
        "default": 2048,
        "description": "At most so many workgroups take the tiles of a pass, one after another.",
    },
    "scanPatience": {
        "default": 256,
        "description": "How often the tiles look for what another has to publish before they make it themselves.",
    },
    "scanWithhold": {
        "default": 0,
        "description": "For tests: if not 0, one of so many tiles publishes nothing, so that others do without it.",
    },
}


def draft(scan: Scan, analysis: Analysis | None = None) -> Draft:
    """The parallel scan of a ``Scan``, or why there is none."""
    known = analysis or analyse(scan)
    refusal = _refusal(scan, known)
    if refusal is not None:
        return refusal
    try:
        lanes = lanes_of(scan)
        layers = _layers(scan, known)
        codes = [write_layer(scan, known.nodes, layer, lanes) for layer in layers]
    except CannotExpressError as error:
        return Refusal(reason=error.reason, origin=error.origin)
    most = max(code.words for code in codes)
    if most > MOST_WORDS:
        return Refusal(reason=f"a step takes {most} words to describe; at most {MOST_WORDS} are passed on")
    width = product(list(lanes)).number
    if width is not None and not 1 <= width <= MOST_LANES:
        return Refusal(reason=f"there are {width} lanes; it is for 1 to {MOST_LANES}, more fill a device by themselves")
    return _unless_taken(scan, _variant(scan, layers, codes, lanes))


def _unless_taken(scan: Scan, variant: Variant) -> Draft:
    """The variant, unless a port has a name that it needs."""
    ports = {port.name for port in (*scan.inputs, *scan.results)}
    needed = {"scan_state", *(str(item["id"]) for item in variant.entry["intermediates"])}
    taken = sorted(ports & needed)
    return Refusal(reason=f"a port is called {taken[0]}, which is a name it needs") if taken else variant


def _refusal(scan: Scan, known: Analysis) -> Refusal | None:
    if not scan.states:
        return Refusal(reason="there are no states, so nothing to scan")
    for knot in known.unrecognised:
        names = ", ".join(scan.states[index].before for index in knot.states)
        return Refusal(
            reason=f"{'states' if len(knot.states) > 1 else 'state'} {names}: {knot.reason}", origin=knot.origin
        )
    if len(known.layers) > MOST_LAYERS:
        return Refusal(
            reason=f"the states need {len(known.layers)} scans one after another; at most {MOST_LAYERS} are made"
        )
    return None


def _layers(scan: Scan, known: Analysis) -> list[Layer]:
    """A pass for each layer of the analysis: outputs are computed as soon as all that they read is there."""
    depth = {index: level for level, layer in enumerate(known.layers) for knot in layer for index in knot.states}
    made = []
    for level, layer in enumerate(known.layers):
        recurrences = tuple(knot for knot in layer if isinstance(knot, Recurrence))
        outputs = tuple(
            output
            for output in scan.outputs
            if max((depth[index] for index in known.reads[output.node].states), default=0) == level
        )
        kept = {index for index in depth if depth[index] == level and _read_later(scan, known, depth, index, level)}
        earlier = tuple(index for index in depth if depth[index] < level)
        made.append(Layer(recurrences=recurrences, outputs=outputs, kept=tuple(sorted(kept)), known=earlier))
    return made


def _read_later(scan: Scan, known: Analysis, depth: dict[int, int], index: int, level: int) -> bool:
    """Whether something that is computed in a later pass reads a state of this one."""
    later = [state.after for number, state in enumerate(scan.states) if depth[number] > level]
    later += [
        output.node
        for output in scan.outputs
        if max((depth[number] for number in known.reads[output.node].states), default=0) > level
    ]
    return any(index in known.reads[name].states for name in later)


def _variant(scan: Scan, layers: Sequence[Layer], codes: Sequence[Code], lanes: Shape) -> Variant:
    passes, templates, scratches = [], {}, []
    for number, (layer, code) in enumerate(zip(layers, codes, strict=True)):
        name = "parallel" if len(layers) == 1 else f"parallel-{number + 1}"
        templates[f"{name}.wgsl.jinja"] = _template(scan, layer, code, lanes)
        passes.append(_pass(scan, layer, code, name, number))
        scratches.append(
            {"id": f"tiles_{number + 1}", "dtype": "uint32", "shape": [f"stateWords{number + 1}"], "zeroInit": True}
        )
        scratches += [_trail(scan, index) for index in layer.kept]
    entry: dict[str, Any] = {
        "id": "parallel_scan",
        "description": _description(layers),
        "priority": PRIORITY,
        "when": _when(scan, product(list(lanes))),
        "requires": _requires(passes),
        "tunables": _TUNABLES,
        "derive": {"scanSteps": str(scan.steps), "scanLanes": str(product(list(lanes))), **tile_derives(codes)},
        "intermediates": scratches,
        "passes": passes,
    }
    return Variant(entry=entry, templates=templates)


def _when(scan: Scan, lanes: Size) -> list[str]:
    """Enough steps to be worth cutting up, and not so many lanes that they fill a device by themselves."""
    clauses = [f"{scan.steps} >= {LEAST_STEPS}"]
    if lanes.number is None:
        clauses += [f"{lanes} >= 1", f"{lanes} <= {MOST_LANES}"]
    return clauses


def _requires(passes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    limits = {
        "maxComputeInvocationsPerWorkgroup": 256,
        "maxComputeWorkgroupSizeX": 256,
        "maxComputeWorkgroupStorageSize": 16384,
    }
    most = max(len(item["bindings"]) for item in passes) - 1
    return {"limits": limits | ({"maxStorageBuffersPerShaderStage": most} if most > _MOST_BUFFERS else {})}


def _description(layers: Sequence[Layer]) -> str:
    words = "The steps are cut into tiles that are computed side by side and put together in a single pass."
    if len(layers) == 1:
        return words
    return (
        f"The steps are cut into tiles that are computed side by side and put together, in {len(layers)} passes:"
        " later states depend on earlier ones."
    )


def _trail(scan: Scan, index: int) -> dict[str, Any]:
    port = scan.states[index].initial
    dtype = {"bool": "uint32", "float16": "float32", "int64": "uint32"}.get(port.dtype, port.dtype)
    words = " * 2" if port.dtype == "int64" else ""
    shape = [f"({scan.steps}) * ({product(list(port.shape))}){words}"]
    return {"id": trail_name(scan, index), "dtype": dtype, "shape": shape}


def _trail_binding(scan: Scan, index: int, *, writes: bool) -> dict[str, Any]:
    binding = {"scratch": trail_name(scan, index), "buffer": "storage" if writes else "read-only-storage"}
    return binding | ({"elementType": "vec2<u32>"} if scan.states[index].initial.dtype == "int64" else {})


def _pass(scan: Scan, layer: Layer, code: Code, name: str, number: int) -> dict[str, Any]:
    more: list[Any] = [_trail_binding(scan, index, writes=False) for index in code.trails]
    more += [_trail_binding(scan, index, writes=True) for index in layer.kept]
    more.append({"name": "scan_state", "scratch": f"tiles_{number + 1}", "elementType": "atomic<u32>"})
    fields = ("steps", "lanes", "blocks", "tiles", "groups", "turns")
    own = {"groups": "tileGroups", "turns": "workgroupTurns"}
    values = {"steps": "scanSteps", "lanes": "scanLanes"} | {key: f"{name}{number + 1}" for key, name in own.items()}
    more.append(
        {
            "name": "params",
            "structName": "TileParams",
            "struct": [
                {"name": field, "type": "u32", "value": values.get(field, f"{field}{number + 1}")} for field in fields
            ],
        }
    )
    shader = Shader(scan, "", reads=dict(code.reads), writes=dict(code.writes))
    plain = (
        "tileThreads",
        "tileLanes",
        "tileSteps",
        "tileRun",
        "tileFetches",
        "lookGroups",
        "groupTiles",
        "placeWords",
    )
    return {
        "id": name.replace("-", "_"),
        "shader": f"{name}.wgsl.jinja",
        "derive": {
            **{key: f"{key}{number + 1}" for key in plain},
            "stepQuads": False,
        },
        "bindings": shader.bindings(more, code.text),
        "dispatch": {"x": f"min(tiles{number + 1} * blocks{number + 1}, tunables.tileWorkgroups)"},
    }


def _template(scan: Scan, layer: Layer, code: Code, lanes: Shape) -> str:
    wanted = [scan.states[index].after for recurrence in layer.recurrences for index in recurrence.states]
    wanted += [output.node for output in layer.outputs]
    shader = Shader(
        scan,
        heading(scan, "A scan whose steps are regrouped.", _notes(scan, layer, lanes), wanted),
        reads=dict(code.reads),
        writes=dict(code.writes),
    )
    parts = ", ".join(f'["{name}", "{kind}"]' for name, kind in code.parts)
    body = f'{code.text}\n{{% include "_shared/scan-tiles.wgsl.jinja" %}}\n'
    text = shader.text(body, tables=code.tables)
    declared = "{{ env.wgsl.resourceDeclarations }}\n"
    return text.replace(declared, f"{declared}{{% set elem_parts = [{parts}] %}}\n", 1)


def _notes(scan: Scan, layer: Layer, lanes: Shape) -> list[str]:
    told = [
        f"{', '.join(scan.states[index].before for index in item.states)}: {item.kind}" for item in layer.recurrences
    ]
    layout = (
        f"Layout: the lanes are the elements of {shape_text(lanes)}, row-major. An element of the scan is the function"
        f" that a run of steps makes of the states ({'; '.join(told)}); functions of that kind compose."
    )
    return [
        layout,
        "Algorithm: tiles of steps in a single pass with look-back, see the fragment at the end.",
        "Assumptions: at least one step; indices of elements fit 32 bits.",
    ]
