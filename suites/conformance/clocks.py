"""Time: clocks that nobody sets measure durations (RULES REC, RST, TRG), and jobs that go on for long (CRD-14)."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.faults.clock import jump_clock, skew_clock
from holdfast.faults.process import kill
from holdfast.faults.storage import slow_storage
from holdfast.harness.model.case import Window
from holdfast.harness.model.jobs import THROTTLE
from holdfast.harness.model.plan import Bounds, Plan, Schedule, Topology
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.barriers import switching
from holdfast.suites.conformance.plans import (
    CHECKPOINTING,
    EVERYWHERE,
    STATE_IN_FILES,
    WORKERS,
    case,
    decides,
    plan,
    with_needs,
)
from holdfast.suites.conformance.restart import FAILURE_RATE_ENDS
from holdfast.suites.conformance.triggering import LONG, PATIENT, periodic

HOUR_MS = 3_600_000
FIRST = Schedule(at_event="attempt_started")
PAUSE = plan(slow_storage("publish-metadata", 30, 900, after_checkpoint=1),
             *(jump_clock(COORDINATOR, HOUR_MS, Schedule(after_checkpoint=progress), 150) for progress in (2, 3, 4)),
             options=periodic(40, min_pause=150), records=LONG, bounds=PATIENT)  # fmt: skip
"""The clock jumps ahead, and back, three times; each pause is as long as it is ahead."""


WINDOWS = tuple(
    replace(FAILURE_RATE_ENDS, faults=(*FAILURE_RATE_ENDS.faults, wrong))
    for wrong in (jump_clock(COORDINATOR, HOUR_MS, Schedule(at_time_ms=30_000), 600_000),
                  skew_clock(COORDINATOR, 1_000, Schedule(at_time_ms=1_000), 600_000))
)  # fmt: skip


def _alignments(timeout: str, ahead_ms: int) -> Plan:
    """Checkpoints begin aligned while the clocks of all workers are ahead."""
    return switching(timeout, *(jump_clock(worker, ahead_ms, FIRST, 1_500) for worker in WORKERS))


CASES = with_needs(
    case("clocks/time-to-live", "Does state live as long as it is to while the wall clock of a worker jumps?",
         plan(jump_clock(WORKERS[0], HOUR_MS, Schedule(after_checkpoint=1), 60), kill(WORKERS[1], after_checkpoint=3),
              job=THROTTLE),
         decides("REC-03", "TTL/clock-wrong", wrong="worker-by-wall-clock"), windows=(Window.RESTORED_STATE,),
         method="State lives for 60 ms of processing time; the clock is set an hour ahead, and back, and a worker "
                "dies.",
         passes="Every lookup is by the time that the steady clock shows, and finds what has not expired then."),
    case("clocks/min-pause", "Is the pause after a checkpoint kept while the wall clock of the coordinator jumps?",
         PAUSE, decides("TRG-05", "PACE/pause-too-short", wrong="coordinator-by-wall-clock"), tiers=EVERYWHERE,
         method="The clock is set an hour ahead in a pause of 150 ms, and back again.",
         passes="No periodic checkpoint begins sooner after the last completion than the pause."),
    case("clocks/failure-rate", "Are failures counted by a steady clock?", WINDOWS,
         decides("RST-04", "COUNT/restarted-beyond-policy", wrong="coordinator-by-wall-clock"),
         method="A rate of 3 failures in 5 min is exceeded within a minute, while the wall clock of the coordinator "
                "jumps an hour ahead, or runs ten times as fast.",
         passes="The job fails at the fourth failure."),
    case("clocks/alignment-timeout",
         "Does a checkpoint stay aligned until the alignment timeout has passed, though wall clocks are ahead?",
         _alignments("5 s", HOUR_MS), decides("UNA-04", "CUT/overtook-early", wrong="worker-by-wall-clock"),
         tiers=EVERYWHERE,
         method="Those of the workers are an hour ahead; the timeout is longer than any alignment.",
         passes="No barrier overtakes before the timeout."),
    case("clocks/alignment-timeout-behind",
         "Does a checkpoint overtake when the alignment timeout has passed, though wall clocks are behind?",
         _alignments("30 ms", -HOUR_MS), decides("UNA-04", "CUT/aligned-too-long", wrong="worker-by-wall-clock"),
         windows=(Window.OVERTAKING,), tiers=EVERYWHERE,
         method="Those of the workers are an hour behind; the timeout is 30 ms.",
         passes="Every snapshot behind it is unaligned."),
)  # fmt: skip


SECOND_MS = 1_000
DAYS = 7
SELDOM_HEARD = {"heartbeat.interval": "10 min", "heartbeat.timeout": "50 min"}
"""At the default of 10 s nine of ten events of a week would be heartbeats, which decide nothing here."""
CHAINED = {"pipeline.operator-chaining.enabled": "true"}
OF_THE_SEED = {
    f"{CHECKPOINTING}.interval": "15 min",
    f"{CHECKPOINTING}.timeout": "1 h",
    f"{CHECKPOINTING}.min-pause": "10 s",
}
MANY = 10_300
"""Intervals of a second: a few pass before the first checkpoint and after the last."""
EVERY_SECOND = {f"{CHECKPOINTING}.interval": "1 s", f"{CHECKPOINTING}.timeout": "1 h"}


def _long(options: dict[str, str], length_ms: int, partitions: int, parallelism: int = 2) -> Plan:
    """Every now and then some records arrive, in one partition after the other."""
    chosen = {**plans.AT_LEAST_ONCE, **STATE_IN_FILES, **SELDOM_HEARD, **CHAINED, **options}
    records = {
        "records": 10 * partitions,
        "partitions": partitions,
        "preloaded_percent": 0,
        "staggered_ms": length_ms // partitions,
    }
    bounds = Bounds(safety_ms=SECOND_MS, liveness_ms=length_ms + HOUR_MS, settle_ms=length_ms // 100)
    return plan(options=chosen, records=records, bounds=bounds, topology=Topology(parallelism))


FOUR_DAYS = _long(OF_THE_SEED, 4 * 24 * HOUR_MS, 24)
"""Checkpoints enough to tell a trend, and what is wrong shows by then."""

LONG_RUN_CASES = with_needs(
    case("long-runs/seven-days", "Do checkpoints last as long, and leave as much, after days as in the beginning?",
         _long(OF_THE_SEED, DAYS * 24 * HOUR_MS, 42),
         decides("CRD-14", "TREND/acks-slow-down", "TREND/duration-grows", wrong="acks-later-with-age"),
         decides("CRD-14", "TREND/files-grow", wrong="leaves-a-file"),
         decides("CRD-14", "TREND/versions-grow", wrong="keeps-every-second"), mutant_plan=FOUR_DAYS,
         method="A job runs for seven virtual days as the article configures it: a checkpoint every 15 minutes.",
         passes="Of more than 600 checkpoints the last third is like the first: acks, duration, files, kept versions."),
    case("long-runs/ten-thousand", "Does the same hold over ten thousand checkpoints?",
         _long(EVERY_SECOND, MANY * SECOND_MS, 40, parallelism=1),
         decides("CRD-14", "TREND/duration-grows", wrong="history:trend/duration-grows/each-takes-longer"),
         method="A narrow job takes a checkpoint every second for nearly three virtual hours.",
         passes="Of 10,000 checkpoints the last third is like the first."),
)  # fmt: skip
