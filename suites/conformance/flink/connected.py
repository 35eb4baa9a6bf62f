"""Flink between the topics of a broker (RULES E2E, REC)."""

from __future__ import annotations

from holdfast.harness.model.case import Case, Decision, Plans, Tier, Window
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import Role, Target
from holdfast.suites.conformance.flink.twins import KILLED, NEEDS, RESTORED, STRUCK_TWICE, control, flink
from holdfast.suites.conformance.plans import CHECKPOINTING, TOLERANT, WORKERS, case, with_needs
from holdfast.suites.conformance.processes import DECIDED, ON_THE_SIMULATOR

SELDOM = {f"{CHECKPOINTING}.interval": "400 ms"}
"""A reader polls a broker less often than it looks at files."""
TOPICS = {"source.connector": "kafka", "sink.connector": "kafka", **SELDOM, **TOLERANT}
BROKER = Target(Role.BROKER)
STRUCK_IN_BETWEEN = tuple(
    FaultSpec("kill", WORKERS[index % 2], Schedule(after_checkpoint=behind, at_event="checkpoint_triggered"))
    for index, behind in enumerate((2, 4, 6))
)
"""When a checkpoint begins, rows have come since the last one; behind its end there may be none yet."""
BETWEEN_TOPICS = "Source and sink are topics; a transaction of the sink is committed with its checkpoint."
EACH_ROW = (
    "Each committed row is what the oracle's model holds at its counts, the last ones hold the whole input, and what "
    "was visible once stays."
)
OUTPUT = tuple(each for each in DECIDED if each.oracle in ("EXACT", "STABLE"))


def down(service: Target) -> FaultSpec:
    """SIGKILL; it is started again with what it had stored."""
    return FaultSpec("outage", service, Schedule(after_checkpoint=2), 1_500)


def silent(service: Target) -> FaultSpec:
    """Nothing goes through its link, whose connections stay open, as if it were paused."""
    return FaultSpec("cut", service, Schedule(after_checkpoint=2), 2_000)


def late(service: Target, delay_ms: int) -> FaultSpec:
    """Everything on its link is late, each way."""
    return FaultSpec("slow", service, Schedule(after_checkpoint=2), 3_000, {"delay_ms": delay_ms})


def _connected(
    name: str,
    question: str,
    method: str,
    plan: Plans,
    decides: tuple[Decision, ...],
    *,
    windows: tuple[Window, ...] = (),
) -> Case:
    return case(name, f"Does every record count once {question}?", plan, *decides, windows=windows,
                tiers=(Tier.PROCESS,), needs=NEEDS, mutant_plan=ON_THE_SIMULATOR, method=method,
                passes=EACH_ROW)  # fmt: skip


CASES = with_needs(
    _connected("flink/topics-killed", "between topics when TaskManagers are really killed",
               f"{BETWEEN_TOPICS} {KILLED}", flink(*STRUCK_TWICE, options=TOPICS), DECIDED, windows=RESTORED),
    _connected("flink/topics-broker", "between topics whose broker is killed, silent or late",
               f"{BETWEEN_TOPICS} SIGKILL hits the broker, its link holds everything back, or is 150 ms late.",
               tuple(flink(each, options=TOPICS) for each in (down(BROKER), silent(BROKER), late(BROKER, 150))),
               OUTPUT),
    control("repeats-in-topic", flink(*STRUCK_IN_BETWEEN, options=TOPICS), "EXACT/row-repeated",
            "EXACT/counts-stepped-back", purpose="whose sink writes to its topic at least once"),
)  # fmt: skip
