"""A source that is made slow reads a batch now and then, on the simulator and on processes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site.registry import toolbox
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import FaultHealed, FaultInjected, FaultStruck, SourceEmitted
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.selfcheck.processes.test_deployment import plan

DELAY_MS = 60
SLOW = FaultSpec("slow-task", Target(Role.TASK), Schedule(after_checkpoint=1), 600, {"delay_ms": DELAY_MS})


@pytest.mark.parametrize("tier", [Tier.SIM, Tier.PROCESS])
def test_its_batches_come_as_far_apart_as_it_is_busy(tier: Tier, tmp_path: Path) -> None:
    run = run_plan(plan(SLOW), ReferenceSystem(""), toolbox(), tier, tmp_path)
    assert run.outcome is Outcome.PASS, run.reason
    history = run.history
    (injected,), (healed,) = history.of(FaultInjected), history.of(FaultHealed)
    assert [event.what for event in history.of(FaultStruck)] == ["source[0]"]
    times_ns = [
        event.time_ns
        for event in history.of(SourceEmitted)
        if event.subtask == "source[0]" and injected.time_ns < event.time_ns < healed.time_ns
    ]
    # The first may have been under way.
    gaps_ms = [(later - earlier) / 1e6 for earlier, later in pairwise(times_ns)][1:]
    assert len(gaps_ms) > 1
    assert min(gaps_ms) >= DELAY_MS - 1
