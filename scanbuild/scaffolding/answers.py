"""What a new source package is made from, and what is wrong with it, each mistake with a way out."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scanbuild.errors import Problem, raise_if_any
from scanbuild.package.report import closest
from scanbuild.package.repository import LONGEST_NAME, unfit_name
from scanbuild.package.vocabulary import LOGICAL_DTYPES, WGSL_SCALARS, is_domain

KINDS: Final[Mapping[str, str]] = {
    "elementwise": "Multiplies each element of a tensor by a whole factor.",
    "reduction": "Sums a tensor along its last axis.",
    "scan": "Running sums of a tensor along its last axis.",
}
"""What a package can be like, and how one describes itself until its author does."""

DTYPES: Final = ("float32", "float16", "int32", "uint32")
DEFAULT_KIND: Final = "elementwise"
DEFAULT_DTYPES: Final = ("float32", "float16")
DEFAULT_LICENSE: Final = "apache-2.0"

_ALIASES: Final = {
    **{scalar: dtype for dtype, scalar in WGSL_SCALARS.items() if dtype in DTYPES},
    "float": "float32",
    "half": "float16",
    "int": "int32",
    "uint": "uint32",
}
_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")
_LICENSE: Final = re.compile(r"[a-z0-9][a-z0-9.+-]*")


@dataclass(frozen=True, kw_only=True, slots=True)
class Answers:
    """What was decided on, sound: an op id that loader and Hub take, a kind, and the dtypes in the order of DTYPES."""

    op_id: str
    kind: str
    dtypes: tuple[str, ...]
    description: str
    license: str

    @property
    def domain(self) -> str:
        return self.op_id.rpartition(".")[0]

    @property
    def name(self) -> str:
        return self.op_id.rpartition(".")[2]


def answers(
    op_id: str,
    kind: str | None = None,
    dtypes: Sequence[str] = (),
    description: str | None = None,
    license_id: str | None = None,
) -> Answers:
    """The answers, if they are sound; what is left out gets its default.

    Raises InputError with what is wrong with all of them.
    """
    raise_if_any(answer_problems(op_id, kind, dtypes, license_id, description))
    kind, wanted = kind or DEFAULT_KIND, dtypes or DEFAULT_DTYPES
    return Answers(
        op_id=op_id,
        kind=kind,
        dtypes=tuple(dtype for dtype in DTYPES if dtype in wanted),
        description=" ".join((description or "").split()) or KINDS[kind],
        license=license_id or DEFAULT_LICENSE,
    )


def answer_problems(
    op_id: str | None,
    kind: str | None = None,
    dtypes: Sequence[str] = (),
    license_id: str | None = None,
    description: str | None = None,
) -> list[Problem]:
    """What is wrong with the answers that are given; None and no dtypes are left out, and all right."""
    found = [
        None if op_id is None else op_id_problem(op_id),
        None if kind is None else kind_problem(kind),
        *map(dtype_problem, dtypes),
        None if license_id is None else license_problem(license_id),
        None if description is None else description_problem(description),
    ]
    return [problem for problem in found if problem is not None]


def op_id_problem(op_id: str) -> Problem | None:
    """What is wrong with an op id: the loader's rule for the domain, and the Hub's for the name of a repository."""
    if _is_op_id(op_id):
        return None
    shown = op_id if len(op_id) <= LONGEST_NAME else op_id[:LONGEST_NAME] + "..."
    suggested = _repaired(op_id)
    rule = (
        "the domain begins with a small letter and has letters and digits, in parts with dots between them; "
        f"the name has letters, digits, _ and single -, and is not git or ipynb; {LONGEST_NAME} characters at most"
    )
    hint = f"did you mean {suggested}? {rule}" if suggested else rule
    message = f"{shown!r} is no op id: expected DOMAIN.NAME, as in my.kernels.Softsign"
    return Problem(message=message, hint=hint, stage="own")


def domain_note(op_id: str) -> Problem | None:
    """That a domain is a standard's, whose operators callers expect under their names."""
    domain = op_id.rpartition(".")[0]
    if domain not in ("ai.onnx", "com.microsoft"):
        return None
    message = f"{op_id} is taken for the operator of that name, which this is not yet"
    hint = f"implement the operator, or choose a domain of your own instead of {domain}"
    return Problem(message=message, hint=hint, severity="note", stage="own")


def kind_problem(kind: str) -> Problem | None:
    """What is wrong with the kind."""
    if kind in KINDS:
        return None
    near = closest(kind, KINDS)
    hint = f"did you mean {near}?" if near else ""
    return Problem(message=f"nothing is like {kind!r}: choose from {', '.join(KINDS)}", hint=hint, stage="own")


def dtype_problem(dtype: str) -> Problem | None:
    """What is wrong with a dtype."""
    if dtype in DTYPES:
        return None
    message = f"no package is begun with dtype {dtype!r}: choose from {', '.join(DTYPES)}"
    if dtype in LOGICAL_DTYPES:
        hint = "the format has it, but stores it in another form; add it to the manifest by hand"
    elif dtype in _ALIASES:
        hint = f"did you mean {_ALIASES[dtype]}?"
    else:
        near = closest(dtype, DTYPES)
        hint = f"did you mean {near}?" if near else "the format has no such dtype"
    return Problem(message=message, hint=hint, stage="own")


def license_problem(license_id: str) -> Problem | None:
    """What is wrong with a licence."""
    if _LICENSE.fullmatch(license_id):
        return None
    lower = re.sub(r"[^a-z0-9.+-]+", "-", license_id.lower()).strip("-.+")
    message = f"{license_id!r} is no licence as the Hub spells it, in small letters: apache-2.0, mit, bsd-3-clause"
    return Problem(message=message, hint=f"did you mean {lower}?" if lower else "", stage="own")


def description_problem(description: str) -> Problem | None:
    """What is wrong with a description: anything goes that is text."""
    broken = [char for char in description if "\ud800" <= char <= "\udfff"]
    if not broken:
        return None
    message = f"the description holds what is no text, {broken[0]!r}: it was not given as UTF-8"
    return Problem(message=message, hint="leave it out, and write it into manifest.json", stage="own")


def _is_op_id(op_id: str) -> bool:
    domain, _, name = op_id.rpartition(".")
    return is_domain(domain) and _NAME.fullmatch(name) is not None and not unfit_name(op_id)


def _repaired(op_id: str) -> str:
    """The nearest op id, as far as there is one; empty otherwise."""
    parts = [re.sub(r"[^A-Za-z0-9_]+", "_", part).strip("_") for part in op_id.strip().split("/")[-1].split(".")]
    *domain, name = [part for part in parts if part] or [""]
    domain = domain or ["my", "kernels"]
    first = domain[0].replace("_", "").lower().lstrip("0123456789")
    domain = [part.lstrip("0123456789_") for part in domain[1:]]
    made = ".".join([first, *domain, name])
    return made if _is_op_id(made) else ""
