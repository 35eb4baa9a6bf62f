"""What a committed reader sees (RULES E2E)."""

from __future__ import annotations

from holdfast.faults.network import slow
from holdfast.faults.process import kill
from holdfast.faults.storage import slow_storage, storage_error
from holdfast.harness.model.jobs import COMMON_JOBS, FORWARD, REBALANCE
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.window import Window
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import EVERYWHERE, RESTORED, WORKERS, case, decides, gate, plan, with_needs

READ_AHEAD = plan(kill(WORKERS[1], after_checkpoint=1, gate=gate("acknowledge", WORKERS[1], "sink")), job=FORWARD,
                  options={plans.FAILOVER: "full"})  # fmt: skip
"""A worker dies when more was read than any completed checkpoint covers, and both sources go back."""
FAULTS = (
    storage_error("commit", after_checkpoint=1),
    kill(WORKERS[0], after_checkpoint=2),
    kill(COORDINATOR, after_checkpoint=3),
)
LONGER = {"records": 240}
OVERLAPPING = {"sink.delivery-guarantee": "at-least-once", f"{plans.CHECKPOINTING}.max-concurrent-checkpoints": "3"}

CASES = with_needs(
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
              options=OVERLAPPING, records={"records": 40, "records_per_second": 150}),
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
