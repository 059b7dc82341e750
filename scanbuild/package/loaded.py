"""A loaded package: manifest and metadata at once, templates when a variant needs them (1.4)."""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from scanbuild.errors import CallError, LoadError, Problem, ScanbuildError, Stage
from scanbuild.package.digest import digest_text
from scanbuild.package.fetching import Fetch, FetchError
from scanbuild.package.metadata import Metadata
from scanbuild.package.model import Manifest
from scanbuild.package.report import shown
from scanbuild.package.text import decode, printable

_AT_ONCE: Final = 8


class Store:
    """The template texts of one package: each is fetched and verified once, a failure is not kept."""

    def __init__(self, fetch: Fetch, digests: Mapping[str, str] | None, prefix: str = "") -> None:
        """``fetch`` takes a path within the package. ``digests`` is None if nothing is to be verified."""
        self._fetch, self._digests, self._prefix = fetch, digests, prefix
        self._texts: dict[str, str] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def texts(self, paths: Iterable[str], kind: type[ScanbuildError]) -> dict[str, str]:
        """Path -> text, several fetched at a time; raises ``kind`` with a problem for every file that fails."""
        wanted = list(dict.fromkeys(paths))
        missing = [path for path in wanted if path not in self._texts]
        if len(missing) > 1:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(min(_AT_ONCE, len(missing))) as pool:
                outcomes = list(pool.map(self._get, missing))
        else:
            outcomes = [self._get(path) for path in missing]
        problems = [outcome for outcome in outcomes if outcome is not None]
        if problems:
            stage: Stage = "load" if kind is LoadError else "call"
            raise kind(*(replace(problem, file=self._prefix + problem.file, stage=stage) for problem in problems))
        return {path: self._texts[path] for path in wanted}

    def fetched(self) -> dict[str, str]:
        """Path -> text of everything fetched so far."""
        return dict(self._texts)

    def _get(self, path: str) -> Problem | None:
        """Fetch a file unless it is there; a problem if that fails."""
        with self._lock:
            lock = self._locks.setdefault(path, threading.Lock())
        with lock:
            if path in self._texts:
                return None
            try:
                text = decode(self._fetch(path))
            except FetchError as error:
                return Problem(message=f"cannot read the template: {printable(str(error))}", rule="fetch", file=path)
            problem = digest_problem(path, text, self._digests)
            if problem is None:
                self._texts[path] = text
            return problem


def digest_problem(path: str, text: str, digests: Mapping[str, str] | None) -> Problem | None:
    """A problem if the text of a file does not have the digest that is listed for it."""
    if digests is None or digest_text(text) == digests[path]:
        return None
    message = f"the digest of the file is {digest_text(text)}; metadata.json lists {shown(digests[path])}"
    return Problem(message=message, rule="digest", file=path, hint="was it edited after the build?")


@dataclass(frozen=True, kw_only=True)
class Package:
    """What the loader knows of a package. ``location`` is where it was loaded from, in words."""

    location: str
    manifest: Manifest
    metadata: Metadata
    manifest_text: str = field(repr=False)
    store: Store = field(repr=False, compare=False)
    prefetched: bool = False

    def templates(self, variant_id: str) -> Mapping[str, str]:
        """Path -> text of the files listed for a variant; of all templates if the package was loaded with them.

        Files are fetched at the first request that needs them. Raises CallError for one that is missing or whose
        digest is wrong; a later request tries again.
        """
        if self.prefetched:
            return self.store.fetched()
        return self.store.texts(self.metadata.variants[variant_id], CallError)
