"""Input from queues, which forget what is acknowledged and give again what is not (RULES E2E-01, E2E-05).

Wrong readers need a broker: `suites/selfcheck/services/test_queues.py` runs them where there is one.
"""

from __future__ import annotations

from holdfast.faults.process import kill
from holdfast.harness.model.case import Tier
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM
from holdfast.harness.model.plan import Topology
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.conformance.plans import RESTORED, WORKERS, case, decides, gate, plan, with_needs
from holdfast.suites.conformance.submissions import Options, refused, submitted

QUEUES: Options = {"source.connector": "rabbitmq"}
WITHOUT_IDS: Options = {**QUEUES, "source.correlation-ids": "false"}
EXACTLY: Options = {"holdfast.guarantee": "exactly-once"}
AT_LEAST: Options = {"holdfast.guarantee": "at-least-once"}
ONE = Topology(parallelism=1)
UNHEARD = kill(COORDINATOR, after_checkpoint=1, gate=gate("notify", COORDINATOR))
"""The checkpoint is complete, and no source hears of it: what it holds is not acknowledged, and comes again."""
LONGER = {"records": 1_000}
"""So that records are read behind the first checkpoint on a slow machine, too."""
READ_AGAIN = (
    plan(UNHEARD, options=QUEUES | EXACTLY, topology=ONE, records=LONGER),
    plan(kill(WORKERS[0], after_checkpoint=1), options=QUEUES | EXACTLY, topology=ONE, records=LONGER),
    plan(UNHEARD, job=FORWARD, options=QUEUES | EXACTLY, topology=ONE, records=LONGER),
)
TOO_MUCH = [refused(QUEUES | EXACTLY, job=KEYED_SUM, topology=Topology(parallelism=2)),
            refused(WITHOUT_IDS | EXACTLY, job=KEYED_SUM, topology=ONE),
            refused(WITHOUT_IDS | EXACTLY, job=FORWARD, topology=ONE)]  # fmt: skip

CASES = with_needs(
    case("queues/read-again",
         "Is a record of a queue counted once, whether it or its acknowledgement was lost in a crash?", READ_AGAIN,
         decides("E2E-05", "EXACT/row-repeated", wrong="history:exact/row-repeated/identity-twice"),
         decides("E2E-05", "EXACT/input-missing", wrong="history:exact/input-missing/last-records-missing"),
         windows=RESTORED, tiers=(Tier.PROCESS,),
         method="A worker dies between two checkpoints; a checkpoint completes and no source hears of it.",
         passes="Every record takes effect once."),
    case("queues/without-ids", "Does a job lose nothing of queues whose messages nobody recognises?",
         plan(UNHEARD, kill(WORKERS[0], after_checkpoint=2), options=WITHOUT_IDS, topology=ONE, records=LONGER),
         decides("E2E-05", "NOLOSS/input-lost", wrong="history:noloss/input-lost/last-row-lacks-a-record"),
         tiers=(Tier.PROCESS,),
         method="What comes again has no id. A checkpoint completes and no source hears of it; a worker dies.",
         passes="No record is lost; some may be there twice."),
    case("queues/too-much", "Is a claim of exactly-once refused of queues without ids, and of several subtasks?",
         TOO_MUCH, decides("E2E-01", "LOUD/accepted-bad-option", wrong="claims-exact-queues"),
         method="Jobs that read queues are submitted with a claim of exactly-once.", passes="Each is refused."),
    case("queues/kept", "May a job claim what it can keep of queues?",
         [submitted(QUEUES | EXACTLY, topology=ONE), submitted(QUEUES | AT_LEAST, topology=Topology(parallelism=2)),
          submitted(WITHOUT_IDS | AT_LEAST, topology=ONE), submitted(WITHOUT_IDS, topology=ONE)],
         decides("E2E-01", "CONFIG/claimed-too-much", wrong="claims-exact-queues"),
         method="Jobs that read queues are submitted with what they keep, with less, or with no claim.",
         passes="Each is accepted, and no more is claimed."),
)  # fmt: skip
