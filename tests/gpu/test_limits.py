"""A device that does not end its work is given up; the process goes on."""

import threading

import pytest

from scanbuild.errors import CallError
from scanbuild.gpu import Engine, open_engine
from scanbuild.gpu.engine import run_limited


def test_what_ends_in_time_gives_its_result_or_its_error():
    assert run_limited(lambda: 3, 5) == 3
    with pytest.raises(ZeroDivisionError):
        run_limited(lambda: 1 // 0, 5)


def test_what_does_not_end_is_left_behind():
    release = threading.Event()
    with pytest.raises(TimeoutError):
        run_limited(release.wait, 0.05)
    release.set()


def test_a_device_that_took_too_long_is_not_used_again(wgpu_engine: Engine):
    release = threading.Event()
    engine = open_engine(device=wgpu_engine.device)
    engine.call_limit_s = 0.05
    with pytest.raises(CallError, match=r"did not end its work within 0\.05 s"):
        engine.within_limit(release.wait)
    with pytest.raises(CallError, match="cannot be used: an earlier call did not end"):
        engine.within_limit(lambda: None)
    release.set()
    engine.close()


def test_a_closed_engine_says_so(wgpu_engine: Engine):
    engine = open_engine(device=wgpu_engine.device)
    engine.close()
    with pytest.raises(CallError, match="was closed"):
        engine.within_limit(lambda: None)
