"""Histories of checkpoints that a next job owns: whose files are they, and until when.

The first job leaves checkpoints 1 and 2 to the user, which share a file. The next one begins from 2.
"""

from __future__ import annotations

from holdfast.harness.model import profile
from holdfast.harness.model.events import (
    CheckpointAudited, CheckpointRetained, CoordinatorClaimed, FileReference, FileWritten, SharedHandle,
    SharedStateRegistered,
)  # fmt: skip
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, injected
from holdfast.suites.selfcheck.oracles.lines import (
    CANCELED, CANCELLING, RUNNING, aborted, ack_sent, acked, attempt, completed, deleted, died, drawn, dropped, listed,
    published, submitted, switched, triggered,
)  # fmt: skip

SUM = "sum[0]"
APART_MS = 100.0
"""However the clocks of processes differ, what is so far apart has an order."""
NOT_CLAIMED = {
    profile.INTERVAL: "100 ms",
    profile.RETENTION: "RETAIN_ON_CANCELLATION",
    profile.RETAINED: "2",
    profile.CLAIM_MODE: "NO_CLAIM",
}
CLAIMED = {**NOT_CLAIMED, profile.CLAIM_MODE: "CLAIM"}
BOTH, SECOND, THIRD, FOURTH, FIFTH, SIXTH = (FileReference(f"shared/{name}", 10, name) for name in range(6))
SUBMIT = FaultSpec("submit", COORDINATOR)

METADATA = {n: FileReference(f"chk-{n}/_metadata", 20, n) for n in range(1, 8)}

SHARED_FILES: dict[int, tuple[FileReference, ...]] = {
    1: (BOTH,), 2: (SECOND, BOTH), 3: (THIRD, SECOND, BOTH), 4: (FOURTH,), 5: (FIFTH,), 6: (SIXTH,), 7: (SIXTH,),
}  # fmt: skip
"""By checkpoint, the shared file that is new, and those that an earlier one has brought."""
APART: dict[int, tuple[FileReference, ...]] = {3: (THIRD,), 4: (FOURTH, THIRD)}
"""Of checkpoints that rest on no claimed one."""

WHOLE, WHOLE_APART = (
    {
        n: at("", FileWritten(node="worker-0.0", file=new), triggered(n, SUM),
              ack_sent(SUM, n, new, shared=(SharedHandle(new.path, new), *(SharedHandle(each.path) for each in again))),
              acked(n, SUM), SharedStateRegistered(checkpoint=n, files=()),
              published(n, METADATA[n], new, *again), completed(n))
        for n, (new, *again) in files.items()
    }
    for files in (SHARED_FILES, APART)
)  # fmt: skip

RETAINED = {n: CheckpointRetained(checkpoint=n, path=METADATA[n].path) for n in METADATA}


def next_job(*then: Line) -> list[Line]:
    """The next job begins from checkpoint 2, and goes on so."""
    started = (attempt(2), switched(RUNNING), *then)
    return [at("coordinator.1", submitted(METADATA[2].path, 2), attempt=1_000),
            at("coordinator.1", *started, attempt=1_001)]  # fmt: skip


CLAIMED_DROPPED: list[Line] = [WHOLE[3], WHOLE[4], dropped(2), deleted(METADATA[2])]
"""The next job has two checkpoints of its own, and drops the claimed one."""
REPLACED: list[Line] = [*CLAIMED_DROPPED, WHOLE[5], dropped(3), deleted(METADATA[3], *SHARED_FILES[3])]
"""Then it drops the one that rests on that."""

# --- REACH ---


FIRST_JOB: list[Line] = [
    at("coordinator.0", submitted()), CoordinatorClaimed(epoch=1), attempt(), switched(RUNNING), WHOLE[1], APART_MS,
    WHOLE[2], APART_MS, switched(CANCELLING), RETAINED[1], RETAINED[2], switched(CANCELED), APART_MS,
    at("harness", injected("submit", "coordinator")),
]  # fmt: skip
"""It leaves two checkpoints, and a user submits another job."""

reach_bad, reach_near = exhibits("REACH", *FIRST_JOB, faults=(SUBMIT,), options=CLAIMED)

reach_bad("file-missing", "a file of a claimed checkpoint goes before it", next_job(WHOLE[3], deleted(SECOND)))
reach_bad("file-missing", "a newer checkpoint needs the file", next_job(*CLAIMED_DROPPED, deleted(SECOND)))
reach_bad("file-missing", "the metadata of another checkpoint are not claimed",
          next_job(*REPLACED, deleted(METADATA[1])))  # fmt: skip
reach_bad("file-missing", "shared with one that was not claimed", next_job(*REPLACED), options=NOT_CLAIMED)
reach_near("file-missing", "a claimed file goes though another checkpoint names it",
           next_job(*REPLACED, listed(METADATA[1], METADATA[4], FOURTH, METADATA[5], FIFTH)))  # fmt: skip

reach_bad("dropped-too-early", "dropped with the first of two", next_job(WHOLE[3], dropped(2), deleted(METADATA[2])))
reach_near("dropped-too-early", "dropped with the second of two", next_job(*CLAIMED_DROPPED))

# --- RETAIN ---

retain_bad, retain_near = exhibits("RETAIN", *FIRST_JOB, faults=(SUBMIT,), options=CLAIMED)

