"""Names for ports, symbols and nodes: identifiers that mean nothing else in an expression, a template or WGSL."""

import re
from typing import Final

from scanbuild.package.vocabulary import PROTOTYPE_NAMES, RESERVED_NAMES, WGSL_WORDS, is_identifier

_OPERATORS: Final = """
and as block call continue break do elif else endblock endcall endfor endif endmacro endset extends filter for
from if import in include is macro not or raw endraw recursive scoped set with without varargs kwargs caller
raise_exception null undefined defined lambda def class return yield
"""
_WGSL_NAMES: Final = """
bool f16 f32 i32 u32 array atomic ptr sampler vec2 vec3 vec4 main select bitcast all any params Params abs acos
acosh asin asinh atan atan2 atanh clamp cos cosh cross degrees distance dot exp exp2 faceForward fma fract frexp
inverseSqrt ldexp length log log2 max min mix modf normalize quantizeToF16 radians reflect refract round saturate
sign sin sinh smoothstep sqrt step tan tanh transpose trunc workgroupBarrier storageBarrier textureBarrier
workgroupUniformLoad arrayLength extractBits insertBits firstLeadingBit firstTrailingBit countOneBits
reverseBits determinant
"""
_OWN: Final = """
Sizes sizes halves readElement writeElement threads row following staged placeWords scanSteps scanLanes tileRun
lookGroups groupTiles stepQuads
tileThreads tileLanes tileSteps tileFetches constants element lane local now last part turn Turn workgroup
"""
_NUMBERED: Final = re.compile(r"([a-z]+[A-Z]\w*|tiles|blocks|staged)\d+")
"""Variants number their derives, such as ``tileLanes2``."""
_TAKEN: Final = RESERVED_NAMES | PROTOTYPE_NAMES | WGSL_WORDS | frozenset((_OPERATORS + _WGSL_NAMES + _OWN).split())
_LONGEST: Final = 40


def is_good(name: str) -> bool:
    """Whether a name can be one of a package as it is."""
    return is_identifier(name) and len(name) <= _LONGEST and name[:1] != "_" and _is_free(name)


def _is_free(name: str) -> bool:
    """Whether neither a language nor a variant of a lowered package has a use for a name."""
    return name not in _TAKEN and not _NUMBERED.fullmatch(name)


def sanitized(name: str, otherwise: str) -> str:
    """The nearest good name: letters, digits and underscores, from the last part of a path."""
    last = re.split(r"[/:.]", name.strip("/:."))[-1]
    word = re.sub(r"[^A-Za-z0-9_]+", "_", last).strip("_")[:_LONGEST]
    if not word or not word[0].isalpha():
        word = otherwise if not word else f"{otherwise}_{word}"
    return word if is_good(word) else f"{word}_"


class Namer:
    """Gives each name once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def copy(self) -> "Namer":
        """One that goes on from here by itself."""
        other = Namer()
        other._taken = set(self._taken)
        other._next = dict(self._next)
        return other

    def has(self, name: str) -> bool:
        return name in self._taken

    def take(self, wish: str) -> str:
        """The name wished for, with a number behind it if it is taken."""
        name = wish
        while name in self._taken:
            self._next[wish] = self._next.get(wish, 1) + 1
            name = f"{wish}_{self._next[wish]}"
        self._taken.add(name)
        return name
