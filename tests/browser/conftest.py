"""A server, a headless browser with the page open, and the device in it; skipped where there is no browser."""

from collections.abc import Iterator

import pytest

from scanbuild.errors import NoAdapterError
from scanbuild.gpu.browser import open_hub
from scanbuild.gpu.browser.engine import BrowserEngine
from scanbuild.gpu.browser.hub import Hub
from scanbuild.gpu.browser.settings import HubSettings


@pytest.fixture(scope="session")
def hub() -> Iterator[Hub]:
    with open_hub(HubSettings(launch="chromium")) as opened:
        yield opened


@pytest.fixture(scope="session")
def first_engine(hub: Hub) -> BrowserEngine:
    try:
        return hub.next_engine(60.0)
    except NoAdapterError as error:
        pytest.skip(str(error))


@pytest.fixture
def engine(hub: Hub, first_engine: BrowserEngine) -> BrowserEngine:
    """The device of the launched browser, alive whatever the test before did to it."""
    if first_engine.lost:
        hub.revive(first_engine)
    return first_engine
