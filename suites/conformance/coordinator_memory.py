"""State in the coordinator's memory has a budget (RULES SBK-10)."""

from __future__ import annotations

from holdfast.faults.process import kill
from holdfast.faults.storage import slow_storage
from holdfast.harness.model import profile
from holdfast.harness.model.plan import FaultSpec, Plan
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.window import Window
from holdfast.suites.conformance.plans import TOLERANT, TWO_AT_ONCE, WORKERS, case, decides, plan, with_needs

THREE_CHECKPOINTS_BYTES = 984
"""A retained one, one that is being published, and the last state of the next one."""
LATE_PUBLICATIONS = slow_storage("publish-metadata", 70, 600, 100, after_checkpoint=2)
IN_MEMORY = {profile.STORAGE: "jobmanager", profile.INLINE_THRESHOLD: "0"}


def _within(budget_bytes: int, *faults: FaultSpec, **options: str) -> Plan:
    """Checkpoints overlap while each is published."""
    return plan(LATE_PUBLICATIONS, *faults,
                options={**TWO_AT_ONCE, **TOLERANT, profile.MEMORY_BUDGET: f"{budget_bytes} b", **options},
                records={"records": 240})  # fmt: skip


CASES = with_needs(
    case("coordinator-memory/budget",
         "Does a checkpoint fail whose state would exceed the coordinator's memory, and no other?",
         tuple(_within(THREE_CHECKPOINTS_BYTES + more) for more in (-1, 0, 1, -84)),
         decides("SBK-10", "COORD/over-budget-kept", wrong="knows-no-budget"),
         decides("SBK-10", "COORD/over-budget-kept", wrong="keeps-one-more"),
         decides("SBK-10", "COORD/refused-within-budget", wrong="refuses-at-budget"),
         decides("SBK-10", "COORD/refused-within-budget", wrong="never-frees"),
         decides("SBK-10", "COORD/over-budget-unnamed", wrong="names-no-size"),
         decides("SBK-10", "COUNT/failed-below-tolerable", wrong="fails-for-room"),
         method="Each handle fits. Together with what is kept of others they are one byte below the budget, at it, one "
                "byte above it, and well above it.",
         passes="What is above is aborted with a message that names size and limit; all else completes."),
    case("coordinator-memory/older-ones-stay", "Do older checkpoints stay when there is no room for another one?",
         (_within(THREE_CHECKPOINTS_BYTES - 84, kill(WORKERS[0], after_checkpoint=3), **IN_MEMORY),
          _within(THREE_CHECKPOINTS_BYTES - 84, kill(COORDINATOR, after_checkpoint=3))),
         decides("SBK-10", "REACH/dropped-too-early", wrong="makes-room"), windows=(Window.RESTORED_STATE,),
         method="Checkpoints fail for lack of memory, and a worker or the coordinator is killed then.",
         passes="The job goes on from the newest one that has completed."),
)  # fmt: skip
