"""What ends a checkpoint, what a failed one leaves behind, and when the job fails with it (RULES CRD-05 to CRD-13).

Control messages are late, overtaken, doubled or lost, as far as the contract of the system allows each kind.
"""

from __future__ import annotations

from typing import Any

from holdfast.faults.forge import forge
from holdfast.faults.messages import disturb
from holdfast.faults.notices import lose_notices
from holdfast.faults.process import kill, pause
from holdfast.faults.storage import slow_storage, storage_error
from holdfast.harness.model.case import Window
from holdfast.harness.model.plan import FaultSpec, Plan
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import (
    CHECKPOINTING,
    EVERYWHERE,
    STATE_IN_FILES,
    WORKERS,
    case,
    decides,
    gate,
    plan,
    with_needs,
)
from holdfast.suites.conformance.recovery import ON_COORDINATOR

LONG = {"records": 240, "records_per_second": 200}
VERSION_1_14 = {"holdfast.profile": "flink-1.14"}
NOT_COUNTED = ("task not ready", "task closing", "end of stream", "cancellation barrier")


def _declined(cause: str = "declined") -> FaultSpec:
    """A source declines a checkpoint that it takes part in, when a task behind it is about to acknowledge."""
    when = gate("acknowledge", WORKERS[0], "sum")
    return forge("decline", "source[1]", {"cause": cause}, after_checkpoint=1, gate=when)


def _not_stored(times: int, after: int = 1, **how: int) -> FaultSpec:
    """So many publications fail, refused unless it is said otherwise."""
    return storage_error("publish-metadata", 400, {"occurrences": times, **how}, after_checkpoint=after)


LATE_UPLOAD = plan(slow_storage("write-state", 150, 400, 1, after_checkpoint=1),
                   options={**plans.TWO_AT_ONCE, **STATE_IN_FILES, **plans.INTOLERANT}, records=LONG)  # fmt: skip
"""One upload of a checkpoint takes longer than the next checkpoint."""
LOST_NOTICES = (
    plan(lose_notices(50, 300, after_checkpoint=1), records=LONG),
    plan(lose_notices(90, 300, after_checkpoint=1), records=LONG),
    plan(lose_notices(60, 300, after_checkpoint=1), kill(WORKERS[0], after_checkpoint=3), records=LONG),
    plan(lose_notices(60, 300, after_checkpoint=1), kill(COORDINATOR, after_checkpoint=3), records=LONG),
    plan(lose_notices(60, 400, after_checkpoint=1),
         storage_error("write-state", 200, {"occurrences": 3}, after_checkpoint=2),
         options={**STATE_IN_FILES, **plans.TOLERANT}, records=LONG),
)  # fmt: skip
TOO_MANY = (
    plan(storage_error("write-state", 300, {"occurrences": 6}, after_checkpoint=1),
         options={**STATE_IN_FILES, **plans.ONE_TOLERABLE}),
    plan(_declined(), options=plans.INTOLERANT),
    plan(pause(WORKERS[0], 700, after_checkpoint=1, gate=gate("acknowledge", WORKERS[0], "sum")),
         options={f"{plans.CHECKPOINTING}.timeout": "300 ms", **plans.INTOLERANT}),
    plan(storage_error("persist-job-record", 300, {"occurrences": 2}, after_checkpoint=1), options=plans.ONE_TOLERABLE),
    plan(_not_stored(2), options=plans.ONE_TOLERABLE),
)  # fmt: skip
"""One more than tolerable, for each reason that counts: failed uploads, a decline, an expiry, ids that cannot be made
durable, and metadata that cannot be stored."""
NO_FAILURES = (
    *(plan(_declined(cause), options=plans.INTOLERANT) for cause in NOT_COUNTED),
    LATE_UPLOAD,
    plan(_not_stored(1), options={**plans.INTOLERANT, **VERSION_1_14}),
    plan(kill(WORKERS[0], after_checkpoint=1, gate=gate("acknowledge", WORKERS[0], "sum")), options=plans.INTOLERANT),
)
"""Ends that count for nothing, whatever is tolerable."""
OUTDATED = plan(slow_storage("publish-metadata", 60, 60, 1, after_checkpoint=1), _not_stored(1, after=2),
                options={**plans.TWO_AT_ONCE, **plans.INTOLERANT}, records=LONG)  # fmt: skip
"""The publication of a checkpoint fails when a later one has completed."""


