"""What tests of all rooms share: how hypothesis draws its examples, and a place where nobody has worked yet.

Examples are the same ones in every everyday run, and new ones in the long runs.
"""

import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("steady", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("searching", deadline=None, suppress_health_check=[HealthCheck.too_slow])


def pytest_configure(config: pytest.Config) -> None:
    """A run that others wait for fails for what changed, not for what was drawn or how busy the machine is."""
    settings.load_profile("searching" if config.option.markexpr == "long" else "steady")
    # In the background of a script Ctrl-C is ignored, by all that is started there: so would be what a test sends.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty current folder, no adapter, and a state folder of its own."""
    from scanbuild import gpu
    from scanbuild.errors import NoAdapterError

    def none(*_: object, **__: object) -> None:
        raise NoAdapterError("none here")

    monkeypatch.setattr(gpu, "open_engine", none)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
