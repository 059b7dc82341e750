"""What the text of a shader module shows of why no device compiles it.

An engine's compiler finds these faults too, and more. Planning finds them without one, in words that name the
binding or the line that is missing.
"""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from scanbuild.package.vocabulary import WGSL_WORDS
from scanbuild.planning.wgsl import Declaration, declarations, enabled_extensions

_MAIN: Final = re.compile(r"\bfn\s+main\s*\(", re.ASCII)
_COMPUTE: Final = re.compile(r"@\s*compute\b", re.ASCII)
_HALF_ALIAS: Final = re.compile(r"\b(?:vec[234]|mat[234]x[234])h\b", re.ASCII)
_DECLARED: Final = re.compile(r"\b(?:struct|alias|const|override|fn|let|var)\s+([A-Za-z_]\w*)", re.ASCII)
_WORD: Final = re.compile(r"(?<!\w)[A-Za-z_]\w*", re.ASCII)

FEATURES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "f16": "shader-f16",
        "subgroups": "subgroups",
        "subgroup_size_control": "subgroup-size-control",
        "chromium_experimental_subgroup_matrix": "chromium-experimental-subgroup-matrix",
    }
)
"""The device feature that an extension needs."""

_TYPES: Final = frozenset(
    ["bool", "f16", "f32", "i32", "u32", "array", "atomic", "buffer", "ptr"]
    + [f"vec{n}{suffix}" for n in "234" for suffix in ("", "f", "h", "i", "u")]
    + [f"mat{n}x{m}{suffix}" for n in "234" for m in "234" for suffix in ("", "f", "h")]
)


def module_problem(bare: str, declared: Sequence[Declaration], features: frozenset[str]) -> str:
    """Why a device with these features does not compile a text without comments; "" if the text does not show it.

    ``declared`` are the bindings of the pass. They are looked at where the text holds their declarations.
    """
    if not any(map(_is_entry_point, re.split("[;{}]", bare))):
        return "it has no compute entry point `main`"
    enabled = enabled_extensions(bare)
    for extension in sorted(enabled):
        feature = FEATURES.get(extension)
        if feature and feature not in features:
            return f"it enables `{extension}`, and the device lacks the feature `{feature}`"
    own = frozenset(_DECLARED.findall(bare))
    alias = next((name for name in _HALF_ALIAS.findall(bare) if name not in own), None)
    if alias and "f16" not in enabled:
        return f"`{alias}` needs the line `enable f16;`, which only the word `f16` brings by itself"
    return _binding_problem(declared, own) if declared and declarations(declared) in bare else ""


def _is_entry_point(piece: str) -> bool:
    """Whether a piece of text without braces and semicolons ends in the head of the entry point."""
    head = _MAIN.search(piece)
    return head is not None and _COMPUTE.search(piece, 0, head.start()) is not None


def _binding_problem(declared: Sequence[Declaration], own: frozenset[str]) -> str:
    for item in declared:
        name = item.binding.name
        if not is_wgsl_name(name):
            return f"`{name}` cannot be the name of a binding in WGSL"
        if item.binding.buffer == "uniform":
            bad = next((word for word in _struct_words(item) if not is_wgsl_name(word)), None)
            if bad is not None:
                return f"`{bad}` cannot be a name in WGSL"
            continue
        unknown = [word for word in _WORD.findall(item.element_type) if word not in _TYPES and word not in own]
        if unknown:
            return f"binding `{name}` has elements of type `{item.element_type}`, and nothing declares `{unknown[0]}`"
    return ""


def _struct_words(item: Declaration) -> list[str]:
    return [item.binding.struct_name, *(field.name for field in item.binding.fields)]


def is_wgsl_name(name: str) -> bool:
    """Whether WGSL lets something be called so."""
    return name != "_" and not name.startswith("__") and name not in WGSL_WORDS
