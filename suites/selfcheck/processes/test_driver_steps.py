"""One plan in the simulator and on processes: both listen to the same workers, and read by the same rules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.fixtures.reference.drivers.processes import deployment
from holdfast.fixtures.reference.drivers.simulated.host import CoordinatorHost
from holdfast.fixtures.reference.drivers.simulated.source_reader import SourceReader
from holdfast.fixtures.reference.protocol.effects import Fetch, PartitionEnded, Poll
from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site.registry import toolbox
from holdfast.harness.model.case import Tier
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.selfcheck.processes import watched_steps
from holdfast.suites.selfcheck.processes.test_deployment import WORKER, after, plan
from holdfast.suites.selfcheck.processes.watched_steps import OWN_STEP, SOURCES, WORKERS, Watch, WatchedStep

PLAN = plan(FaultSpec("kill", WORKER, after(2)))
SEEDS = 6
"""Runs in the simulator."""
Wrong = Callable[[pytest.MonkeyPatch], None]


def simulated(monkeypatch: pytest.MonkeyPatch, wrong: Wrong = lambda patch: None) -> set[WatchedStep]:
    """What the simulated nodes do."""
    watch = Watch()
    with monkeypatch.context() as patch:
        wrong(patch)
        watch.begin(patch)
        for seed in range(SEEDS):
            run_plan(replace(PLAN, run_seed=seed), ReferenceSystem(""), toolbox())
    return watch.steps


def deviations(steps: set[WatchedStep]) -> set[tuple[str, str]]:
    """Parts that are not followed, and how."""
    return {(step.part, step.wrong) for step in steps if step.wrong}


def test_both_drivers_follow_the_same_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deployment, "run_context", watched_steps)
    judged = run_plan(PLAN, ReferenceSystem(""), toolbox(), Tier.PROCESS, tmp_path)
    assert judged.outcome is not Outcome.FAIL
    found = watched_steps.read(next(tmp_path.rglob(watched_steps.FOLDER)))
    expected = simulated(monkeypatch)
    assert deviations(expected | found) == set()
    assert {step.part for step in found} == {WORKERS, SOURCES}
    strangers = {step for step in found - expected if step.part != WORKERS}  # messages depend on what breaks when
    assert strangers == set(), "the simulator takes these steps, too"


def listens_to_everybody(patch: pytest.MonkeyPatch) -> None:
    """A driver that gives every message to the job master."""

    def hears(host: CoordinatorHost, event: Any) -> None:
        host.coordinator.step(event[1])

    patch.setattr(CoordinatorHost, "hear", hears)


def ends_early(patch: pytest.MonkeyPatch) -> None:
    """A driver that decides by itself when a partition is over."""

    def ended(reader: SourceReader, effect: Fetch | Poll) -> PartitionEnded:
        assert isinstance(effect, Fetch)
        return PartitionEnded(effect.attempt, effect.subtask, effect.partition)

    patch.setattr(SourceReader, "read", ended)


@pytest.mark.parametrize(("wrong", "part"), [(listens_to_everybody, WORKERS), (ends_early, SOURCES)])
@pytest.mark.share(2)
def test_a_driver_that_deviates_is_seen(wrong: Wrong, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert deviations(simulated(monkeypatch, wrong)) == {(part, OWN_STEP)}
