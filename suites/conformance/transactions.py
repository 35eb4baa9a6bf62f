"""Sinks: what a committed reader sees (RULES E2E), two-phase commit (TPC), and tables, by transaction and by key."""

from __future__ import annotations

from holdfast.faults.forge import forge
from holdfast.faults.network import slow
from holdfast.faults.process import kill, pause
from holdfast.faults.storage import slow_storage, storage_error
from holdfast.faults.user import command, savepoint
from holdfast.harness.model import profile
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Window
from holdfast.harness.model.jobs import COMMON_JOBS, DIAMOND, FORWARD, JOIN, KEYED_SUM, REBALANCE, STEPS
from holdfast.harness.model.submitted_jobs import LATEST_SAVEPOINT
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import (
    AT_LEAST_ONCE,
    EVERYWHERE,
    RESTORED,
    STATE_IN_FILES,
    WORKERS,
    Options,
    case,
    decides,
    gate,
    plan,
    refused,
    submitted,
    with_needs,
)

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


READ_AHEAD = plan(kill(WORKERS[1], after_checkpoint=1, gate=gate("acknowledge", WORKERS[1], "sink")), job=FORWARD,
                  options={plans.FAILOVER: "full"})  # fmt: skip
"""A worker dies when more was read than any completed checkpoint covers, and both sources go back."""
FAULTS = (
    storage_error("commit", after_checkpoint=1),
    kill(WORKERS[0], after_checkpoint=2),
    kill(COORDINATOR, after_checkpoint=3),
)
LONGER = {"records": 240}
OVERLAPPING_OPTIONS = {
    "sink.delivery-guarantee": "at-least-once",
    f"{plans.CHECKPOINTING}.max-concurrent-checkpoints": "3",
}

DELIVERY_CASES = with_needs(
    case("delivery/exactly-once",
         "Is the visible output the expected one, once, after quiescence and after the settle window?",
         [plan(*FAULTS, job=job, records=LONGER) for job in (REBALANCE, FORWARD)],
         decides("E2E-02", "EXACT/row-repeated", "EXACT/input-missing", "EXACT/late-change",
                 wrong="source-repeats-one"),
         windows=(Window.RESTORED_STATE,), tiers=EVERYWHERE,
         method="Rows carry the identity of their record; a worker and the coordinator are killed and a commit fails.",
         passes="Every identity is there once, and nothing comes after the settle window."),
    case("delivery/exactly-once-sums", "Does every row of a running sum hold its records once?",
         plan(*FAULTS, records=LONGER), decides("E2E-02", *plans.EXACT_ROWS, wrong="source-repeats-one"),
         windows=RESTORED,
         method="Rows carry counts and a digest of their records; a worker and the coordinator die and a commit "
                "fails.",
         passes="Each row is what the oracle's model holds at its counts, which rise, and the last holds all input."),
    case("delivery/stable", "Does a reader during the faults see what a reader sees afterwards?",
         [plan(kill(WORKERS[0], after_checkpoint=1, at_event="rows_visible"), job=job) for job in COMMON_JOBS.values()],
         decides("E2E-03", "STABLE/row-changed", "STABLE/row-vanished", wrong="takes-back-committed"), windows=RESTORED,
         tiers=EVERYWHERE,
         method="A committed-only reader looks more than ten times per checkpoint interval, and once more at the end.",
         passes="What was visible once does not change or vanish."),
    case("delivery/at-least-once-in-order",
         "Does the last visible row of a key hold all of its records, though checkpoints overlap?",
         plan(slow_storage("pre-commit", delay_ms=150, duration_ms=600, occurrences=1, after_checkpoint=1),
              options=OVERLAPPING_OPTIONS, records={"records": 40, "records_per_second": 150}),
         decides("E2E-04", "NOLOSS/input-lost", wrong="writes-in-parallel"),
         method="Three checkpoints are under way at a time, and an at-least-once sink is slow to write the rows of "
                "one.",
         passes="Rows of a later barrier become visible after those of an earlier one: the last of a key is complete."),
    case("delivery/published-positions",
         "Do sources continue from the checkpoint, whatever positions of theirs are known elsewhere?", READ_AHEAD,
         decides("E2E-07", "NOLOSS/input-lost", wrong="source-follows-published-positions"), windows=RESTORED,
         tiers=EVERYWHERE,
         method="A worker dies when more was read than the last checkpoint covers. The wrong source continues behind "
                "what it has published, as one does that follows the offsets of its consumer group.",
         passes="No record is lost."),
    case("delivery/at-least-once", "Is nothing missing in at-least-once mode, and is whatever is there twice a repeat?",
         [plan(slow(plans.LATE_CHANNELS[0], 15), *FAULTS[1:], job=job, options=plans.AT_LEAST_ONCE)
          for job in COMMON_JOBS.values()
          if job is not FORWARD],
         decides("E2E-04", "NOLOSS/input-lost", "NOLOSS/extra-not-a-repeat", wrong="source-skips-one"),
         windows=(Window.RESTORED_STATE,), tiers=EVERYWHERE,
         method="One channel is late; a worker and the coordinator are killed.",
         passes="Every record has its effect, and every excess is one of records that were read already."),
)  # fmt: skip


