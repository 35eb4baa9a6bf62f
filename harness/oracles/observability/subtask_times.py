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
from holdfast.harness.oracles.ledger.parts import PartId, by_part

_SEQUENCE, _HELD_BYTES = attrgetter("sequence"), attrgetter("held_bytes")


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


def subtask_times(history: History) -> dict[PartId, Times]:
    """The times of the parts that were recorded from their beginning to their acknowledgement."""
    triggers = by_part(history, TriggerReceived).first  # A copy of a trigger begins and ends nothing
    barriers, snapshots = by_part(history, BarrierReceived).all, by_part(history, SnapshotTaken).first
    times: dict[PartId, Times] = {}
    for part, ack in by_part(history, AckSent).first.items():
        snapshot, trigger = snapshots.get(part), triggers.get(part)
        if snapshot is None:
            continue
        came = barriers.get(part)
        if came is None and (trigger is None or trigger.sequence < snapshot.sequence):  # A source, or behind a head.
            last = snapshot if trigger is None or trigger.time_ns < snapshot.time_ns else trigger
            times[part] = Times(trigger or snapshot, last, 0, snapshot, ack)
            continue
        came = came or ()
        if came and came[-1].sequence > ack.sequence:
            came = [each for each in came if each.sequence < ack.sequence]
        steps: list[Event] = [*came, snapshot] if trigger is None else [trigger, *came, snapshot]
        steps.sort(key=_SEQUENCE)
        if steps[-1] is snapshot and len(steps) > 1 and steps[-2].time_ns >= snapshot.time_ns:
            steps.pop()
        times[part] = Times(steps[0], steps[-1], max(map(_HELD_BYTES, came), default=0), snapshot, ack)
    return times


def overtaking_parts(history: History) -> set[PartId]:
    """The parts whose barriers overtook, with the snapshot, or later in the buffers of its outputs."""
    parts = {part for part, taken in by_part(history, SnapshotTaken).first.items() if taken.unaligned}
    return parts | {part for part, taken in by_part(history, ChannelStateTaken).first.items() if taken.channels}
