"""A Hub that fails, at every step of a push: what is said, what is left there, and that nobody sees the token."""

import base64
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.publishing.local_hub import Action, Fault, LocalHub, Repository
from tests.publishing.packages import bench
from tests.publishing.pushing import (
    REPOSITORY,
    SECRET,
    built,
    good_push,
    push,
    run,
    sources,
    verified,
)

pytestmark = pytest.mark.usefixtures("forgotten")

LOOK = r"GET /api/kernels/.*/revision/v1$"
CREATE = "POST /api/repos/create"
BRANCH = "POST .*/branch/v1"
UPLOAD = "POST .*/preupload/v1"
COMMIT = "POST .*/commit/v1"
TREE = "GET .*/tree/"
READ = "GET /kernels/.*/resolve/"
OLD = ("metadata.json", "manifest.json")
EVERY_STEP = [LOOK, CREATE, BRANCH, COMMIT, TREE, READ]


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    """The library waits between attempts; here it does not have to."""
    clock = SimpleNamespace(**{**vars(time), "sleep": lambda _: None})
    monkeypatch.setattr("huggingface_hub.utils._http.time", clock)


@pytest.fixture(autouse=True)
def nobody_sees_the_token(tmp_path: Path):
    """After each test: no file holds the token, in any form."""
    yield
    forms = [SECRET.encode(), base64.b64encode(SECRET.encode()).rstrip(b"=")]
    for path in tmp_path.rglob("*"):
        if path.is_file() and not path.is_symlink():
            assert not any(form in path.read_bytes() for form in forms), path


def published(hub: LocalHub) -> bool:
    """Whether the branch holds a package."""
    found: Repository | None = hub.repositories.get(("kernel", REPOSITORY))
    return found is not None and "v1" in found.branches and "build/webgpu/metadata.json" in found.files("v1")


def test_no_token_is_told_with_the_way_to_one(package, hub, monkeypatch):
    monkeypatch.delenv("HF_TOKEN")
    result = push()
    assert (result.exit_code, "there is no token to push" in result.stderr) == (2, True)
    assert "hf auth login" in result.stderr and hub.journal == []


def test_a_token_that_was_stored_by_a_login_is_taken(package, hub, monkeypatch, tmp_path):
    monkeypatch.delenv("HF_TOKEN")
    stored = tmp_path / "home" / "token"
    stored.parent.mkdir()
    stored.write_text(f"{SECRET}\n")
    assert push().exit_code == 0
    stored.unlink()


def test_an_unknown_token_is_not_accepted(package, hub):
    hub.tokens.clear()
    result = push()
    assert (result.exit_code, "answers 401" in result.stderr) == (2, True)
    assert "the token is not accepted" in result.stderr and "(the token)" in result.stderr
    assert hub.writes() == []


@pytest.mark.parametrize("broken", [f"{SECRET}\u00e9", f"{SECRET} {SECRET}", f"{SECRET}\x00"[:-1] + "\x7f"])
def test_a_token_that_no_header_can_carry_is_not_shown(package, hub, monkeypatch, broken):
    monkeypatch.setenv("HF_TOKEN", broken)
    result = push()
    assert (result.exit_code, "the token holds characters that no token has" in result.stderr) == (2, True)
    assert hub.journal == []


def test_a_token_for_others_repositories_may_not_create_one(package, hub):
    hub.tokens[SECRET] = {"somebody"}
    result = push()
    assert (result.exit_code, "answers 403" in result.stderr) == (2, True)
    assert "has to be one that may write to what is acme's" in result.stderr
    assert hub.repositories == {}


@pytest.mark.parametrize("step", EVERY_STEP)
@pytest.mark.parametrize("status", [401, 404, 409, 503])
def test_a_refusal_at_any_step_is_told_and_publishes_nothing_by_halves(package, hub, step, status):
    hub.faults.append(Fault(request=step, action="status", status=status, said="so it is"))
    result = push()
    assert result.exit_code == (2 if status in (401, 403) and step != READ else 1), result.output
    unseen = "v1 was created, and is not to be seen"  # a missing branch is what a first push expects to find
    assert (unseen if (step, status) == (LOOK, 404) else f"answers {status}") in result.stderr
    assert published(hub) == (step == READ)
    if step in (BRANCH, COMMIT):
        assert "nothing was published" in result.stderr
    if status == 503:
        hub.faults.clear()
        assert push().exit_code == 0
        assert published(hub)


