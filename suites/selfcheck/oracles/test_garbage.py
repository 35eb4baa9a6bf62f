"""What judges a run goes with it. What held itself would wait for the collector, which costs as much as an oracle."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site.registry import system, toolbox
from holdfast.harness.engine.swarm.draw import draw_plan
from holdfast.harness.model.history import History
from holdfast.harness.oracles import ORACLES


@pytest.fixture(autouse=True)
def _no_collection_in_between() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_oracle_leaves_anything_that_holds_itself(seed: int) -> None:
    run = run_plan(draw_plan(seed), system("reference"), toolbox()).history
    while gc.collect():  # A second time where generators of the run had to be ended first.
        pass
    left = {}
    for oracle in ORACLES:
        history = History(run.plan, run.claims, run.inputs, run.output, run.events, run.end)
        if oracle.applies(history):
            oracle.judge(history)
        del history
        left[oracle.name] = gc.collect()
    assert {name for name, objects in left.items() if objects} == set()
