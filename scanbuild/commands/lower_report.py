"""What ``scanbuild lower --explain`` shows: the analysis of a Scan as a tree."""

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scanbuild.commands.console import Console, printable

if TYPE_CHECKING:
    from rich.tree import Tree

Report = Mapping[str, Any]


def show(console: Console, report: Report) -> None:
    """Print the tree."""
    from rich.console import Console as Terminal

    text = io.StringIO()
    terminal = Terminal(file=text, width=110, color_system=None, highlight=False, markup=False, emoji=False)
    terminal.print(_tree(report))
    for line in text.getvalue().splitlines():
        console.say(line.rstrip())


def _tree(report: Report) -> "Tree":
    from rich.tree import Tree

    tree = Tree(printable(f"{report['node']}: Scan of opset {report['opset']}, {report['steps']} steps"))
    _branch(
        tree,
        "states",
        [_with_reads(f"{_port(item)}, from {item['initial']} to {item['final']}", item) for item in report["states"]],
    )
    _branch(
        tree,
        "scan inputs",
        [(f"{_port(item)}, along axis {item['axis']}{_turned(item['reverse'])}", []) for item in report["inputs"]],
    )
    _branch(tree, "captures", [(_port(item), []) for item in report["captures"]])
    _branch(tree, "scan outputs", [_output(item) for item in report["outputs"]])
    _branch(tree, "body", [(line, []) for line in report["body"]])
    _branch(tree, "sizes that must agree", [(line, []) for line in report["equalities"]])
    _branch(tree, "strategies", [_strategy(item) for item in report["strategies"]])
    return tree


def _branch(tree: "Tree", title: str, entries: list[tuple[str, list[str]]]) -> None:
    if not entries:
        return
    branch = tree.add(title)
    for head, lines in entries:
        leaf = branch.add(printable(head))
        for line in lines:
            leaf.add(printable(line))


def _with_reads(head: str, item: Report) -> tuple[str, list[str]]:
    update = item["update"]
    others = [name for name in update["with"] if name != item["name"]]
    beside = f" together with {', '.join(others)}" if others else ""
    if update["regroups"]:
        verdict = f"its steps can be regrouped{beside}: {update['kind']}"
    else:
        verdict = f"its steps cannot be regrouped{beside}: {_reason(update)}"
    return head, [_reads(item), verdict]


def _output(item: Report) -> tuple[str, list[str]]:
    return f"{_port(item)}, along axis {item['axis']}{', prepended' if item['prepend'] else ''}", [_reads(item)]


def _reads(item: Report) -> str:
    reads = item["reads"]
    kinds = (("states", "state"), ("inputs", "input"), ("captures", "capture"))
    parts = [f"{word}{'s' if len(reads[key]) > 1 else ''} {', '.join(reads[key])}" for key, word in kinds if reads[key]]
    return f"reads {'; '.join(parts)}" if parts else "reads nothing: it is the same in every step"


def _strategy(item: Report) -> tuple[str, list[str]]:
    if not item["applies"]:
        return f"{item['name']}: no, {_reason(item)}", []
    if "hiddenBy" in item:
        return f"{item['name']}: it could, but {item['hiddenBy']} takes every call and goes before it", []
    return f"{item['name']}: yes, as the variant {item['variant']}", [f"when {clause}" for clause in item["when"]]


def _reason(item: Report) -> str:
    node = item.get("node")
    at = f" (node {node['name']}, {node['operator']})" if node else ""
    return f"{item['reason']}{at}"


def _port(item: Report) -> str:
    return f"{item['name']}: {item['dtype']}[{', '.join(map(str, item['shape']))}]"


def _turned(reverse: bool) -> str:
    return ", from the last to the first" if reverse else ""
