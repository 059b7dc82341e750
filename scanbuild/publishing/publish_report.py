"""What a publication amounts to, as JSON (``schemas/publish-report.schema.json``)."""

from collections.abc import Mapping, Sequence
from typing import Any

from scanbuild.errors import Problem
from scanbuild.package.digest import digest_bytes
from scanbuild.package.load import FOLDER
from scanbuild.package.loaded import Package
from scanbuild.package.metadata import METADATA_FILE
from scanbuild.publishing.push import Pushed, PushPlan


def publish_report(
    package: Package,
    files: Mapping[str, bytes],
    *,
    folder: str | None,
    push: Mapping[str, Any] | None = None,
    refusals: Sequence[Problem] = (),
) -> dict[str, Any]:
    """The report. ``folder`` is what was written, None in a dry run, whose ``refusals`` keep a push from happening."""
    return {
        "package": package.manifest.op_id,
        "digest": digest_bytes(files[f"{FOLDER}/{METADATA_FILE}"]),
        "dryRun": folder is None,
        "folder": folder,
        "files": {name: {"bytes": len(data), "digest": digest_bytes(data)} for name, data in files.items()},
        "push": None if push is None else dict(push),
        "refusals": [problem.message for problem in refusals],
    }


def push_json(repository: str, plan: PushPlan, done: Pushed | None) -> dict[str, Any]:
    """What a push did, or would do where ``done`` is None."""
    known = plan.remote is not None
    commit = "" if done is None else done.commit or (plan.remote.head if plan.remote is not None else "")
    return {
        "repository": repository,
        "branch": plan.branch,
        "known": known,
        "changes": {name: change for name, change in plan.changes.items() if change != "same"} if known else None,
        "removed": list(plan.removed),
        "createsRepository": done.created if done is not None else known and not plan.exists,
        "createsBranch": done.branched if done is not None else known and not plan.has_branch,
        "commit": commit or None,
        "didNothing": done is not None and not done.commit,
    }
