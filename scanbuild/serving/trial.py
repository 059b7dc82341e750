"""A package's cases in the browser that asks for it, as ``verify --engine browser`` runs them."""

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scanbuild.cases.browsing import WORDS, BrowserBackend
from scanbuild.cases.casefile import Case, read_tests
from scanbuild.cases.origin import source_of_build
from scanbuild.cases.worker import OpenPackage, RunTask, WorkerSettings
from scanbuild.errors import CheckFailedError, InputError, Problem, ScanbuildError
from scanbuild.gpu.browser.host import Host
from scanbuild.gpu.browser.reception import Do, Reception
from scanbuild.gpu.browser.site import new_token
from scanbuild.package.fetching import FetchError
from scanbuild.package.source import TEST_FILE
from scanbuild.package.text import decode
from scanbuild.serving.shelf import Place

ARRIVAL_LIMIT_S: Final = 30.0
"""The page that began the tests has so long to come for them."""

RETURN_LIMIT_S: Final = 5.0
"""A page whose connection is lost may take so long to come back; one that was left does not."""

MOST_AT_ONCE: Final = 4
_MOST_KEPT: Final = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """What is tested: a package and all its cases. ``source`` has the reference that may be run, if any."""

    op_id: str
    folder: Path
    source: Path | None
    cases: tuple[Case, ...]


def read_subject(place: Place, state: Path) -> Subject:
    """The cases of a package as it is now. ScanbuildError with what keeps them from being run."""
    stock = place.read()
    if stock.package is None:
        raise CheckFailedError(*stock.problems)
    try:
        tests = read_tests(decode(place.content(TEST_FILE)), TEST_FILE, foreign=True)
    except FetchError as error:
        raise InputError(Problem(message=f"the package has no test cases: {error}", file=TEST_FILE)) from None
    if not tests.cases:
        raise InputError(Problem(message="there are no cases to run", file=TEST_FILE))
    op_id = stock.package.manifest.op_id
    source = source_of_build(place.folder, op_id, state)
    return Subject(op_id=op_id, folder=place.folder, source=source, cases=tests.cases)


class Trial:
    """One run, for the page that knows its token. It ends by itself, when its page leaves, or when it is told to."""

    def __init__(self, subject: Subject, do: Do, notice: Callable[[str], None]) -> None:
        self.token = new_token()
        self.reception = Reception(do, notice)
        self._subject = subject
        self._notice = notice
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="scanbuild-trial", daemon=True)

    @property
    def is_over(self) -> bool:
        """Whether nothing runs any more."""
        return not self._thread.is_alive()

    def start(self) -> None:
        """Begin to wait for the page."""
        self._thread.start()

    def stop(self) -> None:
        """Run no case after the one that runs."""
        self._stopped.set()

    def _run(self) -> None:
        host = Host(self.reception, self._notice, "")
        backend = BrowserBackend(
            WorkerSettings(), lambda: (host, host.next_engine(ARRIVAL_LIMIT_S)), return_s=RETURN_LIMIT_S
        )
        subject, counts = self._subject, Counter[str]()
        try:
            with backend:
                described = backend.start().described
                backend.open(OpenPackage(folder=subject.folder, source=subject.source, tasks=len(subject.cases)))
                for case in subject.cases:
                    result = backend.run(RunTask(case=case))
                    if self._stopped.is_set() or backend.gone:
                        raise InterruptedError
                    counts[result.status] += 1
            words = ", ".join(f"{count} {WORDS[status]}" for status, count in counts.items())
            self._notice(f"{subject.op_id}: {words} on {described}")
        except InterruptedError:
            if self._stopped.is_set():
                return
            self._notice(f"{subject.op_id}: the page was left after {counts.total()} of {len(subject.cases)} cases")
        except ScanbuildError as error:
            self._notice(f"{subject.op_id} was not tested: {error}")
        except Exception as error:
            self._notice(f"{subject.op_id} was not tested, by a fault of scanbuild: {type(error).__name__}: {error}")


class Trials:
    """The runs of a server, by their tokens."""

    def __init__(self, do: Do, notice: Callable[[str], None]) -> None:
        self._do = do
        self._notice = notice
        self._trials: dict[str, Trial] = {}

    def begin(self, subject: Subject) -> Trial | None:
        """A new run that waits for its page; None if there are too many already."""
        if sum(not trial.is_over for trial in self._trials.values()) >= MOST_AT_ONCE:
            return None
        for token in [token for token, trial in self._trials.items() if trial.is_over][:-_MOST_KEPT]:
            del self._trials[token]
        trial = Trial(subject, self._do, self._notice)
        self._trials[trial.token] = trial
        trial.start()
        return trial

    def known(self, token: str) -> Trial | None:
        """The run of a token. Tokens are too long to be found by trying, however long a comparison takes."""
        return self._trials.get(token)

    async def end(self, reason: str) -> None:
        """Stop all of them, and tell their pages why."""
        for trial in self._trials.values():
            trial.stop()
            await trial.reception.hang_up(reason)
