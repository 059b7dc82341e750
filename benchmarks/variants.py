"""Holds what selection picks against what was fastest, from a report of ``scanbuild bench --all-variants --json``.

    scanbuild bench templates/ai.onnx.Scan --all-variants --json report.json
    python benchmarks/variants.py report.json [PACKAGE] > benchmarks/results/NAME-variants.md

What is marked as selected is what the package selects now: a clause that was changed since can be judged without
measuring anew. Cases are planned for a device with the limits of --profile, but with room for the largest.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from scanbuild.bench.against import read_baseline
from scanbuild.bench.packages import open_subject, read_cases
from scanbuild.cases.requests import case_request
from scanbuild.errors import ScanbuildError
from scanbuild.planning.planner import Planner
from scanbuild.planning.profiles import profile, profile_names

HERE = Path(__file__).resolve().parent
SHOWN = 4
"""Variants of a case in the table."""


def selected_variants(package: Path, profile_name: str) -> dict[str, str]:
    """The variant that selection picks for each case of bench.json."""
    subject = open_subject(package)
    device = profile(profile_name)
    room = {"maxBufferSize": 2**35, "maxStorageBufferBindingSize": 2**35}
    planner = Planner(subject)
    roomy = replace(device, limits={**device.limits, **room})
    cases = read_cases(package, subject.manifest).cases
    return {case.name: planner.prepare(case_request(case, subject.manifest), roomy).plan.variant for case in cases}


def table(report: dict[str, Any], selected: dict[str, str]) -> str:
    """The report as markdown: variants by their time, the selected one in bold."""
    cases: dict[str, list[dict[str, Any]]] = {}
    for item in report["cases"]:
        cases.setdefault(item["name"], []).append(item)
    lines, slower = [], []
    for name, items in cases.items():
        items.sort(key=lambda item: item["medianUs"])
        cells = [_cell(item, item["variant"] == selected.get(name)) for item in items[:SHOWN]]
        lines.append(f"| {name} | {items[0]['copyUs']:.1f} | " + " | ".join(cells + [""] * (SHOWN - len(cells))) + " |")
        mine = [item["medianUs"] for item in items if item["variant"] == selected.get(name)]
        if mine and mine[0] > 1.05 * items[0]["medianUs"]:
            slower.append(f"{name}: {mine[0] / items[0]['medianUs']:.2f} times the time of {items[0]['variant']}")
    adapter = report["adapter"]
    device = f"{adapter['name']} ({adapter['backend']}, {adapter['driver']})"
    picked = f"{len(cases) - len(slower)} of {len(cases)} cases"
    head = [
        f"# Variants of {Path(report['package']).name} on {device}",
        "",
        f"`scanbuild bench --all-variants` through {report['engine']}, made a table by `benchmarks/variants.py`:",
        "microseconds and the fraction of the copy, the fastest first, the variant that selection picks in bold.",
        "Zeroing the scratch is in the times.",
        "",
        f"Selection picks the fastest variant, or one within 5% of it, in {picked}.",
        *(f"* {line}" for line in slower),
        "",
        "| case | copy | fastest | second | third | fourth |",
        "| --- | ---: | --- | --- | --- | --- |",
    ]
    return "\n".join([*head, *lines]) + "\n"


def _cell(item: dict[str, Any], chosen: bool) -> str:
    mark = "**" if chosen else ""
    return f"{mark}{item['variant']}{mark} {item['medianUs']:,.1f} ({item['fractionOfCopy']:.2f})"


def main(given: Sequence[str] | None = None) -> int:
    """Print the table; 2 for a report or a package that cannot be read, with the reasons."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("report", type=Path)
    parser.add_argument("package", nargs="?", type=Path, default=HERE.parent / "templates" / "ai.onnx.Scan")
    parser.add_argument("--profile", choices=profile_names(), default="chrome-nvidia")
    arguments = parser.parse_args(given)
    try:
        report = read_baseline(arguments.report)
        selected = selected_variants(arguments.package, arguments.profile)
    except ScanbuildError as error:
        print(error, file=sys.stderr)
        return 2
    print(table(report, selected), end="")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