def _unknown(**how: int) -> Plan:
    """A publication fails with an unknown outcome, and the coordinator dies when it goes on."""
    again = gate("persist-job-record", COORDINATOR, occurrence=2)
    return plan(_not_stored(1, **how), kill(COORDINATOR, after_checkpoint=1, gate=again), options=STATE_IN_FILES)


UNKNOWN = (_unknown(after_effect=1), _unknown(answer_lost=1))
CRASHES = tuple(
    plan(kill(COORDINATOR, after_checkpoint=1, gate=gate(effect, COORDINATOR)), options={**STATE_IN_FILES, **kept})
    for effect in ON_COORDINATOR
    for kept in ({}, plans.TWO_RETAINED)
    if not (kept and "delete" in effect)
)

CASES = with_needs(
    case("failed-checkpoints/subsumed",
         "Does a completed checkpoint end those that began before it and still wait for acknowledgements?", LATE_UPLOAD,
         decides("CRD-05", "COORD/not-subsumed", "COORD/wrong-reason", wrong="never-subsumes"), tiers=EVERYWHERE,
         method="One upload takes longer than the next checkpoint, and two may be pending.",
         passes="The older one is aborted as subsumed when the newer completes."),
    case("failed-checkpoints/notices-rise", "Is each task notified of completions in ascending order?",
         plan(slow_storage("publish-metadata", 150, 400, 1, after_checkpoint=1),
              options={**plans.TWO_AT_ONCE, **plans.TOLERANT}, records=LONG),
         decides("CRD-06", "COORD/notices-not-increasing", wrong="completes-late"), tiers=EVERYWHERE,
         method="The publication of one checkpoint takes longer than that of the next.",
         passes="No task is notified of an older completion after a newer one."),
    case("failed-checkpoints/lost-notices", "Does it matter which notices are lost?", LOST_NOTICES,
         decides("CRD-07", "TXN/not-committed", wrong="commits-only-noticed"), tiers=EVERYWHERE,
         method="Half to nine tenths of the notices of completion and abort are lost, with and without kills.",
         passes="The output is the right one, once, and what a completed checkpoint promises is committed."),
    case("failed-checkpoints/failing-notice",
         "Does an error in what a task does with a notice fail the task, and leave the checkpoint complete?",
         plan(storage_error("commit", after_checkpoint=2), options=plans.TWO_RETAINED, records=LONG),
         decides("CRD-08", "TXN/error-swallowed", wrong="H7"),
         decides("CRD-08", "COORD/restored-not-latest", wrong="revokes-completed"), tiers=EVERYWHERE,
         method="The commit after a completion fails; two checkpoints are retained.",
         passes="The task fails, and the job continues from that checkpoint."),
    case("failed-checkpoints/too-many", "Does the job fail over with one failed checkpoint more than tolerable?",
         TOO_MANY, decides("CRD-09", "COUNT/tolerable-exceeded", wrong="counts-no-abort"), tiers=EVERYWHERE,
         method="Each reason that counts is met once more than tolerable.",
         passes="The job fails over then, and its restart strategy decides."),
    case("failed-checkpoints/not-counted", "Do ends that are nobody's failure count for nothing?", NO_FAILURES,
         decides("CRD-09", "COUNT/failed-below-tolerable", wrong="counts-every-abort"), tiers=EVERYWHERE,
         method="Nothing is tolerable; tasks decline because they are not ready or closing, a checkpoint is subsumed, "
                "the job fails over, and, in version 1.14, metadata cannot be stored.",
         passes="The job does not fail over because of a checkpoint."),
    case("failed-checkpoints/forgiven", "Does a success make the failures before it count no more?",
         plan(_not_stored(1), _not_stored(1, after=3), options=plans.ONE_TOLERABLE, records=LONG),
         decides("CRD-09", "COUNT/failed-below-tolerable", wrong="never-forgives"), tiers=EVERYWHERE,
         method="One failure is tolerable, and there are two with a success in between.",
         passes="The job does not fail over."),
    case("failed-checkpoints/counted-anew", "Does counting begin anew when the job has failed over?",
         plan(_not_stored(3), options=plans.ONE_TOLERABLE, records=LONG),
         decides("CRD-09", "COUNT/failed-below-tolerable", "COUNT/tolerable-exceeded", wrong="never-counts-anew"),
         tiers=EVERYWHERE,
         method="One failure is tolerable, and three publications in a row fail.",
         passes="The job fails over with the second and not with the third."),
    case("failed-checkpoints/outdated", "Does the failure of a checkpoint count when a later one has completed?",
         OUTDATED, decides("CRD-09", "COUNT/failed-below-tolerable", wrong="counts-older-failures"),
         method="Nothing is tolerable; a publication takes long, and fails after the next checkpoint has completed.",
         passes="The job does not fail over."),
    case("failed-checkpoints/not-stored", "Is a checkpoint that the store refuses aborted and cleaned?",
         plan(_not_stored(1), options={**STATE_IN_FILES, **plans.TOLERANT}),
         decides("CRD-11", "COORD/state-not-discarded", wrong="keeps-files-of-failed-store"), tiers=EVERYWHERE,
         method="Metadata is refused, and the state lies in files.",
         passes="The checkpoint is aborted, and no file of it is left at the end."),
    case("failed-checkpoints/perhaps-stored",
         "Do the files of a checkpoint stay while nobody knows whether it is stored?", UNKNOWN,
         decides("CRD-11", "REACH/file-missing", wrong="D2"), windows=(Window.RESTORED_STATE,), mutant_plan=UNKNOWN[0],
         tiers=EVERYWHERE,
         method="The response to a publication is lost, which took effect or not, and the coordinator dies soon "
                "after.",
         passes="Whoever finds the metadata finds every file that it names."),
    case("failed-checkpoints/task-failure",
         "Does the failure of a task end every pending checkpoint before the restart?",
         plan(kill(WORKERS[1], after_checkpoint=1, gate=gate("acknowledge", WORKERS[1], "sum")),
              options=plans.TWO_AT_ONCE),
         decides("CRD-12", "COORD/pending-at-restart", wrong="forgets-pending"), tiers=EVERYWHERE,
         method="A worker is killed in front of an acknowledgement; two checkpoints may be pending.",
         passes="None of the attempt is pending when the next attempt starts."),
    case("failed-checkpoints/coordinator-crash",
         "Does a new coordinator find the latest completed checkpoint, and lose no commit?", CRASHES,
         decides("CRD-13", "COORD/restored-not-latest", wrong="restores-older"),
         decides("CRD-13", "TXN/recovered-not-committed", wrong="forgets-recovered-transactions"),
         windows=(Window.RESTORED_STATE,), tiers=EVERYWHERE,
         method="The coordinator is killed at each of its steps in turn, with one and with two checkpoints retained.",
         passes="It restores the latest one that completed, or that was published, and commits what that promises."),
)  # fmt: skip


