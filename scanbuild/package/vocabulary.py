"""The words of the format: dtypes, limits, features, reserved and forbidden names, and the patterns of names."""

import re
from typing import Final

LOGICAL_DTYPES: Final = ("float16", "float32", "int8", "int16", "int32", "int64", "uint8", "uint32", "bool")

WGSL_SCALARS: Final = {
    "float32": "f32",
    "float16": "f16",
    "int32": "i32",
    "uint32": "u32",
    "int8": "i32",
    "int16": "i32",
    "uint8": "u32",
    "bool": "u32",
    "int64": "vec2<u32>",
}
"""The WGSL type of one stored element of a dtype (7.1)."""

FEATURES: Final = (
    "shader-f16",
    "subgroups",
    "subgroup-size-control",
    "chromium-experimental-subgroup-matrix",
    "timestamp-query",
    "texture-formats-tier1",
    "texture-formats-tier2",
)

MATRIX_COMPONENTS: Final = ("f32", "f16", "u32", "i32", "u8", "i8")

LIMITS: Final = (
    "maxTextureDimension1D",
    "maxTextureDimension2D",
    "maxTextureDimension3D",
    "maxTextureArrayLayers",
    "maxBindGroups",
    "maxBindGroupsPlusVertexBuffers",
    "maxBindingsPerBindGroup",
    "maxDynamicUniformBuffersPerPipelineLayout",
    "maxDynamicStorageBuffersPerPipelineLayout",
    "maxSampledTexturesPerShaderStage",
    "maxSamplersPerShaderStage",
    "maxStorageBuffersPerShaderStage",
    "maxStorageTexturesPerShaderStage",
    "maxUniformBuffersPerShaderStage",
    "maxUniformBufferBindingSize",
    "maxStorageBufferBindingSize",
    "minUniformBufferOffsetAlignment",
    "minStorageBufferOffsetAlignment",
    "maxVertexBuffers",
    "maxBufferSize",
    "maxVertexAttributes",
    "maxVertexBufferArrayStride",
    "maxInterStageShaderVariables",
    "maxColorAttachments",
    "maxColorAttachmentBytesPerSample",
    "maxComputeWorkgroupStorageSize",
    "maxComputeInvocationsPerWorkgroup",
    "maxComputeWorkgroupSizeX",
    "maxComputeWorkgroupSizeY",
    "maxComputeWorkgroupSizeZ",
    "maxComputeWorkgroupsPerDimension",
    "maxImmediateSize",
    "maxStorageBuffersInVertexStage",
    "maxStorageBuffersInFragmentStage",
    "maxStorageTexturesInVertexStage",
    "maxStorageTexturesInFragmentStage",
)

PROTOTYPE_NAMES: Final = frozenset(
    [
        "constructor",
        "__defineGetter__",
        "__defineSetter__",
        "hasOwnProperty",
        "__lookupGetter__",
        "__lookupSetter__",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "toString",
        "valueOf",
        "__proto__",
        "toLocaleString",
    ]
)
"""What every JavaScript object answers to; the loader forbids them as keys."""

RESERVED_NAMES: Final = frozenset(
    [
        "repeat",
        "tunables",
        "dtypes",
        "logicalDtypes",
        "tensorDtypes",
        "ranks",
        "shapes",
        "present",
        "args",
        "attrs",
        "device",
        "env",
        "constants",
        "derive",
        "source",
        "DISPATCH_FOLD_WIDTH",
        "f16Ok",
        "ceil",
        "floor",
        "min",
        "max",
        "pow",
        "ceilDiv",
        "pow2ceil",
        "log2ceil",
        "numel",
        "dim",
        "rows",
        "outer",
        "inner",
        "prefix",
        "suffix",
        "fill",
        "moveAxis",
        "permuteShape",
        "reversedAxes",
        "broadcastShape",
        "matmulShape",
        "broadcastable",
        "sameShape",
        "hasAxis",
        "axisValue",
        "isUniqueIntList",
        "has",
        "dtypeBytes",
        "onnxDtypeCode",
        "pick",
        "true",
        "false",
        "none",
        "True",
        "False",
        "None",
        "range",
        "loop",
        "namespace",
        "dict",
    ]
)
"""Names no derive may take, because the expression language has them already (2.7)."""

_WGSL_WORDS: Final = """
alias break case const const_assert continue continuing default diagnostic discard else enable false fn for if let
loop override requires return struct switch true var while NULL Self abstract active alignas alignof as asm
asm_fragment async attribute auto await become cast catch class co_await co_return co_yield coherent column_major
common compile compile_fragment concept const_cast consteval constexpr constinit crate debugger decltype delete demote
demote_to_helper do dynamic_cast enum explicit export extends extern external fallthrough filter final finally friend
from fxgroup get goto groupshared highp impl implements import inline instanceof interface layout lowp macro
macro_rules match mediump meta mod module move mut mutable namespace new nil noexcept noinline nointerpolation
non_coherent noncoherent noperspective null nullptr of operator package packoffset partial pass patch pixelfragment
precise precision premerge priv protected pub public readonly ref regardless register reinterpret_cast require
resource restrict self set shared sizeof smooth snorm static static_assert static_cast std subroutine super target
template this thread_local throw trait try type typedef typeid typename typeof union unless unorm unsafe unsized use
using varying virtual volatile wgsl where with writeonly yield
"""

WGSL_WORDS: Final = frozenset(_WGSL_WORDS.split())
"""The keywords and the reserved words of WGSL."""

MAX_SAFE_INTEGER: Final = 2**53 - 1

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_STABLE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_]*")
_DOMAIN = re.compile(r"[a-z][a-z0-9]*(\.[A-Za-z][A-Za-z0-9_]*)*")


def is_identifier(text: str) -> bool:
    """A letter or underscore, then letters, digits and underscores, all of them ASCII."""
    return _IDENTIFIER.fullmatch(text) is not None


def is_stable_id(text: str) -> bool:
    """A letter or digit, then letters, digits and underscores, all of them ASCII."""
    return _STABLE_ID.fullmatch(text) is not None


def is_domain(text: str) -> bool:
    """``ai.onnx``, ``com.microsoft`` and the like."""
    return _DOMAIN.fullmatch(text) is not None
