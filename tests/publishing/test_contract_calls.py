"""What is called compatible is held to calls: none that the old contract took may be refused or answered otherwise."""

import pytest

from scanbuild.publishing.contract import contract_changes
from tests.publishing.contracts import made, rich
from tests.publishing.random_contracts import RandomContracts, answers, what_breaks
from tests.publishing.test_contract import MUTATIONS, NO_CHANGES

PAIRS = 25
CALLS = 10


@pytest.mark.parametrize("seed", range(6))
def test_no_call_breaks_between_random_contracts_that_are_called_compatible(seed):
    random = RandomContracts(seed)
    compatible, shown = 0, 0
    for _ in range(PAIRS):
        one, other = random.pair()
        old, new = made(one), made(other)
        changes = contract_changes(old, new)
        calls = random.calls(old, CALLS)
        breaks = list(filter(None, map(what_breaks, answers(old, calls), answers(new, calls))))
        if all(change.kind == "compatible" for change in changes):
            compatible += 1
            assert breaks == [], (one, other, [str(change) for change in changes])
        shown += bool(breaks)
    assert compatible > 2 and shown > 5, "the pairs try too little of one kind"


def test_no_random_contract_differs_from_itself():
    random = RandomContracts(99)
    for _ in range(50):
        for value in random.pair():
            assert contract_changes(made(value), made(value)) == []


@pytest.mark.parametrize("name", [name for name, item in MUTATIONS.items() if item[1] == "compatible"])
def test_no_call_breaks_by_a_change_that_is_called_compatible(name):
    old, new = rich(), rich(MUTATIONS[name][0])
    calls = RandomContracts(7).calls(old, 30)
    before = answers(old, calls)
    assert any(before)
    assert not any(map(what_breaks, before, answers(new, calls)))


@pytest.mark.parametrize("name", NO_CHANGES)
def test_no_call_breaks_by_what_is_no_change(name):
    old, new = rich(), rich(NO_CHANGES[name])
    calls = RandomContracts(8).calls(old, 20)
    assert not any(map(what_breaks, answers(old, calls), answers(new, calls)))
