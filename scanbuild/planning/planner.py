"""From a package, a request and a device record to the Plan of the call, as the loader makes it.

Nothing here touches a GPU. A :class:`Planner` keeps what it rendered, so that a further request on the same package
costs little. ``prepare`` and ``plan`` take a ``variant_id``: then that variant is planned in place of the selected one,
if it takes the request (its rank, demotion and ``supersededBy`` do not count), and CallError says why if it does not.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy.typing as npt

from scanbuild.dialect import allowance
from scanbuild.dialect.limits import CALL_WORK
from scanbuild.errors import CallError
from scanbuild.package.model import Manifest, Variant
from scanbuild.planning.attributes import check_args, resolve_attributes
from scanbuild.planning.device import DeviceRecord
from scanbuild.planning.dtypes import element_count
from scanbuild.planning.failures import charge, fail
from scanbuild.planning.inference import infer_outputs
from scanbuild.planning.intake import DECLARATION_WORK, declarations, port_of, read_request, upload_form
from scanbuild.planning.passes import PassPlanner, Program, check_buffer, compile_failure
from scanbuild.planning.plan import Plan, TensorSpec
from scanbuild.planning.program import Renderer
from scanbuild.planning.request import Request, ResidentTensor
from scanbuild.planning.scope import Place, Scalars, Scope, request_names
from scanbuild.planning.selection import Screen, VariantVerdict, force, judge_all, select
from scanbuild.planning.types import BoundTensor, Types, port_type, solve_types


class PackageLike(Protocol):
    """What planning needs of a package."""

    @property
    def manifest(self) -> Manifest:
        """The normalised manifest."""

    def templates(self, variant_id: str) -> Mapping[str, str]:
        """The shader files of a variant by path."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Templates:
    """A manifest and all templates of its package: what planning needs."""

    manifest: Manifest
    files: Mapping[str, str] = field(repr=False)

    def templates(self, variant_id: str) -> Mapping[str, str]:
        """All templates, whichever the variant."""
        del variant_id
        return self.files


@dataclass(frozen=True, kw_only=True, slots=True)
class PreparedCall:
    """A planned call: the plan, the bytes to upload by tensor name, and the tensors that are on the GPU already.

    A tensor of the plan that is in neither map is created by the engine and starts at zero. ``uploads`` lacks the
    inputs whose data were not at hand.
    """

    plan: Plan
    uploads: dict[str, npt.NDArray[Any]]
    resident: dict[str, ResidentTensor]


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadRequest:
    """A request that passed all validation that no device takes part in: its tensors, their types, its scalars."""

    tensors: dict[str, BoundTensor]
    outputs: dict[str, BoundTensor]
    types: Types
    scalars: Scalars

    @property
    def is_empty(self) -> bool:
        """Whether there are outputs and none of them has an element: then no GPU work happens (8.5)."""
        return bool(self.outputs) and all(element_count(tensor.shape) == 0 for tensor in self.outputs.values())


@dataclass(frozen=True, kw_only=True, slots=True)
class Bound:
    """A request on a device, and what its expressions see."""

    read: ReadRequest
    scope: Scope


