"""Flink with its checkpoints in an object store (RULES E2E, REC, STO)."""

from __future__ import annotations

from holdfast.faults.process import kill
from holdfast.harness.model import profile
from holdfast.harness.model.case import Case, Decision, Tier, Window
from holdfast.harness.model.plan import FaultSpec, Plan, Schedule
from holdfast.harness.model.target import STORAGE
from holdfast.suites.conformance import storage
from holdfast.suites.conformance.flink import twins
from holdfast.suites.conformance.flink.connected import EACH_ROW, OUTPUT, late
from holdfast.suites.conformance.flink.twins import RESTORED, control, flink, twin
from holdfast.suites.conformance.plans import CHECKPOINTING, TOLERANT, WORKERS, case, with_needs
from holdfast.suites.conformance.processes import DECIDED, ON_THE_SIMULATOR

OBJECTS = {
    profile.DIRECTORY: "s3://holdfast/checkpoints",
    f"{CHECKPOINTING}.interval": "200 ms",
    **TOLERANT,
    **twins.IN_FILES,
}
"""What each task stores is an object of its own. A checkpoint takes longer than among files."""
EXPIRING = {f"{CHECKPOINTING}.timeout": "2 s"}
"""Longer than a checkpoint takes, and shorter than the store is down."""
DOWN_MS = 3_000


def storing(after_checkpoint: int) -> Schedule:
    """While a checkpoint is stored: Flink makes its folder before it triggers it."""
    return Schedule(after_checkpoint=after_checkpoint, at_event="checkpoint_triggered")


DOWN = FaultSpec("outage", STORAGE, storing(2), DOWN_MS)
UNREACHABLE = flink(DOWN, kill(WORKERS[0], after_checkpoint=2, at_event="node_died"), options=OBJECTS)
"""What dies first is the store: the restore begins before it is up again."""
IMPAIRED = (
    late(STORAGE, 30),
    FaultSpec("limit", STORAGE, Schedule(after_checkpoint=5), 3_000, {"kilobytes_per_second": 16}),
    FaultSpec("black-hole", STORAGE, storing(8), 2_000),
)


def _in_objects(
    name: str, question: str, method: str, plan: Plan, decides: tuple[Decision, ...], windows: tuple[Window, ...] = ()
) -> Case:
    return case(name, f"Does every record count once {question}?", plan, *decides, windows=windows,
                tiers=(Tier.PROCESS,), needs=twins.NEEDS, mutant_plan=ON_THE_SIMULATOR,
                method=f"Checkpoints are objects. {method}", passes=EACH_ROW)  # fmt: skip


CASES = with_needs(
    _in_objects("flink/objects-killed", "when TaskManagers are really killed, and state comes from an object store",
                twins.KILLED, flink(*twins.STRUCK_TWICE, options=OBJECTS), DECIDED, RESTORED),
    _in_objects("flink/objects-unreachable", "when a restore begins while the object store is down",
                "SIGKILL hits the store in a checkpoint, and then a TaskManager; the store is started again later.",
                UNREACHABLE, DECIDED, RESTORED),
    _in_objects("flink/objects-slow", "when the link to the object store is bad",
                "It is late, carries little, and swallows everything, one after the other.",
                flink(*IMPAIRED, options=OBJECTS), OUTPUT),
    twin(storage.CASES, "flink/objects-stopped", flink(DOWN, options={**OBJECTS, **EXPIRING}),
         "LIVE/no-new-checkpoints", "LIVE/input-not-drained", "COUNT/failed-below-tolerable",
         method="SIGKILL hits the object store in a checkpoint, which expires before the store is started again.",
         of="storage/transient-errors"),
    control("keeps-in-field", UNREACHABLE, "EXACT/row-wrong", "EXACT/counts-stepped-back",
            purpose="that keeps its sums in a field, when a restore waits for the object store", name="objects"),
)  # fmt: skip
