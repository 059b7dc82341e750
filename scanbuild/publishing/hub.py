"""A kernel repository on the Hub, as far as publishing needs one: look, create, commit, read.

``huggingface_hub`` does the asking. Its 2.4.0 knows repositories of type ``kernel`` in all calls that are used here:
``create_repo``, ``create_commit`` and its uploads, ``kernel_info``, ``list_repo_tree``; ``create_branch`` takes any
type. Files are read back with the fetch that packages are loaded with, from the very URLs that the loader asks.

What is not left to the library:

* It waits for an answer without end, and repeats some requests for as long as the Hub says "busy". Here a request has
  a time limit, and an operation a number of requests.
* Its messages may quote what the Hub says, and the Hub could say the token. Every message passes through one place
  that takes the token out.
* It can tell the Hub about this machine, and logs to standard error. Both are switched off.
"""

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit

from scanbuild import __version__
from scanbuild.errors import InputError, Problem, ScanbuildError
from scanbuild.package.fetching import FetchError
from scanbuild.package.load import HUB
from scanbuild.package.remote import LOOPBACK, UrlFetch, is_sendable

if TYPE_CHECKING:
    import httpx2
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

KIND: Final = "kernel"
_OTHER_KINDS: Final = ("model", "dataset", "space")
_READERS: Final = 8
_SAID: Final = 300
_MOST_REQUESTS: Final = 200
_CREATE_REQUESTS: Final = 5


class HubError(ScanbuildError):
    """The Hub did not do what it was asked. ``uncertain`` if it may have done it all the same."""

    exit_status = 1

    def __init__(self, *problems: Problem | str, uncertain: bool = False) -> None:
        super().__init__(*problems)
        self.uncertain = uncertain


@dataclass(frozen=True, kw_only=True, slots=True)
class RemoteFile:
    """A file of a commit: its size in bytes, and its digest in hexadecimal digits.

    The digest is git's (SHA-1 over a header and the content), or SHA-256 of the content of a large file.
    """

    size: int
    digest: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Remote:
    """What is on the Hub: whether the repository exists, the branch's last commit ("" without it), and its files."""

    exists: bool
    head: str = ""
    files: Mapping[str, RemoteFile] = field(default_factory=dict)


