"""The example of docs/kernels.md, taken from the page: another combination on the shared scan."""

import json
import re

import numpy as np
import pytest

from scanbuild.package.manifest import check_manifest
from scanbuild.planning.planner import Planner
from scanbuild.resources import data_folder
from tests.kernels.source import FOLDER, SourcePackage, run

PAGE = data_folder("templates").parent / "docs" / "kernels.md"


def example(**tunables: int) -> Planner:
    """The package of the page, with other tunables."""
    section = PAGE.read_text(encoding="utf-8").partition("### Example: a gated recurrence")[2]
    template, text = (match[1] for match in re.finditer(r"```(?:wgsl|json)\n(.*?)```", section, re.DOTALL))
    value = json.loads(text)
    for name, number in tunables.items():
        value["tunables"][name]["default"] = number
    manifest, report = check_manifest(value)
    assert manifest is not None, report.problems()
    shared = sorted((FOLDER.parent / "_shared").glob("*.wgsl.jinja"))
    files = {f"_shared/{path.name}": path.read_text(encoding="utf-8") for path in shared}
    return Planner(SourcePackage(manifest=manifest, files={"recurrence.wgsl.jinja": template, **files}))


def recurrence(inputs):
    state = inputs["start"]
    states = []
    for factor, term in zip(inputs["factors"], inputs["terms"], strict=True):
        state = (factor * state + term).astype(np.float32)
        states.append(state)
    return np.stack(states)


@pytest.mark.parametrize("tunables", [{}, {"scanPatience": 2, "scanWithhold": 3}], ids=["calm", "stalls"])
@pytest.mark.parametrize(("steps", "lanes"), [(1, 1), (5000, 1), (1500, 3), (700, 31), (1000, 33), (3000, 64)])
def test_the_example_of_the_page_computes_the_recurrence_exactly(engine, steps, lanes, tunables):
    generator = np.random.default_rng(steps)
    inputs = {
        "start": generator.integers(-9, 10, lanes).astype(np.float32),
        "factors": generator.choice([-1.0, 0.0, 1.0], (steps, lanes)).astype(np.float32),
        "terms": generator.integers(-9, 10, (steps, lanes)).astype(np.float32),
    }
    got = run(example(**tunables), engine, inputs, {}, engine.record)
    want = recurrence(inputs)
    np.testing.assert_array_equal(got["states"], want)
    np.testing.assert_array_equal(got["finish"], want[-1])
