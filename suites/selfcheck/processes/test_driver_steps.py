"""One plan in the simulator and on processes: inputs, registrations, sources and channels follow the same rules."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.fixtures.reference.drivers.processes import deployment
from holdfast.fixtures.reference.drivers.simulated.coordinator_host import CoordinatorHost
from holdfast.fixtures.reference.drivers.simulated.source_reader import SourceReader
from holdfast.fixtures.reference.drivers.worker_node import WorkerNode
from holdfast.fixtures.reference.protocol.channels.task_inputs import TaskInputs
from holdfast.fixtures.reference.protocol.effects import Fetch, PartitionEnded, Poll
from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site.registry import toolbox
from holdfast.harness.model.case import Tier
from holdfast.harness.model.plan import FaultSpec, Plan
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.conformance.plans import CHECKPOINTING
from holdfast.suites.selfcheck.processes import watched_steps
from holdfast.suites.selfcheck.processes.test_deployment import WORKER, after, plan
from holdfast.suites.selfcheck.processes.watched_steps import (
    CHANNELS,
    INPUTS,
    OUT_OF_TURN,
    OWN_STEP,
    SOURCES,
    WORKERS,
    Watch,
    WatchedStep,
)

UNALIGNED = {f"{CHECKPOINTING}.unaligned.enabled": "true"}
KILLED = FaultSpec("kill", WORKER, after(2))
SLOW = FaultSpec("slow-task", Target(Role.TASK, 2), duration_ms=400, parameters={"delay_ms": 15})
"""More waits at its inputs than it takes at once."""
PLANS = {"aligned": plan(SLOW, KILLED), "unaligned": plan(SLOW, KILLED, options=UNALIGNED)}
SEEDS = 6
"""Runs in the simulator for each plan."""
Wrong = Callable[[pytest.MonkeyPatch], None]


def simulated(plan: Plan, monkeypatch: pytest.MonkeyPatch, wrong: Wrong = lambda patch: None) -> set[WatchedStep]:
    """What the simulated nodes do."""
    watch = Watch()
    with monkeypatch.context() as patch:
        wrong(patch)
        watch.begin(patch)
        for seed in range(SEEDS):
            run_plan(replace(plan, run_seed=seed), ReferenceSystem(""), toolbox())
    return watch.steps


def deviations(steps: set[WatchedStep]) -> set[tuple[str, str]]:
    """Parts that are not followed, and how."""
    return {(step.part, step.wrong) for step in steps if step.wrong}


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.share(2)
def test_both_drivers_follow_the_same_parts(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deployment, "run_context", watched_steps)
    judged = run_plan(PLANS[name], ReferenceSystem(""), toolbox(), Tier.PROCESS, tmp_path)
    assert judged.outcome is not Outcome.FAIL
    found = watched_steps.read(next(tmp_path.rglob(watched_steps.FOLDER)))
    expected = {step for plan in PLANS.values() for step in simulated(plan, monkeypatch)}
    assert deviations(expected | found) == set()
    assert {step.part for step in found} == {INPUTS, WORKERS, SOURCES, CHANNELS}
    strangers = {step for step in found - expected if step.part != WORKERS}  # messages depend on what breaks when
    assert strangers == set(), "the simulator takes these steps, too"


def takes_by_itself(patch: pytest.MonkeyPatch) -> None:
    """A driver that takes everything from one input before it looks at the next."""

    def drain(node: WorkerNode[Any], subtask: str) -> None:
        inputs = node._received[subtask]
        if node.worker.takes(subtask):
            for waiting in inputs.buffers.values():
                while (element := waiting.take(lambda: node._channels.has_room(subtask))) is not None:
                    node.step(element)

    patch.setattr(WorkerNode, "drain", drain)


def never_turns(patch: pytest.MonkeyPatch) -> None:
    """Inputs of which the first is served as long as something waits there."""
    take = TaskInputs.take

    def from_the_first(inputs: TaskInputs) -> Any:
        inputs._turns = deque(inputs.buffers.values())
        return take(inputs)

    patch.setattr(TaskInputs, "take", from_the_first)


def takes_in_place(patch: pytest.MonkeyPatch) -> None:
    """Inputs whose barriers overtake nothing."""
    take = TaskInputs.take

    def in_place(inputs: TaskInputs) -> Any:
        for waiting in inputs.buffers.values():
            waiting.overtaking = 0
        return take(inputs)

    patch.setattr(TaskInputs, "take", in_place)


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


@pytest.mark.parametrize(
    ("wrong", "name", "seen"),
    [
        (takes_by_itself, "aligned", (INPUTS, OWN_STEP)),
        (never_turns, "aligned", (INPUTS, OUT_OF_TURN)),
        (takes_in_place, "unaligned", (INPUTS, OUT_OF_TURN)),
        (listens_to_everybody, "aligned", (WORKERS, OWN_STEP)),
        (ends_early, "aligned", (SOURCES, OWN_STEP)),
    ],
    ids=["takes-by-itself", "never-turns", "takes-in-place", "listens-to-everybody", "ends-early"],
)
@pytest.mark.share(3)
def test_a_driver_that_deviates_is_seen(
    wrong: Wrong, name: str, seen: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert deviations(simulated(PLANS[name], monkeypatch, wrong)) == {seen}
