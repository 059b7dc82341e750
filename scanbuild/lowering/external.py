"""Tensors whose elements lie in other files: read if they can matter, and only from the model's own folder."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Final

from scanbuild.errors import InputError, Problem, raise_if_any

_MOST: Final = 2**30
"""Bytes of external data that are read of one model."""


class ExternalData:
    """Reads external tensors of at most ``small`` elements, and all those within the graphs of nodes."""

    def __init__(self, where: str, folder: Path | None, small: int) -> None:
        self._where = where
        self._folder = folder
        self._small = small
        self._left = _MOST
        self._problems: list[Problem] = []

    def read_into(self, model: Any) -> None:
        """Put the elements into the tensors of a model. InputError with all that is wrong with any of them."""
        functions = (found for function in model.functions for found in _node_tensors(function, inner=True))
        for tensor, inner in chain(_tensors(model.graph, inner=False), functions):
            if tensor.data_location == tensor.EXTERNAL and (inner or _count(tensor) <= self._small):
                self._read(tensor)
        raise_if_any(self._problems)

    def _read(self, tensor: Any) -> None:
        try:
            tensor.raw_data = self._bytes(tensor)
        except InputError as error:
            self._problems += error.problems
            return
        tensor.data_location = tensor.DEFAULT
        del tensor.external_data[:]

    def _bytes(self, tensor: Any) -> bytes:
        said = {entry.key: entry.value for entry in tensor.external_data}
        path = self._path(tensor.name, said.get("location", ""))
        try:
            size = path.stat().st_size
            offset = int(said.get("offset") or 0)
            length = int(said.get("length") or size - offset)
            if not 0 <= offset <= offset + length <= size:
                raise self._wrong(tensor.name, f"{said.get('location')} ends before byte {offset + length}")
            self._left -= length
            if self._left < 0:
                raise self._wrong(tensor.name, "the model needs more than 1 GiB of external data")
            with path.open("rb") as file:
                file.seek(offset)
                return file.read(length)
        except (OSError, ValueError) as error:
            raise self._wrong(tensor.name, f"{said.get('location')}: {error}") from None

    def _path(self, name: str, location: str) -> Path:
        if self._folder is None:
            raise self._wrong(name, "a model from standard input has no folder", "give the path of the model")
        try:
            folder = self._folder.resolve()
            path = (folder / location).resolve()
            inside = bool(location) and path.is_relative_to(folder) and path.is_file()
        except (OSError, ValueError, RuntimeError):
            inside = False
        if not inside:
            raise self._wrong(name, f"{location or 'no location'} is no file in the model's folder")
        return path

    def _wrong(self, name: str, reason: str, hint: str = "") -> InputError:
        text = f"the external data of the tensor `{name}` cannot be read: {reason}"
        return InputError(Problem(message=text, file=self._where, hint=hint))


def _count(tensor: Any) -> int:
    count = 1
    for size in tensor.dims:
        count *= size
    return count


def _tensors(graph: Any, *, inner: bool) -> Iterator[tuple[Any, bool]]:
    """The tensors of a graph, and whether each lies within a graph of a node."""
    for tensor in graph.initializer:
        yield tensor, inner
    for sparse in graph.sparse_initializer:
        yield from ((sparse.values, inner), (sparse.indices, inner))
    yield from _node_tensors(graph, inner=inner)


def _node_tensors(part: Any, *, inner: bool) -> Iterator[tuple[Any, bool]]:
    for node in part.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t, inner
            yield from ((tensor, inner) for tensor in attribute.tensors)
            for nested in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                yield from _tensors(nested, inner=True)
