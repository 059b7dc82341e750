"""Reports made by hand."""

from typing import Any

from scanbuild.bench.report import BenchReport, Clock, Figures, Measured, Outcome, Roofline
from scanbuild.bench.statistics import summarise

ADAPTER: dict[str, Any] = {
    "name": "Some GPU",
    "vendor": "acme",
    "architecture": "",
    "driver": "1.0",
    "backend": "Vulkan",
    "kind": "DiscreteGPU",
    "software": False,
}


def figures(seconds: float, fraction: float = 0.8) -> Figures:
    return Figures(time=summarise([seconds] * 9), fraction=summarise([fraction] * 9), times=2)


def measured(variant: str = "main", seconds: float = 1e-3, fraction: float = 0.8, **more: Any) -> Measured:
    ratio = more.pop("ratio", None)
    members: dict[str, Any] = {"package": 0, "selected": True, "launches": 1, **more}
    return Measured(
        variant=variant,
        figures=figures(seconds, fraction),
        ratio=summarise([ratio] * 9) if ratio is not None else None,
        **members,
    )


def outcome(name: str, *entries: Measured, moved: float = 1e9, **more: Any) -> Outcome:
    roofline = Roofline(copy=summarise([8e-4] * 9), empty=summarise([2e-6] * 9))
    return Outcome(name=name, bytes_moved=moved, entries=entries or (measured(),), roofline=roofline, **more)


def report(*outcomes: Outcome, packages: tuple[str, ...] = ("pack",), **adapter: Any) -> BenchReport:
    return BenchReport(
        packages=packages,
        engine="wgpu",
        adapter={**ADAPTER, **adapter},
        clock=Clock(source="timestamps", tick_s=3.2e-8),
        outcomes=outcomes,
    )
