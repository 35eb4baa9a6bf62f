"""Faults of what is stored: a file of the newest checkpoint, or a local copy of state, is removed, cut, changed, or
replaced by another one (RULES LOC-03)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.faults.landing import Momentary, effects, of_kinds, since, struck, time_of_next
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import (
    AttemptStarted,
    CheckpointCompleted,
    LocalCopySpoilt,
    ObjectDamaged,
    ProgramReady,
    RecoveryFailed,
    TaskStarted,
    TaskStopped,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.job import STATEFUL
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import COORDINATOR, STORAGE, Role, Target
from holdfast.harness.spi.attack import Attack, Occasion, Scene
from holdfast.harness.spi.controls.storage import CheckpointFileControl, LocalDiskControl


def _draw(scene: Scene) -> list[FaultSpec]:
    """A file that a query reads when it starts again, and its end. Metadata are not removed: the checkpoint before it
    would be done again, and what depends on the order of rows is older then."""
    stream, progress = scene.stream, max(1, scene.progress)
    part = stream.choice(("metadata", "commit", "state") if scene.job.of_kind(*STATEFUL) else ("metadata", "commit"))
    way = stream.choice(("truncate", "flip", "remove") if part == "state" else ("truncate", "flip"))
    damaged = damage(part, way, scene.lasting_ms(), after_checkpoint=progress)
    return [damaged, FaultSpec("kill", COORDINATOR, Schedule(after_checkpoint=progress))]


class DamageCheckpoint:
    """The newest checkpoint cannot be read until it is mended."""

    kind = "damage"
    roles = frozenset({Role.STORAGE})
    parameters: Mapping[str, tuple[type, str]] = {
        "part": (str, "`metadata`, `state`, or `commit` where that is a file of its own; `metadata` if not given"),
        "way": (str, "`remove`, `truncate`, `flip` (one bit) or `stale` (an older content); `remove` if not given"),
    }
    colour = "#774411"
    control = CheckpointFileControl
    leaves = "nothing: what it held is put back"
    may_cause = frozenset({Consequence.FAILS_STORAGE, Consequence.FAILS_PROCESS, Consequence.FAILS_TASK})
    lasting = True
    attacks: Sequence[Attack] = (
        Attack(
            "damage-between-micro-batches",
            _draw,
            (Capability.DAMAGE_CHECKPOINT, Capability.MICRO_BATCHES, Capability.KILL_COORDINATOR),
            Occasion.MIXED,
            1,
            place=16,
        ),
    )

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.DAMAGE_CHECKPOINT

    def inject(self, control: CheckpointFileControl, spec: FaultSpec) -> None:
        control.damage(str(spec.parameters.get("part", "metadata")), str(spec.parameters.get("way", "remove")))

    def undo(self, control: CheckpointFileControl, spec: FaultSpec) -> None:
        control.mend()

    def healed(self, control: CheckpointFileControl, spec: FaultSpec) -> bool:
        return control.mended()

    def landed(self, history: History, fault: int) -> bool | None:
        """After the injection a recovery failed, a subtask ended before it had started, or a program began. Nothing can
        come of it once the job goes on from a newer checkpoint, or completes one before it begins again."""
        same = of_kinds(self.kind)
        if effects(history, fault, RecoveryFailed, same, lasting=True):
            return True
        started = {(event.attempt, event.subtask) for event in history.of(TaskStarted)}
        if any(
            (event.attempt, event.subtask) not in started
            for event in effects(history, fault, TaskStopped, same, lasting=True)
        ):
            return True
        if effects(history, fault, ProgramReady, same, lasting=True):
            return True  # A program is killed for this: whatever life is ready behind it has read what is left.
        paths = {each.what for each in struck(history, fault)}
        damaged = [each for each in since(history, fault, ObjectDamaged) if each.path in paths][:1]
        begun = since(history, fault, AttemptStarted)[:1]
        if not damaged:
            return False
        if begun:
            return None if (begun[0].restored_checkpoint or 0) > damaged[0].checkpoint else False
        completed = since(history, fault, CheckpointCompleted)
        return None if any(each.checkpoint > damaged[0].checkpoint for each in completed) else False


def damage(part: str, way: str, duration_ms: int = 0, **when: Any) -> FaultSpec:
    """A file of the newest checkpoint is spoilt, for a while or until the end."""
    return FaultSpec("damage", STORAGE, Schedule(**when), duration_ms, {"part": part, "way": way})


class SpoilLocalCopy(Momentary):
    """The newest local copies of a worker are spoilt. Nothing may come of it but that state is read remotely."""

    kind = "spoil-local-copy"
    roles = frozenset({Role.WORKER})
    parameters: Mapping[str, tuple[type, str]] = {
        "way": (
            str,
            "`remove`, `truncate`, `flip` (one bit), `foreign` (another worker's), `stale` (what was there at the last "
            "`remember`, which changes nothing itself); `flip` if not given",
        ),
    }
    colour = "#b15928"
    control = LocalDiskControl
    leaves = "nothing: the checkpoint storage has all of it"
    may_cause: frozenset[Consequence] = frozenset()

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.LOCAL_RECOVERY

    def inject(self, control: LocalDiskControl, spec: FaultSpec) -> None:
        control.spoil(spec.target.index, str(spec.parameters.get("way", "flip")))

    def landed(self, history: History, fault: int) -> bool:
        """Copies of this worker were changed, or remembered."""
        worker = history.plan.faults[fault].target.index
        way = str(history.plan.faults[fault].parameters.get("way", "flip"))

        def same(spec: FaultSpec) -> bool:
            return (spec.kind, spec.target.index) == (self.kind, worker)

        until_ns = time_of_next(history, fault, same)
        spoilt = [
            each
            for each in since(history, fault, LocalCopySpoilt)
            if (each.worker, each.way) == (worker, way) and each.time_ns <= until_ns
        ][:1]
        return any(each.paths or way == "remember" for each in spoilt)


def spoil_local_copy(worker: int, way: str, **when: Any) -> FaultSpec:
    """The newest local copies of a worker are spoilt."""
    return FaultSpec("spoil-local-copy", Target(Role.WORKER, worker), Schedule(**when), parameters={"way": way})
