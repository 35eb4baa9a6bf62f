"""Histories for FENCE and MESSAGE: two coordinators at once, and what was sent and taken."""

from __future__ import annotations

from holdfast.harness.model.events import (
    CoordinatorClaimed, CoordinatorSuperseded, DeclineReceived, DeclineSent, FileDeleted, FileReference, FileWritten,
    FinishReceived, MessageDisturbed, SplitsAssigned, SplitsReceived, SubtaskFinished, TaskStarted, TriggerReceived,
    TriggerSent,
)  # fmt: skip
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, injected
from holdfast.suites.selfcheck.oracles.legal import SUBTASKS
from holdfast.suites.selfcheck.oracles.lines import (
    CANCELLING, ack_sent, acked, attempt, completed, deleted, died, dropped, heard, notified, of_each, published,
    stopped, switched, triggered,
)  # fmt: skip

# --- FENCE: a coordinator stands still, another takes over, and the first comes back ----------------------------------


FORMER, SUCCESSOR = "coordinator.0", "coordinator.1"
METADATA = FileReference("chk-1/_metadata", 10, 1)

BOTH_LIVE: list[Line] = [
    at(FORMER, CoordinatorClaimed(epoch=1)), attempt(), triggered(1, *SUBTASKS),
    at(SUCCESSOR, CoordinatorClaimed(epoch=2)),
]  # fmt: skip
"""The successor takes over while checkpoint 1 is pending; then the former comes back."""
FOUND = at(SUCCESSOR, published(1, states=len(SUBTASKS), path=""))
"""The successor finds checkpoint 1."""
LEARNS = at(FORMER, CoordinatorSuperseded(epoch=1))
"""The former learns at last that it is superseded."""

bad, near = exhibits("FENCE", claimed=frozenset())

bad("epoch-not-higher", "claims what is claimed",
    CoordinatorClaimed(epoch=1), died(), CoordinatorClaimed(epoch=1), died())  # fmt: skip
near("epoch-not-higher", "claims the next", CoordinatorClaimed(epoch=1), died(), CoordinatorClaimed(epoch=2), died())
near("epoch-not-higher", "another job begins anew",
     CoordinatorClaimed(epoch=1), died(), CoordinatorClaimed(epoch=2), died(),
     CoordinatorClaimed(epoch=1, first_attempt=1_000_000), died())  # fmt: skip

bad, near = exhibits("FENCE", *BOTH_LIVE, claimed=frozenset(), options={})

bad("superseded-acted", "superseded publishes", FileWritten(node=FORMER, file=METADATA))
bad("superseded-acted", "superseded triggers",
    at(FORMER, triggered(2, *SUBTASKS)), at("worker-0.0", TriggerReceived(checkpoint=2, subtask="source[0]")),
    LEARNS)  # fmt: skip
near("superseded-acted", "nobody hears what superseded triggers", at(FORMER, triggered(2, *SUBTASKS)), LEARNS)
near("superseded-acted", "superseded is refused", LEARNS)

bad("superseded-completed", "superseded completes", at(FORMER, completed()), LEARNS)
near("superseded-completed", "superseded learns what its successor found", FOUND, at(FORMER, completed()), LEARNS)

# The successor found checkpoint 1; then the former deletes its metadata.
bad("superseded-deleted", "superseded deletes what was found",
    at(SUCCESSOR, published(1, METADATA, states=len(SUBTASKS), path=METADATA.path)), deleted(METADATA, by=FORMER),
    LEARNS)  # fmt: skip
near("superseded-deleted", "superseded deletes what its successor dropped",
     at(SUCCESSOR, published(1, METADATA, states=len(SUBTASKS), path=METADATA.path)), at(SUCCESSOR, dropped(1)),
     deleted(METADATA, by=FORMER), LEARNS)  # fmt: skip
near("superseded-deleted", "superseded deletes what nobody found", at(FORMER, FileDeleted(path="chk-1/sum-0")), LEARNS)

