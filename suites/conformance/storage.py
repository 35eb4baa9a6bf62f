"""What a crash leaves in the checkpoint storage, and what is reported of it (RULES STO, CRD-01, RET-01)."""

from __future__ import annotations

from holdfast.faults.process import kill
from holdfast.faults.storage import storage_error
from holdfast.harness.model.case import Case, Decision
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.window import Window
from holdfast.suites.conformance.plans import (
    EVERYWHERE,
    STATE_IN_FILES,
    TOLERANT,
    TWO_RETAINED,
    WORKERS,
    each_of,
    gate,
    plan,
    with_needs,
)

OPERATIONS = ("publish-metadata", "persist-job-record", "delete")
INSTANTS = 8
"""How many crashes fall into each operation; the seed of the run draws how far it had come."""


def crash_within(seed: int) -> Plan:
    """The coordinator dies in the middle of one of its storage operations."""
    operation = OPERATIONS[seed % len(OPERATIONS)]
    crash = kill(COORDINATOR, after_checkpoint=1, gate=gate(f"during-{operation}", COORDINATOR))
    return plan(crash, options=STATE_IN_FILES, run_seed=seed)


REPORTED = (
    plan(options=STATE_IN_FILES),
    plan(options={**STATE_IN_FILES, **TWO_RETAINED}),
    plan(kill(COORDINATOR, after_checkpoint=1, gate=gate("during-delete", COORDINATOR)), options=STATE_IN_FILES),
    plan(kill(WORKERS[0], after_checkpoint=2), options=STATE_IN_FILES),
    plan(
        storage_error("publish-metadata", 1_000, {"occurrences": 1, "after_effect": 1}, after_checkpoint=1),
        options={**STATE_IN_FILES, **TOLERANT},
    ),
    plan(
        storage_error("delete", 1_000, {"occurrences": 2, "after_effect": 1}, after_checkpoint=2),
        options=STATE_IN_FILES,
    ),
)
"""With crashes between an effect and its report, and answers that are lost."""

CASES = with_needs(
    Case(
        id="storage/atomic-metadata",
        purpose="Does a reader see metadata whole or not at all, wherever its writer crashes?",
        method="The coordinator dies in the middle of each of its storage operations, after a drawn part of its bytes.",
        passes="Every attempt restores a checkpoint that was published whole, with all that its subtasks had in it.",
        decides=(Decision("STO-01", "LOUD", ("partial-metadata", "started-empty"), "G1"),),
        windows=(Window.RESTORED_STATE,),
        plan=crash_within,
        runs=INSTANTS * len(OPERATIONS),
    ),
    Case(
        id="storage/as-reported",
        purpose="Is what the system reports as published, written and deleted so in the storage?",
        method="When a checkpoint has completed, and after the run, the harness lists and reads the storage itself.",
        passes="Metadata and files of every retained checkpoint are there as they are named, and what was reported as "
        "deleted is gone.",
        decides=(
            Decision("CRD-01", "COORD", ("published-not-stored",), "completes-unpublished"),
            Decision("CRD-01", "REACH", ("named-not-stored",), "names-unwritten"),
            Decision("RET-01", "RETAIN", ("deleted-still-stored",), "reports-deletions"),
            Decision("BAR-05", "RESTORE", ("audit-differs",), "stores-earlier-state"),
        ),
        plan=each_of(REPORTED),
        runs=len(REPORTED),
        tiers=EVERYWHERE,
    ),
)
