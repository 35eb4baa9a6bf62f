"""What restarts with a failure, and what goes on (RULES REC-06, RST-06)."""

from __future__ import annotations

from holdfast.faults.input import poison
from holdfast.faults.process import kill
from holdfast.harness.model.case import Case, Decision
from holdfast.harness.model.jobs import FORWARD, TWO_PIPELINES
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.window import Window
from holdfast.suites.conformance.plans import (
    CHECKPOINTING,
    EVERYWHERE,
    FAILOVER,
    RESTART,
    RESTORED,
    WORKERS,
    plan,
    with_needs,
)

REGION, FULL = {FAILOVER: "region"}, {FAILOVER: "full"}
LONGER = {"records": 240}
EVEN = {"partitions": 4, "records": 240}
ONE_ROW = {f"{RESTART}.type": "exponential-delay", f"{RESTART}.exponential-delay.initial-backoff": "50 ms"}
JUST_ENOUGH = {f"{RESTART}.exponential-delay.attempts-before-reset-backoff": "2"}


def _pipelines(strategy: dict[str, str]) -> Plan:
    """A record of the left pipeline fails its source for a while; then a worker dies, which runs parts of both."""
    failures = (poison(300), kill(WORKERS[1], after_checkpoint=4))
    options = {**strategy, f"{CHECKPOINTING}.interval": "60 ms"}
    return plan(*failures, job=TWO_PIPELINES, options=options, records=EVEN)


def _chains(strategy: dict[str, str]) -> Plan:
    """Each worker hosts a chain of its own; both die, one after the other."""
    kills = (kill(WORKERS[0], after_checkpoint=1), kill(WORKERS[1], after_checkpoint=3))
    return plan(*kills, job=FORWARD, options=strategy, records=LONGER)


PLANS = tuple(make(strategy) for make in (_pipelines, _chains) for strategy in (REGION, FULL))
TOGETHER = plan(
    kill(WORKERS[0], after_checkpoint=1),
    kill(WORKERS[1], after_checkpoint=3),
    job=TWO_PIPELINES,
    options={**REGION, **ONE_ROW, **JUST_ENOUGH},
    records=EVEN,
)
"""Each death hits two regions; the row has room for two."""
DURING_DELAY = plan(
    kill(WORKERS[0], after_checkpoint=1),
    kill(WORKERS[1], after_checkpoint=1, at_event="node_started"),
    job=FORWARD,
    options={**REGION, f"{RESTART}.fixed-delay.delay": "200 ms"},
    records=LONGER,
)
"""The second worker dies when the first is back and the region of the first still waits."""

CASES = with_needs(
    Case(
        id="regions/same-results",
        purpose="Do regional and full restart give the same results?",
        method="Two disjoint pipelines with a poisoned record and a killed worker, and one chain per worker with two "
        "kills, each under both strategies.",
        passes="Every record has its row once, whichever strategy restarts it.",
        decides=(
            Decision("REC-06", "EXACT", ("row-repeated", "input-missing"), "region-starts-empty"),
            Decision("REC-06", "RESTORE", ("position-differs",), "source-skips-one"),
        ),
        windows=(Window.RESTORED_STATE,),
        plan=PLANS,
        tiers=EVERYWHERE,
    ),
    Case(
        id="regions/only-affected",
        purpose="Does a failure restart the regions that it hits, whole, and no other?",
        method="Two disjoint pipelines with a poisoned record and a killed worker, and one chain per worker with two "
        "kills, under regional failover.",
        passes="Every attempt after the first is one of whole regions in which something failed.",
        decides=(
            Decision("REC-06", "REGION", ("unaffected-restarted",), "restarts-every-region"),
            Decision("REC-06", "REGION", ("region-torn",), "tears-region"),
        ),
        windows=(Window.RESTORED_STATE,),
        plan=(_pipelines(REGION), _chains(REGION)),
        tiers=EVERYWHERE,
    ),
    Case(
        id="regions/simultaneous",
        purpose="Do failures that come together count as one in an exponential delay?",
        method="Both workers die, one after the other; on each runs a part of two regions, which both fail; two "
        "restarts in a row are allowed.",
        passes="The second region of each failure waits for what is left of the delay of the first, and the job runs.",
        decides=(
            Decision("RST-06", "COUNT", ("simultaneous-counted",), "lengthens-for-simultaneous"),
            Decision("RST-06", "COUNT", ("failed-too-early",), "counts-simultaneous"),
        ),
        windows=RESTORED,
        plan=TOGETHER,
    ),
    Case(
        id="regions/own-delay",
        purpose="Does a region that fails while another one waits for its restart wait for a delay of its own?",
        method="One chain per worker under regional failover; the second worker dies during the delay of the first.",
        passes="Each region restarts when the delay after its own failure is over.",
        decides=(Decision("RST-03", "COUNT", ("delay-too-short",), "obeys-old-restart-timers"),),
        windows=RESTORED,
        plan=DURING_DELAY,
    ),
)
