"""Two recordings of behaviour differ where the behaviour does, and nowhere else."""

from __future__ import annotations

from itertools import count, islice

import pytest
from msgspec.structs import replace

from holdfast.harness.model.verdict import Outcome
from holdfast.suites.selfcheck.behaviour import FIELDS, behaviour, differences

SEED = 5


def test_one_seed_is_recorded_the_same_twice() -> None:
    assert not any(differences([behaviour(SEED)], [behaviour(SEED)]).values())


def test_another_seed_differs_in_every_digest() -> None:
    passing = (each for each in map(behaviour, count(1)) if each.outcome[0] is Outcome.PASS)
    one, other = islice(passing, 2)
    found = differences([one], [replace(other, seed=one.seed)])
    assert [field for field in FIELDS if found[field]] == [field for field in FIELDS if field != "outcome"]


def test_recordings_of_different_seeds_are_refused() -> None:
    with pytest.raises(ValueError, match="different seeds"):
        differences([behaviour(SEED)], [])


def test_an_exception_that_is_handled_behind_a_run_is_told() -> None:
    try:
        raise ValueError("of a run")
    except ValueError:
        with pytest.raises(RuntimeError, match=f"seed {SEED}: ValueError"):
            behaviour(SEED)
    behaviour(SEED)
