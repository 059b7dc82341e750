"""A process that takes mutated packages through the commands and the planner, and reports what went wrong.

It reads seeds from standard input, one a line, and answers each with a line of JSON on what was standard output. It
may be killed at any moment: then the seed it was at is the one that hangs. What it does to files is watched by an audit
hook: everything read has to lie in the package or in scanbuild, everything written in the output folder.
"""

import contextlib
import faulthandler
import gc
import io
import json
import os
import resource
import shutil
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from scanbuild.commands import main
from scanbuild.errors import InputError, NoAdapterError, ScanbuildError
from scanbuild.package.folder import open_folder
from scanbuild.package.metadata import METADATA_FILE
from scanbuild.package.model import Manifest
from scanbuild.package.source import inspect_source
from scanbuild.planning.planner import Planner
from scanbuild.planning.profiles import profiles
from scanbuild.planning.request import HostTensor, Request
from tests.corpus_files import destination, host_array, number
from tests.robustness.bases import CASE, MARKER, bases
from tests.robustness.mutations import Mutant, mutant

MEMORY = 500 * 2**20
SECONDS = 2.0
SLOW_S = 0.5
USUAL_S = 0.12
"""What the loop of :func:`pace` takes on a usual machine with nothing else to do."""

NAME = "Package"
CHECKOUT = Path(__file__).resolve().parents[2]
Step = tuple[str, Callable[[], tuple[int, str]]]
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_CHANGES = {
    "os.mkdir": 1,
    "os.remove": 1,
    "os.rmdir": 1,
    "os.truncate": 1,
    "os.chmod": 1,
    "os.chown": 1,
    "os.utime": 1,
    "os.rename": 2,
    "os.link": 2,
    "os.symlink": 2,
}
_FORBIDDEN = ("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "socket.connect", "ctypes.dlopen")


@dataclass(kw_only=True, slots=True)
class Verdict:
    """What came of one seed: ``statuses`` of the commands and of planning, and ``faults`` in words."""

    seed: int
    base: str
    log: list[str]
    statuses: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


class Watch:
    """Records what the process does to files while it is switched on."""

    def __init__(self) -> None:
        self.on = False
        self.package = self.output = Path("/")
        self.readable: tuple[Path, ...] = ()
        self.found: list[str] = []
        names = ("scanbuild", "schemas", "templates", "tests/robustness")
        base = [*(CHECKOUT / name for name in names), Path(sys.prefix), Path(sys.base_prefix)]
        self._known = tuple(path.resolve() for path in base)
        sys.addaudithook(self._hook)

    @contextlib.contextmanager
    def over(self, package: Path, output: Path) -> Iterator[None]:
        """Watch while a package is handled. Its neighbour ``_shared`` belongs to it."""
        self.package, self.output = package.resolve(), output.resolve()
        self.readable = (self.package, self.package.parent / "_shared", self.output, *self._known)
        self.found, self.on = [], True
        try:
            yield
        finally:
            self.on = False

    def _hook(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.on:
            return
        self.on = False
        try:
            self._look(event, args)
        finally:
            self.on = True

    def _look(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            self._opened(*args)
        elif event in _CHANGES:
            folder = next((value for value in args[_CHANGES[event] :] if isinstance(value, int) and value > 2), None)
            for path in args[: _CHANGES[event]]:
                self._need(path, (self.output,), event, None if event in ("os.mkdir", "os.chmod") else folder)
        elif event == "import" and args[0] == "reference":
            self.found.append("reference.py was imported")
        elif event == "subprocess.Popen" and Path(str(args[0])).name != "git":
            self.found.append(f"a program was started: {args[0]}")
        elif event in _FORBIDDEN:
            self.found.append(f"{event}{args!r}"[:200])
        elif event == "exec" and str(self.package) in getattr(args[0], "co_filename", ""):
            self.found.append(f"code of the package was run: {args[0].co_filename}")
        elif event == "compile" and str(self.package) in str(args[1]):
            self.found.append(f"code of the package was compiled: {args[1]}")

    def _opened(self, path: Any, mode: Any, flags: Any) -> None:
        if isinstance(path, int):
            return
        if not str(path).startswith("/") and isinstance(flags, int) and flags & os.O_DIRECTORY:
            return  # a folder that is being removed, opened relative to another
        writing = any(char in mode for char in "wax+") if isinstance(mode, str) else bool(flags & _WRITING)
        self._need(path, (self.output,) if writing else self.readable, "written" if writing else "read", None)

    def _need(self, path: Any, allowed: tuple[Path, ...], what: str, folder: int | None) -> None:
        name = os.fsdecode(path)
        if folder is not None and not name.startswith("/"):
            name = f"/proc/self/fd/{folder}/{name}"
        if name == os.devnull or (name.startswith("/proc/self/fd") and "/" not in name[14:]):
            return
        # The last part may be a link that is itself removed or renamed; what is opened is what it leads to.
        real = Path(os.path.realpath(name))
        if what not in ("read", "written"):
            real = Path(os.path.realpath(Path(name).parent), Path(name).name)
        if not any(real.is_relative_to(root) for root in allowed):
            self.found.append(f"{what}: {real}")


def write(package: Mutant, folder: Path) -> None:
    """Put a mutated package into a folder, as far as the file system takes its names."""
    folder.mkdir(parents=True)
    outside = folder.parent / "outside"
    outside.mkdir(exist_ok=True)
    (outside / "secret.wgsl").write_text("SECRET")
    for name, data in package.files.items():
        path = folder / name
        if name in package.links or name in package.odd:
            continue
        with contextlib.suppress(OSError, ValueError):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    for name, target in package.links.items():
        with contextlib.suppress(OSError, ValueError):
            (folder / name).symlink_to(target)
    for name, kind in package.odd.items():
        with contextlib.suppress(OSError, ValueError):
            _make_odd(folder / name, kind)


def _make_odd(path: Path, kind: str) -> None:
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        with path.open("wb") as file:
            file.truncate(2**32)


def request_of(call: Any) -> Request:
    """The call of a package, its tensors without data where their values do not fit."""
    inputs = call.get("inputs") or {}
    return Request(
        inputs={name: _tensor(value) if isinstance(value, dict) else number(value) for name, value in inputs.items()},
        attrs=call.get("attrs") or {},
        args={name: number(value) for name, value in (call.get("args") or {}).items()},
        outputs={
            name: destination(value) for name, value in (call.get("outputs") or {}).items() if isinstance(value, dict)
        },
    )


def _tensor(value: dict[str, Any]) -> HostTensor:
    try:
        return host_array(value)
    except (KeyError, TypeError, ValueError, OverflowError):
        return HostTensor(shape=value.get("shape"), dtype=value.get("dtype"))


class Handler:
    """Takes packages through the commands."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.watch = Watch()
        os.environ |= {"XDG_STATE_HOME": str(home / "out" / "state"), "SCANBUILD_DEBUG": "1", "NO_COLOR": "1"}

    def handle(self, seed: int, trouble: str = "") -> Verdict:
        """Everything, for one seed; with a trouble, what the watch is there to see happens in between."""
        _limit_memory(None)
        package = mutant(seed)
        verdict = Verdict(seed=seed, base=package.base, log=package.log)
        work = self.home / "work"
        shutil.rmtree(work, ignore_errors=True)
        shutil.rmtree(self.home / "out", ignore_errors=True)
        folder, output = work / NAME, self.home / "out"
        write(package, folder)
        output.mkdir()
        before = _snapshot(work)
        gc.collect()
        _limit_memory(MEMORY)
        steps = self._steps(package, folder, output) if not trouble else [("trouble", lambda: make(trouble, folder))]
        for name, step in steps:
            gc.collect()  # each command would have a process of its own
            start = time.process_time()
            with self.watch.over(folder, output):
                try:
                    verdict.statuses[name], said = step()
                except BaseException as error:
                    verdict.statuses[name] = -1
                    said = "".join(traceback.format_exception(error)[-12:])
                    verdict.faults.append(f"{name}: {type(error).__name__}\n{said}")
            verdict.seconds[name] = round(time.process_time() - start, 3)
            verdict.faults += [f"{name}: {item}" for item in self.watch.found]
            limit = 2 * SECONDS if name == "diff" else SECONDS  # two packages
            if name != "plan" and verdict.seconds[name] > limit and verdict.seconds[name] > limit * pace():
                verdict.faults.append(f"{name}: took {verdict.seconds[name]} s")
        if _snapshot(work) != before:
            verdict.faults.append("something beside the output was changed")
        if (folder / MARKER).exists():
            verdict.faults.append("reference.py was imported")
        return verdict

    def _steps(self, package: Mutant, folder: Path, output: Path) -> list[Step]:
        return [
            ("check", lambda: command("check", str(folder), "--json", str(output / "report.json"))),
            ("render", lambda: command("render", str(folder), "--root", str(output))),
            ("show", lambda: command("show", str(folder))),
            ("call", lambda: command("show", str(folder), "--case", CASE, "-v")),
            ("diff", lambda: command("diff", str(folder), str(folder), "--json", "-")),
            ("plan", lambda: plan(folder, package.request)),
        ]


@dataclass(frozen=True, slots=True)
class _Source:
    """A source package as planning takes it."""

    manifest: Manifest
    files: dict[str, str]

    @classmethod
    def read(cls, folder: Path) -> "_Source":
        """The package in a folder. Its test cases need not be good."""
        source = inspect_source(folder)
        if source.manifest is None:
            raise InputError(*source.problems)
        return cls(source.manifest, {**source.templates, **source.shared})

    def templates(self, variant_id: str) -> dict[str, str]:
        return self.files


def plan(folder: Path, call: Any) -> tuple[int, str]:
    """Load the folder, built or not, and plan the call on every profile: 0, or 2 if it is refused everywhere."""
    try:
        package = (
            open_folder(folder, verify_hashes=False) if (folder / METADATA_FILE).is_file() else _Source.read(folder)
        )
    except ScanbuildError as error:
        return 2, str(error)
    planner = Planner(package)
    said, planned, slowest = "", 0, 0.0
    for device in profiles().values():
        start = time.process_time()
        try:
            planner.prepare(request_of(call), device)
            planned += 1
        except ScanbuildError as error:
            said = str(error)
        slowest = max(slowest, time.process_time() - start)
        if slowest > SLOW_S:
            break  # the other profiles would take as long, and tell nothing new
    assert slowest < SECONDS or slowest < SECONDS * pace(), f"a call took {slowest:.1f} s to plan"
    return 0 if planned else 2, said


def command(*words: str) -> tuple[int, str]:
    """Run a command of scanbuild in this process: its exit status, and what it said. A bad end is an AssertionError."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", errors=errors) for errors in ("strict", "backslashreplace"))
    status = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(list(words), "scanbuild")
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else -1
    said = [_read(stream) for stream in (out, err)]
    text = "\n".join(said)
    assert "Traceback" not in text, text[-4000:]
    assert status in (0, 1, 2), f"status {status}: {text[-2000:]}"
    assert status == 0 or text.strip(), f"status {status} without a word"
    assert "\x1b" not in text and "\0" not in text, "control characters on the terminal"
    assert len(text) < 4_000_000, f"{len(text)} characters of messages"
    return status, text


def make(trouble: str, folder: Path) -> tuple[int, str]:
    """Do what must not happen, so that a test sees that it is seen."""
    match trouble:
        case "hang":
            end = time.process_time() + 1.5 * SECONDS * pace()
            while time.process_time() < end:
                pass
        case "memory":
            return len(bytearray(MEMORY + MEMORY // 4)), ""
        case "read":
            Path("/etc/passwd").read_bytes()
        case "write":
            (folder / "written").write_text("x")
        case "import":
            exec(compile((folder / "reference.py").read_text(), str(folder / "reference.py"), "exec"), {})
        case "program":
            subprocess.run(["true"], check=True)
        case "status":
            _break_render()
            return command("render", str(folder))
        case _:
            return 1 // 0, ""
    return 0, ""


def _break_render() -> None:
    import scanbuild.publishing.build

    def broken(*_: Any) -> Any:
        raise RuntimeError("broken for a test")

    scanbuild.publishing.build.check_source = broken  # type: ignore[assignment]


def _read(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode()  # type: ignore[attr-defined, no-any-return]


def _snapshot(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file under a folder with its size and time of change."""
    found = {}
    for where, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(where, name)
            status = path.lstat()
            found[str(path)] = (status.st_size, status.st_mtime_ns if name not in folders else 0)
    return found


def _without_gpu() -> None:
    """Rendering looks for an adapter afterwards, which has nothing to do with the package and takes long."""
    import scanbuild.gpu

    def no_engine(*_: Any, **__: Any) -> Any:
        raise NoAdapterError("not here")

    scanbuild.gpu.open_engine = no_engine


def pace() -> float:
    """How many times longer than on a usual machine things take here and now; 1 at least."""
    start = time.process_time()
    total = 0
    for index in range(2_000_000):
        total += index & 7
    return max(1.0, (time.process_time() - start) / USUAL_S)


def _limit_memory(more: int | None) -> None:
    """Let the process have so many bytes more than it has now, or all it wants."""
    now = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    soft = resource.RLIM_INFINITY if more is None else now + more
    resource.setrlimit(resource.RLIMIT_AS, (soft, resource.RLIM_INFINITY))


def serve(home: Path) -> None:
    """Answer seeds until there are no more."""
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    _without_gpu()
    handler = Handler(home)
    bases()
    handler.handle(0)  # imports everything, so that no seed pays for it
    print("{}", file=answers, flush=True)
    for line in sys.stdin:
        faulthandler.dump_traceback_later(45, exit=False)
        word = line.strip()
        verdict = handler.handle(int(word)) if word.isdigit() else handler.handle(0, word)
        faulthandler.cancel_dump_traceback_later()
        print(json.dumps(asdict(verdict)), file=answers, flush=True)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