@pytest.mark.parametrize(
    ("step", "action"),
    [(step, action) for step in EVERY_STEP for action in ("drop", "drop after", "no json")]
    + [(LOOK, "hang"), (COMMIT, "hang"), (READ, "hang")],
)
def test_a_connection_that_breaks_at_any_step_is_told_and_a_second_push_mends_it(package, hub, step, action: Action):
    hub.faults.append(Fault(request=step, action=action))
    result = push(*(("--timeout", "1") if action == "hang" else ()))
    if (step, action) == (BRANCH, "no json"):  # an answer that nobody reads
        assert result.exit_code == 0
    elif result.exit_code == 0:  # the commit was made before the connection broke, and is found
        assert step == COMMIT and action != "drop" and published(hub)
        assert "the Hub's answer was lost, and the commit is there all the same" in result.stderr
    else:
        assert result.exit_code == 1 and "error: " in result.stderr
        assert published(hub) == (step == READ), result.output
    if (step, action) == (COMMIT, "drop"):
        assert "nothing was published: the branch is as it was" in result.stderr
    hub.faults.clear()
    assert push().exit_code == 0
    assert len(hub.kernel(REPOSITORY).commits) == 2


def test_a_commit_of_which_nothing_can_be_learnt_is_told_as_such(package, hub):
    hub.create("kernel", REPOSITORY).add("v1", {"README.md": b"old"})
    hub.faults.append(Fault(request=COMMIT, action="drop after"))
    hub.before["/commit/"] = lambda: hub.faults.append(Fault(request=TREE, action="drop"))
    result = push()
    assert (result.exit_code, "whether the commit was made is not known" in result.stderr) == (1, True)
    hub.faults.clear()
    hub.before.clear()
    assert "nothing to do" in good_push()


def test_a_push_of_somebody_else_in_between_is_not_overwritten(package, hub):
    theirs = hub.create("kernel", REPOSITORY)
    theirs.add("v1", {"README.md": b"old"})
    hub.before["/preupload/"] = lambda: theirs.add("v1", {"README.md": b"theirs"})
    result = push()
    assert (result.exit_code, "answers 412" in result.stderr) == (1, True)
    assert "try again" in result.stderr and "nothing was published" in result.stderr
    assert theirs.files("v1") == {"README.md": b"theirs"}


@pytest.mark.parametrize("action", ["other bytes", "half"])
def test_bytes_that_come_back_otherwise_are_told_by_name_and_digest(package, hub, action: Action):
    hub.faults.append(Fault(request=f"{READ}.*bench.json", action=action))
    result = push()
    assert result.exit_code == 1
    said = "gives another build/webgpu/bench.json than was sent: digest" if action == "other bytes" else "read"
    assert said in result.stderr
    assert published(hub)


@pytest.mark.parametrize("step", [LOOK, TREE, READ])
@pytest.mark.parametrize("status", [401, 403, 500])
def test_a_dry_run_bears_a_hub_that_fails_and_says_so(package, hub, step, status):
    hub.create("kernel", REPOSITORY).add("v1", {f"build/webgpu/{name}": b"{}" for name in OLD})
    hub.faults.append(Fault(request=step, action="status", status=status))
    result = push("--dry-run", "--json", "report.json")
    assert result.exit_code == 0 and f"answers {status}" in result.stdout
    report = json.loads(Path("report.json").read_text())
    assert (report["push"]["known"], report["push"]["changes"]) == (False, None)


