"""Running cases on a device in a browser.

The browser is another process, mostly on another machine: what hangs or dies there does no harm here, so that no
worker is needed. What can happen instead is that the page goes away. The run that it interrupts fails and says so, and
the next one waits for the page to come back.
"""

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from scanbuild.cases.compiling import CompileResult
from scanbuild.cases.findings import Finding
from scanbuild.cases.run import CaseResult, CaseRunner, failed
from scanbuild.cases.worker import (
    OpenPackage,
    Ready,
    RunTask,
    Task,
    TaskResult,
    WorkerSettings,
    open_runner,
    perform,
    ready,
)
from scanbuild.errors import NoAdapterError

if TYPE_CHECKING:
    from scanbuild.gpu.browser.engine import BrowserEngine
    from scanbuild.gpu.browser.host import Host

RETURN_LIMIT_S: Final = 60.0
"""A page that went away may take so long to come back; once it has not, no later case waits for it again."""

WORDS: Final = {
    "passed": "passed",
    "failed": "failed",
    "skipped": "skipped",
    "noOracle": "no oracle",
    "compiled": "compiles",
    "lacking": "not tried",
}
_GOOD: Final = {"passed": True, "compiled": True, "failed": False, "noOracle": False}


class BrowserBackend:
    """A device in a browser, as a backend: see :class:`pool.Backend`. Use it in a ``with``.

    ``summon`` waits for the device, and gives it with the hub that it came to.
    """

    def __init__(
        self,
        settings: WorkerSettings,
        summon: "Callable[[], tuple[Host, BrowserEngine]]",
        *,
        return_s: float = RETURN_LIMIT_S,
    ) -> None:
        self.settings = settings
        self._summon = summon
        self._hub: Host | None = None
        self._return_s = return_s
        self._engine: BrowserEngine | None = None
        self._runner: CaseRunner | None = None
        self._gone = ""
        self._counts: dict[str, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._hub is not None and self._engine is not None:
            self._part(self._hub, self._engine, whole=kind is None)

    @property
    def gone(self) -> str:
        """Why no case is run any more; "" while they are."""
        return self._gone

    def start(self) -> Ready:
        """Wait for a page and its device. NoAdapterError if none comes."""
        self._hub, self._engine = self._summon()
        self._engine.call_limit_s = self.settings.limit_s
        return ready(self._engine)

    def open(self, package: OpenPackage) -> None:
        """Take up a package, whose cases run from now on. Raises what is wrong with it."""
        assert self._engine is not None, "a device comes before a package"
        self._runner = open_runner(package, self._engine, self.settings)
        self._engine.show("begin", {"title": self._runner.planner.package.manifest.op_id, "total": package.tasks})

    def run(self, task: Task) -> TaskResult:
        """Do a task. Whatever goes wrong is told in the result, here and on the page."""
        assert self._hub is not None, "a device comes before a task"
        assert self._engine is not None, "a device comes before a task"
        name = task.case.name if isinstance(task, RunTask) else task.name
        missing = self._revive(self._hub, self._engine)
        if missing:
            result = _not_run(task, missing)
        else:
            self._engine.show("case", {"name": name})
            result = perform(task, self._engine, self._runner)
        self._counts[result.status] = self._counts.get(result.status, 0) + 1
        self._engine.show("verdict", _shown(result))
        return result

    def _revive(self, hub: "Host", engine: "BrowserEngine") -> str:
        """Make the device usable if it is not; why it cannot be, or nothing."""
        if not self._gone:
            try:
                hub.ensure(engine, self._return_s)
            except NoAdapterError as error:
                self._gone = str(error)
        return self._gone

    def _part(self, hub: "Host", engine: "BrowserEngine", *, whole: bool) -> None:
        bad = sum(count for status, count in self._counts.items() if _GOOD.get(status) is False)
        words = ", ".join(f"{count} {WORDS[status]}" for status, count in self._counts.items())
        headline = "Interrupted" if not whole else "There are failures" if bad else "All is well"
        hub.part(engine, headline, words, good=whole and not bad)


def _not_run(task: Task, reason: str) -> TaskResult:
    message = f"not run: {reason}"
    if isinstance(task, RunTask):
        finding = Finding(kind="device-lost", message=message)
        return failed(task.case.name, finding, variant=task.variant, forced=task.variant is not None)
    return CompileResult(name=task.name, status="failed", kind="device-lost", message=message)


def _shown(result: TaskResult) -> dict[str, Any]:
    """A result in the words that the page shows."""
    shown: dict[str, Any] = {"name": result.name, "verdict": WORDS[result.status], "message": result.message}
    if result.status in _GOOD:
        shown["good"] = _GOOD[result.status]
    if isinstance(result, CaseResult):
        forced = " (forced)" if result.forced else ""
        shown |= {"variant": f"{result.variant or ''}{forced}", "seconds": result.seconds}
    return shown
