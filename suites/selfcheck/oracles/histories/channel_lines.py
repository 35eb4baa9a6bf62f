"""Lines of stories about channels of the keyed sum with two sources, and of the forward job."""

from __future__ import annotations

from holdfast.harness.model.events import (
    BarrierReceived,
    BarrierSent,
    BatchProcessed,
    BatchSent,
    Event,
    NotificationReceived,
    SnapshotTaken,
)

LEFT, RIGHT, ACROSS = "source[0]->sum[0]", "source[1]->sum[0]", "source[0]->sum[1]"
BELOW, LONE = "sum[0]->sink[0]", "source[0]->map[0]"
COUNTING = {"execution.checkpointing.interval": "100 ms", "execution.checkpointing.mode": "AT_LEAST_ONCE"}


def sends(channel: str, elements: str) -> list[Event]:
    """`0 |1 1`: batch 0, barrier 1 and batch 1 enter a channel."""
    return [
        BarrierSent(channel=channel, checkpoint=int(element[1:]))
        if element.startswith("|")
        else BatchSent(channel=channel, position=int(element), records=1)
        for element in elements.split()
    ]


def delivers(channel: str, elements: str) -> list[Event]:
    """As `sends`: they leave it."""
    return [
        BarrierReceived(channel=channel, checkpoint=int(element[1:]))
        if element.startswith("|")
        else BatchProcessed(channel=channel, position=int(element), records=1)
        for element in elements.split()
    ]


def snapshot(subtask: str, checkpoint: int = 1, *positions: tuple[int, int]) -> SnapshotTaken:
    return SnapshotTaken(subtask=subtask, checkpoint=checkpoint, positions=positions)


def gives_up(checkpoint: int) -> NotificationReceived:
    return NotificationReceived(subtask="sum[0]", checkpoint=checkpoint, completed=False)
