"""A kernel package as plain, immutable data: the manifest after defaults, family expansion and handle resolution.

Everything optional in the file has its default filled in, so that later stages ask no questions about absence.
JSON values (expressions, derive trees, attribute defaults) are kept as read; objects keep the order of the file.
Section numbers are those of the loader's format.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, Literal, TypeAlias

Json: TypeAlias = bool | int | float | str | list[Any] | dict[str, Any] | None


class Absent(Enum):
    """A member that is not there, where ``null`` means something else."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent.ABSENT

BufferKind = Literal["read-only-storage", "storage", "uniform"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Port:
    """A declared input or output tensor (2.3). ``shape`` is an unevaluated expression or list of them."""

    name: str
    dtype: str | None = None
    optional: bool = False
    shape: Json | Absent = ABSENT
    storage: str | None = None
    narrowing: Literal["checked", "saturating"] | None = None
    packed: bool = False
    rank: Json | Absent = ABSENT
    description: str = ""
    onnx: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ScalarArg:
    """A scalar argument of a call (2.4)."""

    name: str
    kind: Literal["u32", "i32", "f32", "bool", "string"]
    required: bool = True
    one_of: tuple[Json, ...] | None = None
    description: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Attribute:
    """An attribute (2.5). ``default`` is a literal, no expression. ``values`` and ``required`` are its constraint."""

    name: str
    default: Json | Absent = ABSENT
    required: bool = False
    values: tuple[Json, ...] | None = None
    description: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Field:
    """A member of a uniform struct (2.11, 5.5). ``required`` is the effective value; a null ``value`` is ABSENT."""

    name: str
    type: Literal["u32", "i32", "f32"]
    value: Json | Absent = ABSENT
    default: Json | Absent = ABSENT
    required: bool = True
    internal: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Binding:
    """One entry of a pass's binding list with its defaults resolved (2.11).

    ``arg`` and ``scratch`` are as written (or implied by a bare scratch name). ``element_type`` is None exactly
    for uniforms. ``length`` is a positive integer or a ``$name`` reference.
    """

    name: str
    buffer: BufferKind
    arg: str | None = None
    scratch: str | None = None
    element_type: str | None = None
    length: int | str | None = None
    struct_name: str = "Params"
    fields: tuple[Field, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Dispatch:
    """The grid of a pass (2.13): exactly one of the three forms, its sizes expressions or integers."""

    form: Literal["grid", "threads", "workgroups"]
    x: str | int = 1
    y: str | int = 1
    z: str | int = 1
    threads: str | int = 0
    workgroup_size: str | int = 1
    workgroups: str | int = 0

    @property
    def sizes(self) -> dict[str, str | int]:
        """The sizes that the form has, by their names in the manifest."""
        if self.form == "grid":
            return {"x": self.x, "y": self.y, "z": self.z}
        if self.form == "threads":
            return {"threads": self.threads, "workgroupSize": self.workgroup_size}
        return {"workgroups": self.workgroups}


@dataclass(frozen=True, kw_only=True, slots=True)
class Pass:
    """One dispatch of one shader (2.13). ``path`` is the JSON path in the manifest file it comes from."""

    id: str
    name: str
    shader: str
    bindings: tuple[Binding, ...]
    dispatch: Dispatch
    derive: Mapping[str, Json] = field(default_factory=dict)
    profile: Json = field(default_factory=dict)
    subgroup_collectives_width: str | int | None = None
    submit_after: bool = False
    view_alias: tuple[tuple[str, str], ...] = ()
    path: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class RepeatGroup:
    """Passes executed ``count`` times (2.13, 10.1)."""

    id: str
    index: str
    count: Json
    passes: tuple["Pass | RepeatGroup", ...]
    path: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Intermediate:
    """A scratch tensor of a variant (2.12)."""

    id: str
    dtype: str
    shape: Json | Absent = ABSENT
    zero_init: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Requires:
    """What a variant needs of the device (2.10), merged with what the manifest needs."""

    features: tuple[str, ...] = ()
    limits: Mapping[str, float] = field(default_factory=dict)
    subgroup_min_size: int | None = None
    subgroup_matrix_configs: tuple[Mapping[str, Json], ...] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Variant:
    """One way to run the kernel (2.8), after family expansion.

    ``when`` starts with the manifest's own clauses, ``requires`` and ``tunables`` are merged with the manifest's.
    ``path`` is the JSON path of the member (or family template) it comes from.
    """

    id: str
    passes: tuple[Pass | RepeatGroup, ...]
    priority: float = 0
    when: tuple[str, ...] = ()
    demote_when: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    requires: Requires = field(default_factory=Requires)
    tunables: Mapping[str, Json] = field(default_factory=dict)
    derive: Mapping[str, Json] = field(default_factory=dict)
    intermediates: Mapping[str, Intermediate] = field(default_factory=dict)
    description: str = ""
    path: str = ""

    def all_passes(self) -> tuple[Pass, ...]:
        """Every pass as written, those inside repeat groups too, in order."""
        return tuple(_flatten(self.passes))

    @property
    def shaders(self) -> tuple[str, ...]:
        """The shader files its passes name, each once, in order."""
        return tuple(dict.fromkeys(item.shader for item in self.all_passes()))


@dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    """``manifest.json``, normalised (section 2). ``variants`` keep the order of the expanded list."""

    name: str
    domain: str = "ai.onnx"
    description: str = ""
    conformance: str | None = None
    since_version: Json | Absent = ABSENT
    inputs: Mapping[str, Port] = field(default_factory=dict)
    outputs: Mapping[str, Port] = field(default_factory=dict)
    args: Mapping[str, ScalarArg] = field(default_factory=dict)
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    type_constraints: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tunables: Mapping[str, Json] = field(default_factory=dict)
    derive: Mapping[str, Json] = field(default_factory=dict)
    variants: tuple[Variant, ...] = ()

    @property
    def op_id(self) -> str:
        """``<domain>.<name>`` (1.7)."""
        return f"{self.domain}.{self.name}"

    @property
    def ranked(self) -> list[Variant]:
        """The variants in the order in which they are tried: by priority, then as listed (9.1)."""
        return sorted(self.variants, key=lambda variant: -variant.priority)

    def variant(self, variant_id: str) -> Variant:
        """The variant of that id; KeyError if there is none."""
        for variant in self.variants:
            if variant.id == variant_id:
                return variant
        raise KeyError(variant_id)


def _flatten(items: tuple[Pass | RepeatGroup, ...]) -> list[Pass]:
    flat: list[Pass] = []
    for item in items:
        flat.extend([item] if isinstance(item, Pass) else _flatten(item.passes))
    return flat
