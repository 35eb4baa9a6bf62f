"""Programs that acknowledge their input and keep a table: what is left of it after kills (RULES E2E).

Each kill is placed by what the program itself has persisted: before it has acknowledged anything, once it has, once it
has again in a life that began from its table, and while an acknowledgement is on its way. So it makes no difference
how often a program persists, or how long it takes to start.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from holdfast.faults.process import kill
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Bounds, ExpectedEnd, FaultSpec, Gate, Plan, Topology, WorkloadSpec
from holdfast.harness.model.window import Window
from holdfast.suites.conformance.plans import WORKERS, case, decides, with_needs

PROGRAM = WORKERS[0]
BEFORE_ANYTHING = kill(PROGRAM, at_event="program_ready")


def in_life(restored: int, acknowledged: int = 1, **when: Any) -> FaultSpec:
    """A kill once so many lives have begun from the table, and the last of them has acknowledged so often."""
    return kill(PROGRAM, after_restored=restored, after_acknowledged=acknowledged, **when)


def unheard(restored: int) -> FaultSpec:
    """The same, while an acknowledgement is on its way: it is lost, and what it answers for is sent again."""
    return in_life(restored, gate=Gate("acknowledge", PROGRAM))


def programs(*faults: FaultSpec, system: str = "persists-first", job: Job = KEYED_SUM, workers: int = 1) -> Plan:
    """A keyed sum of 6,000 records; they come in for three seconds, or for as long as it takes to acknowledge them."""
    return Plan(
        system=system,
        job=job,
        topology=Topology(parallelism=workers),
        workload=WorkloadSpec(
            "synthetic",
            {"records": 6_000, "keys": 8, "partitions": 2, "preloaded_percent": 10, "records_per_second": 1_000},
        ),
        faults=faults,
        bounds=Bounds(safety_ms=40_000, liveness_ms=60_000, settle_ms=500),
        expected_end=ExpectedEnd.FINISHED if job.bounded else ExpectedEnd.RUNNING,
    )


KILLED = programs(in_life(0, 2), in_life(1, 4), in_life(2, 4))
UNHEARD = programs(BEFORE_ANYTHING, in_life(0), unheard(1), unheard(2))
WRONG_AFTER_A_RESTORE = (
    ("doubles", "counts again what is sent again", UNHEARD, "EXACT/row-wrong", Window.SENT_AGAIN),
    ("loses", "continues from positions that are ahead of its sums", KILLED, "EXACT/row-wrong"),
    ("forgets", "continues from the table before the last one", KILLED, "EXACT/row-wrong"),
    ("skips", "passes over a message whose first record it has", UNHEARD, "EXACT/row-wrong", Window.SENT_WITH_NEW),
    ("reorders", "first publishes what its sums were before the last message", UNHEARD, "EXACT/counts-stepped-back"),
)
"""By program, what it does after a restore, where it shows, and the clause that must refute it."""


def control(name: str, what: str, chosen: Plan, refutes: str, *windows: Window) -> Case:
    """A program that is right until it has restored something, or until it hits these windows, too."""
    return case(f"programs/{name}-after-restore-control", f"Negative control: is a program found out that {what}?",
                replace(chosen, system=f"json-lines+{name}-after-restore"), refutes=frozenset({refutes}),
                windows=(Window.RESTORED_STATE, *windows), tiers=(Tier.PROCESS,),
                needs=frozenset({Capability.ACKNOWLEDGES_INPUT}), method="The same kills.",
                passes="An oracle refutes it.")  # fmt: skip


CASES = with_needs(
    case("programs/killed", "Does every record count once in a table whose writer is killed?", (UNHEARD, KILLED),
         decides("E2E-02", "EXACT/row-wrong", "EXACT/input-missing", wrong="system:acknowledges-first"),
         decides("REC-03", "EXACT/row-wrong", "EXACT/input-missing", wrong="system:acknowledges-first"),
         decides("E2E-04", "NOLOSS/input-lost", wrong="system:acknowledges-first"),
         decides("REC-04", "NOLOSS/input-lost", wrong="system:acknowledges-first"),
         windows=(Window.RESTORED_STATE, Window.SENT_AGAIN, Window.SENT_WITH_NEW), tiers=(Tier.PROCESS,),
         needs=frozenset({Capability.ACKNOWLEDGES_INPUT}), mutant_plan=KILLED,
         method="The feeder sends again what was not acknowledged. SIGKILL hits the program before it has persisted "
                "anything, after that, after each restore, and while an acknowledgement is on its way.",
         passes="Every row is what the oracle's model holds at its counts, and the last rows hold the whole input."),
    *(control(*wrong) for wrong in WRONG_AFTER_A_RESTORE),
)  # fmt: skip
