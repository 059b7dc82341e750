"""What a variant needs of the device (2.10)."""

from typing import Final, cast

from scanbuild.package.model import Json, Requires
from scanbuild.package.report import Node, shown
from scanbuild.package.values import expect_keys, expect_list, expect_object, is_finite, word
from scanbuild.package.vocabulary import FEATURES, LIMITS, MATRIX_COMPONENTS

REQUIRES_KEYS: Final = ("features", "limits", "subgroupMinSize", "subgroupMatrixConfigs")
MATRIX_KEYS: Final = ("componentType", "resultComponentType", "M", "N", "K")

_ADVICE: Final = {"wgslLanguageFeatures": "test device.wgslLanguageFeatures.has(...) in when"}
_LIMIT_ADVICE: Final = {
    "subgroupMinSize": "subgroupMinSize stands beside limits",
    "minSubgroupSize": "write subgroupMinSize beside limits",
}


def parse_requires(node: Node | None) -> Requires:
    """The requirements of a manifest or a variant alone."""
    if node is None:
        return Requires()
    if isinstance(node.value, list):
        node.fail("type", "requires has to be an object, not a list", hint='write {"features": [...]}')
        return Requires()
    if expect_object(node, "requires") is None:
        return Requires()
    expect_keys(node, REQUIRES_KEYS, "requires", _ADVICE)
    return Requires(
        features=_features(node.get("features")),
        limits=_limits(node.get("limits")),
        subgroup_min_size=_positive(node.get("subgroupMinSize"), "subgroupMinSize"),
        subgroup_matrix_configs=_patterns(node.get("subgroupMatrixConfigs")),
    )


def merge_requires(general: Requires, own: Requires, node: Node | None) -> Requires:
    """What the manifest and the variant require together; ``node`` is the variant's own ``requires``."""
    if general.subgroup_matrix_configs is not None and own.subgroup_matrix_configs is not None and node is not None:
        node.fail("requires", "subgroupMatrixConfigs stands in the manifest's requires already; drop one of the two")
    limits = dict(general.limits)
    for name, least in own.limits.items():
        limits[name] = max(least, limits.get(name, least))
    sizes = [size for size in (general.subgroup_min_size, own.subgroup_min_size) if size is not None]
    return Requires(
        features=tuple(dict.fromkeys(general.features + own.features)),
        limits=limits,
        subgroup_min_size=max(sizes, default=None),
        subgroup_matrix_configs=general.subgroup_matrix_configs or own.subgroup_matrix_configs,
    )


def _features(node: Node | None) -> tuple[str, ...]:
    if node is None or expect_list(node, "features", empty=True) is None:
        return ()
    found = (word(item, "a feature", FEATURES) for item in node.elements())
    return tuple(dict.fromkeys(feature for feature in found if feature is not None))


def _limits(node: Node | None) -> dict[str, float]:
    if node is None or expect_object(node, "limits") is None:
        return {}
    limits: dict[str, float] = {}
    for name, item in node.members():
        if name not in LIMITS:
            hint = _LIMIT_ADVICE.get(name) or item.nearest(name, LIMITS)
            item.fail("limit", f"WebGPU has no limit called {shown(name)}", hint=hint, key=True)
        elif not is_finite(item.value):
            item.fail("type", f"a limit has to be a finite number, not {item.shown}")
        else:
            limits[name] = cast(float, item.value)
    return limits


def _positive(node: Node | None, what: str) -> int | None:
    if node is None:
        return None
    if is_finite(node.value) and float(cast(float, node.value)).is_integer() and cast(float, node.value) > 0:
        return int(cast(float, node.value))
    node.fail("type", f"{what} has to be a positive whole number, not {node.shown}")
    return None


def _patterns(node: Node | None) -> tuple[dict[str, Json], ...] | None:
    if node is None or expect_list(node, "subgroupMatrixConfigs", optional=True) is None:
        return None
    return tuple(_pattern(item) for item in node.elements())


def _pattern(node: Node) -> dict[str, Json]:
    if expect_object(node, "a sub-group matrix pattern") is None:
        return {}
    expect_keys(node, MATRIX_KEYS, "a sub-group matrix pattern")
    if not node.value:
        node.fail("empty", "a sub-group matrix pattern needs at least one member", hint=", ".join(MATRIX_KEYS))
    pattern: dict[str, Json] = {}
    for key in MATRIX_KEYS:
        item = node.get(key)
        if item is None:
            continue
        if key in ("M", "N", "K"):
            pattern[key] = _positive(item, key)
        else:
            pattern[key] = word(item, key, MATRIX_COMPONENTS)
    return pattern
