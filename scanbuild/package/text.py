"""From bytes to text and back, as the browser's ``fetch`` and ``TextEncoder`` do it."""

import re

_SURROGATE = re.compile("[\ud800-\udfff]")
BYTE_ORDER_MARK = "\ufeff"


def decode(data: bytes) -> str:
    """The text of a fetched body: UTF-8, one leading byte-order mark dropped, invalid bytes as U+FFFD (1.3)."""
    return data.decode("utf-8", errors="replace").removeprefix(BYTE_ORDER_MARK)


def encode(text: str) -> bytes:
    """UTF-8 of a text; a lone surrogate, which UTF-8 cannot hold, becomes U+FFFD."""
    return _SURROGATE.sub("\ufffd", text).encode("utf-8")


def printable(text: str) -> str:
    """The text with whatever would upset a terminal (control characters, lone surrogates) spelled as escapes."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
