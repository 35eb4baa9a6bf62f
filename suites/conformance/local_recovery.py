"""Local copies of state, and what a restore makes of them (RULES LOC, REC-09)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from holdfast.faults.local_copy import spoil_local_copy
from holdfast.faults.process import kill
from holdfast.faults.storage import storage_error
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Case, Decision
from holdfast.harness.model.jobs import REDUCED
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec, Plan
from holdfast.harness.model.window import Window
from holdfast.suites.conformance.plans import (
    CHECKPOINTING,
    EVERYWHERE,
    STATE_IN_FILES,
    TOLERANT,
    WORKERS,
    gate,
    plan,
    with_needs,
)

DIRECTORY = {**STATE_IN_FILES, f"{CHECKPOINTING}.dir": "file:///checkpoints"}
ON = {**DIRECTORY, "execution.state-recovery.from-local": "true"}
OLD_SPELLING = {**DIRECTORY, "state.backend.local-recovery": "true"}
IN_MEMORY = {**STATE_IN_FILES, "execution.state-recovery.from-local": "true"}
UNALIGNED = {**ON, f"{CHECKPOINTING}.unaligned.enabled": "true"}
KILLED = kill(WORKERS[0], after_checkpoint=3)
BEFORE_ACK = kill(WORKERS[0], after_checkpoint=3, gate=gate("acknowledge", WORKERS[0], "sum"))
"""The copy of a checkpoint lies there that never completes."""


def local(*faults: FaultSpec, options: Mapping[str, str] = ON, **fields: Any) -> Plan:
    """A plan whose workers keep copies."""
    return plan(*faults, options=options, **fields)


def spoilt(way: str) -> Plan:
    """The newest copy of a worker is spoilt, which then dies."""
    before = (spoil_local_copy(0, "remember", after_checkpoint=2),) if way == "stale" else ()
    return local(*before, spoil_local_copy(0, way, after_checkpoint=3), KILLED)


OFF = (
    local(KILLED, options=DIRECTORY),
    local(KILLED, options=IN_MEMORY),
    local(KILLED, options=UNALIGNED),
)
INTACT = (local(KILLED), local(BEFORE_ACK, options=OLD_SPELLING))
TWO_OPERATORS = local(kill(WORKERS[0], after_checkpoint=3), job=REDUCED, expected_end=ExpectedEnd.FINISHED)
SPOILT = tuple(spoilt(way) for way in ("flip", "truncate", "foreign", "stale", "remove"))
UNWRITTEN = local(storage_error("write-local", how={"occurrences": 3}, after_checkpoint=1), KILLED)
UNSTORED = local(storage_error("write-state", how={"occurrences": 2}, after_checkpoint=2), options={**ON, **TOLERANT})
UNREADABLE = local(storage_error("read-local", how={"occurrences": 2}, after_checkpoint=3), KILLED)

CASES = tuple(
    replace(case, needs=case.needs | {Capability.LOCAL_RECOVERY})
    for case in with_needs(
        Case(
            id="local-recovery/off",
            purpose="Are there no local copies where nobody asked for them, or where they are excluded?",
            method="A worker dies: without the option, with state in the coordinator's memory, with unaligned "
            "checkpoints.",
            passes="No local copy is written or used, and the output is the same as with them.",
            decides=(Decision("LOC-01", "LOCAL", ("kept-though-off",), "keeps-copies-unasked"),),
            windows=(Window.RESTORED_STATE,),
            plan=OFF,
        ),
        Case(
            id="local-recovery/intact",
            purpose="Does a restore use the intact copy on the worker's own disk, and nothing that is older or newer?",
            method="A worker dies, once with a copy on its disk of a checkpoint that never completes.",
            passes="Every subtask restores from the local copy of the restored checkpoint, reads nothing of that from "
            "the checkpoint storage, and starts where it was before.",
            decides=(
                Decision("LOC-03", "LOCAL", ("intact-copy-unused",), "never-looks-for-copies"),
                Decision("LOC-04", "LOCAL", ("copy-left",), "never-prunes-copies"),
                Decision("LOC-04", "LOCAL", ("moved",), "history:local/moved/two-subtasks-change-places"),
                Decision("REC-09", "RESTORE", ("state-differs",), "N2"),
            ),
            windows=(Window.RESTORED_STATE,),
            plan=INTACT,
            mutant_plan=INTACT[1],
            tiers=EVERYWHERE,
        ),
        Case(
            id="local-recovery/two-operators",
            purpose="Are the copies of two operators on one worker kept apart?",
            method="A worker with two keyed operators dies.",
            passes="Each of them restores its own state.",
            decides=(Decision("LOC-03", "LOCAL", ("spoilt-copy-used",), "N1"),),
            windows=(Window.RESTORED_STATE,),
            plan=TWO_OPERATORS,
        ),
        Case(
            id="local-recovery/spoilt",
            purpose="Is a damaged, partial, stale, foreign or missing copy passed over?",
            method="The newest copies of a worker are changed, cut, exchanged or removed, and the worker dies.",
            passes="No such copy is used, and the state is read from the checkpoint storage without anybody's doing.",
            decides=(
                Decision("LOC-03", "LOCAL", ("spoilt-copy-used",), "trusts-name-of-copy"),
                Decision("LOC-03", "LOCAL", ("spoilt-copy-fatal",), "insists-on-copy"),
            ),
            pictures=("local-recovery",),
            windows=(Window.RESTORED_STATE,),
            plan=SPOILT,
            tiers=EVERYWHERE,
        ),
        Case(
            id="local-recovery/unwritten",
            purpose="Does a checkpoint complete whose local copies cannot be written?",
            method="Writing local copies fails a few times, and a worker dies.",
            passes="No checkpoint is declined for it.",
            decides=(Decision("LOC-02", "LOCAL", ("local-failure-counts",), "needs-local-copy"),),
            plan=UNWRITTEN,
            tiers=EVERYWHERE,
        ),
        Case(
            id="local-recovery/unstored",
            purpose="Is a checkpoint declined whose state is on local disks alone?",
            method="Storing state in the checkpoint storage fails a few times.",
            passes="What could not be stored is never acknowledged.",
            decides=(Decision("LOC-02", "LOCAL", ("acked-unstored",), "takes-local-for-stored"),),
            plan=UNSTORED,
        ),
        Case(
            id="local-recovery/unreadable",
            purpose="Is the checkpoint storage read where the local disk fails?",
            method="Reading local copies fails, and a worker dies.",
            passes="The job goes on as if there were no copies.",
            decides=(),
            windows=(Window.RESTORED_STATE,),
            plan=UNREADABLE,
        ),
    )
)
