"""Makes a graph smaller without changing what it computes."""

from dataclasses import replace

from scanbuild.lowering.graph import Scan


def simplified(scan: Scan) -> Scan:
    """The scan without nodes that nothing reads. Inputs stay."""
    live = {state.after for state in scan.states} | {output.node for output in scan.outputs}
    for node in reversed(scan.nodes):
        if node.name in live:
            live.update(node.inputs)
    return replace(scan, nodes=tuple(node for node in scan.nodes if node.name in live or node.operation == "input"))
