"""Words of WGSL: what a shader may write without declaring it."""

from typing import Final

_ATTRIBUTES: Final = (
    "align binding blend_src builtin color compute const diagnostic fragment group id input_attachment_index"
    " interpolate invariant location must_use size subgroup_size vertex workgroup_size"
)
_BUILTIN_VALUES: Final = (
    "global_invocation_id global_invocation_index local_invocation_id local_invocation_index num_subgroups"
    " num_workgroups subgroup_id subgroup_invocation_id subgroup_size workgroup_id workgroup_index"
    " clip_distances frag_depth front_facing instance_index position primitive_index sample_index sample_mask"
    " vertex_index"
)
_KEYWORDS: Final = (
    "alias break case const const_assert continue continuing default diagnostic discard else enable false fn for if let"
    " loop override requires return struct switch true var while"
)
_TYPES: Final = (
    "array atomic bool f16 f32 i32 u32 i8 u8 ptr sampler sampler_comparison function private workgroup uniform storage"
    " read write read_write handle"
)
_FUNCTIONS: Final = (
    "abs acos acosh all any arrayLength asin asinh atan atan2 atanh bitcast ceil clamp cos cosh countLeadingZeros"
    " countOneBits countTrailingZeros cross degrees determinant distance dot exp exp2 extractBits faceForward"
    " firstLeadingBit firstTrailingBit floor fma fract frexp insertBits inverseSqrt ldexp length log log2 max min mix"
    " modf normalize pow print quantizeToF16 radians reflect refract reverseBits round saturate select sign sin sinh"
    " smoothstep sqrt step storageBarrier tan tanh transpose trunc workgroupBarrier workgroupUniformLoad"
)

ATTRIBUTES: Final = frozenset(_ATTRIBUTES.split())

BUILTIN_VALUES: Final = frozenset(_BUILTIN_VALUES.split())

WORDS: Final = frozenset(f"{_KEYWORDS} {_TYPES} {_FUNCTIONS}".split())

PREFIXES: Final = (
    *("atomic", "bfloat", "dot4", "dpdx", "dpdy", "fwidth", "mat", "pack", "quad", "subgroup", "texture", "unpack"),
    *("vec2", "vec3", "vec4", "__"),
)
"""What words of the language begin with that come in families; nothing is said of them."""

FREQUENT: Final = frozenset(
    {"return", "continue", "break", "struct", "while", "array", "vec2", "vec3", "vec4", "workgroupBarrier"}
)
"""Words that stand in for declared names where a name is looked for that is almost the same."""
