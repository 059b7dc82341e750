"""Jobs and messages go over the wire and come back as they were, and nothing else gets through."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scanbuild.gpu.browser.jobjson import job_from_json, job_to_json
from scanbuild.gpu.browser.messages import (
    LARGEST_FRAME,
    MOST_BYTE_STRINGS,
    Assembler,
    Message,
    ProtocolError,
    frames,
)
from scanbuild.gpu.interface import Job
from scanbuild.gpu.layout import Setup, lay_out
from scanbuild.planning.device import DEFAULT_LIMITS
from tests.browser.jobs import JOBS, TEXTS, cut
from tests.gpu.plans import bound, doubling, one_pass, plan, uniform

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
BODIES = st.dictionaries(TEXTS.filter(lambda name: name not in ("kind", "bytes")), VALUES, max_size=3)
CONTENTS = st.lists(st.binary(max_size=30), max_size=4).map(tuple)


@given(JOBS)
def test_a_job_comes_back_from_json_as_it_was(job: Job):
    value, contents = job_to_json(job)
    assert job_from_json(json.loads(json.dumps(value, allow_nan=False)), contents) == job


def test_a_plan_laid_out_comes_back_from_json_as_it_was():
    bindings = (bound("x", "read", 5), bound("y", "read_write", 5), uniform(5, 7))
    repeated = plan(*[one_pass("fn main() {}", bindings, submit_after=True)] * 3)
    for setup in (Setup(), Setup(poison=True, room=True)):
        for made in (doubling(), repeated):
            job = lay_out(made, {"x": np.arange(5, dtype=np.float32)}, DEFAULT_LIMITS, setup).job
            value, contents = job_to_json(job)
            assert job_from_json(json.loads(json.dumps(value)), contents) == job


def test_what_rounds_repeat_is_written_once():
    bindings = (bound("x", "read", 5), bound("y", "read_write", 5), uniform(5, 7))
    repeated = plan(*[one_pass("fn main() {}", bindings)] * 40)
    value, contents = job_to_json(lay_out(repeated, {}, DEFAULT_LIMITS, Setup()).job)
    assert value["shaders"] == ["fn main() {}"]
    assert len(value["dispatches"]) == 40
    assert len(contents) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value.pop("reads"),
        lambda value: value["dispatches"][0].update(shader=1),
        lambda value: value["dispatches"][0]["bindings"][0].__setitem__(3, "write"),
        lambda value: value["dispatches"][0].update(grid=[1, 1]),
        lambda value: value["buffers"][0].update(writes=[[0, 9]]),
        lambda value: value.update(buffers=7),
    ],
)
def test_json_that_is_no_job_is_refused(change: Any):
    value, contents = job_to_json(lay_out(doubling(), {}, DEFAULT_LIMITS, Setup()).job)
    change(value)
    with pytest.raises(ValueError, match="this is no job"):
        job_from_json(value, contents)


@given(st.text(min_size=1, max_size=9), BODIES, CONTENTS, st.lists(st.integers(0, 40), max_size=6))
def test_a_message_comes_back_from_its_frames_however_they_are_cut(
    kind: str, body: dict[str, Any], contents: tuple[bytes, ...], at: list[int]
):
    text, *rest = frames(Message(kind=kind, body=body, contents=contents))
    assert isinstance(text, str)
    assembler = Assembler()
    assembler.allowance = 200
    got = [assembler.text(text)]
    got += [assembler.piece(piece) for piece in cut(b"".join(map(bytes, rest)), at)]  # type: ignore[arg-type]
    *early, message = got
    assert early == [None] * len(early)
    assert message is not None
    assert (message.kind, message.body, tuple(map(bytes, message.contents))) == (kind, body, contents)


def test_a_large_content_is_cut_into_frames_of_the_largest_size():
    sizes = [len(frame) for frame in frames(Message(kind="run", contents=(bytes(2 * LARGEST_FRAME + 4),)))]
    assert sizes[1:] == [LARGEST_FRAME, LARGEST_FRAME, 4]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ('{"kind": "hello", "seen": NaN}', "no JSON"),
        ("[]", "object with `kind`"),
        ('{"kind": 3}', "object with `kind`"),
        ('{"kind": "result", "bytes": 4}', "lists sizes"),
        ('{"kind": "result", "bytes": [-4]}', "lists sizes"),
        ('{"kind": "result", "bytes": [true]}', "lists sizes"),
        ('{"kind": "result", "bytes": [4.0]}', "lists sizes"),
        (json.dumps({"kind": "result", "bytes": [0] * (MOST_BYTE_STRINGS + 1)}), "lists sizes"),
        ('{"kind": "result", "bytes": [4, 5]}', "9 bytes were announced; 8 are allowed"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_text_that_is_not_in_order_is_refused(text: str, words: str):
    assembler = Assembler()
    assembler.allowance = 8
    with pytest.raises(ProtocolError, match=words):
        assembler.text(text)


def test_bytes_that_nobody_announced_are_refused():
    assembler = Assembler()
    assembler.allowance = 8
    with pytest.raises(ProtocolError, match="not announced"):
        assembler.piece(b"1234")
    assert assembler.text('{"kind": "result", "bytes": [4]}') is None
    with pytest.raises(ProtocolError, match="not announced"):
        assembler.piece(b"12345")
    with pytest.raises(ProtocolError, match="not announced"):
        assembler.piece(b"")
    with pytest.raises(ProtocolError, match="bytes of the last message"):
        assembler.text('{"kind": "lost"}')
