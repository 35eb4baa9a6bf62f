"""Faults of retention: the source system has removed records that a recovery may want to read again."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.faults.input import InputFault
from holdfast.faults.landing import since
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.events import InputTruncated, RecordFailed, TaskStarted
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role
from holdfast.harness.spi.controls import Controls

_EVERY = -1


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

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.TRUNCATE_INPUT

    def inject(self, controls: Controls, spec: FaultSpec) -> None:
        partition, beyond, _ = self._detail(spec)
        controls.truncate(partition, beyond)

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
