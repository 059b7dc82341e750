"""What ``scanbuild show`` does, once its options are read."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from scanbuild.commands.console import Console, printable
from scanbuild.commands.json_report import check_json_file, clear_the_way, write_json
from scanbuild.commands.show_call import REFUSED, Shown, present_call, present_devices
from scanbuild.commands.show_overview import cases_by_variant, present_overview
from scanbuild.commands.show_package import Location, Subject, open_subject
from scanbuild.commands.show_report import call_json, devices_json, overview_json, report_json
from scanbuild.commands.show_request import DEFAULT_DEVICE, Call, RequestReader, Wanted, listing
from scanbuild.commands.show_sheet import Sheet, safe_wgsl
from scanbuild.errors import InputError, Problem
from scanbuild.package.report import nearest
from scanbuild.planning.device import DeviceRecord
from scanbuild.planning.explanation import CallExplanation, explain_call
from scanbuild.planning.planner import Planner
from scanbuild.planning.profiles import profiles

_REFUSED_CALL: Final = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class ShowOptions:
    """The options of the command line, as they were given."""

    package: str = "."
    case: str | None = None
    shapes: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    attrs: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    device: str | None = None
    all_devices: bool = False
    variant: str | None = None
    wgsl: bool = False
    pass_id: str | None = None
    version: int | None = None
    revision: str | None = None
    expected_op_id: str | None = None
    json_file: Path | None = None

    @property
    def wanted(self) -> Wanted:
        """The call, in words of the command line."""
        return Wanted(
            case=self.case,
            shapes=self.shapes,
            dtypes=self.dtypes,
            attrs=self.attrs,
            args=self.args,
            outputs=self.outputs,
            variant=self.variant,
            device=self.device or DEFAULT_DEVICE,
        )

    @property
    def location(self) -> Location:
        """The package."""
        return Location(
            name=self.package, version=self.version, revision=self.revision, expected_op_id=self.expected_op_id
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Task:
    """What is to be shown."""

    subject: Subject
    options: ShowOptions
    planner: Planner
    device_name: str
    device: DeviceRecord
    call: Call | None


def run_show(console: Console, options: ShowOptions) -> int:
    """Do what the options ask for; the exit status. InputError for wrong ones, all at once."""
    problems = list(_contradictions(options))
    if problems:
        raise InputError(*(Problem(message=text, rule="option", stage="own") for text in problems))
    check_json_file(options.json_file)
    subject = open_subject(options.location)
    reader = RequestReader(subject, options.wanted)
    name, device = reader.device()
    reader.variant()
    call = reader.call()
    reader.finish()
    for note in subject.notes:
        console.detail(str(note))
    task = _Task(
        subject=subject,
        options=options,
        planner=Planner(subject.package),
        device_name=name,
        device=device,
        call=call,
    )
    if options.wgsl:
        return _wgsl(console, task)
    clear_the_way(console, options.json_file)
    if call is None:
        return _overview(console, task)
    return _devices(console, task, call) if options.all_devices else _call(console, task, call)


def _contradictions(options: ShowOptions) -> list[str]:
    found = []
    about_calls = {"--wgsl": options.wgsl, "--all-devices": options.all_devices, "--variant": options.variant}
    if not options.wanted.is_call:
        found += [
            f"{name} is about a call: describe one with --case or --shapes" for name, on in about_calls.items() if on
        ]
    if options.all_devices:
        others = {"--wgsl": options.wgsl, "--device": options.device, "--variant": options.variant}
        found += [f"{name} and --all-devices contradict each other" for name, on in others.items() if on]
    if options.pass_id is not None and not options.wgsl:
        found.append("--pass picks a pass of --wgsl, which is not given")
    if options.wgsl and options.json_file is not None:
        found.append("--wgsl prints nothing but WGSL; --json is for the report")
    return found


def _overview(console: Console, task: _Task) -> int:
    cases = cases_by_variant(task.subject, task.device)
    present_overview(Sheet(console), task.subject, cases, task.device_name)
    _write(task, overview=overview_json(task.subject, cases, task.device_name))
    return 0


def _call(console: Console, task: _Task, call: Call) -> int:
    found = explain_call(task.planner, call.request, task.device, task.options.variant)
    shown = Shown(
        subject=task.subject,
        call=call,
        device=task.device_name,
        explanation=found,
        detailed=console.verbosity > 0,
        forced=task.options.variant,
    )
    present_call(Sheet(console), shown)
    _write(task, call=call_json(found, call.described, task.device_name))
    return _refused(console, found, shown=console.verbosity >= 0)


def _devices(console: Console, task: _Task, call: Call) -> int:
    found = {name: explain_call(task.planner, call.request, device) for name, device in profiles().items()}
    present_devices(Sheet(console), task.subject, call.described, found)
    _write(task, devices=devices_json(found, call.described))
    return _REFUSED_CALL if all(item.stage for item in found.values()) else 0


def _refused(console: Console, found: CallExplanation, *, shown: bool) -> int:
    """Say what the loader refuses a call for, if it does; the exit status. ``shown`` tells that the verdicts were."""
    if not found.stage:
        return 0
    if found.stage == "selection" and not found.forced and shown:
        console.problem_text(f"{REFUSED['selection']}.")
        return _REFUSED_CALL
    console.problem_text(f"{REFUSED[found.stage]}:" if not found.forced else "This variant cannot run:")
    console.problems(found.problems)
    return _REFUSED_CALL


def _write(task: _Task, **parts: Any) -> None:
    if task.options.json_file is not None:
        write_json(task.options.json_file, report_json(task.subject, **parts))


def _wgsl(console: Console, task: _Task) -> int:
    """Print the texts of the passes that run: highlighted on a terminal, as they are elsewhere."""
    assert task.call is not None
    found = explain_call(task.planner, task.call.request, task.device, task.options.variant)
    if found.stage:
        return _refused(console, found, shown=False)
    texts = _texts(found, task.options.pass_id)
    if not texts:
        console.problems([Problem(message="no pass runs in this call, so there is no WGSL", severity="note")])
    for index, (name, text) in enumerate(texts):
        if len(texts) > 1:
            click.echo(f"{'' if index == 0 else chr(10)}// {printable(name)}")
        _print_wgsl(console, text)
    if len(texts) > 1:
        hint = f"--pass picks one of {listing(dict.fromkeys(item.id for item in found.passes if item.executed))}"
        console.problems([Problem(message=f"these are {len(texts)} modules", hint=hint, severity="note")])
    return 0


def _texts(found: CallExplanation, pass_id: str | None) -> list[tuple[str, str]]:
    """The shaders of the passes that run, each with a name; those of one pass where an id is given."""
    running = [item for item in found.passes if item.executed]
    if pass_id is not None:
        ids = [item.id for item in found.passes]
        running = [item for item in running if pass_id in (item.id, item.first)]
        if not running:
            hint = nearest(pass_id, ids) or f"{found.chosen} has {listing(ids)}"
            what = f"the pass {pass_id!r} does not run" if pass_id in ids else f"no pass {pass_id!r} runs"
            raise InputError(Problem(message=f"{what} in this call", hint=hint, rule="option", stage="own"))
    return [
        (f"{item.id}, {item.shader}" + (f", text {index} of {len(item.texts)}" if len(item.texts) > 1 else ""), text)
        for item in running
        for index, text in enumerate(item.texts, 1)
    ]


def _print_wgsl(console: Console, text: str) -> None:
    if sys.stdout.isatty() and console.verbosity >= 0:
        Sheet(console).code(text)
    else:
        click.echo(safe_wgsl(text), nl=not text.endswith("\n"))
