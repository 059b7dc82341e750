"""A Hub on 127.0.0.1: repositories, branches, commits and files that are really kept, and faults on demand.

It speaks what publishing asks of the Hub, and is rude on purpose: every error that it answers quotes the header with
the token, so that a test sees if anybody passes an answer on unread.
"""

import base64
import hashlib
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

Action = Literal["status", "drop", "drop after", "half", "hang", "other bytes", "no json"]


@dataclass
class Fault:
    """What goes wrong at requests whose ``METHOD PATH`` matches, ``times`` times."""

    request: str
    action: Action
    status: int = 0
    times: int = 10**6
    said: str = "no"


@dataclass
class Commit:
    """A state of all files."""

    oid: str
    files: dict[str, bytes]
    parent: str = ""
    message: str = ""


@dataclass
class Repository:
    """A repository: what each branch points at, and every commit."""

    kind: str
    name: str
    branches: dict[str, str] = field(default_factory=dict)
    commits: dict[str, Commit] = field(default_factory=dict)

    def add(self, branch: str, files: Mapping[str, bytes], message: str = "") -> str:
        """A commit on top of a branch, which is made if need be."""
        parent = self.branches.get(branch, "")
        state = json.dumps([parent, message, len(self.commits), sorted((n, d.hex()) for n, d in files.items())])
        oid = hashlib.sha1(state.encode()).hexdigest()
        self.commits[oid] = Commit(oid=oid, files=dict(files), parent=parent, message=message)
        self.branches[branch] = oid
        return oid

    def at(self, revision: str) -> Commit | None:
        """The commit of a branch, or with an id."""
        return self.commits.get(self.branches.get(revision, revision))

    def files(self, branch: str) -> dict[str, bytes]:
        """The files of a branch."""
        found = self.at(branch)
        assert found is not None
        return found.files


class _RefusalError(Exception):
    def __init__(self, status: int, said: str, code: str = "") -> None:
        super().__init__(said)
        self.status, self.code = status, code


