"""Measuring on a device in a browser, and keeping what was measured when it goes away.

The browser is another process, mostly on another machine, so that no worker is needed. Everything is decided here: the
page runs the rounds that it is told to run, and says how long they took.
"""

from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from scanbuild.bench.report import Outcome
from scanbuild.bench.worker import Job, Ready, WorkerSettings, performer
from scanbuild.errors import CallError, NoAdapterError

if TYPE_CHECKING:
    from scanbuild.gpu.browser.engine import BrowserEngine
    from scanbuild.gpu.browser.hub import Hub

RETURN_LIMIT_S: Final = 60.0
"""A page that went away may take so long to come back."""

_GOOD: Final = {"measured": True, "failed": False, "refused": False}


class BrowserSession:
    """A device in a browser that measures, as :class:`scanbuild.bench.session.Session` does. Use it in a ``with``.

    ``summon`` waits for the device, and gives it with the hub that it came to. ``title`` and ``total``, the number of
    jobs or 0 if it is not known, are for those who watch the page. The engine and the adapter of the settings are those
    of other sessions.
    """

    def __init__(
        self,
        settings: WorkerSettings,
        summon: "Callable[[], tuple[Hub, BrowserEngine]]",
        *,
        title: str = "",
        total: int = 0,
        return_s: float = RETURN_LIMIT_S,
    ) -> None:
        self.settings = settings
        self._summon = summon
        self._title = title
        self._total = total
        self._return_s = return_s
        self._device: tuple[Hub, BrowserEngine] | None = None
        self._perform: Callable[[Job], Outcome] | None = None
        self._gone: NoAdapterError | None = None
        self._counts: Counter[str] = Counter()
        self._interrupted = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._device is None:
            return
        hub, engine = self._device
        bad = any(_GOOD.get(status) is False for status in self._counts)
        whole = kind is None and not self._interrupted
        headline = "Interrupted" if not whole else "There are failures" if bad else "Done"
        words = ", ".join(f"{count} {status}" for status, count in self._counts.items())
        hub.part(engine, headline, words, good=whole and not bad)

    def start(self) -> Ready:
        """Wait for a page and its device. NoAdapterError if none comes, InputError for what is no package."""
        self._device = self._summon()
        engine = self._device[1]
        engine.call_limit_s = self.settings.limit_s
        try:
            ready = self._prepare(engine)
        except CallError as error:
            raise NoAdapterError(*error.problems) from error
        engine.show("begin", {"title": self._title, "total": self._total})
        return ready

    def run(self, job: Job, name: str) -> Outcome:
        """What comes of a job; ``failed`` if the page goes away over it. NoAdapterError if it does not come back."""
        assert self._device is not None, "a device comes before a job"
        _, engine = self._device
        try:
            self._revive(*self._device)
            engine.show("case", {"name": name})
            outcome = self._performed(engine, job, name)
        except KeyboardInterrupt:
            self._interrupted = True
            raise
        self._counts[outcome.status] += 1
        engine.show("verdict", _shown(outcome))
        return outcome

    def _revive(self, hub: "Hub", engine: "BrowserEngine") -> None:
        """Make the device usable if it is not. NoAdapterError if it is gone; then it is not waited for again."""
        if self._gone is not None:
            raise self._gone
        try:
            if hub.ensure(engine, self._return_s):
                # A new device knows nothing of what was bound to the old one.
                self._perform = None
        except NoAdapterError as error:
            self._gone = error
            raise

    def _performed(self, engine: "BrowserEngine", job: Job, name: str) -> Outcome:
        try:
            if self._perform is None:
                self._prepare(engine)
            assert self._perform is not None, "a device that is prepared does jobs"
        except CallError as error:
            return Outcome(name=name, status="failed", message=str(error), lost=True)
        return self._perform(job)

    def _prepare(self, engine: "BrowserEngine") -> Ready:
        """Make ready to measure on the present device. CallError if it is lost over that."""
        from scanbuild.gpu.browser.timing import BrowserTimer

        self._perform, ready = performer(
            self.settings, engine, BrowserTimer(engine, timestamps=self.settings.timestamps)
        )
        return ready


def _shown(outcome: Outcome) -> dict[str, Any]:
    """An outcome in the words that the page shows, with the time of the variant that is selected."""
    shown: dict[str, Any] = {"name": outcome.name, "verdict": outcome.status, "message": outcome.message}
    if outcome.status in _GOOD:
        shown["good"] = _GOOD[outcome.status]
    if outcome.chosen is not None:
        shown |= {"variant": outcome.chosen.variant, "seconds": outcome.chosen.figures.time.median}
    return shown
