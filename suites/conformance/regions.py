"""What restarts with a failure, and what goes on (RULES REC-06, RST-06)."""

from __future__ import annotations

from holdfast.faults.input import poison
from holdfast.faults.process import kill
from holdfast.harness.model.jobs import FORWARD, TWO_PIPELINES
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.window import Window
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import EVERYWHERE, FAILOVER, RESTART, WORKERS, case, decides, plan, with_needs

REGION, FULL = {FAILOVER: "region"}, {FAILOVER: "full"}
LONGER = {"records": 240}
EVEN = {"partitions": 4, "records": 240}
ONE_ROW = {f"{RESTART}.type": "exponential-delay", f"{RESTART}.exponential-delay.initial-backoff": "50 ms"}
JUST_ENOUGH = {f"{RESTART}.exponential-delay.attempts-before-reset-backoff": "2"}


def _pipelines(strategy: dict[str, str]) -> Plan:
    """A record of the left pipeline fails its source for a while; then a worker dies, which runs parts of both."""
    failures = (poison(300), kill(WORKERS[1], after_checkpoint=4))
    options = {**strategy, f"{plans.CHECKPOINTING}.interval": "60 ms"}
    return plan(*failures, job=TWO_PIPELINES, options=options, records=EVEN)


def _chains(strategy: dict[str, str]) -> Plan:
    """Each worker hosts a chain of its own; both die, one after the other."""
    kills = (kill(WORKERS[0], after_checkpoint=1), kill(WORKERS[1], after_checkpoint=3))
    return plan(*kills, job=FORWARD, options=strategy, records=LONGER)


TOGETHER = plan(kill(WORKERS[0], after_checkpoint=1), kill(WORKERS[1], after_checkpoint=3), job=TWO_PIPELINES,
                options={**REGION, **ONE_ROW, **JUST_ENOUGH}, records=EVEN)  # fmt: skip
"""Each death hits two regions; the row has room for two."""
DURING_DELAY = plan(kill(WORKERS[0], after_checkpoint=1), kill(WORKERS[1], after_checkpoint=1, at_event="node_started"),
                    job=FORWARD, options={**REGION, f"{RESTART}.fixed-delay.delay": "200 ms"},
                    records=LONGER)  # fmt: skip
"""The second worker dies when the first is back and the region of the first still waits."""

CASES = with_needs(
    case("regions/same-results", "Do regional and full restart give the same results?",
         tuple(make(strategy) for make in (_pipelines, _chains) for strategy in (REGION, FULL)),
         decides("REC-06", "EXACT/row-repeated", "EXACT/input-missing", wrong="region-starts-empty"),
         decides("REC-06", "RESTORE/position-differs", wrong="source-skips-one"), windows=(Window.RESTORED_STATE,),
         tiers=EVERYWHERE,
         method="Two disjoint pipelines with a poisoned record and a killed worker, and one chain per worker with two "
                "kills, each under both strategies.",
         passes="Every record has its row once, whichever strategy restarts it."),
    case("regions/only-affected", "Does a failure restart the regions that it hits, whole, and no other?",
         (_pipelines(REGION), _chains(REGION)),
         decides("REC-06", "REGION/unaffected-restarted", wrong="restarts-every-region"),
         decides("REC-06", "REGION/region-torn", wrong="tears-region"), windows=(Window.RESTORED_STATE,),
         tiers=EVERYWHERE,
         method="Two disjoint pipelines with a poisoned record and a killed worker, and one chain per worker with two "
                "kills, under regional failover.",
         passes="Every attempt after the first is one of whole regions in which something failed."),
    case("regions/simultaneous", "Do failures that come together count as one in an exponential delay?", TOGETHER,
         decides("RST-06", "COUNT/simultaneous-counted", wrong="lengthens-for-simultaneous"),
         decides("RST-06", "COUNT/failed-too-early", wrong="counts-simultaneous"), windows=plans.RESTORED,
         method="Both workers die, one after the other; on each runs a part of two regions, which both fail; two "
                "restarts in a row are allowed.",
         passes="The second region of each failure waits for what is left of the delay of the first, and the job "
                "runs."),
    case("regions/own-delay",
         "Does a region that fails while another one waits for its restart wait for a delay of its own?", DURING_DELAY,
         decides("RST-03", "COUNT/delay-too-short", wrong="obeys-old-restart-timers"), windows=plans.RESTORED,
         method="One chain per worker under regional failover; the second worker dies during the delay of the first.",
         passes="Each region restarts when the delay after its own failure is over."),
)  # fmt: skip
