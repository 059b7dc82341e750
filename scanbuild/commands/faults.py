"""From an exception to words and an exit status."""

import errno
import os
import sys

import click

from scanbuild.commands.console import Console
from scanbuild.errors import ScanbuildError

INPUT_WRONG = 2
INTERNAL_FAULT = 4
INTERRUPTED = 128 + 2
BROKEN_PIPE = 128 + 13

_OUT_OF_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What writing to a file that is open fails with, no name being told."""
_WORDS = {
    errno.EEXIST: "this is a file; a folder is needed here",
    errno.ENOTDIR: "this lies under a file; a folder is needed there",
}


def report_failure(failure: BaseException, console: Console) -> int:
    """Tell the user what went wrong, and return the exit status for it."""
    if isinstance(failure, ScanbuildError):
        console.problems(failure.problems)
        return failure.exit_status
    if isinstance(failure, click.ClickException):
        failure.show()
        return INPUT_WRONG
    if isinstance(failure, (click.Abort, KeyboardInterrupt)):
        console.problem_text("interrupted")
        return INTERRUPTED
    if isinstance(failure, OSError):
        return _report_os_error(failure, console)
    return _report_fault(failure, console)


def _report_os_error(failure: OSError, console: Console) -> int:
    """A file that cannot be read or written is the user's to mend; any other system error is a fault."""
    if failure.errno == errno.EPIPE:
        # The reader has gone (as with `| head`). Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    if failure.filename is None and failure.errno not in _OUT_OF_ROOM:
        return _report_fault(failure, console)
    words = _WORDS.get(failure.errno or 0) or (failure.strerror or str(failure)).lower()
    console.problem_text(f"{failure.filename or 'what was to be said or written is lost'}: {words}")
    return INPUT_WRONG


def _report_fault(failure: BaseException, console: Console) -> int:
    kind = type(failure).__name__
    said = (str(failure).splitlines() or [""])[0][:200]
    if console.debug:
        import traceback

        traceback.print_exception(failure)
        console.problem_text(f"internal fault: {kind}: {said}")
        return INTERNAL_FAULT
    console.problem_text(
        f"internal fault: {kind}: {said}\nThis is a mistake in scanbuild, not in your input; {_full_report(failure)}"
    )
    return INTERNAL_FAULT


def _full_report(failure: BaseException) -> str:
    """Write the traceback to a file, and say where it is; or how to see it, where none can be written."""
    import tempfile
    import traceback

    try:
        with tempfile.NamedTemporaryFile("w", prefix="scanbuild-fault-", suffix=".txt", delete=False) as report:
            report.write(f"scanbuild {' '.join(sys.argv[1:])}\nPython {sys.version}\n\n")
            report.write("".join(traceback.format_exception(failure)))
    except (OSError, UnicodeError):
        return "set SCANBUILD_DEBUG=1 to see the full report"
    return f"the full report is in {report.name}"
