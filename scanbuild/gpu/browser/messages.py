"""What the server and the page say to each other, as frames of a WebSocket.

A message is one text frame, a JSON object with ``kind``, followed by the byte strings that belong to it: ``bytes``
lists their sizes, and their contents come one after another in binary frames, cut anywhere. So no binary frame, and no
text of the page, is larger than :data:`LARGEST_FRAME`, and a message can be refused before its bytes arrive.

From the page: ``hello`` (what the browser offers, or what it lacks), ``device`` or ``refused`` (after ``open``),
``result``, ``compiled`` or ``failed`` (after ``run`` or ``compile``), ``lost`` (the device, at any time). From the
server: ``open``, ``run``, ``compile``, and for the people who watch ``begin``, ``case``, ``verdict``, ``wait`` and
``end``.

For timing, the server sends ``clock``, answered by ``clock`` (how finely the page's clocks go), ``reserve`` (buffers
that last), ``fill`` (one of them, with a block over and over), ``load`` (a plan, bound to them) and ``release``,
answered by ``done``, and ``time`` (run plans so many times), answered by ``timed`` with the seconds of each.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Never

PROTOCOL: Final = 1
LARGEST_FRAME: Final = 1 << 20
MOST_BYTE_STRINGS: Final = 4096


class ProtocolError(Exception):
    """The other side sent what it may not send."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One message: its kind, the other members of the JSON object, and the byte strings."""

    kind: str
    body: Mapping[str, Any] = field(default_factory=dict)
    contents: tuple[bytes | memoryview, ...] = ()


def frames(message: Message) -> Iterator[str | memoryview]:
    """The frames of a message, in order."""
    sizes = [len(content) for content in message.contents]
    yield json.dumps({**message.body, "kind": message.kind, "bytes": sizes}, separators=(",", ":"), allow_nan=False)
    for content in message.contents:
        view = memoryview(content)
        for start in range(0, len(view), LARGEST_FRAME):
            yield view[start : start + LARGEST_FRAME]


class Assembler:
    """Puts frames together. ``allowance`` is how many bytes may follow the next text: none unless asked for."""

    def __init__(self) -> None:
        self.allowance = 0
        self._value: dict[str, Any] | None = None
        self._sizes: list[int] = []
        self._buffer = bytearray()
        self._filled = 0

    def text(self, text: str) -> Message | None:
        """Take a text frame; the message, if no bytes follow it. ProtocolError if it is not in order."""
        if self._value is not None:
            raise ProtocolError("a text came where the bytes of the last message were due")
        self._value = value = _object(text)
        self._sizes = _sizes(value.pop("bytes", []))
        total = sum(self._sizes)
        if total > self.allowance:
            raise ProtocolError(f"{total} bytes were announced; {self.allowance} are allowed here")
        self._buffer, self._filled = bytearray(total), 0
        return self._whole()

    def piece(self, data: bytes) -> Message | None:
        """Take a binary frame; the message, if it is whole now. ProtocolError for bytes that nobody announced."""
        end = self._filled + len(data)
        if self._value is None or not data or end > len(self._buffer):
            raise ProtocolError("bytes came that were not announced")
        self._buffer[self._filled : end] = data
        self._filled = end
        return self._whole()

    def _whole(self) -> Message | None:
        if self._value is None or self._filled < len(self._buffer):
            return None
        value, view, parts, start = self._value, memoryview(self._buffer).toreadonly(), [], 0
        for size in self._sizes:
            parts.append(view[start : start + size])
            start += size
        self._value = None
        return Message(kind=value.pop("kind"), body=value, contents=tuple(parts))


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ProtocolError("a text that is no JSON") from error
    if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
        raise ProtocolError("a message is a JSON object with `kind`")
    return value


def _refuse_constant(name: str) -> Never:
    raise ValueError(name)


def _sizes(value: Any) -> list[int]:
    whole = isinstance(value, list) and len(value) <= MOST_BYTE_STRINGS
    if not whole or not all(type(size) is int and size >= 0 for size in value):
        raise ProtocolError("`bytes` lists sizes")
    return list(value)