# The former sends a notice of checkpoint 1, which a task receives or not.
bad("superseded-notified", "task hears of it", at(FORMER, notified(1, "sink[0]"), attempt=1), heard("sink[0]"), LEARNS)
bad("superseded-notified", "task hears that what the successor found is aborted",
    FOUND, at(FORMER, notified(1, "sink[0]", completed=False), attempt=1), heard("sink[0]", completed=False),
    LEARNS)  # fmt: skip
near("superseded-notified", "task hears that what nobody found is aborted",
     at(FORMER, notified(1, "sink[0]", completed=False), attempt=1), heard("sink[0]", completed=False),
     LEARNS)  # fmt: skip
near("superseded-notified", "nobody hears it", at(FORMER, notified(1, "sink[0]"), attempt=1), LEARNS)

# --- MESSAGE: what was sent and what was taken, by subtasks and a coordinator that live -------------------------------

SOURCE = "source[1]"
TRIGGER = TriggerSent(checkpoint=1, subtask=SOURCE)
TRIGGER_RECEIVED = TriggerReceived(checkpoint=1, subtask=SOURCE)
RUN_ALL: list[Line] = [attempt(), of_each(TaskStarted, *SUBTASKS)]
"""Every subtask runs in attempt 1; the run ends a second after the last line."""

bad, near = exhibits("MESSAGE")

bad("never-sent", "trigger of another attempt", *RUN_ALL, attempt(), TRIGGER, at("", TRIGGER_RECEIVED, attempt=1))
bad("never-sent", "acknowledgement that nobody sent",
    *RUN_ALL, ack_sent(SOURCE), [acked(each, SOURCE) for each in (1, 2)])  # fmt: skip
bad("never-sent", "acknowledgement under another name",
    *RUN_ALL, ack_sent("source[0]"), [acked(1, each) for each in ("source[0]", SOURCE)])  # fmt: skip
bad("never-sent", "decline of another checkpoint",
    *RUN_ALL, DeclineSent(subtask=SOURCE, checkpoint=2, reason="full"),
    [DeclineReceived(checkpoint=each, subtask=SOURCE, reason="full") for each in (2, 1)])  # fmt: skip
bad("never-sent", "notice of the other kind",
    *RUN_ALL, notified(1, SOURCE, completed=False),
    [heard(SOURCE, completed=each) for each in (False, True)])  # fmt: skip

BEHIND_A_SUCCESSOR: list[Line] = [
    at("coordinator.0", attempt()), at("coordinator.0", CoordinatorClaimed(epoch=1)),
    at("coordinator.1", CoordinatorClaimed(epoch=2)), at("coordinator.0", TRIGGER),
]  # fmt: skip
"""Another coordinator has taken over while the one of the attempt lives."""

bad("never-sent", "neither of two coordinators sent it", *BEHIND_A_SUCCESSOR, at("", TRIGGER_RECEIVED, attempt=2))
near("never-sent", "a superseded coordinator sent it", *BEHIND_A_SUCCESSOR, TRIGGER_RECEIVED)

SECOND_TRIGGER = TriggerSent(checkpoint=2, subtask=SOURCE)

near("never-received", "nobody takes what a superseded coordinator sends",
     *BEHIND_A_SUCCESSOR, TRIGGER_RECEIVED, at("coordinator.0", SECOND_TRIGGER))  # fmt: skip

near("never-sent", "trigger that is sent again", *RUN_ALL, TRIGGER, TRIGGER, TRIGGER_RECEIVED, TRIGGER_RECEIVED)

near("taken-twice", "trigger that is sent again", *RUN_ALL, TRIGGER, TRIGGER, TRIGGER_RECEIVED, TRIGGER_RECEIVED)
bad("taken-twice", "trigger that comes twice", *RUN_ALL, TRIGGER, TRIGGER_RECEIVED, TRIGGER_RECEIVED)

bad("taken-twice", "another trigger is doubled",
    *RUN_ALL,
    at("harness", MessageDisturbed(message="trigger", way="double", worker=1, subtask="source[0]", checkpoint=1)),
    TRIGGER, TRIGGER_RECEIVED, TRIGGER_RECEIVED)  # fmt: skip