@dataclass(slots=True)
class Planner:
    """Plans calls of one package."""

    package: PackageLike
    renderers: dict[str, Renderer] = field(default_factory=dict)

    @allowance(CALL_WORK)
    def prepare(self, request: Request, device: DeviceRecord, variant_id: str | None = None) -> PreparedCall:
        """The plan of a call; CallError for whatever the loader refuses at a call."""
        return self.plan(self.read(request), device, variant_id)

    @allowance(CALL_WORK)
    def plan(self, read: ReadRequest, device: DeviceRecord, variant_id: str | None = None) -> PreparedCall:
        """The plan of a request that was read; CallError for what only a device shows to be wrong.

        Of the variant that the loader selects, or of the named one, which the loader would not be asked for.
        """
        bound = self.bind(read, device)
        variant = self._selected(bound, device, variant_id)
        passes = self.pass_planner(variant, bound, device).plan()
        specs = {name: self.spec(tensor) for name, tensor in read.tensors.items()}
        plan = Plan(
            op_id=self.package.manifest.op_id,
            variant=variant.id,
            inputs={name: spec for name, spec in specs.items() if name in self.package.manifest.inputs},
            outputs={name: specs[name] for name in read.outputs},
            returned=tuple(read.outputs),
            passes=passes.passes,
            scratches=passes.scratches,
            skipped=passes.skipped,
        )
        return PreparedCall(
            plan=plan,
            uploads={name: tensor.data for name, tensor in read.tensors.items() if tensor.data is not None},
            resident={name: _resident(tensor) for name, tensor in read.tensors.items() if tensor.resident},
        )

    @allowance(CALL_WORK)
    def choose(self, request: Request, device: DeviceRecord) -> str:
        """The id of the variant that the loader selects, which is not planned; CallError if it gets that far for none.

        Far less work than a plan, where only this is asked.
        """
        return self._selected(self.bind(self.read(request), device), device, None).id

    @allowance(CALL_WORK)
    def programs(self, request: Request, device: DeviceRecord, variant_id: str | None = None) -> list[Program]:
        """Every pass of a variant with its shader, skipped ones included; of the selected variant if none is named.

        CallError for what the loader refuses up to here. Whether the shaders compile is not looked at.
        """
        bound = self.bind(self.read(request), device)
        manifest = self.package.manifest
        variant = self._selected(bound, device, None) if variant_id is None else manifest.variant(variant_id)
        return self.pass_planner(variant, bound, device).programs()

    @allowance(CALL_WORK)
    def explain(self, request: Request, device: DeviceRecord) -> tuple[VariantVerdict, ...]:
        """The verdict on every variant for a request, in ranking order; CallError if it gets that far for none."""
        bound = self.bind(self.read(request), device)
        return tuple(judge_all(self.package.manifest, device, bound.scope.names, self.screen(bound, device)))

    @allowance(CALL_WORK)
    def read(self, request: Request) -> ReadRequest:
        """The request with its host data converted, its outputs inferred and its types solved.

        No device takes part, so this can be done before one is opened. CallError for whatever is wrong by itself.
        """
        manifest = self.package.manifest
        charge(declarations(manifest) * DECLARATION_WORK, "the request")
        call = read_request(manifest, request)
        # Inference would fail for a missing input, too, in words about an expression. It may yet create an inout.
        _check_required(manifest, {**call.wishes.bound, **dict.fromkeys(manifest.outputs)})
        scalars = Scalars(attrs=resolve_attributes(manifest, call.attrs), args=call.args)
        outputs = infer_outputs(manifest, call.wishes, scalars)
        tensors = {name: _ready(tensor) for name, tensor in call.wishes.bound.items()}
        outputs = {name: tensor if tensor.buffer[0] != "host" else tensors[name] for name, tensor in outputs.items()}
        tensors.update(outputs)
        _check_required(manifest, tensors)
        self._check_layouts(tensors)
        check_args(manifest, call.args)
        return ReadRequest(tensors=tensors, outputs=outputs, types=solve_types(manifest, tensors), scalars=scalars)

    def _selected(self, bound: Bound, device: DeviceRecord, variant_id: str | None) -> Variant:
        manifest, names, screen = self.package.manifest, bound.scope.names, self.screen(bound, device)
        if variant_id is None:
            return select(manifest, device, names, screen)
        return force(manifest, device, names, screen, variant_id)

    def bind(self, read: ReadRequest, device: DeviceRecord) -> Bound:
        """The request on a device, with the manifest's derives; CallError for a tensor that is too large for it."""
        manifest = self.package.manifest
        for name, tensor in read.tensors.items():
            if not tensor.resident:
                check_buffer(f"tensor `{name}`", tensor.size, device)
        names = request_names(manifest, read.tensors, read.types, read.scalars, device=device, args_present=False)
        scope = Scope(request=names, tunables=dict(manifest.tunables))
        scope.define_all(manifest.derive, Place(words="manifest", path="$"))
        return Bound(read=read, scope=scope)

    def _check_layouts(self, tensors: Mapping[str, BoundTensor]) -> None:
        manifest = self.package.manifest
        for name, tensor in tensors.items():
            declared = port_of(manifest, name)
            if declared is not None and declared.packed != tensor.packed:
                message = f"tensor `{name}` holds {_layout(tensor.packed)}, the port wants {_layout(declared.packed)}"
                raise fail(message, rule="layout", path=f"$.inputs.{name}")

    def spec(self, tensor: BoundTensor) -> TensorSpec:
        """A tensor of the call as a plan tells it."""
        port = port_of(self.package.manifest, tensor.name)
        kind = None if port is None else port_type(self.package.manifest, port)
        return TensorSpec(
            name=tensor.name,
            dtype=tensor.storage,
            logical="int64" if kind is not None and kind.is_int64 else tensor.storage,
            shape=tensor.shape,
            size=tensor.size,
            packed=tensor.packed,
        )

    def screen(self, bound: Bound, device: DeviceRecord) -> Screen:
        """Finds the variants that use what the device is known not to compile (9.2, step 5)."""

        def screen(variant: Variant) -> str:
            if not device.wgsl_compile_failures:
                return ""
            try:
                programs = self.pass_planner(variant, bound, device).programs()
            except CallError:
                return ""
            return compile_failure((program.wgsl for program in programs), device)

        return screen

    def pass_planner(self, variant: Variant, bound: Bound, device: DeviceRecord) -> PassPlanner:
        """What plans the passes of a variant for the request."""
        renderer = self.renderers.get(variant.id)
        if renderer is None:
            renderer = Renderer(files=self.package.templates(variant.id))
            self.renderers[variant.id] = renderer
        return PassPlanner(
            variant=variant,
            device=device,
            renderer=renderer,
            scope=bound.scope,
            labels=bound.read.types.scalars,
            tensors=bound.read.tensors,
            args=bound.read.scalars.args,
            is_empty=bound.read.is_empty,
        )


def prepare(package: PackageLike, request: Request, device: DeviceRecord) -> PreparedCall:
    """The plan of one call. Plan several calls of one package with one :class:`Planner`."""
    return Planner(package).prepare(request, device)


def explain(package: PackageLike, request: Request, device: DeviceRecord) -> tuple[VariantVerdict, ...]:
    """The verdict on every variant of a package for one request, in ranking order."""
    return Planner(package).explain(request, device)


def _check_required(manifest: Manifest, given: Iterable[str]) -> None:
    names = frozenset(given)
    for name, port in manifest.inputs.items():
        if not port.optional and name not in names:
            message = f"input `{name}` is required and was not given"
            raise fail(message, rule="input-required", path=f"$.inputs.{name}")


def _ready(tensor: BoundTensor) -> BoundTensor:
    return tensor if tensor.resident else upload_form(tensor)


def _resident(tensor: BoundTensor) -> ResidentTensor:
    return ResidentTensor(
        buffer=tensor.buffer[1],
        shape=tensor.shape,
        dtype=tensor.storage,
        logical=tensor.logical or tensor.storage,
        packed=tensor.packed,
    )


def _layout(packed: bool) -> str:
    return "packed bytes" if packed else "one element a word"
