"""A :class:`~scanbuild.gpu.interface.Job`, which is a plan laid out in memory, as JSON and byte strings, and back.

The members are the Job's own in camelCase; fills, writes, bindings and reads, of which there are many, are short lists.
What plans of many rounds repeat stands once: each WGSL text in ``shaders``, and each content among the byte strings.
"""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from scanbuild.gpu.interface import BindingJob, BufferJob, DispatchJob, Fill, Job, ReadJob, Write
from scanbuild.planning.plan import Access

Json = dict[str, Any]


def job_to_json(job: Job) -> tuple[Json, tuple[bytes, ...]]:
    """The job as JSON, and the byte strings that it refers to."""
    shaders: dict[str, int] = {}
    contents: dict[bytes, int] = {}
    value: Json = {
        "buffers": [_buffer_json(item, contents) for item in job.buffers],
        "dispatches": [_dispatch_json(item, shaders) for item in job.dispatches],
        "reads": [[item.buffer, item.offset, item.size] for item in job.reads],
        "shaders": list(shaders),
    }
    return value, tuple(contents)


def job_from_json(value: Mapping[str, Any], contents: Sequence[bytes | memoryview]) -> Job:
    """The job that :func:`job_to_json` wrote. ValueError if the value is none."""
    try:
        return Job(
            buffers=tuple(_buffer(item, contents) for item in value["buffers"]),
            dispatches=tuple(_dispatch(item, value["shaders"]) for item in value["dispatches"]),
            reads=tuple(ReadJob(buffer=buffer, offset=offset, size=size) for buffer, offset, size in value["reads"]),
        )
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ValueError(f"this is no job: {type(error).__name__} {error}") from error


def _buffer_json(item: BufferJob, contents: dict[bytes, int]) -> Json:
    return {
        "name": item.name,
        "size": item.size,
        "uniform": item.uniform,
        "fills": [[fill.offset, fill.size, fill.word] for fill in item.fills],
        "writes": [[write.offset, contents.setdefault(bytes(write.data), len(contents))] for write in item.writes],
    }


def _buffer(value: Mapping[str, Any], contents: Sequence[bytes | memoryview]) -> BufferJob:
    return BufferJob(
        name=value["name"],
        size=value["size"],
        uniform=value["uniform"],
        fills=tuple(Fill(offset=offset, size=size, word=word) for offset, size, word in value["fills"]),
        writes=tuple(Write(offset=offset, data=bytes(contents[index])) for offset, index in value["writes"]),
    )


def _dispatch_json(item: DispatchJob, shaders: dict[str, int]) -> Json:
    return {
        "id": item.id,
        "label": item.label,
        "shader": shaders.setdefault(item.wgsl, len(shaders)),
        "bindings": [[bound.buffer, bound.offset, bound.size, bound.access] for bound in item.bindings],
        "grid": list(item.grid),
        "submitAfter": item.submit_after,
        "template": item.template,
    }


def _dispatch(value: Mapping[str, Any], shaders: Sequence[str]) -> DispatchJob:
    x, y, z = value["grid"]
    return DispatchJob(
        id=value["id"],
        label=value["label"],
        wgsl=shaders[value["shader"]],
        bindings=tuple(_binding(*bound) for bound in value["bindings"]),
        grid=(x, y, z),
        submit_after=value["submitAfter"],
        template=value["template"],
    )


def _binding(buffer: int, offset: int, size: int, access: Access) -> BindingJob:
    if access not in get_args(Access):
        raise ValueError(f"a binding cannot be {access!r}")
    return BindingJob(buffer=buffer, offset=offset, size=size, access=access)
