"""What a coordinator tells of how its checkpoints ended, for COORD: completions in order, each abort to all."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.harness.model.events import CheckpointAborted, Event, NotificationSent
from holdfast.harness.oracles.findings import Findings


class _Abort:
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

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.aborts: dict[int, _Abort] = {}
        self.told: dict[tuple[int, str], NotificationSent] = {}

    def owe(self, event: CheckpointAborted, participants: Iterable[str]) -> None:
        """An attempt that runs on has to hear of an abort."""
        self.aborts[event.checkpoint] = _Abort(event, set(participants))

    def sent(self, event: NotificationSent) -> None:
        """A subtask is told; of completions in ascending order."""
        if not event.completed:
            abort = self.aborts.get(event.checkpoint)
            if abort is not None:
                abort.untold.discard(event.subtask)
            return
        last = self.told.get((event.attempt, event.subtask))
        if last is not None:
            self.findings.check("notices-not-increasing")
            if last.checkpoint >= event.checkpoint:
                message = (
                    f"{event.subtask} is told that checkpoint {event.checkpoint} is complete after checkpoint "
                    f"{last.checkpoint}"
                )
                self.findings.violated("notices-not-increasing", message, last, event)
        self.told[(event.attempt, event.subtask)] = event

    def went_on(self, event: Event) -> None:
        """The coordinator reacts to something: whatever it did before is done."""
        for abort in self.aborts.values():
            abort.went_on = abort.went_on or abort.event.node == event.node

    def settle(self) -> None:
        """Nobody will be told of an abort any more. An abort that the coordinator was interrupted in says nothing."""
        for abort in self.aborts.values():
            if not abort.untold:
                self.findings.check("abort-not-told")
            elif abort.went_on:
                self.findings.check("abort-not-told")
                named = ", ".join(sorted(abort.untold))
                message = f"checkpoint {abort.event.checkpoint} is aborted and {named} never told"
                self.findings.violated("abort-not-told", message, abort.event)
        self.aborts.clear()
