"""Real Flink in containers, from and into Kafka, with its checkpoints on an object store.

What is decided on processes is tried once more where JobManager and TaskManagers have hosts of their own.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from holdfast.faults.process import kill, pause
from holdfast.harness.model.case import Case, Decision, Plans, Tier
from holdfast.harness.model.plan import FaultSpec, Plan
from holdfast.harness.model.target import COORDINATOR, STORAGE
from holdfast.suites.conformance.flink import twins
from holdfast.suites.conformance.flink.connected import BROKER, EACH_ROW, OUTPUT, TOPICS, down, silent
from holdfast.suites.conformance.flink.links import BETWEEN, HELD_UP_MS, SILENT_MS, link
from holdfast.suites.conformance.flink.twins import RESTORED, STRUCK_TWICE
from holdfast.suites.conformance.plans import WORKERS, with_needs
from holdfast.suites.conformance.processes import DECIDED, ON_THE_SIMULATOR

CONTAINERS = (Tier.CONTAINERS,)
SERVICES = (down(BROKER), silent(BROKER), silent(STORAGE))
LINKS = (
    link("cut", BETWEEN),
    link("black-hole", BETWEEN),
    link("cut", COORDINATOR),
    link("black-hole", COORDINATOR, SILENT_MS),
)


def contained(*faults: FaultSpec) -> Plan:
    """A keyed sum between topics. Its checkpoints are objects without a word of the plan."""
    return twins.flink(*faults, options=TOPICS)


def _case(
    name: str, question: str, method: str, plan: Plans, decides: tuple[Decision, ...] = DECIDED, **fields: Any
) -> Case:
    return Case(id=f"chaos/flink-{name}", purpose=f"Does every record count once {question}?", method=method,
                passes=EACH_ROW, decides=decides, plan=plan, tiers=CONTAINERS, needs=twins.NEEDS,
                mutant_plan=ON_THE_SIMULATOR, **fields)  # fmt: skip


def _control(name: str, variant: str, *refutes: str, purpose: str) -> Case:
    control = twins.control(variant, contained(*STRUCK_TWICE), *refutes, purpose=purpose)
    return replace(control, id=f"chaos/flink-{name}-control", tiers=CONTAINERS)


CASES = with_needs(
    _case("killed", "when TaskManagers of Flink are really killed in their containers", twins.KILLED,
          contained(*STRUCK_TWICE), windows=RESTORED),
    _control("killed", "keeps-in-field", "EXACT/row-wrong", "EXACT/counts-stepped-back",
             purpose="that keeps its sums in a field, where no checkpoint holds them"),
    _case("coordinator-killed", "when Flink's JobManager is really killed in its container",
          "SIGKILL hits the JobManager, which is started again with another address; ZooKeeper knows the job.",
          contained(kill(COORDINATOR, after_checkpoint=3)), windows=RESTORED),
    _case("paused", "when a TaskManager of Flink stands still",
          "All of its container is frozen, for shorter and for longer than a heartbeat may take.",
          [contained(pause(WORKERS[1], each, after_checkpoint=2)) for each in (HELD_UP_MS, SILENT_MS)], OUTPUT),
    _case("services", "when the broker is killed or silent, and when the object store is silent",
          "SIGKILL hits the broker, or the link to it, or to the store, holds everything back.",
          [contained(each) for each in SERVICES], OUTPUT),
    _case("links", "when the links between JobManager and TaskManagers of Flink are cut or swallow everything",
          "Toxiproxy is between them: it acts on a channel of two TaskManagers, or on all that the JobManager has.",
          [contained(each) for each in LINKS], OUTPUT),
)  # fmt: skip
