"""Running a job on a local device: see :mod:`scanbuild.gpu.interface`."""

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from scanbuild.gpu.failures import engine_error
from scanbuild.gpu.interface import BufferJob, DispatchJob, Job, JobResult, ReadJob

if TYPE_CHECKING:
    from scanbuild.gpu.engine import Engine


def run_job(engine: "Engine", job: Job) -> JobResult:
    """Run a job on a device, in the thread of the caller and without a time limit. CallError; nothing is left over."""
    pipelines = [engine.pipeline(item) for item in job.dispatches]
    own: list[Any] = []
    try:
        if engine.lost:
            # Compilation took longer than the caller waited: nothing may be submitted any more.
            return JobResult(data=())
        buffers = [_make(engine, item, own) for item in job.buffers]
        groups = [
            (item, pipeline, _bind_group(engine, item, layout, buffers))
            for item, (pipeline, layout) in zip(job.dispatches, pipelines, strict=True)
        ]
        stagings = _stagings(engine, job, own)
        start = time.perf_counter()
        _submit(engine, job, groups, buffers, stagings)
        data = tuple(part for staging, reads in stagings for part in _mapped(engine, staging, reads))
        return JobResult(data=data, seconds=time.perf_counter() - start)
    finally:
        for buffer in own:
            engine.destroy_buffer(buffer)


def _make(engine: "Engine", item: BufferJob, own: list[Any]) -> Any:
    usage = engine.usage
    kinds = usage.UNIFORM if item.uniform else usage.STORAGE | usage.COPY_SRC
    buffer = engine.create_buffer(item.size, kinds | usage.COPY_DST, item.name)
    own.append(buffer)
    if not item.fills and not item.writes:
        return buffer
    try:
        engine.device.queue.write_buffer(buffer, 0, _image(item))
    except Exception as error:
        raise engine_error(error, f"uploading {item.name}") from error
    return buffer


def _image(item: BufferJob) -> bytes:
    """What a buffer starts with."""
    image = np.zeros(item.size, np.uint8)
    for fill in item.fills:
        image[fill.offset : fill.offset + fill.size].view("<u4")[:] = fill.word
    for write in item.writes:
        image[write.offset : write.offset + len(write.data)] = np.frombuffer(write.data, np.uint8)
    return image.tobytes()


def _bind_group(engine: "Engine", item: DispatchJob, layout: Any, buffers: list[Any]) -> Any:
    entries = [
        {
            "binding": index,
            "resource": {"buffer": buffers[binding.buffer], "offset": binding.offset, "size": binding.size},
        }
        for index, binding in enumerate(item.bindings)
    ]
    try:
        return engine.device.create_bind_group(layout=layout, entries=entries)
    except Exception as error:
        raise engine_error(error, f"binding the buffers of pass {item.id}") from error


def _stagings(engine: "Engine", job: Job, own: list[Any]) -> list[tuple[Any, list[ReadJob]]]:
    """The buffers that everything is read back through, one if it is large enough for all, and what goes into each.

    There is always one: waiting for it is waiting for the dispatches.
    """
    most = engine.record.limits["maxBufferSize"]
    groups: list[list[ReadJob]] = [[]]
    for read in job.reads:
        if groups[-1] and sum(item.size for item in groups[-1]) + read.size > most:
            groups.append([])
        groups[-1].append(read)
    usage = engine.usage
    for group in groups:
        size = max(4, sum(item.size for item in group))
        own.append(engine.create_buffer(size, usage.COPY_DST | usage.MAP_READ, "reading back"))
    return list(zip(own[-len(groups) :], groups, strict=True))


def _submit(
    engine: "Engine",
    job: Job,
    groups: list[tuple[DispatchJob, Any, Any]],
    buffers: list[Any],
    stagings: list[tuple[Any, list[ReadJob]]],
) -> None:
    """Submit the dispatches, one command buffer up to each ``submit_after``, and the copies after the last."""
    names = ", ".join(dict.fromkeys(item.id for item in job.dispatches))
    try:
        first = 0
        for index, item in enumerate(job.dispatches):
            if item.submit_after and index < len(groups) - 1:
                _encode(engine, groups[first : index + 1], [])
                first = index + 1
        copies = []
        for staging, reads in stagings:
            offset = 0
            for read in reads:
                copies.append((buffers[read.buffer], read.offset, staging, offset, read.size))
                offset += read.size
        _encode(engine, groups[first:], copies)
    except Exception as error:
        raise engine_error(error, f"running {names[:200]}") from error


def _encode(
    engine: "Engine", groups: list[tuple[DispatchJob, Any, Any]], copies: list[tuple[Any, int, Any, int, int]]
) -> None:
    encoder = engine.device.create_command_encoder()
    if groups:
        compute = encoder.begin_compute_pass()
        for item, pipeline, group in groups:
            compute.set_pipeline(pipeline)
            compute.set_bind_group(0, group)
            compute.dispatch_workgroups(*item.grid)
        compute.end()
    for copy in copies:
        encoder.copy_buffer_to_buffer(*copy)
    engine.device.queue.submit([encoder.finish()])


def _mapped(engine: "Engine", staging: Any, reads: list[ReadJob]) -> list[bytes]:
    try:
        staging.map_async(engine.map_read).sync_wait()
        view = memoryview(staging.read_mapped(copy=False)).cast("B")
        parts, offset = [], 0
        for read in reads:
            parts.append(bytes(view[offset : offset + read.size]))
            offset += read.size
        return parts
    except Exception as error:
        raise engine_error(error, "waiting for the device and reading back") from error