SHORT_TIMEOUT = {**plans.TOLERANT, **plans.STATE_IN_FILES, f"{CHECKPOINTING}.timeout": "100 ms"}
LONGER = {"records": 240}
"""Records arrive for a second and more."""
NOTICES_AND_TRIGGERS = "trigger complete abort heartbeat"


def _declined_when(**when: Any) -> FaultSpec:
    """Some checkpoint is aborted."""
    return forge("decline", "sink[1]", **when)


LOST_WITH_CONNECTION = tuple(
    plan(disturb("lose", first, WORKERS[0], after_checkpoint=1), disturb("lose", then, WORKERS[0], after_checkpoint=3),
         kill(WORKERS[1], after_checkpoint=1), kill(WORKERS[1], after_checkpoint=4), options=SHORT_TIMEOUT,
         records=LONGER)
    for first, then in (("acknowledge", "deploy"), ("cancel", "task-running"), ("start-source", "cancelled"))
)  # fmt: skip
"""The connection of a worker is reset in front of a message; the other worker dies, so that tasks stop and start."""
ACKS_OF_THE_LAST_ATTEMPT = plan(
    disturb("double", "acknowledge", WORKERS[0], {"occurrences": 0, "delay_ms": 70}, after_checkpoint=1),
    kill(WORKERS[1], after_checkpoint=3),
    options=SHORT_TIMEOUT,
    records=LONGER,
)
"""Copies of what the surviving worker acknowledged arrive when the attempt is over, and the checkpoint complete."""
OLD_TRIGGERS = (
    plan(disturb("double", "trigger", how={"occurrences": 0, "delay_ms": 50}, after_checkpoint=1),
         options=SHORT_TIMEOUT, records=LONGER),
    plan(disturb("delay", "trigger", WORKERS[0], {"delay_ms": 130, "overtaken_by": NOTICES_AND_TRIGGERS},
                 after_checkpoint=1),
         options={**SHORT_TIMEOUT, **plans.TWO_AT_ONCE}, records=LONGER),
)  # fmt: skip
LATE_ABORTS = plan(disturb("delay", "abort",
                           how={"delay_ms": 45, "overtaken_by": NOTICES_AND_TRIGGERS, "occurrences": 0}),
                   _declined_when(after_checkpoint=1, at_event="checkpoint_triggered"),
                   _declined_when(after_checkpoint=2, at_event="checkpoint_triggered"), options=SHORT_TIMEOUT,
                   records=LONGER)  # fmt: skip
