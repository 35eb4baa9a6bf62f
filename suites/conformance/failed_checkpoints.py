"""What ends a checkpoint, what a failed one leaves behind, and when the job fails with it (RULES CRD-05 to CRD-13)."""

from __future__ import annotations

from holdfast.faults.forge import forge
from holdfast.faults.notices import lose_notices
from holdfast.faults.process import kill, pause
from holdfast.faults.storage import slow_storage, storage_error
from holdfast.harness.model.plan import FaultSpec, Plan
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.window import Window
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import EVERYWHERE, STATE_IN_FILES, WORKERS, case, decides, gate, plan, with_needs
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
         plan(storage_error("commit", after_checkpoint=2), options=plans.TWO_RETAINED),
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