TABLE: Options = {"sink.connector": "jdbc"}
BY_KEY: Options = {**TABLE, "sink.delivery-guarantee": "at-least-once"}
EXACTLY: Options = {"holdfast.guarantee": "exactly-once"}
AT_LEAST: Options = {"holdfast.guarantee": "at-least-once"}
ANSWER_LOST = storage_error("commit", 1_000, {"occurrences": 1, "after_effect": 1}, after_checkpoint=1)
COMMITTED_AGAIN = (
    plan(ANSWER_LOST, options=TABLE, records=LONGER),
    plan(ANSWER_LOST, job=FORWARD, options=TABLE, records=LONGER),
    plan(kill(WORKERS[0], after_checkpoint=1, gate=gate("during-commit", WORKERS[0])), options=TABLE),
    plan(kill(WORKERS[0], after_checkpoint=1, gate=gate("commit", WORKERS[0], "sink")), options=TABLE),
    plan(kill(COORDINATOR, after_checkpoint=1, gate=gate("notify", COORDINATOR)), options=TABLE),
)
"""A commit takes effect and its answer is lost; who commits dies behind the effect, or before it; nobody hears that a
checkpoint is complete."""
TABLE_CRASHES = (
    (kill(WORKERS[0], after_checkpoint=1),),
    (kill(WORKERS[1], after_checkpoint=1, at_event="rows_visible"), kill(COORDINATOR, after_checkpoint=2)),
    (kill(WORKERS[0], after_checkpoint=1, gate=gate("acknowledge", WORKERS[0], "sink")),),
)
"""Between two checkpoints; with rows in the table; with the rows of a checkpoint there that is not acknowledged."""
REPEATED = tuple(
    plan(*faults, job=job, options=BY_KEY | AT_LEAST_ONCE | EXACTLY)
    for job, faults in (
        *((REBALANCE, faults) for faults in TABLE_CRASHES),
        (FORWARD, TABLE_CRASHES[0]),
        (DIAMOND, TABLE_CRASHES[1]),
    )
)
OF_STATE = [refused(BY_KEY | mode | EXACTLY, job=job) for job in (KEYED_SUM, JOIN) for mode in (AT_LEAST_ONCE, {})]
"""A sum that is repeated is another sum, in either mode seen to step back."""

TABLE_CASES = with_needs(
    case("tables/replayed-batch", "Does a table ignore a batch that is replayed?", COMMITTED_AGAIN,
         decides("TPC-08", "EXACT/row-repeated", wrong="applies-replayed-batch"),
         windows=(Window.RESTORED_STATE, Window.TRANSACTION_IN_DOUBT), tiers=EVERYWHERE,
         method="A commit takes effect and its answer is lost, so that the recovery commits the transaction again; "
                "other recoveries commit what nobody has.",
         passes="Every record takes effect once in the table."),
    case("tables/upsert-by-key", "Does an upsert by key make the table of an at-least-once job without state exact?",
         REPEATED, decides("TPC-09", "EXACT/row-repeated", wrong="upserts-by-attempt"), windows=plans.RESTORED,
         tiers=EVERYWHERE,
         method="Jobs that repeat records crash between checkpoints, with rows in the table that no checkpoint "
                "covers.",
         passes="Every record has one row in the table."),
    case("tables/claim-of-state", "Is a job with state refused that claims an exact table for its upserts by key?",
         OF_STATE, decides("TPC-09", "LOUD/accepted-bad-option", wrong="claims-exact-by-key"),
         method="Jobs with state and a table of upserts are submitted with a claim of exactly-once.",
         passes="Each is refused."),
    case("tables/claims-kept", "May a job without state claim an exact table, and one with state what it can keep?",
         [*(submitted(BY_KEY | AT_LEAST_ONCE | EXACTLY, job=job) for job in (REBALANCE, FORWARD, STEPS)),
          *(submitted(BY_KEY | AT_LEAST_ONCE | claim, job=KEYED_SUM) for claim in (AT_LEAST, {})),
          submitted(TABLE | EXACTLY, job=KEYED_SUM)],
         decides("TPC-09", "CONFIG/claimed-too-much", wrong="claims-exact-by-key"),
         method="Jobs with a table are submitted with what they can keep, and with no claim.",
         passes="Each is accepted, and no more is claimed."),
    needs=frozenset({Capability.TABLE_OUTPUT}),
)  # fmt: skip
