"""Faults of retention: the source system has removed records that a recovery may want to read again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from holdfast.faults.input import InputFault, outside
from holdfast.faults.landing import since
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import InputTruncated, RecordFailed, TaskStarted
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.records import InputLog
from holdfast.harness.model.target import SOURCE_SYSTEM, Role
from holdfast.harness.spi.attack import Attack, Feature, Occasion, Scene
from holdfast.harness.spi.controls.input import InputControl

_EVERY = -1


def _draw(scene: Scene) -> list[FaultSpec]:
    """Up to what a completed checkpoint covers, or a little less; a worker dies, so that input is read again."""
    beyond = -scene.stream.choice((0, 0, 1, 10))
    progress = max(1, scene.progress)
    schedule = Schedule(after_checkpoint=progress)
    truncated = FaultSpec("truncate", SOURCE_SYSTEM, schedule, 2 * scene.lasting_ms(), {"beyond": beyond})
    if Capability.KILL_WORKER not in scene.able:
        return [truncated]
    return [truncated, FaultSpec("kill", scene.worker(), scene.unaimed(progress))]


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
    attacks: Sequence[Attack] = (Attack("truncate", _draw, (Capability.TRUNCATE_INPUT,), Occasion.DISTURBANCE, 2),)

    def precludes(self, spec: FaultSpec) -> Collection[Feature]:
        """See spi.attack.Precluding. A socket keeps no records that could be removed."""
        return (Feature.SOCKETS,)

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.TRUNCATE_INPUT

    def inject(self, control: InputControl, spec: FaultSpec) -> None:
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
        starts = {event.partition: event.next_offset for event in since(history, fault, InputTruncated)}
        begun = [
            (partition, position)
            for task in since(history, fault, TaskStarted)
            if task.restored_checkpoint is not None
            for partition, position in task.positions
            if starts.get(partition)
        ]
        if any(position < starts[partition] if beyond > 0 else True for partition, position in begun):
            return True
        if any(failed.offset < starts.get(failed.partition, 0) for failed in since(history, fault, RecordFailed)):
            return True
        return None if any(starts.values()) else False

    def _detail(self, spec: FaultSpec) -> tuple[int, int, bool]:
        given = spec.parameters
        return int(given.get("partition", _EVERY)), int(given.get("beyond", 0)), False


def truncate(beyond: int = 0, duration_ms: int = 0, **when: Any) -> FaultSpec:
    """The records that the last completed checkpoint covers are gone, and so many more."""
    return FaultSpec("truncate", SOURCE_SYSTEM, Schedule(**when), duration_ms, {"beyond": beyond})
