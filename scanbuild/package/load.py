"""Loading a package as ``getKernel`` does: arguments (1.1), URL (1.2), order of work (1.4), caching (1.8)."""

import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import quote

from scanbuild.errors import LoadError, Problem, raise_if_any
from scanbuild.package.fetching import Fetch, FetchError
from scanbuild.package.loaded import Package, Store, digest_problem
from scanbuild.package.manifest import read_manifest
from scanbuild.package.metadata import MANIFEST_FILE, METADATA_FILE, Metadata, cross_report, read_metadata
from scanbuild.package.model import ABSENT
from scanbuild.package.report import shown
from scanbuild.package.substitution import text_form
from scanbuild.package.text import decode, encode, printable
from scanbuild.package.values import is_natural

TRUSTED_PUBLISHER: Final = "webgpu-kernels"
HUB: Final = "https://huggingface.co/"
FOLDER: Final = "build/webgpu"

_REPOSITORY = re.compile(r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+")
_DIRECT = re.compile(r"https?:|[/.]", re.IGNORECASE)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_UNESCAPED = "!~*'()"


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadOptions:
    """The options of ``getKernel``. Their types are checked when they are used, as the loader does.

    ABSENT stands for an option that is not given, where None (``null``) means something else.
    """

    version: object = ABSENT
    revision: object = None
    token: str | None = None
    verify_hashes: object = True
    expected_op_id: object = ABSENT
    trust_remote_code: object = False
    templates: object = "selected"

    @property
    def verifies(self) -> bool:
        """Only the literal False turns verification off."""
        return self.verify_hashes is not False

    @property
    def mode(self) -> str:
        """``all`` or ``selected``."""
        return "all" if self.templates == "all" else "selected"


class PackageCache:
    """Packages loaded by commit: the 64 used last. Concurrent loads of one key share the work (1.8)."""

    def __init__(self, size: int = 64) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._entries: OrderedDict[tuple[str, str, bool, str], Future[Package]] = OrderedDict()

    def claim(self, key: tuple[str, str, bool, str]) -> tuple[Future[Package], bool]:
        """The package's future, and whether the caller has to load it."""
        with self._lock:
            known = self._entries.get(key)
            if known is not None:
                self._entries.move_to_end(key)
                return known, False
            made: Future[Package] = Future()
            self._entries[key] = made
            while len(self._entries) > self._size:
                self._entries.popitem(last=False)
            return made, True

    def holds(self, key: tuple[str, str, bool, str]) -> bool:
        """Whether the key is loaded, or being loaded."""
        with self._lock:
            return key in self._entries

    def drop(self, key: tuple[str, str, bool, str]) -> None:
        """Forget a load that failed."""
        with self._lock:
            self._entries.pop(key, None)


def load_package(location: str, options: LoadOptions, fetch: Fetch, cache: PackageCache | None = None) -> Package:
    """The package at a repository, URL or path. Raises LoadError where ``getKernel`` would reject.

    ``fetch`` gets the URLs of 1.2. With a ``cache``, a package loaded by commit is loaded once.
    """
    revision = _check_arguments(location, options)
    key = location, revision, options.verifies, options.mode
    if cache is None or _COMMIT.fullmatch(revision) is None:
        _check_need_of_op_id(location, options)
        return _load(location, revision, options, fetch)
    if not cache.holds(key):
        _check_need_of_op_id(location, options)
    future, ours = cache.claim(key)
    if ours:
        try:
            future.set_result(_load(location, revision, options, fetch))
        except BaseException as error:
            cache.drop(key)
            future.set_exception(error)
    return future.result()


def is_repository(location: str) -> bool:
    """Whether a location looks like ``organisation/name``; ``./name`` does too."""
    return _REPOSITORY.fullmatch(location) is not None


def package_url(location: str, revision: str, file: str) -> str:
    """Where a file of a package is fetched from (1.2)."""
    if _DIRECT.match(location):
        return f"{location.removesuffix('/')}/{FOLDER}/{file}"
    return f"{HUB}kernels/{location}/resolve/{quote(revision, safe=_UNESCAPED)}/{FOLDER}/{file}"


def _refuse(rule: str, message: str, hint: str = "") -> LoadError:
    return LoadError(Problem(message=message, rule=rule, hint=hint))


def _check_arguments(location: str, options: LoadOptions) -> str:
    """The revision, after the checks that come before any network access."""
    publisher = location.partition("/")[0] if is_repository(location) else ""
    if options.trust_remote_code is not True and publisher != TRUSTED_PUBLISHER:
        hint = "give trust_remote_code=True (--trust-remote-code) if you trust its publisher"
        raise _refuse("trust", f"{shown(location)} is not published by {TRUSTED_PUBLISHER}", hint)
    version = options.version
    if version is not ABSENT and not is_natural(version):  # type: ignore[arg-type]
        raise _refuse("version", f"a version has to be a whole number from 0, not {version!r}")
    if options.revision is not None and options.revision is not ABSENT:
        revision = text_form(options.revision)  # type: ignore[arg-type]
    elif version is not ABSENT:
        revision = f"v{int(version)}"  # type: ignore[call-overload]
    else:
        raise _refuse("revision", "there is no default branch; give a version or a revision")
    try:
        revision.encode()
    except UnicodeEncodeError:
        raise _refuse("revision", "the revision holds a lone surrogate") from None
    return revision


def _check_need_of_op_id(location: str, options: LoadOptions) -> None:
    if not is_repository(location) and options.expected_op_id is ABSENT:
        hint = "give expected_op_id, the <domain>.<name> of the kernel"
        raise _refuse("expected-op-id", f"{shown(location)} is no repository, so the op id is needed", hint)


def _load(location: str, revision: str, options: LoadOptions, fetch: Fetch) -> Package:
    def fetch_file(path: str) -> bytes:
        return fetch(package_url(location, revision, path))

    package = assemble(location, fetch_file, verify=options.verifies)
    op_id = package.manifest.op_id
    basename = location.rpartition("/")[2]
    if is_repository(location) and basename != op_id:
        raise _refuse("op-id", f"the repository is called {shown(basename)}, and its kernel {shown(op_id)}")
    if options.expected_op_id is not ABSENT and options.expected_op_id != op_id:
        raise _refuse("expected-op-id", f"the kernel is {shown(op_id)}, not {options.expected_op_id!r} as expected")
    if options.mode == "all":
        package = prefetch(package)
    return package


def prefetch(package: Package) -> Package:
    """The package with every template fetched and verified; raises LoadError."""
    package.store.texts(package.metadata.templates(), LoadError)
    return replace(package, prefetched=True)


def assemble(location: str, fetch: Fetch, *, verify: bool, prefix: str = "", eager: bool = False) -> Package:
    """A package whose files are fetched by their path within the package. Raises LoadError.

    Nothing here depends on where the files come from; the rules on repositories and options are the caller's.
    Problems name files with ``prefix`` before their path. An ``eager`` reader fetches the manifest although the
    metadata is wrong, to report the problems of both.
    """
    metadata_text, manifest_text = _fetch_text(fetch, METADATA_FILE, prefix), ""
    problems: list[Problem] = []
    metadata: Metadata | None = None
    try:
        metadata = read_metadata(metadata_text, prefix + METADATA_FILE)
    except LoadError as error:
        if not eager:
            raise
        problems += error.problems
    try:
        manifest_text = _fetch_text(fetch, MANIFEST_FILE, prefix)
        digests = metadata.files if metadata is not None and verify else None
        problem = digest_problem(MANIFEST_FILE, manifest_text, digests)
        problems += [problem.at(prefix + MANIFEST_FILE)] if problem is not None else []
        if eager or not problems:
            manifest = read_manifest(manifest_text, prefix + MANIFEST_FILE)
            if metadata is not None:
                problems += cross_report(metadata, manifest).located(metadata_text, prefix + METADATA_FILE)
    except LoadError as error:
        problems += error.problems
    raise_if_any(problems, LoadError)
    assert metadata is not None
    return Package(
        location=location,
        manifest=manifest,
        metadata=metadata,
        manifest_text=manifest_text,
        store=Store(fetch, metadata.files if verify else None, prefix),
    )


def _fetch_text(fetch: Fetch, path: str, prefix: str) -> str:
    try:
        return decode(fetch(path))
    except FetchError as error:
        raise LoadError(
            Problem(message=f"cannot read the file: {printable(str(error))}", rule="fetch", file=prefix + path)
        ) from None


def package_from_files(files: Mapping[str, str | bytes], *, location: str = "memory", verify: bool = True) -> Package:
    """A package whose files, ``metadata.json`` among them, are in memory. Raises LoadError."""

    def fetch(path: str) -> bytes:
        content = files.get(path)
        if content is None:
            raise FetchError("there is no such file")
        return encode(content) if isinstance(content, str) else content

    return assemble(location, fetch, verify=verify)
