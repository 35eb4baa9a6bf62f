"""Real Flink in containers, from and into Kafka, with its checkpoints on an object store.

What is decided on processes is tried once more where JobManager and TaskManagers have hosts of their own.
"""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.plan import FaultSpec, Plan
from holdfast.harness.model.window import Window
from holdfast.suites.conformance.flink import twins
from holdfast.suites.conformance.flink.connected import EACH_ROW, TOPICS
from holdfast.suites.conformance.flink.twins import KILLED, NEEDS, RESTORED, STRUCK_TWICE
from holdfast.suites.conformance.plans import with_needs
from holdfast.suites.conformance.processes import DECIDED, ON_THE_SIMULATOR

CONTAINERS = (Tier.CONTAINERS,)


def contained(*faults: FaultSpec) -> Plan:
    """A keyed sum between topics. Its checkpoints are objects without a word of the plan."""
    return twins.flink(*faults, options=TOPICS)


def _case(name: str, question: str, method: str, plan: Plan, windows: tuple[Window, ...]) -> Case:
    return Case(
        id=f"chaos/flink-{name}",
        purpose=f"Does every record count once {question}?",
        method=method,
        passes=EACH_ROW,
        decides=DECIDED,
        windows=windows,
        plan=plan,
        tiers=CONTAINERS,
        needs=NEEDS,
        mutant_plan=ON_THE_SIMULATOR,
    )


def _control(name: str, variant: str, *refutes: str, purpose: str) -> Case:
    control = twins.control(variant, contained(*STRUCK_TWICE), *refutes, purpose=purpose)
    return replace(control, id=f"chaos/flink-{name}-control", tiers=CONTAINERS)


CASES = with_needs(
    _case(
        "killed",
        "when TaskManagers of Flink are really killed in their containers",
        KILLED,
        contained(*STRUCK_TWICE),
        RESTORED,
    ),
    _control(
        "killed",
        "keeps-in-field",
        "EXACT/row-wrong",
        "EXACT/counts-stepped-back",
        purpose="that keeps its sums in a field, where no checkpoint holds them",
    ),
)
