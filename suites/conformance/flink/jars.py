"""Jars of somebody else: what is left in their files after real kills and pauses (RULES E2E)."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.faults.process import kill, pause
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Tier
from holdfast.harness.model.jobs import FORWARD
from holdfast.harness.model.plan import FaultSpec, Plan
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.conformance.flink.twins import flink
from holdfast.suites.conformance.plans import CHECKPOINTING, WORKERS, case, decides, plan, with_needs

ONCE = decides("E2E-02", "EXACT/row-repeated", "EXACT/input-missing", wrong="source-repeats-one")
STAYS = decides("E2E-03", "STABLE/row-changed", "STABLE/row-vanished", wrong="takes-back-committed")
ON_THE_SIMULATOR = plan(kill(WORKERS[0], after_checkpoint=1, at_event="rows_visible"), job=FORWARD)


def _jar(*faults: FaultSpec) -> Plan:
    """Records that arrive over some seconds, in files."""
    given = replace(flink(*faults, options={f"{CHECKPOINTING}.interval": "300 ms"}), job=FORWARD)
    return replace(given, options={f"{CHECKPOINTING}.interval": "300 ms"})


CASES = with_needs(
    case("flink/jar", "Does what must come out come once when TaskManagers or JobManager under a jar are struck?",
         (_jar(kill(WORKERS[0], after_checkpoint=2), kill(WORKERS[1], after_checkpoint=6)),
          _jar(kill(COORDINATOR, after_checkpoint=3)), _jar(pause(WORKERS[0], 7_000, after_checkpoint=3))),
         ONCE, STAYS, tiers=(Tier.PROCESS,), needs=frozenset({Capability.FLINK}), mutant_plan=ON_THE_SIMULATOR,
         method="SIGKILL hits two TaskManagers one after the other, in another run the JobManager; in a third one a "
                "TaskManager stands still.",
         passes="Every row that its author expects is there once, no other one is, and what was visible once stays."),
)  # fmt: skip
