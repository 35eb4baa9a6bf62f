"""Damage has landed if somebody could not read it; too late if nobody had to any more."""

from __future__ import annotations

from holdfast.harness.model.events import (
    AttemptStarted,
    CheckpointCompleted,
    Event,
    ObjectDamaged,
    RecoveryFailed,
    TaskStarted,
    TaskStopped,
)
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.faults.scene import at, landed

DAMAGE = FaultSpec("damage", Target(Role.STORAGE))
COORDINATOR = "coordinator.0"


SPOILT = at(101, "harness", ObjectDamaged(path="chk-2/_metadata", checkpoint=2, published=(1, 2), length=9, left=None))


def completed(time_ms: float, checkpoint: int = 3) -> Event:
    return at(time_ms, COORDINATOR, CheckpointCompleted(checkpoint=checkpoint))


def begun(time_ms: float, restored: int | None = 3) -> Event:
    return at(time_ms, COORDINATOR, AttemptStarted(restored_checkpoint=restored))


def test_a_recovery_failed() -> None:
    failed = at(120, COORDINATOR, RecoveryFailed(checkpoint=2, reason="metadata is damaged"))
    assert landed(DAMAGE, [failed])
    assert landed(DAMAGE, [SPOILT, completed(110), failed]), "a recovery reads older checkpoints, too"


def test_a_subtask_ended_before_it_had_started() -> None:
    stopped = TaskStopped(subtask="sum[0]", reason="state is damaged")
    stopped.attempt = 2
    assert landed(DAMAGE, [at(120, "worker-0.0", stopped)])
    started = TaskStarted(subtask="sum[0]")
    started.attempt = 2
    assert landed(DAMAGE, [at(115, "worker-0.0", started), at(120, "worker-0.0", stopped)]) is False


def test_nobody_says_that_it_was_read() -> None:
    assert landed(DAMAGE, []) is False
    assert landed(DAMAGE, [begun(110), completed(120)]) is False, "nobody recorded what was damaged"
    assert landed(DAMAGE, [SPOILT, begun(110, restored=2), completed(120)]) is False
    assert landed(DAMAGE, [SPOILT, begun(110, restored=None), completed(120)]) is False
    assert landed(DAMAGE, [SPOILT, completed(110, checkpoint=2)]) is False, "that is the damaged one"


def test_the_job_went_on_from_a_newer_checkpoint() -> None:
    assert landed(DAMAGE, [SPOILT, completed(110)]) is None
    assert landed(DAMAGE, [SPOILT, completed(110), begun(120)]) is None
    assert landed(DAMAGE, [SPOILT, begun(120)]) is None, (
        "it was published, and the coordinator died before it completed"
    )
