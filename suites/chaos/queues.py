"""The reference runtime on Spark executors, reading queues of RabbitMQ, with its output in Kafka."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model.case import Case
from holdfast.harness.model.plan import Plan, Topology
from holdfast.harness.model.target import SOURCE_SYSTEM
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.chaos.reference import (
    CONTAINERS,
    EXACT,
    EXACTLY_ONCE_HOLDS,
    SHORT,
    WORKLOAD,
    case,
    containers,
    control,
    executor,
    lasting,
    wrong,
)
from holdfast.suites.conformance.plans import RESTART, WORKERS, each_of, with_needs
from holdfast.suites.conformance.queues import AT_LEAST, EXACTLY, ONE, QUEUES, WITHOUT_IDS
from holdfast.suites.conformance.submissions import refused

WIDE = Topology(parallelism=2)
PATIENT = {f"{RESTART}.fixed-delay.attempts": "100", f"{RESTART}.fixed-delay.delay": "500 ms"}
"""A broker of queues needs some seconds to come up."""
LOST = ("NOLOSS/input-lost", "LIVE/input-not-drained")
"""Where no record comes any more, all stands still."""


def _broken(options: Mapping[str, str], topology: Topology) -> Plan:
    """The broker dies and comes back; later an executor dies, while records are unread."""
    return containers(
        lasting("outage", SOURCE_SYSTEM, 2_000, after_checkpoint=2),
        executor(WORKERS[0], after_checkpoint=4),
        options={**QUEUES, **PATIENT, **options},
        topology=topology,
        workload=WORKLOAD,
    )


EXACT_QUEUES = _broken(EXACTLY, ONE)
REPEATED_QUEUES = _broken(WITHOUT_IDS | AT_LEAST, WIDE)
CUT_OFF = containers(
    lasting("cut", SOURCE_SYSTEM, 2_000, after_checkpoint=2),
    executor(WORKERS[0], after_checkpoint=4),
    options=QUEUES | EXACTLY,
    topology=ONE,
    workload=SHORT,
)
TOO_MUCH = [refused(QUEUES | EXACTLY, topology=WIDE), refused(WITHOUT_IDS | EXACTLY, topology=ONE)]
BROKEN = "SIGKILL of RabbitMQ after the second checkpoint; it is started again two seconds later, and an executor dies."

CASES = with_needs(
    case(
        "queues-exactly-once",
        "Does every record of a queue count once, whether RabbitMQ or an executor dies?",
        BROKEN,
        EXACTLY_ONCE_HOLDS,
        EXACT_QUEUES,
    ),
    control("queues-exactly-once", "forgets-message-ids", "The same deaths.", EXACT_QUEUES, *EXACT),
    case(
        "queues-cut-off",
        "Does every record of a queue count once when the link to RabbitMQ is cut?",
        "The link is cut for two seconds after the second checkpoint; then an executor dies.",
        EXACTLY_ONCE_HOLDS,
        CUT_OFF,
    ),
    case(
        "queues-at-least-once",
        "Is nothing lost of queues without ids, which two subtasks read?",
        BROKEN,
        "Every record has its effect in the output; repeats are allowed.",
        REPEATED_QUEUES,
    ),
    control("queues-at-least-once", "acknowledges-at-once", "The same deaths.", REPEATED_QUEUES, *LOST),
    Case(
        id="chaos/queues-too-much",
        purpose="Is exactly-once refused of queues without ids, and of several subtasks?",
        method="Jobs that read queues are submitted with a claim that they cannot keep.",
        passes="Each is refused.",
        decides=(),
        plan=each_of(TOO_MUCH),
        runs=len(TOO_MUCH),
        tiers=CONTAINERS,
    ),
    Case(
        id="chaos/queues-too-much-control",
        purpose="Is claims-exact-queues caught in containers?",
        method="The first of these jobs, on a runtime that accepts it.",
        passes="An oracle refutes it.",
        decides=(),
        plan=wrong("claims-exact-queues", TOO_MUCH[0]),
        expected=Outcome.FAIL,
        refutes=frozenset({"LOUD/accepted-bad-option"}),
        tiers=CONTAINERS,
    ),
)