retain_bad("deleted-after-end", "another checkpoint was not claimed", next_job(*REPLACED, deleted(METADATA[1])))
retain_bad("deleted-after-end", "nothing was claimed", next_job(*CLAIMED_DROPPED), options=NOT_CLAIMED)
retain_near("deleted-after-end", "left to the user until it was claimed", next_job(*REPLACED, listed(METADATA[1])))

retain_bad("too-many-retained", "a claimed checkpoint is not counted", next_job(WHOLE[3], WHOLE[4], drawn(5)))
retain_near("too-many-retained", "a claimed checkpoint makes room", next_job(*CLAIMED_DROPPED, drawn(5)))

retain_bad("discarded-wrongly", "a claimed checkpoint is not left",
           next_job(WHOLE[3], switched(CANCELLING), RETAINED[3], switched(CANCELED)))  # fmt: skip
retain_near("discarded-wrongly", "a claimed checkpoint is left again",
            next_job(WHOLE[3], switched(CANCELLING), RETAINED[2], RETAINED[3], switched(CANCELED)))  # fmt: skip

# --- SHARED ---

shared_bad, shared_near = exhibits("SHARED", *FIRST_JOB, faults=(SUBMIT,), options=CLAIMED)

shared_bad("deleted-in-use", "goes while the claimed checkpoint is retained", next_job(WHOLE[3], deleted(SECOND)))
shared_bad("deleted-in-use", "goes with the claimed checkpoint", next_job(*CLAIMED_DROPPED, deleted(SECOND)))
shared_bad("deleted-in-use", "goes although nothing was claimed",
           next_job(WHOLE_APART[3], WHOLE[4], dropped(2), deleted(METADATA[2], SECOND)),
           options=NOT_CLAIMED)  # fmt: skip
shared_near("deleted-in-use", "goes with the last that rests on the claimed one", next_job(*REPLACED))

shared_bad("left-behind", "what was claimed stays",
           next_job(*CLAIMED_DROPPED, WHOLE[5], dropped(3), deleted(METADATA[3], THIRD), WHOLE[6], WHOLE[7],
                    listed(SECOND)))  # fmt: skip
shared_near("left-behind", "what was claimed goes", next_job(*REPLACED, WHOLE[6], WHOLE[7], listed()))

shared_bad("placeholder-accepted", "a name of a job from which nothing was claimed",
           next_job(WHOLE[3]), options=NOT_CLAIMED)  # fmt: skip
shared_near("placeholder-accepted", "a name of a claimed checkpoint",
            next_job(WHOLE[3], triggered(4, SUM), ack_sent(SUM, 4, shared=(SharedHandle("shared/unknown"),)),
                     acked(4, SUM), aborted(4, "refused")))  # fmt: skip

# --- SAVEPOINT ---

savepoint_bad, savepoint_near = exhibits("SAVEPOINT", *FIRST_JOB, faults=(SUBMIT,), options=CLAIMED)

savepoint_bad("claimed-left", "claimed metadata stay",
              next_job(*CLAIMED_DROPPED, WHOLE[5], listed(METADATA[2], METADATA[4], METADATA[5])))  # fmt: skip
savepoint_near("claimed-left", "shared files of a claimed checkpoint stay",
               next_job(*CLAIMED_DROPPED, WHOLE[5], listed(SECOND, BOTH, METADATA[4], METADATA[5])))  # fmt: skip

savepoint_bad("claimed-too-early", "claimed metadata go with the first",
              next_job(WHOLE[3], dropped(2), deleted(METADATA[2]), WHOLE[4]))  # fmt: skip
savepoint_near("claimed-too-early", "claimed metadata go when the job is over",
               next_job(WHOLE[3], switched(CANCELLING), dropped(2), deleted(METADATA[2])))  # fmt: skip

savepoint_bad("rests-on-unclaimed", "the first checkpoint names what is the users",
              next_job(WHOLE[3]), options=NOT_CLAIMED)  # fmt: skip
savepoint_near("rests-on-unclaimed", "the first checkpoint is whole",
               next_job(WHOLE_APART[3], WHOLE_APART[4]), options=NOT_CLAIMED)  # fmt: skip

# --- what the harness reads back ---

END_OF_READ_BACK: list[Line] = [
    APART_MS, at("audit", CheckpointAudited(checkpoint=1, problem=f"{BOTH.path} is missing"), attempt=1),
    at("audit", CheckpointAudited(checkpoint=5), attempt=1_001),
]  # fmt: skip
"""The harness cannot restore checkpoint 1 of the first job."""

restore_bad, restore_near = exhibits("RESTORE", *FIRST_JOB, faults=(SUBMIT,), options=CLAIMED)

restore_bad("audit-failed", "no file of it was claimed", next_job(WHOLE[3]), *END_OF_READ_BACK)
restore_near("audit-failed", "a later job owned a file of it", next_job(*REPLACED), *END_OF_READ_BACK)

restore_near("audit-failed", "a later job died before it could report what it deleted",
             next_job(WHOLE[3]), died("coordinator.1"), *END_OF_READ_BACK)  # fmt: skip
restore_bad("audit-failed", "only the job that left it has died",
            died("coordinator.0"), next_job(WHOLE[3]), *END_OF_READ_BACK)  # fmt: skip

state_bad, state_near = exhibits("STATE", *FIRST_JOB, faults=(SUBMIT,), options=CLAIMED)

state_bad("state-unreadable", "no file of its state was claimed", next_job(WHOLE[3]), *END_OF_READ_BACK)
state_near("state-unreadable", "a later job owned a file of its state", next_job(*REPLACED), *END_OF_READ_BACK)
