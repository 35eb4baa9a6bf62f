"""Two-phase commit (RULES TPC)."""

from __future__ import annotations

from holdfast.faults.forge import forge
from holdfast.faults.process import kill, pause
from holdfast.faults.savepoint import savepoint
from holdfast.faults.storage import storage_error
from holdfast.faults.user import command
from holdfast.harness.model import profile
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM
from holdfast.harness.model.submitted_jobs import LATEST_SAVEPOINT
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.window import Window
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import EVERYWHERE, STATE_IN_FILES, WORKERS, case, decides, gate, plan, with_needs

TWO_PHASE_COMMIT = frozenset({Capability.TWO_PHASE_COMMIT})
COMPARED = TWO_PHASE_COMMIT | {Capability.NAMED_TRANSACTIONS}
"""What sinks report, with what is visible."""
DECLINED = plan(
    forge("decline", "source[0]", after_checkpoint=1, at_event="transaction_precommitted"), options=plans.TOLERANT
)
"""A checkpoint is aborted when a sink has pre-committed for it."""
OVERLAPPING = plan(*(pause(WORKERS[0], 60, after_checkpoint=1,
                           gate=gate("acknowledge", WORKERS[0], "source", occurrence))
                     for occurrence in (1, 2)),
                   job=FORWARD, options={f"{plans.CHECKPOINTING}.max-concurrent-checkpoints": "3"})  # fmt: skip
"""Two checkpoints in a row wait for the first worker, so the second sink has closed both when the older completes."""
CRASHES = tuple(
    plan(kill(WORKERS[0], after_checkpoint=1, gate=gate(effect, WORKERS[0], vertex)))
    for effect, vertex in (("commit", "sink"), ("during-commit", ""))
)
"""Between completion and commit, and in the middle of the commit."""
BEFORE_NOTICES = kill(COORDINATOR, after_checkpoint=1, gate=gate("notify", COORDINATOR))
"""The checkpoint is complete, and nobody hears of it: whoever commits what it promises has restored it."""
READ = (
    plan(BEFORE_NOTICES),
    plan(kill(WORKERS[0], after_checkpoint=1, at_event="rows_visible")),
    plan(storage_error("commit", 1_000, {"occurrences": 1, "after_effect": 1}, after_checkpoint=1)),
    plan(storage_error("commit", 1_000, {"occurrences": 1}, after_checkpoint=1)),
)
IDS_AGAIN = tuple(
    plan(savepoint(after_checkpoint=2), command("cancel", after_checkpoint=6),
         command("submit", {"restore": LATEST_SAVEPOINT}, after_checkpoint=6, at_event="checkpoint_retained"), job=job,
         options={**STATE_IN_FILES, profile.RETENTION: "RETAIN_ON_CANCELLATION"},
         records={"records": 400, "records_per_second": 200})
    for job in (FORWARD, KEYED_SUM)
)  # fmt: skip
"""The next job goes back to a savepoint, so that it draws ids again under which the first has committed."""

CASES = with_needs(
    case("transactions/order", "Do pre-commit, acknowledgement, completion and commit follow each other?", plan(),
         decides("TPC-01", "TXN/acked-before-precommit", wrong="acks-before-precommit"),
         decides("TPC-01", "TXN/committed-before-completion", wrong="commits-on-barrier"), needs=TWO_PHASE_COMMIT,
         tiers=EVERYWHERE,
         method="The events of each sink are followed in its own order, commits against the publication of "
                "checkpoints.",
         passes="Every acknowledgement comes after its pre-commit, every commit after a checkpoint that promises it."),
    case("transactions/nothing-above-notice", "Does a notice commit nothing of a later checkpoint?", OVERLAPPING,
         decides("TPC-02", "TXN/committed-above-notice", wrong="commits-above-notice"), needs=TWO_PHASE_COMMIT,
         method="Checkpoints overlap, so that a later transaction is pre-committed when an older notice comes.",
         passes="It is not committed before its own notice."),
    case("transactions/aborted-checkpoint",
         "Is data that was pre-committed for an aborted checkpoint published with the next that completes?", DECLINED,
         decides("TPC-03", "TXN/aborted-data-lost", wrong="forgets-aborted-transactions"),
         decides("TPC-02", "TXN/not-committed", wrong="commits-only-noticed"), needs=TWO_PHASE_COMMIT,
         method="A checkpoint is aborted after a sink pre-committed for it, so that only later notices come.",
         passes="The next snapshot of the sink holds the transaction, and the notice for that commits it."),
    case("transactions/recovered-committed", "Does a restore commit what its checkpoint promises?", CRASHES,
         decides("TPC-04", "TXN/recovered-not-committed", wrong="forgets-recovered-transactions"),
         windows=(Window.RESTORED_STATE, Window.TRANSACTION_IN_DOUBT), needs=TWO_PHASE_COMMIT,
         method="A worker dies between the completion and the commit, and in the middle of the commit.",
         passes="Every transaction that a restored sink finds in its state is committed."),
    case("transactions/open-aborted", "Does a restore abort what no completed checkpoint promises?",
         plan(kill(WORKERS[0], after_checkpoint=1, gate=gate("acknowledge", WORKERS[0], "sink"))),
         decides("TPC-04", "TXN/open-not-aborted", wrong="leaves-open-transactions"),
         windows=(Window.RESTORED_STATE, Window.TRANSACTION_IN_DOUBT), needs=TWO_PHASE_COMMIT, tiers=EVERYWHERE,
         method="A worker dies when it has pre-committed and not acknowledged.",
         passes="The transaction of the dead attempt is aborted."),
    case("transactions/ids-again",
         "Is a transaction committed though one of an earlier job has its number, or a higher one?", IDS_AGAIN,
         decides("TPC-05", "TXN/committed-not-visible", wrong="H10"),
         windows=(Window.RESTORED_STATE, Window.READ_AGAIN), needs=COMPARED,
         method="A job takes a savepoint and goes on, and is cancelled; the next one goes back to the savepoint.",
         passes="What the next job commits is visible, and no input is lost."),
    case("transactions/reader-agrees",
         "Does the committed reader see what the sinks report as committed, and nothing else?", READ,
         decides("TPC-04", "TXN/committed-not-visible", wrong="reports-recovered"),
         decides("TPC-04", "TXN/visible-without-commit", wrong="commits-unreported"),
         decides("TPC-01", "TXN/rows-differ", wrong="precommits-in-part"), needs=COMPARED, tiers=EVERYWHERE,
         method="Restored sinks commit what their checkpoint promises, and commits fail with and without an effect; "
                "the units that the reader saw are compared with the reports of the sinks.",
         passes="Every transaction that is reported as committed is visible with all its rows, and no other one is."),
)  # fmt: skip
