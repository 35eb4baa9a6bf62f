"""The reference runtime on Spark executors, reading queues of RabbitMQ, with its output in Kafka."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.faults.process import kill
from holdfast.harness.model.plan import FaultSpec, Plan, Topology
from holdfast.harness.model.target import COORDINATOR, SOURCE_SYSTEM
from holdfast.suites.chaos.reference import (
    CONTAINERS,
    EXACT,
    EXACTLY_ONCE_HOLDS,
    WORKLOAD,
    case,
    containers,
    control,
    executor,
    lasting,
    wrong,
)
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import RESTART, WORKERS, gate, refused, with_needs
from holdfast.suites.conformance.sources import AT_LEAST, EXACTLY, ONE, QUEUES, WITHOUT_IDS

WIDE = Topology(parallelism=2)
PATIENT = {f"{RESTART}.fixed-delay.attempts": "100", f"{RESTART}.fixed-delay.delay": "500 ms"}
"""A broker of queues needs some seconds to come up."""
LOST = ("NOLOSS/input-lost", "LIVE/input-not-drained")
"""Where no record comes any more, all stands still."""


def _broken(options: Mapping[str, str], topology: Topology, *before: FaultSpec) -> Plan:
    """An executor dies; later the broker does, and comes back when most records wait to be sent."""
    return containers(*before, executor(WORKERS[0], after_checkpoint=1 + 2 * len(before)),
                      lasting("outage", SOURCE_SYSTEM, 2_000, after_checkpoint=4 + 2 * len(before)),
                      options={**QUEUES, **PATIENT, **options}, topology=topology, workload=WORKLOAD)  # fmt: skip


UNHEARD = kill(COORDINATOR, after_checkpoint=1, gate=gate("notify", COORDINATOR))
"""The checkpoint is complete, and no source hears of it: what it holds is not acknowledged, and comes again."""
EXACT_QUEUES = _broken(EXACTLY, ONE, UNHEARD)
REPEATED_QUEUES = _broken(WITHOUT_IDS | AT_LEAST, WIDE)
CUT_OFF = containers(executor(WORKERS[0], after_checkpoint=1), lasting("cut", SOURCE_SYSTEM, 2_000, after_checkpoint=4),
                     options=QUEUES | EXACTLY, topology=ONE, workload=WORKLOAD)  # fmt: skip
TOO_MUCH = [refused(QUEUES | EXACTLY, topology=WIDE), refused(WITHOUT_IDS | EXACTLY, topology=ONE)]
BROKEN = "An executor dies; three checkpoints later RabbitMQ dies, and is started again."

CASES = with_needs(
    case("queues-exactly-once", "Does every record of a queue count once, whether RabbitMQ or an executor dies?",
         f"The coordinator dies when a checkpoint is complete that no source has heard of. {BROKEN}",
         EXACTLY_ONCE_HOLDS, EXACT_QUEUES),
    control("queues-exactly-once", "forgets-message-ids", "The same deaths.", EXACT_QUEUES, *EXACT),
    case("queues-cut-off", "Does every record of a queue count once when the link to RabbitMQ is cut?",
         "An executor dies after the first checkpoint; the link is cut for two seconds after the fourth one.",
         EXACTLY_ONCE_HOLDS, CUT_OFF),
    case("queues-at-least-once", "Is nothing lost of queues without ids, which two subtasks read?", BROKEN,
         "Every record has its effect in the output; repeats are allowed.", REPEATED_QUEUES),
    control("queues-at-least-once", "acknowledges-at-once", "The same deaths.", REPEATED_QUEUES, *LOST),
    plans.case("chaos/queues-too-much", "Is exactly-once refused of queues without ids, and of several subtasks?",
               TOO_MUCH, tiers=CONTAINERS,
               method="Jobs that read queues are submitted with a claim that they cannot keep.",
               passes="Each is refused."),
    plans.case("chaos/queues-too-much-control", "Is claims-exact-queues caught in containers?",
               wrong("claims-exact-queues", TOO_MUCH[0]), refutes=frozenset({"LOUD/accepted-bad-option"}),
               tiers=CONTAINERS, method="The first of these jobs, on a runtime that accepts it.",
               passes="An oracle refutes it."),
)  # fmt: skip
