"""Rules on files as such: line ends, byte-order marks, keys written twice, files that are in the wrong place."""

from collections.abc import Iterator
from typing import Final

from scanbuild.checking.subject import Subject
from scanbuild.errors import Problem
from scanbuild.package.jsonfile import duplicate_keys

_BOM: Final = b"\xef\xbb\xbf"
_CRLF: Final = b"\r\n"


def line_ends(subject: Subject) -> Iterator[Problem]:
    """CRLF keeps the newline after a template tag, and is another digest on another machine (4.2)."""
    for path, data in subject.raw.items():
        at = data.find(_CRLF)
        if at < 0:
            continue
        effect = (
            "; the newline after a template tag stays, so this renders other text than with LF"
            if path in subject.templates
            else "; the digest changes with every tool that mends them"
        )
        problem = Problem(
            message=f"{data.count(_CRLF)} lines end in CRLF{effect}",
            rule="crlf",
            hint="use LF; `* text eol=lf` in .gitattributes keeps them so",
            severity="warning",
            stage="own",
        )
        line = data.count(b"\n", 0, at) + 1
        column = len(data[data.rfind(b"\n", 0, at) + 1 : at].decode("utf-8", "replace")) + 1
        yield subject.template_problem(problem, path, line, column)


def byte_order_marks(subject: Subject) -> Iterator[Problem]:
    """A byte-order mark is dropped when the loader reads a file, so the file's own digest never matches (1.5)."""
    for path, data in subject.raw.items():
        if data.startswith(_BOM):
            problem = Problem(
                message="the file begins with a byte-order mark; digests are those of the text without it",
                rule="bom",
                hint="save it as UTF-8 without BOM",
                severity="warning",
                stage="own",
            )
            yield subject.template_problem(problem, path, 1, 1)


def encodings(subject: Subject) -> Iterator[Problem]:
    """Bytes that are no UTF-8 become U+FFFD when the loader reads them."""
    for path, data in subject.raw.items():
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            problem = Problem(
                message="the file is no UTF-8; the loader reads what it cannot decode as U+FFFD",
                rule="encoding",
                hint="save it as UTF-8",
                severity="warning",
                stage="own",
            )
            yield subject.template_problem(problem, path, line, 1)


def doubled_keys(subject: Subject) -> Iterator[Problem]:
    """Of a key written twice in one object the last value counts."""
    if subject.kind == "source":
        return  # read_source has told already
    texts = [subject.text, *subject.case_files]
    if subject.metadata_text is not None:
        texts.append(subject.metadata_text)
    for text in texts:
        yield from duplicate_keys(text.text, text.file)
