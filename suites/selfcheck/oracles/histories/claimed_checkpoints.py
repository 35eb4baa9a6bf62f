"""Histories of checkpoints that a next job owns: whose files are they, and until when.

The first job leaves checkpoints 1 and 2 to the user, which share a file. The next one begins from 2.
"""

from __future__ import annotations

from holdfast.harness.model import profile
from holdfast.harness.model.events import (
    AckOutcome, CheckpointAudited, CheckpointRetained, CoordinatorClaimed, FileReference, FileWritten, SharedHandle,
    SharedStateRegistered,
)  # fmt: skip
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, injected
from holdfast.suites.selfcheck.oracles.lines import (
    CANCELLING, RUNNING, aborted, ack_sent, acked, attempt, cancelled, completed, deleted, died, drawn, dropped, listed,
    published, submitted, switched, triggered,
)  # fmt: skip

SUM = "sum[0]"
APART_MS = 100.0
"""However the clocks of processes differ, what is so far apart has an order."""
SUCCESS = AckOutcome.SUCCESS
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


def whole(checkpoint: int, new: FileReference, *again: FileReference) -> list[Line]:
    """A checkpoint with one new shared file, and others that an earlier one has brought."""
    shared = (SharedHandle(new.path, new), *(SharedHandle(each.path) for each in again))
    return [FileWritten(node="worker-0.0", file=new), triggered(checkpoint, SUM),
            ack_sent(SUM, checkpoint, new, shared=shared), acked(checkpoint, SUM),
            SharedStateRegistered(checkpoint=checkpoint, files=()),
            published(checkpoint, METADATA[checkpoint], new, *again), completed(checkpoint)]  # fmt: skip


RETAINED = {n: CheckpointRetained(checkpoint=n, path=METADATA[n].path) for n in METADATA}


def begun(*then: Line) -> list[Line]:
    """The next job begins from checkpoint 2, and goes on so."""
    started = (attempt(2), switched(RUNNING), *then)
    next_job = at("coordinator.1", *started, attempt=1_001)
    return [at("coordinator.1", submitted(METADATA[2].path, 2), attempt=1_000), *next_job]


THIRD_RESTS = (THIRD, SECOND, BOTH)
REPLACED = begun(
    *whole(3, *THIRD_RESTS), *whole(4, FOURTH), dropped(2), *deleted(METADATA[2]), *whole(5, FIFTH), dropped(3),
    *deleted(METADATA[3], *THIRD_RESTS),
)  # fmt: skip
"""The next job has checkpoints of its own, and drops the claimed one, and then the one that rests on it."""

# --- REACH ---


FIRST_JOB: list[Line] = [
    at("coordinator.0", submitted()), CoordinatorClaimed(epoch=1), attempt(), switched(RUNNING), whole(1, BOTH),
    APART_MS, whole(2, SECOND, BOTH), APART_MS, cancelled(RETAINED[1], RETAINED[2]), APART_MS,
    at("harness", injected("submit", "coordinator")),
]  # fmt: skip
"""It leaves two checkpoints, and a user submits another job."""

reach_bad, reach_near = exhibits("REACH", *FIRST_JOB, faults=(SUBMIT,), options=CLAIMED)

reach_bad("file-missing", "a file of a claimed checkpoint goes before it",
          begun(*whole(3, *THIRD_RESTS), *deleted(SECOND)))  # fmt: skip
reach_bad("file-missing", "a newer checkpoint needs the file",
          begun(*whole(3, *THIRD_RESTS), *whole(4, FOURTH), dropped(2), *deleted(METADATA[2]),
                *deleted(SECOND)))  # fmt: skip
reach_bad("file-missing", "the metadata of another checkpoint are not claimed",
          begun(*whole(3, *THIRD_RESTS), *whole(4, FOURTH), dropped(2), *deleted(METADATA[2]), *whole(5, FIFTH),
                dropped(3), *deleted(METADATA[3], *THIRD_RESTS), *deleted(METADATA[1])))  # fmt: skip
