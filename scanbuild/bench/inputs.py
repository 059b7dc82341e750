"""What tensors hold while a case is timed, without ever making a large tensor on the host.

Values hardly influence the time of a kernel, but zeros or denormals may. So a tensor of more elements than a block
has the block over and over: of random numbers the first million, of a sequence its beginning. Elements that a case
lists are all there.
"""

import math
from typing import Final

from scanbuild.cases.fixtures import TensorFixture, Values, make_array
from scanbuild.planning.host import NUMPY_CLASSES, HostType, narrow, pack_bytes, to_storage
from scanbuild.planning.plan import TensorSpec

BLOCK: Final = 1 << 20
"""Elements that are made on the host, at most."""


def block_of(fixture: TensorFixture, spec: TensorSpec) -> bytes:
    """The bytes that a tensor's buffer is filled with again and again: a multiple of 4, at most the buffer's size."""
    count = fixture.count if isinstance(fixture.data, Values) else min(fixture.count, BLOCK)
    array = make_array(TensorFixture(dtype=fixture.dtype, shape=(count,), data=fixture.data))
    kind = HostType(array_class=NUMPY_CLASSES[array.dtype.name], dtype=fixture.dtype)
    stored = to_storage(array, kind)
    if kind.dtype == "int64" and spec.dtype != "int64":
        stored = narrow(spec.name, stored, spec.dtype, saturating=True)
    if spec.packed:
        stored = pack_bytes(spec.name, stored)
    data = stored.tobytes()
    return data + bytes(-len(data) % 4) if data else bytes(4)


def footprint(specs: "dict[str, TensorSpec]") -> int:
    """Bytes of the tensors, each once."""
    return sum(spec.size for spec in specs.values())


def slices_for(size: int, cache_bytes: int, largest: int, most_bytes: int) -> int:
    """How many places to use in turn so that tensors of ``size`` bytes together are out of a cache before their place
    comes again; 1 if they do not fit in the cache anyway. ``largest`` is the largest of them, of which all places
    have to fit in a buffer of ``most_bytes``."""
    if size >= cache_bytes:
        return 1
    wanted = math.ceil(2 * cache_bytes / max(size, 1))
    return max(min(wanted, MOST_SLICES, most_bytes // (max(largest, 1) + 256)), 1)


MOST_SLICES: Final = 1024
