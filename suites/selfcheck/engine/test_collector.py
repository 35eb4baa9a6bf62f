"""The garbage collector works less often during a simulated run, and as before behind it."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from holdfast.harness.engine.executor.run import ALLOCATIONS, rare_collections, run_plan
from holdfast.harness.model.case import Tier
from holdfast.suites.selfcheck.engine.scripted import Checkpoints, ScriptedSystem, plan, toolbox

BEFORE = (700, 10, 10)


@pytest.fixture(autouse=True)
def _kept() -> Iterator[None]:
    kept = gc.get_threshold()
    gc.set_threshold(*BEFORE)
    yield
    gc.set_threshold(*kept)


def test_it_looks_rarely_and_never_stops() -> None:
    with rare_collections():
        assert gc.isenabled()
        assert gc.get_threshold() == (ALLOCATIONS, *BEFORE[1:])
        with rare_collections():
            assert gc.get_threshold()[0] == ALLOCATIONS
        assert gc.get_threshold()[0] == ALLOCATIONS
    assert gc.get_threshold() == BEFORE


def test_it_looks_as_before_when_a_run_breaks() -> None:
    with pytest.raises(ZeroDivisionError), rare_collections():
        raise ZeroDivisionError
    assert gc.get_threshold() == BEFORE


@pytest.mark.parametrize("off", [0, 2 * ALLOCATIONS])
def test_who_has_it_rarer_keeps_that(off: int) -> None:
    gc.set_threshold(off, *BEFORE[1:])
    with rare_collections():
        assert gc.get_threshold()[0] == off


@pytest.mark.parametrize(("tier", "seen"), [(Tier.SIM, ALLOCATIONS), (Tier.PROCESS, BEFORE[0])])
def test_only_a_simulated_run_has_it_rare(tier: Tier, seen: int) -> None:
    thresholds = []

    system = ScriptedSystem(Checkpoints())
    evidence = system.evidence

    def watched() -> object:
        thresholds.append(gc.get_threshold()[0])
        return evidence()

    system.evidence = watched  # type: ignore[method-assign, assignment]
    run_plan(plan(), system, toolbox(), tier)
    assert set(thresholds) == {seen}
    assert gc.get_threshold() == BEFORE
