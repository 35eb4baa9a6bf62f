"""Faults of what is stored: a file of the newest checkpoint is removed, cut or changed."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.faults.landing import since
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.events import (
    AttemptStarted,
    CheckpointCompleted,
    MetadataPublished,
    RecoveryFailed,
    TaskStarted,
    TaskStopped,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role
from holdfast.harness.spi.controls import Controls


class DamageCheckpoint:
    """The newest checkpoint cannot be read until it is mended."""

    kind = "damage"
    roles = frozenset({Role.STORAGE})
    parameters: Mapping[str, tuple[type, str]] = {
        "part": (str, "`metadata` or `state`; `metadata` if not given"),
        "way": (str, "`remove`, `truncate` or `flip` (one bit); `remove` if not given"),
    }
    colour = "#774411"
    leaves = "nothing: what it held is put back"
    lasting = True

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.DAMAGE_CHECKPOINT

    def inject(self, controls: Controls, spec: FaultSpec) -> None:
        controls.damage_checkpoint(
            str(spec.parameters.get("part", "metadata")), str(spec.parameters.get("way", "remove"))
        )

    def undo(self, controls: Controls, spec: FaultSpec) -> None:
        controls.mend_checkpoint()

    def healed(self, controls: Controls, spec: FaultSpec) -> bool:
        return True

    def landed(self, history: History, fault: int) -> bool | None:
        """After the injection a recovery failed, or a subtask ended before it had started. Nothing can come of it once
        a newer checkpoint is complete and the job begins with that."""
        if since(history, fault, RecoveryFailed):
            return True
        started = {(event.attempt, event.subtask) for event in history.of(TaskStarted)}
        if any((event.attempt, event.subtask) not in started for event in since(history, fault, TaskStopped)):
            return True
        stored = {event.checkpoint for event in since(history, fault, MetadataPublished)}
        completed = [each for each in since(history, fault, CheckpointCompleted) if each.checkpoint in stored][:1]
        begun = since(history, fault, AttemptStarted)[:1]
        return None if completed and (not begun or completed[0].time_ns < begun[0].time_ns) else False
