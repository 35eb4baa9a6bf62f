"""Histories for REACH and RETAIN: files of a checkpoint, what becomes of checkpoints, and what a job restores."""

from __future__ import annotations

from holdfast.harness.model import profile
from holdfast.harness.model.events import (
    CheckpointRetained, FileReference, FileWritten, RecoveryFailed, SavepointCompleted,
)  # fmt: skip
from holdfast.harness.model.history import RunEnd
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.oracles.builder import MS, Line, at, exhibits, injected, undecided
from holdfast.suites.selfcheck.oracles.lines import (
    CANCELED, CANCELLING, FAILED, RUNNING, aborted, ack_sent, attempt, completed, deleted, died, drawn, dropped,
    failure, listed, metadata, published, storage_failed, submitted, switched,
)  # fmt: skip

# --- REACH: a checkpoint of one state file and its metadata -----------------------------------------------------------


STATE, METADATA = FileReference("chk-1/sum-0", 10, 7), FileReference("chk-1/_metadata", 20, 8)
SHORTER = FileReference("chk-1/sum-0", 9, 7)

STORED: list[Line] = [
    FileWritten(file=STATE), ack_sent("sum[0]", 1, STATE), FileWritten(file=METADATA),
    published(1, METADATA, STATE, path=METADATA.path),
]  # fmt: skip
"""Checkpoint 1 with its two files is published."""

OUTDATED: list[Line] = [completed(2), dropped(1)]
"""Checkpoint 1 makes room for a newer one."""

bad, near = exhibits("REACH")

bad("file-missing", "deleted while retained", *STORED, completed(), deleted(STATE))
bad("file-missing", "deleted before dropped", *STORED, completed(), deleted(STATE), OUTDATED)
bad("file-missing", "deleted by a worker", *STORED, completed(), OUTDATED, deleted(STATE, by="worker-0.0"))
bad("file-missing", "deleted behind undecided publication", *STORED, aborted(1, "publication failed"), deleted(STATE))
bad("file-missing", "not in the storage", *STORED, completed(), listed(METADATA))
near("file-missing", "deleted after dropped",
     *STORED, completed(), OUTDATED, deleted(STATE), deleted(METADATA), listed())  # fmt: skip
near("file-missing", "withdrawn metadata first",
     *STORED, aborted(1, "publication failed"), deleted(METADATA), deleted(STATE))  # fmt: skip

bad("file-differs", "written with other checksum",
    FileWritten(file=FileReference("chk-1/sum-0", 10, 1)), *STORED[1:], completed())  # fmt: skip
bad("file-differs", "stored shorter", *STORED, completed(), listed(SHORTER, METADATA))
bad("file-differs", "overwritten later", *STORED, completed(), FileWritten(file=SHORTER))
near("file-differs", "stored as written", *STORED, completed(), listed(STATE, METADATA))
TWO_RETAINED = {"execution.checkpointing.num-retained": "2"}

bad("dropped-too-early", "the latest is dropped", *STORED, completed(), dropped(1))
bad("dropped-too-early", "dropped before the newer completes", *STORED, completed(), dropped(1), completed(2))
bad("dropped-too-early", "the second of two is dropped", *STORED, completed(), OUTDATED, options=TWO_RETAINED)

# A checkpoint that is published and has not completed.
bad("dropped-too-early", "dropped for one that is aborted",
    *STORED, completed(), published(2), aborted(2, "publication failed"), dropped(1))  # fmt: skip
near("dropped-too-early", "dropped for the newer", *STORED, completed(), OUTDATED)
near("dropped-too-early", "the third of two is dropped",
     *STORED, completed(), [completed(checkpoint) for checkpoint in (2, 3)], dropped(1),
     options=TWO_RETAINED)  # fmt: skip
near("dropped-too-early", "new coordinator drops for what it finds",
     *STORED, completed(), died("coordinator", "killed"), published(2), dropped(1))  # fmt: skip

# --- RETAIN: what becomes of completed checkpoints, and what a next job restores --------------------------------------

POLICY = "execution.checkpointing.externalized-checkpoint-retention"
INTERVAL = {"execution.checkpointing.interval": "100 ms"}
KEEPING = {**INTERVAL, POLICY: "RETAIN_ON_CANCELLATION"}
DELETION = FaultSpec("storage-error", Target(Role.STORAGE), parameters={"operation": "delete"})

WHOLE: dict[int, list[Line]] = {n: [drawn(n), published(n, metadata(n)), completed(n)] for n in range(1, 8)}

bad, near = exhibits("RETAIN", submitted(), attempt(), options=INTERVAL)

bad("too-many-retained", "older stays", switched(RUNNING), WHOLE[1], WHOLE[2], drawn(3))
near("too-many-retained", "older is dropped", switched(RUNNING), WHOLE[1], WHOLE[2], dropped(1), drawn(3))

PUBLISHED_BEFORE_ITS_DEATH: list[Line] = [switched(RUNNING), WHOLE[1], drawn(2), published(2, metadata(2))]
"""A coordinator publishes a checkpoint and dies before that completes."""