LATE_DECLINES = plan(disturb("delay", "decline",
                             how={"delay_ms": 60, "overtaken_by": "acknowledge decline heartbeat-answer"}),
                     disturb("lose", "trigger", WORKERS[0], {"occurrences": 3}, after_checkpoint=1),
                     _declined_when(after_checkpoint=1, at_event="checkpoint_triggered"),
                     _declined_when(after_checkpoint=2, at_event="checkpoint_triggered"),
                     options={**SHORT_TIMEOUT, f"{CHECKPOINTING}.timeout": "42 ms"}, records=LONGER)  # fmt: skip
"""A decline arrives when its checkpoint has expired, and another is pending; a later one arrives in time."""

MESSAGE_CASES = with_needs(
    case("messages/doubled-acks", "Is every acknowledgement counted once, when each of them arrives twice?",
         plan(disturb("double", "acknowledge", how={"occurrences": 0, "delay_ms": 1}, after_checkpoint=1),
              pause(WORKERS[1], 60, after_checkpoint=1, gate=gate("acknowledge", WORKERS[1], "sink")),
              options=SHORT_TIMEOUT, records=LONGER),
         decides("CRD-02", "COORD/ack-counted-wrongly", wrong="counts-duplicate-acks"), tiers=EVERYWHERE,
         method="All acknowledgements are doubled, and the last one of a checkpoint is held back.",
         passes="No checkpoint completes without it."),
    case("messages/late-copies-of-acks",
         "Does the state of a completed checkpoint stay, when its acknowledgements come again later?",
         ACKS_OF_THE_LAST_ATTEMPT, decides("CRD-02", "REACH/file-missing", wrong="discards-counted-acks"),
         windows=(Window.RESTORED_STATE,), tiers=EVERYWHERE,
         method="Acknowledgements of one worker are doubled, the copies late; the other worker dies meanwhile.",
         passes="Every file that a retained checkpoint names is there."),
    case("messages/old-triggers",
         "Is a trigger ignored that arrives when its source has begun this checkpoint or a newer one?", OLD_TRIGGERS,
         decides("BAR-10", "CUT/stale-acted", wrong="takes-older-triggers"), tiers=EVERYWHERE,
         method="Triggers are doubled, or one is overtaken by the next.",
         passes="No source begins a checkpoint twice, or an older one after a newer."),
    case("messages/late-aborts", "Does a notice of abort leave alone what newer checkpoints have promised?",
         LATE_ABORTS, decides("CRD-07", "TXN/not-committed", wrong="abort-undoes-newer"),
         method="Checkpoints are declined, and the notices of that arrive behind those of newer checkpoints.",
         passes="What a completed checkpoint promises is committed."),
    case("messages/late-declines", "Does a decline end no other checkpoint than its own?", LATE_DECLINES,
         decides("CRD-03", "COORD/wrong-reason", wrong="decline-fails-newest"),
         method="A decline arrives when its checkpoint has expired, and another one is pending.",
         passes="The other one is not aborted as declined."),
    case("messages/lost-triggers", "Does a checkpoint whose trigger is lost expire, and the next one complete?",
         plan(disturb("lose", "trigger", WORKERS[0], {"occurrences": 2}, after_checkpoint=1), options=SHORT_TIMEOUT,
              records=LONGER),
         decides("CRD-04", "COORD/not-expired", wrong="never-expires"),
         decides("CRD-04", "COORD/slot-not-freed", wrong="keeps-slot"), tiers=EVERYWHERE,
         method="The triggers of one worker's source are lost twice.",
         passes="Both checkpoints expire in time, and another is triggered in the same attempt."),
    case("messages/lost-with-connection",
         "Is the output right, and is all input drained, whichever message is lost with its connection?",
         LOST_WITH_CONNECTION, decides("REC-03", *plans.EXACT_ROWS, wrong="source-repeats-one"),
         decides("REC-10", "LIVE/input-not-drained", "LIVE/no-new-checkpoints", wrong="keeps-lost-worker"),
         windows=(Window.RESTORED_STATE, Window.READ_AGAIN), tiers=EVERYWHERE,
         method="The connection of one worker is reset twice, in front of messages of six kinds in turn; another "
                "dies.",
         passes="The committed output equals that of the oracle's model, once, and checkpoints cover all input."),
)  # fmt: skip
