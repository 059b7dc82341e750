"""Measures a scan package beside its peers: on one machine, in one run, on the same shapes.

    python benchmarks/peers.py [PACKAGE] [--other PATH ...] [--case GLOB ...] [--seconds S]

PACKAGE is a folder as ``scanbuild bench`` takes it (default: templates/ai.onnx.Scan), and its bench.json gives the
shapes. Peers are PyTorch's ``cumsum`` and CuPy's (CUB for one channel) through CUDA, ONNX Runtime's ``CumSum`` through
its WebGPU execution provider (onnxruntime-ep-webgpu), and other packages by path. What is not installed, or finds no
device, is left out, and the table says so. It is written to ``benchmarks/results/<adapter>.md``.

All are timed as ``scanbuild bench`` times packages: the same number of rounds by the same rule, data that are out of
the caches where that can be had, medians. CUDA peers are timed by events, several calls at a time from a captured graph
where that works, so that launching does not count. ONNX Runtime offers no clock of the device: its times are of
``run()``, as the host sees it, with the data on the device and one row fetched.

A prefix sum along the steps is what the peers have; a scan adds an initial state, which moves next to no data.
"""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from peer_runners import Shape, serve

from scanbuild import __version__
from scanbuild.bench.packages import matching_cases, open_subject, read_cases
from scanbuild.bench.report import Outcome
from scanbuild.bench.sampling import Settings
from scanbuild.bench.session import Session, outcomes
from scanbuild.bench.worker import Job, WorkerSettings
from scanbuild.cases.casefile import Case

HERE = Path(__file__).resolve().parent
TITLES = {
    "torch": ("PyTorch cumsum", ("torch",)),
    "cupy": ("CuPy cumsum", ("cupy-cuda13x", "cupy-cuda12x", "cupy")),
    "ort": ("ONNX Runtime WebGPU CumSum", ("onnxruntime", "onnxruntime-ep-webgpu")),
}


@dataclass(frozen=True, kw_only=True)
class Column:
    """What one contender came to: seconds a call by case, and why there are none."""

    title: str
    version: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    copies: dict[str, float] = field(default_factory=dict)
    left_out: str = ""
    notes: list[str] = field(default_factory=list)


def shape_of(case: Case) -> Shape | None:
    """The peers' task of a case; None if it is none of theirs: a walk backwards, or no matrix."""
    matrices = [item for item in case.inputs.values() if len(item.shape) == 2 and item.count]
    if len(matrices) != 1 or any(case.attrs.values()):
        return None
    steps, channels = matrices[0].shape
    return Shape(name=case.name, steps=steps, channels=channels, dtype=matrices[0].dtype)


def run_peer(peer: str, shapes: Sequence[Shape], settings: Settings, limit_s: float) -> Column:
    """What a peer came to; a column that says why there is nothing if it cannot be used here."""
    title, distributions = TITLES[peer]
    versions = ", ".join(f"{name} {found}" for name in distributions if (found := version_of(name)))
    if not versions:
        return Column(title=title, left_out=f"not installed ({' or '.join(distributions)})")
    with tempfile.TemporaryDirectory() as folder:
        task = Path(folder) / "task.json"
        task.write_text(json.dumps({"shapes": [asdict(item) for item in shapes], "settings": asdict(settings)}))
        command = [sys.executable, str(Path(__file__).resolve()), "--serve", peer, "--task", str(task)]
        environment = {**os.environ, "CUPY_ACCELERATORS": "cub", "PYTHONPATH": os.pathsep.join(sys.path)}
        try:
            ran = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=limit_s, check=False)
            said, ending = ran.stdout, f"it ended with status {ran.returncode}" if ran.returncode not in (0, 1) else ""
        except subprocess.TimeoutExpired as late:
            said = late.stdout.decode() if isinstance(late.stdout, bytes) else late.stdout or ""
            ending = f"it was ended after {limit_s:g} s"
    lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    unusable = next((line["unusable"] for line in lines if "unusable" in line), "")
    failed = [f"{line['name']}: {line['error']}" for line in lines if "error" in line]
    return Column(
        title=title,
        version=versions,
        seconds={line["name"]: line["seconds"] for line in lines if "seconds" in line},
        copies={line["name"]: line["copy"] for line in lines if "copy" in line},
        left_out=unusable or ("" if lines else ending or "it said nothing"),
        notes=[*failed, *([ending] if ending and lines else [])],
    )


def run_packages(
    folders: Sequence[Path], chosen: Sequence[Case], arguments: argparse.Namespace, settings: Settings
) -> tuple[str, str, list[Outcome]]:
    """All packages case by case beside one another: adapter, its description, and the outcomes."""
    options = WorkerSettings(
        folders=tuple(folders), engine=arguments.engine, adapter=arguments.adapter, sampling=settings
    )
    with Session(options) as session:
        ready = session.start()
        found = []
        for item in outcomes(session, [(Job(index=case.index), case.name) for case in chosen]):
            found.append(item)
            print(f"  {item.name}: {item.status}", file=sys.stderr, flush=True)
    return str(ready.adapter["name"]), ready.described, found


