"""Tables as the sink: idempotent by transaction, and by key (RULES TPC-08, TPC-09)."""

from __future__ import annotations

from holdfast.faults.process import kill
from holdfast.faults.storage import storage_error
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.jobs import DIAMOND, FORWARD, JOIN, KEYED_SUM, REBALANCE, STEPS
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.window import Window
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import AT_LEAST_ONCE, EVERYWHERE, WORKERS, case, decides, gate, plan, with_needs
from holdfast.suites.conformance.submissions import Options, refused, submitted

TABLE: Options = {"sink.connector": "jdbc"}
BY_KEY: Options = {**TABLE, "sink.delivery-guarantee": "at-least-once"}
EXACTLY: Options = {"holdfast.guarantee": "exactly-once"}
AT_LEAST: Options = {"holdfast.guarantee": "at-least-once"}
ANSWER_LOST = storage_error("commit", 1_000, {"occurrences": 1, "after_effect": 1}, after_checkpoint=1)
LONGER = {"records": 240}
"""So that commits follow the first checkpoint on a slow machine, too."""
COMMITTED_AGAIN = (
    plan(ANSWER_LOST, options=TABLE, records=LONGER),
    plan(ANSWER_LOST, job=FORWARD, options=TABLE, records=LONGER),
    plan(kill(WORKERS[0], after_checkpoint=1, gate=gate("during-commit", WORKERS[0])), options=TABLE),
    plan(kill(WORKERS[0], after_checkpoint=1, gate=gate("commit", WORKERS[0], "sink")), options=TABLE),
    plan(kill(COORDINATOR, after_checkpoint=1, gate=gate("notify", COORDINATOR)), options=TABLE),
)
"""A commit takes effect and its answer is lost; who commits dies behind the effect, or before it; nobody hears that a
checkpoint is complete."""
CRASHES = (
    (kill(WORKERS[0], after_checkpoint=1),),
    (kill(WORKERS[1], after_checkpoint=1, at_event="rows_visible"), kill(COORDINATOR, after_checkpoint=2)),
    (kill(WORKERS[0], after_checkpoint=1, gate=gate("acknowledge", WORKERS[0], "sink")),),
)
"""Between two checkpoints; with rows in the table; with the rows of a checkpoint there that is not acknowledged."""
REPEATED = tuple(
    plan(*faults, job=job, options=BY_KEY | AT_LEAST_ONCE | EXACTLY)
    for job, faults in (*((REBALANCE, faults) for faults in CRASHES), (FORWARD, CRASHES[0]), (DIAMOND, CRASHES[1]))
)
OF_STATE = [refused(BY_KEY | mode | EXACTLY, job=job) for job in (KEYED_SUM, JOIN) for mode in (AT_LEAST_ONCE, {})]
"""A sum that is repeated is another sum, in either mode seen to step back."""

CASES = with_needs(
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