def test_an_interruption_leaves_nobody_in_doubt_about_what_to_do(package, hub, monkeypatch):
    hub.create("kernel", REPOSITORY)

    def interrupted(*_: object, **__: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("scanbuild.publishing.hub.Hub.commit", interrupted)
    result = run("publish", "--push", REPOSITORY)
    assert (result.exit_code, "push again to find out" in result.stderr) == (130, True)


def test_files_that_the_repository_ignores_are_named(package, hub):
    hub.create("kernel", REPOSITORY).add("v1", {".gitignore": b"bench.json\n"})
    result = push()
    assert (result.exit_code, "took the commit without build/webgpu/bench.json" in result.stderr) == (1, True)
    assert ".gitignore" in result.stderr


@pytest.mark.parametrize("kind", ["model", "dataset", "space"])
def test_a_repository_of_another_type_is_named(package, hub, kind):
    hub.create(kind, REPOSITORY)
    result = push()
    assert (result.exit_code, f"is there already, and is a {kind}, not a kernel" in result.stderr) == (1, True)
    assert list(hub.repositories) == [(kind, REPOSITORY)]


def test_a_hub_that_is_always_busy_creating_is_not_asked_for_ever(package, hub):
    said = "Cannot create repo: another conflicting operation is in progress"
    hub.faults.append(Fault(request=CREATE, action="status", status=409, said=said))
    result = push()
    assert (result.exit_code, "the Hub is busy" in result.stderr) == (1, True)
    assert hub.journal.count(CREATE) == 5


def test_a_transfer_that_fails_once_is_tried_again(package, hub):
    hub.faults.append(Fault(request=UPLOAD, action="status", status=503, times=2))
    assert push().exit_code == 0


def test_an_earlier_package_stays_whole_when_a_new_one_fails(tmp_path, package, hub):
    good_push()
    before = hub.kernel(REPOSITORY).files("v1")
    verified(built(sources(tmp_path / "sources", {"Twice/bench.json": {"cases": [bench("other", 9)]}})))
    hub.faults.append(Fault(request=COMMIT, action="drop"))
    assert push().exit_code == 1
    assert hub.kernel(REPOSITORY).files("v1") == before


@pytest.mark.parametrize(
    "address", ["huggingface.co", "ftp://127.0.0.1", "http://", "http://[", "http://example.org", "http://a@127.0.0.1"]
)
def test_an_address_that_is_no_hub_gets_no_token(package, hub, monkeypatch, address):
    monkeypatch.setenv("HF_ENDPOINT", address)
    result = push()
    assert (result.exit_code, "HF_ENDPOINT" in result.stderr) == (2, True)


def test_an_address_where_nobody_listens_is_told(package, hub, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    result = push()
    assert (result.exit_code, "the connection to http://127.0.0.1:1 failed" in result.stderr) == (1, True)


def test_staying_offline_is_respected(package, hub, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    result = push()
    assert (result.exit_code, "HF_HUB_OFFLINE" in result.stderr) == (2, True)
    assert hub.journal == []


def test_a_hub_that_is_slow_is_waited_for_as_long_as_was_said(package, hub):
    hub.faults.append(Fault(request=LOOK, action="hang", times=1))
    start = time.monotonic()
    result = push("--timeout", "0.2")
    assert time.monotonic() - start < 2.9
    assert "did not answer within 0.2 seconds" in result.stderr and "--timeout" in result.stderr
    assert result.exit_code == 1


@pytest.mark.parametrize("fault", [None, Fault(request=COMMIT, action="status", status=500)])
def test_a_process_of_its_own_shows_no_token_and_leaves_nothing_at_home(package, hub, tmp_path, fault):
    """With everything on that talks: -v, --debug, the library's own debugging."""
    hub.faults += [fault] if fault else []
    home = tmp_path / "home"
    environment = {**os.environ, "HOME": str(home), "SCANBUILD_DEBUG": "1", "HF_DEBUG": "1", "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "scanbuild", "publish", "--push", REPOSITORY, "-vv", "--debug"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == (1 if fault else 0), done.stderr
    assert SECRET not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert not home.exists() or list(home.rglob("*")) == []


def test_a_fault_of_our_own_shows_no_token_either(package, hub, monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("scanbuild.publishing.hub.Hub.look", lambda *_: 1 / 0)
    for debug in ("0", "1"):
        result = run("publish", "--push", REPOSITORY, SCANBUILD_DEBUG=debug)
        assert result.exit_code == 4
        assert SECRET not in result.output
    (left,) = tmp_path.glob("scanbuild-fault-*")
    text = left.read_text()
    assert "ZeroDivisionError" in text and SECRET not in text
