"""Requests as strangers send them: every byte as it stands."""

import http.client
from dataclasses import dataclass

from scanbuild.serving.server import PackageServer

FILES = "/test.toys.Double/build/webgpu"


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


def ask(server: PackageServer, path: str, method: str = "GET", body: bytes = b"", **headers: str) -> Said:
    """One request; ``_`` in the name of a header stands for ``-``."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        given = {"Host": f"127.0.0.1:{server.port}", **headers}
        if body:
            given["Content-Length"] = str(len(body))
        for name, value in given.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders(body or None)
        answer = connection.getresponse()
        return Said(status=answer.status, headers=dict(answer.getheaders()), body=answer.read())
    finally:
        connection.close()
