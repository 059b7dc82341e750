"""Thousands of packages that nobody would write: an answer in words for each, soon, and nothing else.

A failure names the seed; ``python -m tests.robustness.dump SEED FOLDER`` writes its package into a folder.
"""

import os
from collections import Counter
from typing import Any

import pytest

from tests.robustness.mutations import mutant
from tests.robustness.pool import Worker, run

SOME = 150
MANY = 10_000


def faults(verdicts: list[dict[str, Any]]) -> str:
    return "\n\n".join(
        f"seed {verdict['seed']} ({verdict.get('base')}: {verdict.get('log')}):\n" + "\n".join(verdict["faults"])
        for verdict in verdicts
        if verdict["faults"]
    )


def shares(verdicts: list[dict[str, Any]]) -> dict[str, float]:
    """The share of packages that each step accepts."""
    counts = Counter(name for verdict in verdicts for name, status in verdict["statuses"].items() if status == 0)
    return {name: counts[name] / len(verdicts) for name in ("check", "render", "show", "call", "diff", "plan")}


def bites(verdicts: list[dict[str, Any]]) -> None:
    """Most mutations are refused, but not all: else they would prove nothing."""
    for name, share in shares(verdicts).items():
        assert 0.01 < share < 0.5, (name, share)


def test_some_mutated_packages_get_an_answer_in_words():
    verdicts = run(range(SOME))
    assert len(verdicts) == SOME
    assert not faults(verdicts), faults(verdicts)
    bites(verdicts)


@pytest.mark.long
def test_ten_thousand_mutated_packages_get_an_answer_in_words():
    verdicts = run(range(SOME, SOME + MANY), workers=os.cpu_count() or 1)
    assert len(verdicts) == MANY
    assert not faults(verdicts), faults(verdicts)
    bites(verdicts)


def test_a_seed_gives_the_same_package_every_time():
    assert all(mutant(seed) == mutant(seed) for seed in range(50))
    assert len({str(mutant(seed)) for seed in range(50)}) == 50


@pytest.fixture(scope="module")
def worker():
    found = Worker()
    yield found
    found.close()


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        ("hang", "took"),
        ("memory", "MemoryError"),
        ("read", "read: /etc/passwd"),
        ("write", "written: "),
        ("traceback", "ZeroDivisionError"),
        ("import", "code of the package was"),
        ("program", "a program was started"),
        ("status", "broken for a test"),
    ],
)
def test_the_watch_over_packages_sees_what_must_not_happen(trouble, words, worker):
    verdict = worker.ask(trouble)
    assert any(words in fault for fault in verdict["faults"]), verdict
