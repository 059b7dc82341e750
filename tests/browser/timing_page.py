"""A page that times plans without running any, so that tests know what it says."""

import threading
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from scanbuild.gpu.browser.messages import Message
from scanbuild.gpu.browser.server import Server
from tests.browser.jobs import DEVICE, FakePage

TIMING_DEVICE: dict[str, Any] = {
    **DEVICE,
    "features": ["subgroups", "timestamp-query"],
    "limits": {
        "maxBufferSize": 1 << 28,
        "maxStorageBufferBindingSize": 1 << 27,
        "maxComputeWorkgroupsPerDimension": 65535,
        "maxComputeInvocationsPerWorkgroup": 256,
        "maxComputeWorkgroupSizeX": 256,
        "maxStorageBuffersPerShaderStage": 8,
    },
}
CALL_S = 1e-3


class TimingPage:
    """Answers what a timer asks, in a thread: every call takes a millisecond, and the clock goes in steps of ``step``.

    ``leaves_at`` is asked before each answer; once it is true, the page is left. ``heard`` has all messages.
    """

    def __init__(
        self,
        server: Server,
        *,
        device: dict[str, Any] = TIMING_DEVICE,
        step: int = 100_000,
        leaves_at: Callable[[Message], bool] = lambda _message: False,
    ) -> None:
        self.heard: list[Message] = []
        self._page = FakePage(server)
        self._device = device
        self._step = step
        self._leaves_at = leaves_at
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Self:
        self._page.hello()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._page.hang_up()
        self._thread.join(20)
        self._page.close()

    def _work(self) -> None:
        try:
            while True:
                message = self._page.receive()
                self.heard.append(message)
                if self._leaves_at(message):
                    self._page.hang_up()
                    return
                self._answer(message)
        except ConnectionError:
            # One of both sides has ended it.
            return

    def _answer(self, message: Message) -> None:
        body = {"number": message.body.get("number")}
        if message.kind == "open":
            self._page.send("device", self._device)
        elif message.kind == "clock":
            count = message.body["probes"] * message.body.get("readings", 0) * 2
            stamps = np.arange(count, dtype="<u8") ** 2 * np.uint64(self._step)
            step = [] if count else [5e-6]
            self._page.send("clock", {**body, "step": step}, (stamps.tobytes(),) if count else ())
        elif message.kind == "time":
            self._page.send("timed", {**body, "seconds": [CALL_S * times for _, times, _ in message.body["runs"]]})
        elif "number" in message.body:
            self._page.send("done", body)
