"""What a coordinator tells of how its checkpoints ended: completions in order, each abort to all."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.harness.model.events import CheckpointAborted, Event, NotificationReceived, NotificationSent

Notice = NotificationSent | NotificationReceived


class Abort:
    """An abort that the participants of a running attempt must hear of.

    Attributes:
        untold: who has not been told yet.
        went_on: the coordinator has reacted to something else since, so it was not interrupted here.
    """

    __slots__ = ("event", "untold", "went_on")

    def __init__(self, event: CheckpointAborted, untold: set[str]) -> None:
        self.event = event
        self.untold = untold
        self.went_on = False


class NoticeTrace:
    """The notices of one job.

    Attributes:
        aborts: by checkpoint, those that may still have to be told.
        told: by attempt and subtask, the last completion that it was told of.
    """

    def __init__(self) -> None:
        self.aborts: dict[int, Abort] = {}
        self.told: dict[tuple[int, str], Notice] = {}

    def owe(self, event: CheckpointAborted, participants: Iterable[str]) -> None:
        """An attempt that runs on has to hear of an abort."""
        self.aborts[event.checkpoint] = Abort(event, set(participants))

    def sent(self, event: Notice) -> Notice | None:
        """A subtask is told; if of a completion, the one that it was told of before."""
        if not event.completed:
            abort = self.aborts.get(event.checkpoint)
            if abort is not None:
                abort.untold.discard(event.subtask)
            return None
        last = self.told.get((event.attempt, event.subtask))
        self.told[event.attempt, event.subtask] = event
        return last

    def went_on(self, event: Event) -> None:
        """The coordinator reacts to something: whatever it did before is done."""
        for abort in self.aborts.values():
            abort.went_on = abort.went_on or abort.event.node == event.node

    def settle(self) -> list[Abort]:
        """Nobody will be told of an abort any more: those that had to be told."""
        settled = list(self.aborts.values())
        self.aborts.clear()
        return settled
