"""``scanbuild init``."""

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import click

from scanbuild.commands.console import Console, printable, verbosity_options
from scanbuild.errors import Problem, raise_if_any

TEMPLATES = Path("templates")


@click.command()
@click.argument("op_id", metavar="[DOMAIN.NAME]", required=False)
@click.option(
    "--like", "kind", metavar="KIND", help="What to begin with: elementwise, reduction or scan.  [default: elementwise]"
)
@click.option(
    "--dtype",
    "dtypes",
    metavar="DTYPE",
    multiple=True,
    help="float32, float16, int32 or uint32; repeatable.  [default: float32 and float16]",
)
@click.option("--description", metavar="TEXT", help="What the kernel does, in a sentence.")
@click.option("--license", "license_id", metavar="ID", help="The licence, as the Hub spells it.  [default: apache-2.0]")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder of the source package.  [default: templates/DOMAIN.NAME]",
)
@click.option("--yes", is_flag=True, help="Ask nothing: take the defaults for what is not given.")
@verbosity_options
@click.pass_obj
def init(
    console: Console,
    op_id: str | None,
    kind: str | None,
    dtypes: tuple[str, ...],
    description: str | None,
    license_id: str | None,
    out: Path | None,
    yes: bool,
) -> None:
    """Begin a kernel: write a source package that can be rendered, verified and published at once.

    DOMAIN.NAME is the kernel's op id. The package is a small kernel of the kind that is asked for, with comments that
    explain the format: change it into what you want, a step at a time, and let check and verify tell what breaks.

    \b
      elementwise  an element of the output for each element of the input
      reduction    rows become single values; with a variant for short rows and one for long ones
      scan         running values along rows; likewise with two variants

    On a terminal, what is not given is asked for, unless --yes is given. A folder that has anything in it is never
    touched.

    \b
    Examples:
      scanbuild init
      scanbuild init my.kernels.Softsign --like elementwise --dtype float32 --yes
      scanbuild init my.kernels.RowMax --like reduction --out /tmp/my.kernels.RowMax
    """
    from scanbuild.publishing.writer import write_folder
    from scanbuild.scaffolding.answers import answer_problems, answers, domain_note
    from scanbuild.scaffolding.scaffold import package_files

    problems = [*answer_problems(op_id, kind, dtypes, license_id, description), *_place_problems(op_id, out)]
    asking = not yes and _on_terminal()
    if op_id is None and not asking:
        problems.insert(0, Problem(message="what shall the kernel be called? name it: scanbuild init DOMAIN.NAME"))
    raise_if_any(problems)
    if asking:
        op_id, kind, dtypes, description, license_id = _asked(op_id, kind, dtypes, description, license_id)
        raise_if_any(_place_problems(op_id, out))
    assert op_id is not None
    decided = answers(op_id, kind, dtypes, description, license_id)
    target, files = _target(op_id, out), package_files(decided)
    write_folder(target.resolve(), files, ())
    console.say(f"began {decided.op_id}, like {decided.kind}, for {', '.join(decided.dtypes)}: {', '.join(files)}")
    console.say(f"in {target}")
    console.problems(filter(None, [domain_note(decided.op_id)]))
    _show_next(console, target)


def _on_terminal() -> bool:
    """Whether there is somebody to ask, who sees the question: Python may write it to either output."""
    return sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()


def _target(op_id: str, out: Path | None) -> Path:
    return out or TEMPLATES / op_id


def _place_problems(op_id: str | None, out: Path | None) -> list[Problem]:
    """What stands where the package is to be written. It may be anybody's work, so nothing replaces it."""
    from scanbuild.scaffolding.answers import op_id_problem

    if out is None and (op_id is None or op_id_problem(op_id)):
        return []
    target = _target(op_id or "", out)
    if target.resolve() == Path.cwd():
        message = "the package is moved into place as a whole, which cannot be the current folder"
        return [Problem(message=message, file=str(target), hint="choose a folder in it with --out")]
    if not os.path.lexists(target) or (target.is_dir() and not any(target.iterdir())):
        return []
    what = "the folder is not empty" if target.is_dir() else "there is a file of this name"
    message = f"{what}, and init replaces nothing"
    return [Problem(message=message, file=str(target), hint="choose another folder with --out, or move it away")]


def _asked(
    op_id: str | None, kind: str | None, dtypes: tuple[str, ...], description: str | None, license_id: str | None
) -> tuple[str, str, tuple[str, ...], str, str]:
    """The answers, those that were not given asked for; a wrong one is asked for again."""
    from scanbuild.scaffolding.answers import (
        DEFAULT_DTYPES,
        DEFAULT_KIND,
        DEFAULT_LICENSE,
        KINDS,
        description_problem,
        dtype_problem,
        kind_problem,
        license_problem,
        op_id_problem,
    )

    op_id = op_id or _ask("Op id, DOMAIN.NAME", None, op_id_problem)
    kind = kind or _ask(f"Begin with {', '.join(KINDS)}", DEFAULT_KIND, kind_problem)
    dtypes = dtypes or tuple(_words(_ask("Dtypes", ", ".join(DEFAULT_DTYPES), _first(dtype_problem))))
    description = description or _ask("What does it do", KINDS[kind], description_problem)
    license_id = license_id or _ask("Licence", DEFAULT_LICENSE, license_problem)
    return op_id, kind, dtypes, description, license_id


def _ask(question: str, default: str | None, problem_of: Callable[[str], Problem | None]) -> str:
    def read(text: str) -> str:
        problem = problem_of(text.strip())
        if problem is not None:
            raise click.UsageError(printable(str(problem)))
        return text.strip()

    return str(click.prompt(question, default=default, value_proc=read))


def _first(problem_of: Callable[[str], Problem | None]) -> Callable[[str], Problem | None]:
    """The first problem of any word of a text."""
    return lambda text: next(filter(None, map(problem_of, _words(text) or [""])), None)


def _words(text: str) -> list[str]:
    return text.replace(",", " ").split()


def _show_next(console: Console, target: Path) -> None:
    """What to do with it, as commands that can be pasted."""
    folder = shlex.quote(str(target))
    commands = (
        f"scanbuild check {folder}",
        f"scanbuild render {folder}",
        "scanbuild verify --all-variants --require-coverage",
        f"scanbuild bench {folder}",
        "scanbuild publish",
    )
    console.say("\nWhat follows:\n")
    for command in commands:
        console.say(f"  {command}")