class Hub:
    """One repository, ``ORG/NAME``, of type ``kernel``."""

    def __init__(self, repository: str, token: str | None, *, address: str = HUB, timeout: float = 60) -> None:
        """``timeout`` is in seconds of silence. Raises InputError where the library is missing, or the address is no
        place to send a token to."""
        library = require_library()
        problems = address_problems(address)
        if problems:
            raise InputError(*problems)
        self.repository, self.address = repository, address.rstrip("/")
        self._token, self._timeout, self._requests = token, timeout, 0
        library.set_client_factory(self._client)
        self._api: HfApi = library.HfApi(
            endpoint=self.address,
            token=token if token is not None else False,
            library_name="scanbuild",
            library_version=__version__,
        )

    @property
    def authorized(self) -> bool:
        """Whether there is a token."""
        return self._token is not None

    def look(self, branch: str) -> Remote:
        """What is there now."""
        from huggingface_hub import RepoFile

        with self._asking(f"look at {self.repository}"):
            head = self._head(branch)
            if not head:
                return Remote(exists=head is not None)
            tree = self._api.list_repo_tree(self.repository, recursive=True, revision=head, repo_type=KIND)
            files = {
                item.path: RemoteFile(size=item.size, digest=item.lfs.sha256 if item.lfs else item.blob_id)
                for item in tree
                if isinstance(item, RepoFile)
            }
        return Remote(exists=True, head=head, files=files)

    def create(self) -> None:
        """Create the repository, which is not there. HubError if one of another type is."""
        with self._asking(f"create {self.repository}", requests=_CREATE_REQUESTS):
            try:
                self._api.create_repo(self.repository, repo_type=KIND)
            except _http_error() as error:
                other = self._other_kind() if error.response.status_code == 409 else ""
                if not other:
                    raise
                message = f"{self.repository} is there already, and is a {other}, not a {KIND}"
                hint = f"choose another owner, or rename the {other}"
                raise HubError(Problem(message=message, rule="hub", stage="own", hint=hint)) from None

    def create_branch(self, branch: str) -> None:
        """Create a branch, which is not there, from the default one."""
        with self._asking(f"create the branch {branch} of {self.repository}"):
            self._api.create_branch(self.repository, branch=branch, repo_type=KIND)

    def commit(self, branch: str, files: Mapping[str, bytes], removed: Sequence[str], parent: str, message: str) -> str:
        """Write files and remove others in one commit on top of ``parent``; the new commit.

        It is made whole or not at all, and not if the branch has moved on. After an uncertain HubError, look.
        """
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        with self._asking(f"commit to {self.repository}"):
            made = self._api.create_commit(
                self.repository,
                [
                    *(CommitOperationAdd(path_in_repo=name, path_or_fileobj=data) for name, data in files.items()),
                    *(CommitOperationDelete(path_in_repo=name, is_folder=False) for name in removed),
                ],
                commit_message=message,
                repo_type=KIND,
                revision=branch,
                parent_commit=parent,
            )
            return str(made.oid)

    def read(self, branch: str, names: Sequence[str]) -> dict[str, bytes]:
        """The content of files of a branch, as the loader gets it. HubError for one that cannot be had."""
        fetch = UrlFetch(self._token, hub=self.address, timeout=self._timeout)

        def one(name: str) -> bytes:
            return fetch(f"{HUB}kernels/{self.repository}/resolve/{quote(branch, safe='')}/{name}")

        try:
            with ThreadPoolExecutor(_READERS) as readers:
                return dict(zip(names, readers.map(one, names), strict=True))
        except FetchError as error:
            raise HubError(self._problem(f"cannot read {self.repository} back: {error}")) from None

    def _head(self, branch: str) -> str | None:
        """The last commit of a branch; "" without the branch, None without the repository."""
        try:
            return str(self._api.kernel_info(self.repository, revision=branch, timeout=self._timeout).sha)
        except _http_error() as error:
            if error.response.status_code != 404:
                raise
        try:
            self._api.kernel_info(self.repository, timeout=self._timeout)
        except _http_error() as error:
            if error.response.status_code != 404:
                raise
            return None
        return ""

    def _other_kind(self) -> str:
        """The type of the repository that has the name, if it is another."""
        for kind in _OTHER_KINDS:
            try:
                self._api.repo_info(self.repository, repo_type=kind, timeout=self._timeout)
            except _http_error():
                continue
            return kind
        return ""

    def _client(self) -> "httpx2.Client":
        from huggingface_hub.utils._http import default_client_factory

        client = default_client_factory()
        client.timeout = self._timeout
        client.event_hooks = {**client.event_hooks, "request": [*client.event_hooks["request"], self._count]}
        return client

    def _count(self, _request: object) -> None:
        """Called before every request: an operation may make only so many, and take only so long."""
        self._requests -= 1
        if self._requests < 0 or time.monotonic() > self._until:
            raise HubError(self._problem("the Hub is busy, and was asked in vain for too long", "try again later"))

    @contextmanager
    def _asking(self, what: str, requests: int = _MOST_REQUESTS) -> Iterator[None]:
        """Turn whatever can go wrong while the Hub is asked into an error in words, without the token in them."""
        import httpx2
        from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

        self._requests, self._until = requests, time.monotonic() + 5 * self._timeout
        try:
            yield
        except HfHubHTTPError as error:
            failure = self._refusal(what, error)
        except OfflineModeIsEnabled:
            failure = InputError(self._problem(f"cannot {what}: HF_HUB_OFFLINE says to stay offline"))
        except httpx2.TimeoutException:
            message = f"cannot {what}: the Hub did not answer within {self._timeout:g} seconds"
            failure = HubError(self._problem(message, "try again, or give it longer with --timeout"), uncertain=True)
        except (httpx2.HTTPError, OSError) as error:
            message = f"cannot {what}: the connection to {self.address} failed: {str(error) or type(error).__name__}"
            failure = HubError(self._problem(message, "try again"), uncertain=True)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            said = f"{type(error).__name__}: {error}"[:_SAID]
            failure = HubError(self._problem(f"cannot {what}: the answer makes no sense: {said}"), uncertain=True)
        else:
            return
        raise failure from None

    def _refusal(self, what: str, error: "HfHubHTTPError") -> ScanbuildError:
        status = error.response.status_code
        said = (error.server_message or "").strip()[:_SAID]
        message = f"cannot {what}: {self.address} answers {status}" + (f": {said}" if said else "")
        if status == 401:
            hint = "log in with `hf auth login`, or set HF_TOKEN to a token of an account that may write there"
            if self.authorized:
                hint = f"the token is not accepted (any more): {hint}"
            return InputError(self._problem(message, hint))
        if status == 403:
            owner = self.repository.partition("/")[0]
            return InputError(self._problem(message, f"the token has to be one that may write to what is {owner}'s"))
        if status in (409, 412):
            return HubError(self._problem(message, "somebody else may have pushed at the same time: try again"))
        if status == 429 or status >= 500:
            hint = "nothing is wrong with the package: try again later"
            return HubError(self._problem(message, hint), uncertain=status >= 500)
        return HubError(self._problem(message))

    def _problem(self, message: str, hint: str = "") -> Problem:
        return Problem(message=self._without_token(message), hint=hint, rule="hub", stage="own")

    def _without_token(self, text: str) -> str:
        for form in {self._token or "", quote(self._token or "", safe="")} - {""}:
            text = text.replace(form, "(the token)")
        return text


