"""What each subtask did for each checkpoint, as its own node recorded it: the facts behind its statistics."""

from __future__ import annotations

from operator import attrgetter
from typing import NamedTuple

from holdfast.harness.model.events import (
    AckSent,
    BarrierReceived,
    ChannelStateTaken,
    Event,
    SnapshotTaken,
    TriggerReceived,
)
from holdfast.harness.model.history import History
from holdfast.harness.oracles.shared.ledger import PartId, by_part, part_of


class Times(NamedTuple):
    """A subtask's part in one checkpoint.

    Attributes:
        first, last: the first and the last arrival of the trigger or of a barrier, up to the acknowledgement; behind
            the head of a chain no barrier arrives, and the snapshot is the beginning.
        held_bytes: the most that was held when one of them arrived.
        snapshot, acknowledged: the first of each.
    """

    first: Event
    last: Event
    held_bytes: int
    snapshot: SnapshotTaken
    acknowledged: AckSent


class SubtaskTimes:
    """The parts of all subtasks.

    Attributes:
        overtook: those whose barriers did, with the snapshot, or later in the buffers of its outputs.
    """

    def __init__(self, history: History) -> None:
        self._triggers = by_part(history, TriggerReceived).first  # A copy of a trigger begins and ends nothing
        self._barriers = by_part(history, BarrierReceived).all
        self._snapshots, self._acks = by_part(history, SnapshotTaken).first, by_part(history, AckSent).first
        self._known: dict[PartId, Times | None] = {}
        self.overtook = {part_of(taken) for taken in history.of(SnapshotTaken) if taken.unaligned}
        self.overtook |= {part_of(taken) for taken in history.of(ChannelStateTaken) if taken.channels}

    def of(self, part: PartId) -> Times | None:
        """A part that was seen from its beginning to its acknowledgement."""
        if part not in self._known:
            self._known[part] = self._times_of(part)
        return self._known[part]

    def _times_of(self, part: PartId) -> Times | None:
        trigger, snapshot, ack = self._triggers.get(part), self._snapshots.get(part), self._acks.get(part)
        if snapshot is None or ack is None:
            return None
        barriers = [each for each in self._barriers.get(part, ()) if each.sequence < ack.sequence]
        arrivals: list[Event] = [*barriers, snapshot] if trigger is None else [trigger, *barriers, snapshot]
        arrivals.sort(key=attrgetter("sequence"))
        if arrivals[-1] is snapshot and len(arrivals) > 1 and arrivals[-2].time_ns >= snapshot.time_ns:
            arrivals.pop()
        held_bytes = max(map(attrgetter("held_bytes"), barriers), default=0)
        return Times(arrivals[0], arrivals[-1], held_bytes, snapshot, ack)
