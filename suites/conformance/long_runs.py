"""Jobs that go on for long (RULES CRD-14)."""

from __future__ import annotations

from holdfast.harness.model.plan import Bounds, Plan, Topology
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import CHECKPOINTING, STATE_IN_FILES, case, decides, plan, with_needs

SECOND_MS, HOUR_MS = 1_000, 3_600_000
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

CASES = with_needs(
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