near("too-many-retained", "one that the successor does not know stays",
     *PUBLISHED_BEFORE_ITS_DEATH, died("coordinator", "killed"), attempt(1), switched(RUNNING), WHOLE[3], dropped(1),
     drawn(4))  # fmt: skip

ITS_DEATH = at("harness", died("coordinator.0", "killed"))

# A coordinator dies between completions and what these make surplus; a successor restores the last one.
near("too-many-retained", "what a dead coordinator left stays until the next completion",
     switched(RUNNING), WHOLE[1], WHOLE[2], ITS_DEATH, at("coordinator.1", attempt(2)),
     at("coordinator.1", drawn(3)))  # fmt: skip
near("too-many-retained", "two dead coordinators left one each",
     switched(RUNNING), WHOLE[1], WHOLE[2], ITS_DEATH, at("coordinator.1", attempt(2)), at("coordinator.1", *WHOLE[3]),
     died("coordinator.1", "killed"), at("coordinator.2", attempt(3)), at("coordinator.2", drawn(4)))  # fmt: skip
bad("too-many-retained", "a dead coordinator left two too many",
    switched(RUNNING), WHOLE[1], WHOLE[2], WHOLE[3], ITS_DEATH, at("coordinator.1", attempt(3)),
    at("coordinator.1", drawn(4)))  # fmt: skip
bad("too-many-retained", "what a dead coordinator left stays behind the next completion",
    switched(RUNNING), WHOLE[1], WHOLE[2], ITS_DEATH, at("coordinator.1", attempt(2)), at("coordinator.1", *WHOLE[3]),
    dropped(1), at("coordinator.1", drawn(4)))  # fmt: skip
bad("too-many-retained", "one that the successor restores stays",
    *PUBLISHED_BEFORE_ITS_DEATH, died("coordinator", "killed"), attempt(2), switched(RUNNING), dropped(1), WHOLE[3],
    drawn(4))  # fmt: skip
bad("too-many-retained", "one that a later successor restores stays",
    *PUBLISHED_BEFORE_ITS_DEATH, died("coordinator", "killed"), attempt(1), switched(RUNNING),
    died("coordinator", "killed"), attempt(2), switched(RUNNING), WHOLE[3], dropped(1), drawn(4))  # fmt: skip
bad("too-many-retained", "one that its own coordinator published stays",
    switched(RUNNING), WHOLE[1], drawn(2), published(2, metadata(2)), attempt(1), drawn(3))  # fmt: skip

bad("deleted-in-use", "deleted during restore", switched(RUNNING), WHOLE[1], attempt(1), dropped(1))
near("deleted-in-use", "dropped after restore",
     switched(RUNNING), WHOLE[1], attempt(1), switched(RUNNING), WHOLE[2], dropped(1))  # fmt: skip

FAILED_DELETION: list[Line] = [
    switched(RUNNING), WHOLE[1], injected("storage-error", "storage[0]"), WHOLE[2], dropped(1),
    storage_failed("delete", metadata(1).path, "no answer"),
]  # fmt: skip

bad("failed-deletion-fails", "job fails with deletion", *FAILED_DELETION, failure("deletion"), faults=(DELETION,))
near("failed-deletion-fails", "deletion fails alone", *FAILED_DELETION, WHOLE[3], faults=(DELETION,))

# A task fails behind the end of the run, in which the harness stops everything.
near("failed-deletion-fails", "the harness ends the run",
     switched(RUNNING), WHOLE[1], injected("storage-error", "storage[0]"), WHOLE[2], dropped(1),
     storage_failed("delete", metadata(1).path, "no answer"), failure("stopped"),
     end=RunEnd(reached=True, ended_ns=13 * MS - 1), faults=(DELETION,))  # fmt: skip

# No fault of the plan: whatever needs the store fails with it.
undecided("RETAIN", "store fails by itself",
          submitted(), attempt(), switched(RUNNING), WHOLE[1], WHOLE[2], dropped(1),
          storage_failed("delete", metadata(1).path, "no answer"), failure("no answer"), options=INTERVAL)  # fmt: skip

LEFT_TO_THE_USER: list[Line] = [
    switched(CANCELLING), CheckpointRetained(checkpoint=1, path=metadata(1).path), switched(CANCELED),
]  # fmt: skip

bad("kept-wrongly", "left though discarded", switched(RUNNING), WHOLE[1], LEFT_TO_THE_USER)
bad("kept-wrongly", "forgotten though discarded", switched(RUNNING), WHOLE[1], switched(CANCELLING, CANCELED))
near("kept-wrongly", "discarded at the end",
     switched(RUNNING), WHOLE[1], switched(CANCELLING), dropped(1), switched(CANCELED))  # fmt: skip

UNREAD: list[Line] = [RecoveryFailed(checkpoint=2, reason="damaged"), switched(FAILED), dropped(1)]
"""A coordinator cannot read its store, and the job fails; it drops the first checkpoint."""

