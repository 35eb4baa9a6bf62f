"""What a crash leaves in the checkpoint storage (RULES STO)."""

from __future__ import annotations

from holdfast.harness.model.case import Case, Decision
from holdfast.harness.model.plan import Plan
from holdfast.suites.conformance.plans import COORDINATOR, STATE_IN_FILES, gate, kill, plan, with_needs

OPERATIONS = ("publish-metadata", "persist-job-record", "delete")
INSTANTS = 8
"""How many crashes fall into each operation; the seed of the run draws how far it had come."""


def crash_within(seed: int) -> Plan:
    """The coordinator dies in the middle of one of its storage operations."""
    operation = OPERATIONS[seed % len(OPERATIONS)]
    crash = kill(COORDINATOR, after_checkpoint=1, gate=gate(f"during-{operation}", COORDINATOR))
    return plan(crash, options=STATE_IN_FILES, run_seed=seed)


CASES = with_needs(
    Case(
        id="storage/atomic-metadata",
        purpose="Does a reader see metadata whole or not at all, wherever its writer crashes?",
        method="The coordinator dies in the middle of each of its storage operations, after a drawn part of its bytes.",
        passes="Every attempt restores a checkpoint that was published whole, with all that its subtasks had in it.",
        decides=(Decision("STO-01", "LOUD", ("partial-metadata", "started-empty"), "G1"),),
        plan=crash_within,
        runs=INSTANTS * len(OPERATIONS),
    ),
)
