"""Local copies of state, and what a restore makes of them (RULES LOC, REC-09)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.faults.local_copy import spoil_local_copy
from holdfast.faults.process import kill
from holdfast.faults.storage import storage_error
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.jobs import REDUCED
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec, Plan
from holdfast.harness.model.window import Window
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import CHECKPOINTING, EVERYWHERE, WORKERS, case, decides, gate, plan, with_needs

DIRECTORY = {**plans.STATE_IN_FILES, f"{CHECKPOINTING}.dir": "file:///checkpoints"}
ON = {**DIRECTORY, "execution.state-recovery.from-local": "true"}
OLD_SPELLING = {**DIRECTORY, "state.backend.local-recovery": "true"}
IN_MEMORY = {**plans.STATE_IN_FILES, "execution.state-recovery.from-local": "true"}
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


INTACT = (local(KILLED), local(BEFORE_ACK, options=OLD_SPELLING))

CASES = with_needs(
    case("local-recovery/off", "Are there no local copies where nobody asked for them, or where they are excluded?",
         (local(KILLED, options=DIRECTORY), local(KILLED, options=IN_MEMORY), local(KILLED, options=UNALIGNED)),
         decides("LOC-01", "LOCAL/kept-though-off", wrong="keeps-copies-unasked"), windows=(Window.RESTORED_STATE,),
         method="A worker dies: without the option, with state in the coordinator's memory, with unaligned "
                "checkpoints.",
         passes="No local copy is written or used, and the output is the same as with them."),
    case("local-recovery/intact",
         "Does a restore use the intact copy on the worker's own disk, and nothing that is older or newer?", INTACT,
         decides("LOC-03", "LOCAL/intact-copy-unused", wrong="never-looks-for-copies"),
         decides("LOC-04", "LOCAL/copy-left", wrong="never-prunes-copies"),
         decides("LOC-04", "LOCAL/moved", wrong="history:local/moved/two-subtasks-change-places"),
         decides("REC-09", "RESTORE/state-differs", wrong="N2"), windows=(Window.RESTORED_STATE,),
         mutant_plan=INTACT[1], tiers=EVERYWHERE,
         method="A worker dies, once with a copy on its disk of a checkpoint that never completes.",
         passes="Every subtask restores from the local copy of the restored checkpoint, reads nothing of that from the "
                "checkpoint storage, and starts where it was before."),
    case("local-recovery/two-operators", "Are the copies of two operators on one worker kept apart?",
         local(kill(WORKERS[0], after_checkpoint=3), job=REDUCED, expected_end=ExpectedEnd.FINISHED),
         decides("LOC-03", "LOCAL/spoilt-copy-used", wrong="N1"), windows=(Window.RESTORED_STATE,),
         method="A worker with two keyed operators dies.", passes="Each of them restores its own state."),
    case("local-recovery/spoilt", "Is a damaged, partial, stale, foreign or missing copy passed over?",
         tuple(spoilt(way) for way in ("flip", "truncate", "foreign", "stale", "remove")),
         decides("LOC-03", "LOCAL/spoilt-copy-used", wrong="trusts-name-of-copy"),
         decides("LOC-03", "LOCAL/spoilt-copy-fatal", wrong="insists-on-copy"), pictures=("local-recovery",),
         windows=(Window.RESTORED_STATE,), tiers=EVERYWHERE,
         method="The newest copies of a worker are changed, cut, exchanged or removed, and the worker dies.",
         passes="No such copy is used, and the state is read from the checkpoint storage without anybody's doing."),
    case("local-recovery/unwritten", "Does a checkpoint complete whose local copies cannot be written?",
         local(storage_error("write-local", how={"occurrences": 3}, after_checkpoint=1), KILLED),
         decides("LOC-02", "LOCAL/local-failure-counts", wrong="needs-local-copy"), tiers=EVERYWHERE,
         method="Writing local copies fails a few times, and a worker dies.",
         passes="No checkpoint is declined for it."),
    case("local-recovery/unstored", "Is a checkpoint declined whose state is on local disks alone?",
         local(storage_error("write-state", how={"occurrences": 2}, after_checkpoint=2),
               options={**ON, **plans.TOLERANT}),
         decides("LOC-02", "LOCAL/acked-unstored", wrong="takes-local-for-stored"),
         method="Storing state in the checkpoint storage fails a few times.",
         passes="What could not be stored is never acknowledged."),
    case("local-recovery/unreadable", "Is the checkpoint storage read where the local disk fails?",
         local(storage_error("read-local", how={"occurrences": 2}, after_checkpoint=3), KILLED),
         windows=(Window.RESTORED_STATE,),
         method="Reading local copies fails, and a worker dies.", passes="The job goes on as if there were no copies."),
    needs=frozenset({Capability.LOCAL_RECOVERY}),
)  # fmt: skip