reach_bad("file-missing", "shared with one that was not claimed", REPLACED, options=NOT_CLAIMED)
reach_near("file-missing", "a claimed file goes though another checkpoint names it",
           begun(*whole(3, *THIRD_RESTS), *whole(4, FOURTH), dropped(2), *deleted(METADATA[2]), *whole(5, FIFTH),
                 dropped(3), *deleted(METADATA[3], *THIRD_RESTS),
                 listed(METADATA[1], METADATA[4], FOURTH, METADATA[5], FIFTH)))  # fmt: skip

reach_bad("dropped-too-early", "dropped with the first of two",
          begun(*whole(3, *THIRD_RESTS), dropped(2), *deleted(METADATA[2])))  # fmt: skip
reach_near("dropped-too-early", "dropped with the second of two",
           begun(*whole(3, *THIRD_RESTS), *whole(4, FOURTH), dropped(2), *deleted(METADATA[2])))  # fmt: skip

# --- RETAIN ---

retain_bad, retain_near = exhibits("RETAIN", *FIRST_JOB, faults=(SUBMIT,), options=CLAIMED)

retain_bad("deleted-after-end", "another checkpoint was not claimed",
           begun(*whole(3, *THIRD_RESTS), *whole(4, FOURTH), dropped(2), *deleted(METADATA[2]), *whole(5, FIFTH),
                 dropped(3), *deleted(METADATA[3], *THIRD_RESTS), *deleted(METADATA[1])))  # fmt: skip
retain_bad("deleted-after-end", "nothing was claimed",
           begun(*whole(3, *THIRD_RESTS), *whole(4, FOURTH), dropped(2), *deleted(METADATA[2])),
           options=NOT_CLAIMED)  # fmt: skip
retain_near("deleted-after-end", "left to the user until it was claimed",
            begun(*whole(3, *THIRD_RESTS), *whole(4, FOURTH), dropped(2), *deleted(METADATA[2]), *whole(5, FIFTH),
                  dropped(3), *deleted(METADATA[3], *THIRD_RESTS), listed(METADATA[1])))  # fmt: skip

retain_bad("too-many-retained", "a claimed checkpoint is not counted",
           begun(*whole(3, *THIRD_RESTS), *whole(4, FOURTH), drawn(5)))  # fmt: skip
retain_near("too-many-retained", "a claimed checkpoint makes room",
            begun(*whole(3, *THIRD_RESTS), *whole(4, FOURTH), dropped(2), *deleted(METADATA[2]), drawn(5)))  # fmt: skip

retain_bad("discarded-wrongly", "a claimed checkpoint is not left",
           begun(*whole(3, *THIRD_RESTS), *cancelled(RETAINED[3])))  # fmt: skip
retain_near("discarded-wrongly", "a claimed checkpoint is left again",
            begun(*whole(3, *THIRD_RESTS), *cancelled(RETAINED[2], RETAINED[3])))  # fmt: skip

# --- SHARED ---

shared_bad, shared_near = exhibits("SHARED", *FIRST_JOB, faults=(SUBMIT,), options=CLAIMED)

shared_bad("deleted-in-use", "goes while the claimed checkpoint is retained",
           begun(*whole(3, *THIRD_RESTS), *deleted(SECOND)))  # fmt: skip
shared_bad("deleted-in-use", "goes with the claimed checkpoint",
           begun(*whole(3, *THIRD_RESTS), *whole(4, FOURTH), dropped(2), *deleted(METADATA[2]),
                 *deleted(SECOND)))  # fmt: skip
shared_bad("deleted-in-use", "goes although nothing was claimed",
           begun(*whole(3, THIRD), *whole(4, FOURTH), dropped(2), *deleted(METADATA[2], SECOND)),
           options=NOT_CLAIMED)  # fmt: skip
shared_near("deleted-in-use", "goes with the last that rests on the claimed one", REPLACED)

shared_bad("left-behind", "what was claimed stays",
           begun(*whole(3, *THIRD_RESTS), *whole(4, FOURTH), dropped(2), *deleted(METADATA[2]), *whole(5, FIFTH),
                 dropped(3), *deleted(METADATA[3], THIRD), *whole(6, SIXTH), *whole(7, SIXTH),
                 listed(SECOND)))  # fmt: skip
