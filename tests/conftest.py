"""How hypothesis draws its examples: the same ones in every everyday run, new ones in the long runs."""

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("steady", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("searching", deadline=None, suppress_health_check=[HealthCheck.too_slow])


def pytest_configure(config: pytest.Config) -> None:
    """A run that others wait for fails for what changed, not for what was drawn or how busy the machine is."""
    settings.load_profile("searching" if config.option.markexpr == "long" else "steady")