near("taken-twice", "a fault doubles it",
     *RUN_ALL, at("harness", MessageDisturbed(message="trigger", way="double", worker=1, subtask=SOURCE, checkpoint=1)),
     TRIGGER, TRIGGER_RECEIVED, TRIGGER_RECEIVED)  # fmt: skip

near("never-sent", "the sender died on a busy machine",
     *RUN_ALL, TRIGGER, TRIGGER_RECEIVED, died(), TriggerReceived(checkpoint=2, subtask=SOURCE),
     real_time=True)  # fmt: skip

# A coordinator finds that in the checkpoint that it restores: nobody sends it.
near("never-sent", "subtask that had finished in the checkpoint",
     *RUN_ALL, FinishReceived(subtask=SOURCE), TRIGGER, TRIGGER_RECEIVED)  # fmt: skip

bad("never-received", "trigger is lost", *RUN_ALL, TRIGGER)
bad("never-received", "acknowledgement is lost", *RUN_ALL, ack_sent(SOURCE))
bad("never-received", "notice is lost", *RUN_ALL, notified(1, SOURCE))
bad("never-received", "decline is lost", *RUN_ALL, DeclineSent(subtask=SOURCE, checkpoint=1, reason="full"))
bad("never-received", "splits are lost", *RUN_ALL, SplitsAssigned(subtask=SOURCE, splits=(1, 3)))
bad("never-received", "end of a subtask is lost", *RUN_ALL, SubtaskFinished(subtask=SOURCE))

# Records travel on it, and no control messages.
bad("never-received", "a channel is slow", *RUN_ALL, at("harness", injected("slow", "channel[0]")), TRIGGER)
bad("never-received", "connection was cut before", *RUN_ALL, at("harness", injected("cut", "worker[1]")), 100, TRIGGER)
bad("never-received", "another message was struck",
    *RUN_ALL, MessageDisturbed(message="trigger", way="lose", worker=0, subtask="source[0]", checkpoint=1),
    TRIGGER)  # fmt: skip
near("never-received", "trigger arrives", *RUN_ALL, TRIGGER, TRIGGER_RECEIVED)
near("never-received", "everything arrives",
     *RUN_ALL, SplitsAssigned(subtask=SOURCE, splits=(1, 3)), SplitsReceived(subtask=SOURCE, splits=(1, 3)),
     ack_sent(SOURCE), acked(1, SOURCE), SubtaskFinished(subtask=SOURCE), FinishReceived(subtask=SOURCE))  # fmt: skip

# One arrives, so that there is something to decide on.
near("never-received", "its receiver has stopped", *RUN_ALL, TRIGGER, TRIGGER_RECEIVED, SECOND_TRIGGER, stopped(SOURCE))
near("never-received", "its receiver dies", *RUN_ALL, TRIGGER, TRIGGER_RECEIVED, SECOND_TRIGGER, died("worker-1"))
near("never-received", "the next attempt begins", *RUN_ALL, TRIGGER, TRIGGER_RECEIVED, SECOND_TRIGGER, attempt())
near("never-received", "the job is over", *RUN_ALL, TRIGGER, TRIGGER_RECEIVED, ack_sent(SOURCE), switched(CANCELLING))
near("never-received", "its coordinator dies", *RUN_ALL, TRIGGER, TRIGGER_RECEIVED, ack_sent(SOURCE), died())
near("never-received", "a fault loses it",
     *RUN_ALL, TRIGGER, TRIGGER_RECEIVED,
     at("coordinator.0", MessageDisturbed(message="trigger", way="lose", worker=1, subtask=SOURCE, checkpoint=2)),
     SECOND_TRIGGER)  # fmt: skip
near("never-received", "its connection is cut",
     *RUN_ALL, TRIGGER, TRIGGER_RECEIVED, SECOND_TRIGGER, 100, at("harness", injected("cut", "worker[1]")))  # fmt: skip