def version_of(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def engine_versions() -> list[str]:
    engines = [f"{name} {found}" for name in ("wgpu", "wgpudawn") if (found := version_of(name))]
    return [f"scanbuild {__version__}", *engines]


def package_columns(folders: Sequence[Path], found: Sequence[Outcome]) -> list[Column]:
    """One column a package, the first with the copy's times."""
    columns = []
    for number, folder in enumerate(folders):
        seconds = {
            item.name: entry.figures.time.median
            for item in found
            for entry in item.entries
            if entry.package == number and entry.selected
        }
        columns.append(Column(title="this package" if number == 0 else str(folder), seconds=seconds))
    copies = {item.name: item.roofline.copy.median for item in found if item.roofline is not None}
    return [replace(columns[0], copies=copies), *columns[1:]]


def table(columns: Sequence[Column], found: Sequence[Outcome]) -> Iterator[str]:
    """The rows of the table: GB/s, the fastest in bold; the copy of WebGPU first."""
    yield "| case | variant | copy | of the copy | " + " | ".join(column.title for column in columns) + " |"
    yield "| --- | --- | ---: | ---: |" + " ---: |" * len(columns)
    for item in found:
        chosen = item.chosen
        if chosen is None or item.roofline is None:
            continue
        rates = [
            item.bytes_moved / column.seconds[item.name] if item.name in column.seconds else 0 for column in columns
        ]
        cells = [("-" if not rate else f"**{amount(rate)}**" if rate == max(rates) else amount(rate)) for rate in rates]
        copy, share = amount(item.rate(item.roofline.copy)), f"{chosen.figures.fraction.median:.2f}"
        yield f"| {' | '.join([item.name, chosen.variant, copy, share, *cells])} |"


def amount(rate: float) -> str:
    high = rate / 1e9
    return f"{high:,.0f}" if high >= 100 else f"{high:.3g}"


def document(op_id: str, described: str, columns: Sequence[Column], found: Sequence[Outcome]) -> str:
    """The whole of the result file."""
    rest = [item for item in found if item.status != "measured"]
    ours, peers = columns[0], [column for column in columns[1:] if not column.left_out]
    ahead = [
        f"* ahead of {column.title} on {sum(ours.seconds[name] < column.seconds[name] for name in both)} of {len(both)}"
        for column in peers
        if (both := [name for name in column.seconds if name in ours.seconds])
    ]
    lines = [
        f"# {described}",
        "",
        f"{op_id}. {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, made by `benchmarks/peers.py` in one run. Python "
        f"{platform.python_version()}; "
        + "; ".join([*engine_versions(), *(column.version for column in columns if column.version)])
        + ".",
        "",
        _EXPLANATION,
        "",
        *table([column for column in columns if not column.left_out], found),
        "",
        *ahead,
        *[f"* left out: {column.title}: {column.left_out}" for column in columns if column.left_out],
        *[f"* {column.title}: {note}" for column in columns for note in column.notes],
        *[f"* not measured: {item.name} ({item.status}): {item.message.splitlines()[0]}" for item in rest],
    ]
    return "\n".join(lines) + "\n"


_EXPLANATION = (
    "GB/s: the bytes of the scan, each input read once and each output written once, over the median time of a call. "
    "The copy is a WebGPU kernel that moves as much, timed beside each case; `of the copy` is the fraction of its "
    "speed. A dash: not measured."
)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("package", nargs="?", type=Path, default=HERE.parent / "templates" / "ai.onnx.Scan")
    parser.add_argument("--other", type=Path, action="append", default=[], metavar="PATH", help="another package")
    parser.add_argument(
        "--case", action="append", default=[], metavar="GLOB", help="only cases with this in their name"
    )
    parser.add_argument("--engine", choices=["wgpu", "dawn"], default="wgpu")
    parser.add_argument("--adapter", metavar="TEXT")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each case and contender, at most (default 1)")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for a peer in all (default 600)")
    parser.add_argument("--peers", nargs="*", choices=list(TITLES), default=list(TITLES))
    parser.add_argument("--out", type=Path, default=HERE / "results", help="the folder of the result")
    parser.add_argument("--serve", choices=list(TITLES), help=argparse.SUPPRESS)
    parser.add_argument("--task", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main(given: Sequence[str] | None = None) -> int:
    """Measure, write the file, and say where it is."""
    arguments = parse(given)
    if arguments.serve:
        return serve(arguments.serve, arguments.task)
    settings = Settings(precision=0.01, budget_s=arguments.seconds)
    manifest = open_subject(arguments.package).manifest
    cases = read_cases(arguments.package, manifest).cases
    chosen = [case for case in matching_cases(cases, arguments.case) if shape_of(case) is not None]
    shapes = [shape for case in chosen if (shape := shape_of(case)) is not None]
    folders = [arguments.package, *arguments.other]
    name, described, found = run_packages(folders, chosen, arguments, settings)
    columns = package_columns(folders, found)
    for peer in arguments.peers:
        columns.append(run_peer(peer, shapes, settings, arguments.limit))
        print(f"  {columns[-1].title}: {columns[-1].left_out or 'measured'}", file=sys.stderr, flush=True)
    arguments.out.mkdir(parents=True, exist_ok=True)
    file = arguments.out / (re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-").lower() + ".md")
    file.write_text(document(manifest.op_id, described, columns, found), encoding="utf-8")
    print(file)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
