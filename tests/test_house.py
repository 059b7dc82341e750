"""The rooms of the house keep their order: imports point one way, and files stay short."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "scanbuild"
TESTS = Path(__file__).resolve().parent

# Room -> the rooms it may import. What stands directly in scanbuild/ and has no room of its own is a room by its name.
MAY_IMPORT: dict[str, set[str] | None] = {
    "errors": set(),
    "resources": set(),
    "dialect": set(),
    "package": {"dialect", "errors", "resources"},
    "planning": {"package", "dialect", "errors", "resources"},
    "gpu": {"planning", "errors", "resources"},
    "cases": {"package", "planning", "gpu", "errors", "resources"},
    "bench": {"package", "planning", "gpu", "cases", "errors", "resources"},
    "checking": {"dialect", "package", "planning", "cases", "errors", "resources"},
    "publishing": {"dialect", "package", "planning", "cases", "errors", "resources"},
    "scaffolding": {"package", "errors", "resources"},
    "serving": {"package", "gpu", "cases", "publishing", "errors", "resources"},
    "lowering": {"package", "dialect", "errors", "resources"},
    "kernel": {"package", "planning", "gpu", "errors"},
    "commands": None,
    "__main__": {"commands"},
    "__init__": {"kernel"},
}
"""None stands for all."""

# gpu knows plans and device records, and nothing else of planning.
GPU_MAY_SEE = {"scanbuild.planning.plan", "scanbuild.planning.device"}
LONGEST_FILE = 450
SOURCES = sorted(PACKAGE.rglob("*.py"))
EVERY_FILE = [*SOURCES, *sorted(TESTS.rglob("*.py")), *sorted((PACKAGE.parent / "tools").glob("*.py"))]


def named(path: Path) -> str:
    return path.relative_to(PACKAGE.parent).as_posix()


def room_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imported_modules(path: Path) -> set[str]:
    """Full names of the project's modules that a file imports, anywhere in it; ``from a import b`` counts as ``a``."""
    here = ("scanbuild", *path.relative_to(PACKAGE).parent.parts)
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level:
            base = here[: len(here) - node.level + 1]
            found.add(".".join([*base, *([node.module] if node.module else [])]))
        elif isinstance(node, ast.ImportFrom) and node.module:
            whole = node.module == "scanbuild"
            found |= {f"scanbuild.{alias.name}" for alias in node.names} if whole else {node.module}
    return {name for name in found if name.split(".")[0] == "scanbuild" and name != "scanbuild.__version__"}


@pytest.mark.parametrize("path", SOURCES, ids=named)
def test_a_room_imports_only_what_it_may(path):
    room = room_of(path)
    assert room in MAY_IMPORT, f"{room} has no place in the table of rooms"
    allowed = MAY_IMPORT[room]
    if allowed is None:
        return
    for module in imported_modules(path):
        target = module.split(".")[1]
        assert target in {room, *allowed}, f"{named(path)} may not import {module}"


@pytest.mark.parametrize("path", sorted((PACKAGE / "gpu").rglob("*.py")), ids=named)
def test_the_engines_know_plans_and_devices_alone(path):
    seen = {module for module in imported_modules(path) if module.startswith("scanbuild.planning")}
    assert seen <= GPU_MAY_SEE


@pytest.mark.parametrize("path", EVERY_FILE, ids=named)
def test_a_file_can_be_read_in_one_sitting(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE


@pytest.mark.parametrize("path", SOURCES, ids=named)
def test_only_the_commands_print(path):
    if room_of(path) in ("commands", "__main__"):
        return
    calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    assert not [call.lineno for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"]


@pytest.mark.parametrize("room", ["dialect", "planning", "checking", "lowering"])
def test_what_a_room_says_of_a_package_depends_on_no_clock(room):
    readers = [named(path) for path in SOURCES if room_of(path) == room and imports_clock(path)]
    assert readers == []


def imports_clock(path: Path) -> bool:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if "time" in names:
            return True
    return False