@dataclass
class LocalHub:
    """The state of the Hub. ``tokens`` maps a token to the owners it may write for."""

    tokens: dict[str, set[str]] = field(default_factory=dict)
    repositories: dict[tuple[str, str], Repository] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    journal: list[str] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)
    large: str = ""
    before: dict[str, Callable[[], object]] = field(default_factory=dict)
    """What happens before a request whose path holds a text."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    address: str = ""

    def kernel(self, name: str) -> Repository:
        """The kernel repository of a name."""
        return self.repositories["kernel", name]

    def create(self, kind: str, name: str) -> Repository:
        """A new repository, with the first commit that the Hub makes."""
        made = self.repositories[kind, name] = Repository(kind=kind, name=name)
        made.add("main", {".gitattributes": b"*.bin filter=lfs\n"}, "initial commit")
        return made

    def writes(self) -> list[str]:
        """The requests that change something."""
        wanted = re.compile(r"POST .*/(create|branch/[^/]*|commit/[^/]*)$|DELETE|PUT")
        return [entry for entry in self.journal if wanted.match(entry)]

    def fault_at(self, request: str) -> Fault | None:
        """The fault that a request meets now."""
        with self.lock:
            for fault in self.faults:
                if fault.times > 0 and re.search(fault.request, request):
                    fault.times -= 1
                    return fault
        return None


@contextmanager
def serving(hub: LocalHub) -> Iterator[LocalHub]:
    """Serve it for as long as the block lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    hub.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    hub: LocalHub
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer goes out in one piece: two would wait for each other's acknowledgement

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        path = unquote(urlsplit(self.path).path)
        request = f"{self.command} {path}"
        with self.hub.lock:
            self.hub.journal.append(request)
            self.hub.agents.add(self.headers.get("User-Agent", ""))
        for text, happen in self.hub.before.items():
            if text in path:
                happen()
        fault, length = self.hub.fault_at(request), int(self.headers.get("Content-Length", 0))
        if fault is not None and fault.action == "drop":
            self.rfile.read(length // 2)
            self._hang_up(half=b"")
            return
        body = self.rfile.read(length)
        try:
            if fault is not None and fault.action == "status":
                raise _RefusalError(fault.status, fault.said)
            if fault is not None and fault.action == "hang":
                time.sleep(3)
            with self.hub.lock:
                content = self._answer(path, body)
        except _RefusalError as refusal:
            said = f"{refusal} {self.headers.get('Authorization', '')}".strip()
            self._send(refusal.status, json.dumps({"error": said}).encode(), code=refusal.code, said=said)
            return
        if fault is not None and fault.action in ("drop after", "half"):
            self._hang_up(half=content if fault.action == "half" else b"")
            return
        if fault is not None and fault.action in ("other bytes", "no json"):
            content = b"surprise " + content
        self._send(200, content)

    def _hang_up(self, half: bytes) -> None:
        """Close the connection, after half of an answer if there is one."""
        if half and self.command == "GET":
            self.send_response(200)
            self.send_header("Content-Length", str(len(half) + 10))
            self.end_headers()
            self.wfile.write(half[: len(half) // 2])
            self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _send(self, status: int, content: bytes, code: str = "", said: str = "") -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            if said:
                self.send_header("X-Error-Message", said)
            if code:
                self.send_header("X-Error-Code", code)
            self.end_headers()
            self.wfile.write(content)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _answer(self, path: str, body: bytes) -> bytes:
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if token and token not in self.hub.tokens:
            raise _RefusalError(401, "Invalid credentials in Authorization header")
        match = re.fullmatch(r"/kernels/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)
        if match:
            return self._file(self._repository("kernel", match[1]), match[2], match[3])
        answer: Any = self._api(path, body, token)
        return json.dumps(answer).encode()

    def _api(self, path: str, body: bytes, token: str) -> Any:
        if path == "/api/validate-yaml":
            return {"errors": [], "warnings": []}
        if path == "/api/repos/create":
            return self._create(json.loads(body), token)
        match = re.fullmatch(r"/api/(\w+)s/([^/]+/[^/]+)(?:/(revision|tree|branch|preupload|commit)/([^/]+))?", path)
        if not match:
            raise _RefusalError(404, f"no such address: {path}")
        kind, name, what, revision = match.groups()
        repository = self._repository(kind, name)
        if what == "branch":
            self._may_write(name, token)
            return self._branch(repository, revision, json.loads(body))
        commit = repository.at(revision or "main")
        if commit is None:
            raise _RefusalError(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        if what == "tree":
            return [_entry(item, data, self.hub.large) for item, data in sorted(commit.files.items())]
        if what in ("preupload", "commit"):
            self._may_write(name, token)
        if what == "preupload":
            files = json.loads(body)["files"]
            ignored = commit.files.get(".gitignore", b"\n").decode().splitlines()[0]
            return {"files": [_upload(item["path"], ignored) for item in files]}
        if what == "commit":
            return self._commit(repository, revision, commit, [json.loads(line) for line in body.splitlines()])
        return {"id": name, "sha": commit.oid, "private": False}

    def _repository(self, kind: str, name: str) -> Repository:
        try:
            return self.hub.repositories[kind, name]
        except KeyError:
            raise _RefusalError(404, "Repository not found", "RepoNotFound") from None

    def _may_write(self, name: str, token: str) -> None:
        if not token:
            raise _RefusalError(401, "Invalid username or password.")
        if name.partition("/")[0] not in self.hub.tokens[token]:
            raise _RefusalError(403, "You don't have the rights to do this")

    def _create(self, asked: dict[str, Any], token: str) -> Any:
        name = f"{asked['organization']}/{asked['name']}"
        self._may_write(name, token)
        if any(known == name for _, known in self.hub.repositories):
            raise _RefusalError(409, "You already created this repo")
        self.hub.create(asked.get("type", "model"), name)
        return {"url": f"{self.hub.address}/kernels/{name}"}

    def _branch(self, repository: Repository, branch: str, asked: dict[str, Any]) -> Any:
        if branch in repository.branches:
            raise _RefusalError(409, f"Reference {branch} exists already")
        repository.branches[branch] = repository.branches[asked.get("startingPoint", "main")]
        return {}

    def _commit(self, repository: Repository, branch: str, on: Commit, lines: list[dict[str, Any]]) -> Any:
        header = lines[0]["value"]
        if header.get("parentCommit") not in (None, on.oid):
            raise _RefusalError(412, "A commit has happened since. Please refresh and try again.")
        files = dict(on.files)
        for line in lines[1:]:
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "deletedFile":
                del files[value["path"]]
            else:
                raise _RefusalError(400, f"no such operation: {line['key']}")
        oid = repository.add(branch, files, header["summary"])
        return {"commitUrl": f"{self.hub.address}/kernels/{repository.name}/commit/{oid}", "commitOid": oid}

    def _file(self, repository: Repository, revision: str, name: str) -> bytes:
        commit = repository.at(revision)
        if commit is None or name not in commit.files:
            raise _RefusalError(404, "Entry not found", "EntryNotFound")
        return commit.files[name]


def _upload(name: str, ignored: str) -> dict[str, Any]:
    return {"path": name, "uploadMode": "regular", "shouldIgnore": bool(ignored) and ignored in name}


def _entry(name: str, data: bytes, large: str) -> dict[str, Any]:
    blob = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
    entry: dict[str, Any] = {"type": "file", "path": name, "size": len(data), "oid": blob}
    if large and name.endswith(large):
        entry["lfs"] = {"oid": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 130}
        entry["oid"] = "0" * 40
    return entry
