"""One way in for every kind of location: a folder, a URL, or a repository of the Hub."""

import re
from pathlib import Path

from scanbuild.errors import InputError, LoadError, Problem
from scanbuild.package.fetching import Fetch
from scanbuild.package.folder import open_folder
from scanbuild.package.load import LoadOptions, PackageCache, is_repository, load_package, prefetch
from scanbuild.package.loaded import Package
from scanbuild.package.model import ABSENT
from scanbuild.package.report import shown

_URL = re.compile(r"https?:", re.IGNORECASE)


def open_package(
    location: str | Path, options: LoadOptions, *, cache: PackageCache | None = None, fetch: Fetch | None = None
) -> Package:
    """The package at a location: a folder that exists, else a URL or repository as ``getKernel`` takes them.

    The Hub is where ``HF_ENDPOINT`` says, if it is set. A folder needs no trust, version or op id. Raises InputError,
    mostly LoadError. ``fetch`` replaces the network.
    """
    if isinstance(location, Path) or _is_folder(location):
        return _open_folder(Path(location), options)
    names_revision = options.version is not ABSENT or options.revision not in (None, ABSENT)
    if not is_url(location) and not (is_repository(location) and names_revision):
        hint = "a repository of the Hub needs a version or a revision" if is_repository(location) else ""
        raise InputError(Problem(message="there is no such folder", rule="folder", file=location, hint=hint))
    if fetch is None:
        from scanbuild.package.remote import UrlFetch, hub_address

        fetch = UrlFetch(options.token, hub=hub_address())
    return load_package(location, options, fetch, cache)


def is_url(location: str) -> bool:
    """Whether a location is the http or https address of a package."""
    return _URL.match(location) is not None


def _is_folder(location: str) -> bool:
    try:
        return location != "" and Path(location).is_dir()
    except (OSError, ValueError):
        return False


def _open_folder(folder: Path, options: LoadOptions) -> Package:
    package = open_folder(folder, verify_hashes=options.verifies)
    op_id = package.manifest.op_id
    if options.expected_op_id is not ABSENT and options.expected_op_id != op_id:
        message = f"the kernel is {shown(op_id)}, not {options.expected_op_id!r} as expected"
        raise LoadError(Problem(message=message, rule="expected-op-id", file=str(folder)))
    return prefetch(package) if options.mode == "all" else package
