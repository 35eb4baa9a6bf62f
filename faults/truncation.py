"""Faults of retention: the source system has removed records that a recovery may want to read again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from holdfast.faults.input import InputFault, outside
from holdfast.faults.landing import effects, of_kinds, since
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import (
    AttemptStarted,
    CheckpointCompleted,
    InputTruncated,
    RecordFailed,
    TaskStarted,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.records import InputLog
from holdfast.harness.model.target import COORDINATOR, SOURCE_SYSTEM, Role
from holdfast.harness.spi.attack import Attack, Feature, Occasion, Scene
from holdfast.harness.spi.controls.input import RetentionControl

_EVERY = -1


def _draw(scene: Scene) -> list[FaultSpec]:
    """Up to what a completed checkpoint covers, or a little less; a worker dies, so that input is read again."""
    if Capability.MICRO_BATCHES in scene.able:
        return []  # It is one of the mixed ones.
    progress = max(1, scene.progress)
    truncated = _up_to_checkpoint(scene, progress)
    if Capability.KILL_WORKER not in scene.able:
        return [truncated]
    return [truncated, FaultSpec("kill", scene.worker(), scene.unaimed(progress))]


def _draw_between_micro_batches(scene: Scene) -> list[FaultSpec]:
    """The same where only a coordinator begins from a checkpoint: a worker repeats a part of the micro-batch."""
    progress = max(1, scene.progress)
    return [_up_to_checkpoint(scene, progress), FaultSpec("kill", COORDINATOR, Schedule(after_checkpoint=progress))]


def _up_to_checkpoint(scene: Scene, progress: int) -> FaultSpec:
    beyond = -scene.stream.choice((0, 0, 1, 10))
    schedule = Schedule(after_checkpoint=progress)
    return FaultSpec("truncate", SOURCE_SYSTEM, schedule, 2 * scene.lasting_ms(), {"beyond": beyond})


class Truncate(InputFault):
    """The oldest records of the input are gone: those that the last completed checkpoint covers, some more or fewer."""

    kind = "truncate"
    roles = frozenset({Role.SOURCE_SYSTEM})
    parameters: Mapping[str, tuple[type, str]] = {
        "partition": (int, "whose; every one if not given"),
        "beyond": (int, "how many more than the checkpoint covers; negative: so many fewer; 0 if not given"),
    }
    colour = "#762a83"
    leaves = "nothing: every record in front of the position of the last completed checkpoint has taken effect"
    may_cause = frozenset({Consequence.FAILS_PROCESS, Consequence.FAILS_TASK})
    control = RetentionControl
    attacks: Sequence[Attack] = (
        Attack("truncate", _draw, (Capability.TRUNCATE_INPUT,), Occasion.DISTURBANCE, 2, place=5),
        Attack(
            "truncate-between-micro-batches",
            _draw_between_micro_batches,
            (Capability.TRUNCATE_INPUT, Capability.MICRO_BATCHES, Capability.KILL_COORDINATOR),
            Occasion.MIXED,
            2,
            place=15,
        ),
    )

    def precludes(self, spec: FaultSpec) -> Collection[Feature]:
        """See spi.attack.Precluding. A socket keeps no records that could be removed."""
        return (Feature.SOCKETS,)

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.TRUNCATE_INPUT

    def inject(self, control: RetentionControl, spec: FaultSpec) -> None:
        partition, beyond, _ = self._detail(spec)
        control.truncate(partition, beyond)

    def beyond_input(self, spec: FaultSpec, inputs: InputLog) -> str:
        """See spi.fault.InputBound."""
        partition, _, _ = self._detail(spec)
        return outside("partition", partition, _EVERY, len(inputs.partitions) - 1)

    def landed(self, history: History, fault: int) -> bool | None:
        """A source began from a restored position that such records lie in front of, and, if more are gone than the
        checkpoint covers, from one that is gone itself; or a source reported that its next record is gone. None:
        records are gone, and no source began since."""
        _, beyond, _ = self._detail(history.plan.faults[fault])
        truncated = effects(
            history, fault, InputTruncated, of_kinds(self.kind), lasting=False, about=lambda each: str(each.partition)
        )
        starts = {event.partition: event.next_offset for event in truncated}
        begun = [each for each in _begun(history, fault) if starts.get(each[0])]
        if any(position < starts[partition] if beyond > 0 else True for partition, position in begun):
            return True
        if any(failed.offset < starts.get(failed.partition, 0) for failed in since(history, fault, RecordFailed)):
            return True
        return None if any(starts.values()) else False

    def _detail(self, spec: FaultSpec) -> tuple[int, int, bool]:
        given = spec.parameters
        return int(given.get("partition", _EVERY)), int(given.get("beyond", 0)), False


def _begun(history: History, fault: int) -> Iterator[tuple[int, int]]:
    """By partition, where sources began to read since the injection: as their tasks say, or, where no task ever says
    anything, by the checkpoint that an attempt restored."""
    if history.of(TaskStarted):
        for task in since(history, fault, TaskStarted):
            if task.restored_checkpoint is not None:
                yield from task.positions
        return
    positions = {each.checkpoint: each.positions for each in history.of(CheckpointCompleted)}
    for attempt in since(history, fault, AttemptStarted):
        if attempt.restored_checkpoint is not None:
            yield from enumerate(positions.get(attempt.restored_checkpoint, ()))


def truncate(beyond: int = 0, duration_ms: int = 0, **when: Any) -> FaultSpec:
    """The records that the last completed checkpoint covers are gone, and so many more."""
    return FaultSpec("truncate", SOURCE_SYSTEM, Schedule(**when), duration_ms, {"beyond": beyond})
