"""A plan with the workgroups of every pass numbered from the last to the first.

A device may run workgroups in any order. Most run the first ones first, so that a result that depends on the order
comes out the same nearly every time; with the numbers turned round, it does not.
"""

import re
from dataclasses import replace
from typing import Final

from scanbuild.cases.wgsltext import bodies, closing, plain_text
from scanbuild.planning.plan import PassPlan, Plan

_MAIN: Final = re.compile(r"\bfn\s+main\s*\(")
_WORKGROUP: Final = re.compile(r"@workgroup_size\s*\(")
_PLACE: Final = re.compile(r"(@builtin\(\s*(workgroup_id|global_invocation_id)\s*\)\s*)(\w+)(\s*:)")


def reordered(plan: Plan) -> Plan | None:
    """The plan with its workgroups turned round where that can be done, or None if it can for no pass.

    It can where there are several workgroups and the entry point takes its built-in values one by one.
    """
    passes = tuple(_turned(item) for item in plan.passes)
    return replace(plan, passes=passes) if passes != plan.passes else None


def _turned(item: PassPlan) -> PassPlan:
    plain = plain_text(item.wgsl)
    main, workgroup = _MAIN.search(plain), _WORKGROUP.search(plain)
    body = next((start for start, _, name in bodies(plain) if name == "main"), None)
    if max(item.grid) <= 1 or main is None or workgroup is None or body is None:
        return item
    parts = plain[workgroup.end() : closing(plain, workgroup.end() - 1, "()")].split(",")
    sizes = [f"u32({part.strip()})" for part in parts if part.strip()]
    size = f"vec3<u32>({', '.join([*sizes, '1u', '1u'][:3])})"
    last = f"vec3<u32>({', '.join(f'{count - 1}u' for count in item.grid)})"
    lets = []
    for found in _PLACE.finditer(plain, main.end(), body):
        given = f"scanbuild_{found[3]}"
        turned = f"{last} - {given}"
        if found[2] == "global_invocation_id":
            turned = f"({last} - {given} / {size}) * {size} + {given} % {size}"
        lets.append(f" let {found[3]} = {turned};")
    if not lets:
        return item
    head = _PLACE.sub(r"\1scanbuild_\3\4", item.wgsl[main.end() : body])
    wgsl = f"{item.wgsl[: main.end()]}{head}{''.join(lets)} {item.wgsl[body:]}"
    return replace(item, wgsl=wgsl)
