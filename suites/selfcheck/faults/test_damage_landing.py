"""Damage has landed if somebody could not read it; too late if nobody had to any more."""

from __future__ import annotations

from holdfast.harness.model.events import (
    AttemptStarted,
    CheckpointCompleted,
    Event,
    MetadataPublished,
    RecoveryFailed,
    TaskStarted,
    TaskStopped,
)
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.faults.scene import at, landed

DAMAGE = FaultSpec("damage", Target(Role.STORAGE))
COORDINATOR = "coordinator.0"


def completed(time_ms: float, published_ms: float = 105) -> list[Event]:
    published = MetadataPublished(checkpoint=3, path="chk-3/_metadata", files=())
    return [at(published_ms, COORDINATOR, published), at(time_ms, COORDINATOR, CheckpointCompleted(checkpoint=3))]


def begun(time_ms: float) -> Event:
    return at(time_ms, COORDINATOR, AttemptStarted(restored_checkpoint=3))


def test_a_recovery_failed() -> None:
    failed = at(120, COORDINATOR, RecoveryFailed(checkpoint=2, reason="metadata is damaged"))
    assert landed(DAMAGE, [failed])
    assert landed(DAMAGE, [*completed(110), failed]), "a recovery reads older checkpoints, too"


def test_a_subtask_ended_before_it_had_started() -> None:
    stopped = TaskStopped(subtask="sum[0]", reason="state is damaged")
    stopped.attempt = 2
    assert landed(DAMAGE, [at(120, "worker-0.0", stopped)])
    started = TaskStarted(subtask="sum[0]")
    started.attempt = 2
    assert landed(DAMAGE, [at(115, "worker-0.0", started), at(120, "worker-0.0", stopped)]) is False


def test_nobody_says_that_it_was_read() -> None:
    assert landed(DAMAGE, []) is False
    assert landed(DAMAGE, [begun(110), *completed(120)]) is False


def test_a_newer_checkpoint_was_complete_before_the_job_began_again() -> None:
    assert landed(DAMAGE, completed(110)) is None
    assert landed(DAMAGE, [*completed(110), begun(120)]) is None
    assert landed(DAMAGE, [*completed(110, published_ms=90), begun(120)]) is False, "that may be the damaged one"