def require_library() -> Any:
    """``huggingface_hub``, told to keep to itself. InputError where it is not installed."""
    try:
        import huggingface_hub
        from huggingface_hub import constants
    except ImportError:
        message = "pushing to the Hub needs the package huggingface_hub, which is not installed"
        hint = "pip install 'scanbuild[hub]'"
        raise InputError(Problem(message=message, rule="hub", stage="own", hint=hint)) from None
    constants.HF_HUB_DISABLE_TELEMETRY = True
    constants.HF_HUB_DISABLE_PROGRESS_BARS = True
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    return huggingface_hub


def find_token() -> str | None:
    """The token that ``huggingface_hub`` finds: of ``HF_TOKEN``, of ``hf auth login``. InputError for one that cannot
    be used, which is not shown."""
    library = require_library()
    try:
        token = library.get_token()
    except Exception as error:  # whatever the library does to get one, its words may hold a part of it
        message = f"there is no token to be had: huggingface_hub fails with {type(error).__name__}"
        raise InputError(Problem(message=message, rule="token", stage="own")) from None
    if token is not None and not is_sendable(token):
        message = "the token holds characters that no token has (it is not shown here)"
        raise InputError(Problem(message=message, rule="token", stage="own", hint="see HF_TOKEN"))
    return token if token is None else str(token)


def address_problems(address: str) -> list[Problem]:
    """Why the Hub cannot be at an address, as ``HF_ENDPOINT`` may name it."""
    try:
        parts = urlsplit(address)
        host, known = parts.hostname or "", parts.scheme in ("http", "https") and parts.username is None
        _ = parts.port
    except ValueError:
        host, known = "", False
    if not host or not known or parts.query or parts.fragment:
        return [_address_problem("HF_ENDPOINT is not the address of a Hub, such as https://huggingface.co")]
    if parts.scheme == "http" and host not in LOOPBACK:
        return [_address_problem(f"HF_ENDPOINT names {host} without encryption, and the token would be sent there")]
    return []


def _address_problem(message: str) -> Problem:
    return Problem(message=message, rule="hub", stage="own", hint="unset it, or name an https address")


def _http_error() -> "type[HfHubHTTPError]":
    from huggingface_hub.errors import HfHubHTTPError

    return HfHubHTTPError
