"""More packages broken as people break them, out of habits of other languages and formats; see test_broken_by_hand.

``slips.json`` has for each the file, the text that is replaced, line and column of the one error, and words of it.
"""

import json
from pathlib import Path

import pytest

from scanbuild.checking.check import check_path
from tests.checking.packages import copy_good, errors, replace_in

SLIPS = json.loads((Path(__file__).parent / "slips.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: slip["name"])
def test_a_slip_gives_one_error_at_its_place_that_tells_how_to_mend_it(slip, tmp_path):
    package = copy_good(tmp_path)
    replace_in(package, slip["file"], slip["old"], slip["new"])
    found = errors(check_path(package))
    assert len(found) == 1, "\n".join(map(str, found))
    (problem,) = found
    assert problem.file == str(package / slip["file"])
    assert [problem.line, problem.column] == slip["at"], str(problem)
    for word in slip["says"]:
        assert word in f"{problem.message} {problem.hint}", str(problem)