shared_near("left-behind", "what was claimed goes",
            begun(*whole(3, *THIRD_RESTS), *whole(4, FOURTH), dropped(2), *deleted(METADATA[2]), *whole(5, FIFTH),
                  dropped(3), *deleted(METADATA[3], *THIRD_RESTS), *whole(6, SIXTH), *whole(7, SIXTH),
                  listed()))  # fmt: skip

shared_bad("placeholder-accepted", "a name of a job from which nothing was claimed",
           begun(*whole(3, *THIRD_RESTS)), options=NOT_CLAIMED)  # fmt: skip
shared_near("placeholder-accepted", "a name of a claimed checkpoint",
            begun(*whole(3, *THIRD_RESTS), whole(4, FOURTH)[1],
                  ack_sent(SUM, 4, shared=(SharedHandle("shared/unknown"),)), acked(4, SUM),
                  aborted(4, "refused")))  # fmt: skip

# --- SAVEPOINT ---

savepoint_bad, savepoint_near = exhibits("SAVEPOINT", *FIRST_JOB, faults=(SUBMIT,), options=CLAIMED)

savepoint_bad("claimed-left", "claimed metadata stay",
              begun(*whole(3, *THIRD_RESTS), *whole(4, FOURTH), dropped(2), *deleted(METADATA[2]), *whole(5, FIFTH),
                    listed(METADATA[2], METADATA[4], METADATA[5])))  # fmt: skip
savepoint_near("claimed-left", "shared files of a claimed checkpoint stay",
               begun(*whole(3, *THIRD_RESTS), *whole(4, FOURTH), dropped(2), *deleted(METADATA[2]), *whole(5, FIFTH),
                     listed(SECOND, BOTH, METADATA[4], METADATA[5])))  # fmt: skip

savepoint_bad("claimed-too-early", "claimed metadata go with the first",
              begun(*whole(3, *THIRD_RESTS), dropped(2), *deleted(METADATA[2]), *whole(4, FOURTH)))  # fmt: skip
savepoint_near("claimed-too-early", "claimed metadata go when the job is over",
               begun(*whole(3, *THIRD_RESTS), switched(CANCELLING), dropped(2), *deleted(METADATA[2])))  # fmt: skip

savepoint_bad("rests-on-unclaimed", "the first checkpoint names what is the users",
              begun(*whole(3, *THIRD_RESTS)), options=NOT_CLAIMED)  # fmt: skip
savepoint_near("rests-on-unclaimed", "the first checkpoint is whole",
               begun(*whole(3, THIRD), *whole(4, FOURTH, THIRD)), options=NOT_CLAIMED)  # fmt: skip

# --- what the harness reads back ---

END_OF_READ_BACK: list[Line] = [
    APART_MS, at("audit", CheckpointAudited(checkpoint=1, problem=f"{BOTH.path} is missing"), attempt=1),
    at("audit", CheckpointAudited(checkpoint=5), attempt=1_001),
]  # fmt: skip
"""The harness cannot restore checkpoint 1 of the first job."""

restore_bad, restore_near = exhibits("RESTORE", *FIRST_JOB, faults=(SUBMIT,), options=CLAIMED)

restore_bad("audit-failed", "no file of it was claimed", begun(*whole(3, *THIRD_RESTS)), *END_OF_READ_BACK)
restore_near("audit-failed", "a later job owned a file of it", REPLACED, *END_OF_READ_BACK)

restore_near("audit-failed", "a later job died before it could report what it deleted",
             begun(*whole(3, *THIRD_RESTS)), died("coordinator.1"), *END_OF_READ_BACK)  # fmt: skip
restore_bad("audit-failed", "only the job that left it has died",
            died("coordinator.0"), begun(*whole(3, *THIRD_RESTS)), *END_OF_READ_BACK)  # fmt: skip

state_bad, state_near = exhibits("STATE", *FIRST_JOB, faults=(SUBMIT,), options=CLAIMED)

state_bad("state-unreadable", "no file of its state was claimed", begun(*whole(3, *THIRD_RESTS)), *END_OF_READ_BACK)
state_near("state-unreadable", "a later job owned a file of its state", REPLACED, *END_OF_READ_BACK)
