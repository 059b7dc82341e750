"""Any jobs, messages and pages, for tests."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from itertools import pairwise
from typing import Any, Self

import aiohttp
from hypothesis import strategies as st

from scanbuild.gpu.browser.messages import PROTOCOL, Assembler, Message, frames
from scanbuild.gpu.browser.server import Server
from scanbuild.gpu.interface import BindingJob, BufferJob, DispatchJob, Fill, Job, ReadJob, Write

TEXTS = st.text(max_size=20)
SIZES = st.integers(min_value=0, max_value=2**40)
INDICES = st.integers(min_value=0, max_value=100)
WORDS = st.integers(min_value=0, max_value=2**32 - 1)

FILLS = st.builds(Fill, offset=SIZES, size=SIZES, word=WORDS)
WRITES = st.builds(Write, offset=SIZES, data=st.binary(max_size=12))
BUFFERS = st.builds(
    BufferJob,
    name=TEXTS,
    size=SIZES,
    uniform=st.booleans(),
    fills=st.lists(FILLS, max_size=3).map(tuple),
    writes=st.lists(WRITES, max_size=3).map(tuple),
)
BINDINGS = st.builds(
    BindingJob, buffer=INDICES, offset=SIZES, size=SIZES, access=st.sampled_from(["read", "read_write", "uniform"])
)
DISPATCHES = st.builds(
    DispatchJob,
    id=TEXTS,
    label=TEXTS,
    wgsl=st.sampled_from(["", "fn main() {}"]) | TEXTS,
    bindings=st.lists(BINDINGS, max_size=3).map(tuple),
    grid=st.tuples(SIZES, SIZES, SIZES),
    submit_after=st.booleans(),
    template=TEXTS,
)
JOBS = st.builds(
    Job,
    buffers=st.lists(BUFFERS, max_size=4).map(tuple),
    dispatches=st.lists(DISPATCHES, max_size=4).map(tuple),
    reads=st.lists(st.builds(ReadJob, buffer=INDICES, offset=SIZES, size=SIZES), max_size=4).map(tuple),
)

ADAPTER = {
    "info": {
        "vendor": "Acme",
        "architecture": "Roadrunner",
        "device": "",
        "description": "",
        "isFallbackAdapter": False,
    },
    "features": ["subgroups", "float32-filterable"],
    "limits": {"maxBufferSize": 4096, "maxTextureDimension2D": 16384},
}
HELLO = {
    "protocol": PROTOCOL,
    "id": "a page",
    "seen": 0,
    "userAgent": "Mozilla/5.0 (Linux; Android 15) Chrome/156.0.0.0 Mobile Safari/537.36",
    "adapter": ADAPTER,
    "wgslLanguageFeatures": ["subgroup_id"],
}
DEVICE = {
    "features": ["subgroups"],
    "limits": {"maxBufferSize": 4096},
    "compileFailures": [],
    "subgroupSize": 16,
}


class FakePage:
    """What a page does, without a browser: a WebSocket in a thread of its own."""

    def __init__(self, server: Server, *, origin: str | None = None) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._assembler = Assembler()
        self._assembler.allowance = 2**40
        self._do(self._connect(server, origin))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def hello(self, **more: Any) -> None:
        self.send("hello", {**HELLO, **more})

    def send(self, kind: str, body: dict[str, Any] | None = None, contents: tuple[bytes, ...] = ()) -> None:
        for frame in frames(Message(kind=kind, body=body or {}, contents=contents)):
            self.frame(frame if isinstance(frame, str) else bytes(frame))

    def frame(self, frame: str | bytes) -> None:
        self._do(self._socket.send_str(frame) if isinstance(frame, str) else self._socket.send_bytes(frame))

    def receive(self, *kinds: str) -> Message:
        """The next message of one of these kinds, or of any."""
        while True:
            message: Message = self._do(self._receive())
            if not kinds or message.kind in kinds:
                return message

    def closing_code(self) -> int | None:
        """Wait until the server closes the connection; the code that it gives."""
        code: int | None = self._do(self._closed())
        return code

    def hang_up(self) -> None:
        """End the connection; whoever receives in another thread hears of it."""
        self._do(self._socket.close())

    def close(self) -> None:
        if not self._loop.is_closed():
            self._do(self._end())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(10)
            self._loop.close()

    def _do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(20)

    async def _connect(self, server: Server, origin: str | None) -> None:
        self._session = aiohttp.ClientSession()
        own = server.url.partition(f"/{server.token}")[0]
        try:
            self._socket = await self._session.ws_connect(
                f"{server.url}socket", origin=origin or own, max_msg_size=0, autoping=True
            )
        except aiohttp.ClientError:
            await self._session.close()
            raise

    async def _receive(self) -> Message:
        while True:
            frame = await self._socket.receive(timeout=15)
            message = None
            if frame.type is aiohttp.WSMsgType.TEXT:
                message = self._assembler.text(frame.data)
            elif frame.type is aiohttp.WSMsgType.BINARY:
                message = self._assembler.piece(frame.data)
            else:
                raise ConnectionError(f"the server closed the connection: {self._socket.close_code}")
            if message is not None:
                return message

    async def _closed(self) -> int | None:
        while not self._socket.closed:
            frame = await self._socket.receive(timeout=15)
            if frame.type is aiohttp.WSMsgType.CLOSE:
                # The socket's own code may be another if the answer to this finds the connection gone.
                return int(frame.data)
        return self._socket.close_code

    async def _end(self) -> None:
        await self._socket.close()
        await self._session.close()


def cut(frame: bytes, at: list[int]) -> Iterator[bytes]:
    """The pieces of some bytes, cut at these places."""
    places = sorted({0, len(frame), *(place % (len(frame) + 1) for place in at)})
    for start, end in pairwise(places):
        yield frame[start:end]