# The next coordinator sees some checkpoints, cannot read its store, and the job fails; it drops the first.
bad("kept-wrongly", "kept though seen",
    switched(RUNNING), WHOLE[1], WHOLE[2],
    at("coordinator.1", published(1, metadata(1)), published(2, metadata(2)), *UNREAD))  # fmt: skip
near("kept-wrongly", "never seen",
     switched(RUNNING), WHOLE[1], WHOLE[2], at("coordinator.1", published(1, metadata(1)), *UNREAD))  # fmt: skip

CLAIMS_AND_FAILS: list[Line] = [
    switched(RUNNING), SavepointCompleted(checkpoint=1, path=metadata(1).path, files=(metadata(1),)), WHOLE[2],
    switched(CANCELLING), dropped(2), switched(CANCELED), submitted(metadata(1).path, 1, job=1),
]  # fmt: skip
"""A job is given a savepoint, which it is to own, and fails."""

bad("kept-wrongly", "claimed and kept",
    *CLAIMS_AND_FAILS, attempt(1, number=1_001), at("", switched(FAILED), attempt=1_001),
    options={**INTERVAL, profile.CLAIM_MODE: "CLAIM"})  # fmt: skip
near("kept-wrongly", "given and never begun from",
     *CLAIMS_AND_FAILS, at("", switched(FAILED), attempt=1_001),
     options={**INTERVAL, profile.CLAIM_MODE: "CLAIM"})  # fmt: skip

bad("discarded-wrongly", "dropped though kept",
    switched(RUNNING), WHOLE[1], switched(CANCELLING), dropped(1), switched(CANCELED), options=KEEPING)  # fmt: skip
near("discarded-wrongly", "left to the user", switched(RUNNING), WHOLE[1], LEFT_TO_THE_USER, options=KEEPING)
near("discarded-wrongly", "one that completes while the job ends takes its place",
     switched(RUNNING), WHOLE[1], switched(CANCELLING), *WHOLE[2], dropped(1),
     CheckpointRetained(checkpoint=2, path=metadata(2).path), switched(CANCELED), options=KEEPING)  # fmt: skip

bad("deleted-after-end", "deleted by somebody",
    switched(RUNNING), WHOLE[1], LEFT_TO_THE_USER, deleted(metadata(1), by="coordinator.0"),
    options=KEEPING)  # fmt: skip
bad("deleted-after-end", "gone at the end", switched(RUNNING), WHOLE[1], LEFT_TO_THE_USER, listed(), options=KEEPING)
near("deleted-after-end", "still there",
     switched(RUNNING), WHOLE[1], LEFT_TO_THE_USER, listed(metadata(1)), options=KEEPING)  # fmt: skip

bad("restored-elsewhere", "path is ignored",
    switched(RUNNING), WHOLE[1], LEFT_TO_THE_USER, submitted(metadata(1).path, 1 if metadata(1).path else None, job=1),
    attempt(None, number=1_001), options=KEEPING)  # fmt: skip
near("restored-elsewhere", "path is restored",
     switched(RUNNING), WHOLE[1], LEFT_TO_THE_USER, submitted(metadata(1).path, 1 if metadata(1).path else None, job=1),
     attempt(1, number=1_001), options=KEEPING)  # fmt: skip

bad("start-not-reported", "restores what nobody gave",
    switched(RUNNING), WHOLE[1], LEFT_TO_THE_USER, submitted("", None, job=1), attempt(1, number=1_001),
    options=KEEPING)  # fmt: skip
near("start-not-reported", "starts empty",
     switched(RUNNING), WHOLE[1], LEFT_TO_THE_USER, submitted("", None, job=1), attempt(None, number=1_001),
     options=KEEPING)  # fmt: skip

# The first of two checkpoints is dropped, and so is each that follows but the last.
bad("dropped-left", "a dropped checkpoint is never deleted",
    switched(RUNNING), WHOLE[1], WHOLE[2], dropped(1), WHOLE[3], dropped(2), deleted(metadata(2), by="coordinator.0"),
    WHOLE[4], dropped(3), deleted(metadata(3), by="coordinator.0"), WHOLE[5], dropped(4),
    listed(metadata(1), metadata(4), metadata(5)))  # fmt: skip
near("dropped-left", "the last one is not due yet",
     switched(RUNNING), WHOLE[1], WHOLE[2], dropped(1), deleted(metadata(1), by="coordinator.0"), WHOLE[3], dropped(2),
     deleted(metadata(2), by="coordinator.0"), WHOLE[4], dropped(3), deleted(metadata(3), by="coordinator.0"), WHOLE[5],
     dropped(4), listed(metadata(4), metadata(5)))  # fmt: skip
near("dropped-left", "its coordinator was gone before it could be deleted",
     switched(RUNNING), WHOLE[1], WHOLE[2], dropped(1), died("coordinator.0"),
     at("coordinator.1", *WHOLE[3], dropped(2), deleted(metadata(2)), *WHOLE[4], dropped(3), deleted(metadata(3)),
        *WHOLE[5], dropped(4), deleted(metadata(4))),
     listed(metadata(1), metadata(5)))  # fmt: skip
