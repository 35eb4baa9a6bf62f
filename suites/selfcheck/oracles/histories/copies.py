"""Histories for LOCAL, COORD, REACH and RETAIN: local copies, and what the harness sees of the storage."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.harness.model.events import (
    DeclineSent, FileDeleted, FileReference, FileWritten, LocalCopyRefused, LocalCopySpoilt, LocalCopyUsed,
    LocalCopyWritten, LocalDiskListed, StateFileRead, StorageObserved,
)  # fmt: skip
from holdfast.suites.selfcheck.oracles.builder import OPTIONS, Line, at, exhibits, stamped
from holdfast.suites.selfcheck.oracles.lines import (
    ack_sent, attempt, completed, damaged, deleted, died, dropped, failure, heard, listed, published, storage_failed,
    task,
)  # fmt: skip

# --- LOCAL: two sums keep copies of checkpoint 1 on their workers, and one of them is restored ------------------------


ON = {**OPTIONS, "execution.state-recovery.from-local": "true", "execution.checkpointing.dir": "file:///checkpoints"}
IN_MEMORY = {**OPTIONS, "execution.state-recovery.from-local": "true"}
COPY = "job-0/sum[0]/copy-1"
STORED = "checkpoints/job-0/chk-1/sum[0]"

COPIED = {
    n: LocalCopyWritten(subtask="sum[0]", checkpoint=n, path=f"job-0/sum[0]/copy-{n}",
                        files=(f"checkpoints/job-0/chk-{n}/sum[0]",))
    for n in (1, 2, 3)
}  # fmt: skip

bad, near = exhibits("LOCAL", attempt(), options=ON)

bad("kept-though-off", "copies of what is in memory", COPIED[1], options=IN_MEMORY)
bad("kept-though-off", "copies that nobody asked for", COPIED[1], options=OPTIONS)
near("kept-though-off", "no copies of what is in memory", options=IN_MEMORY)

bad("local-failure-counts", "a failed copy declines the checkpoint",
    at("worker-0.0", storage_failed("write-local", COPY, "full", injected=True, subtask="sum[0]"), attempt=1),
    DeclineSent(subtask="sum[0]", checkpoint=1, reason="full"))  # fmt: skip
near("local-failure-counts", "a failed copy is acknowledged all the same",
     at("worker-0.0", storage_failed("write-local", COPY, "full", injected=True, subtask="sum[0]"), attempt=1),
     ack_sent("sum[0]"))  # fmt: skip

bad("acked-unstored", "state that is local alone is acknowledged",
    at("worker-0.0", storage_failed("write-state", COPY, "full", injected=True, subtask="sum[0]"), attempt=1),
    ack_sent("sum[0]"))  # fmt: skip
near("acked-unstored", "state that is local alone is declined",
     at("worker-0.0", storage_failed("write-state", COPY, "full", injected=True, subtask="sum[0]"), attempt=1),
     DeclineSent(subtask="sum[0]", checkpoint=1, reason="full"))  # fmt: skip

USED = LocalCopyUsed(subtask="sum[0]", checkpoint=1, path=COPY)
SPOILT = LocalCopySpoilt(worker=0, way="flip", paths=(COPY,))
BOTH_COPIED: list[Line] = [
    task("sum[0]"), task("sum[1]"), COPIED[1],
    LocalCopyWritten(subtask="sum[1]", checkpoint=1, path="job-0/sum[1]/copy-1",
                     files=("checkpoints/job-0/chk-1/sum[1]",)),
    completed(),
]  # fmt: skip
"""Two sums run, and keep copies of checkpoint 1."""

OTHER_RESTORED: list[Line] = [
    LocalCopyUsed(subtask="sum[1]", checkpoint=1, path="job-0/sum[1]/copy-1"), task("sum[1]", 1),
]  # fmt: skip

bad("spoilt-copy-used", "a copy that was changed is used",
    *BOTH_COPIED, SPOILT, attempt(1), *OTHER_RESTORED, USED, task("sum[0]", 1))  # fmt: skip
bad("spoilt-copy-used", "the copy of another checkpoint is used",
    *BOTH_COPIED, COPIED[2], SPOILT, attempt(1), *OTHER_RESTORED,
    LocalCopyUsed(subtask="sum[0]", checkpoint=1, path="job-0/sum[0]/copy-2"), task("sum[0]", 1))  # fmt: skip
bad("spoilt-copy-used", "a copy is used that another has overwritten",
    *BOTH_COPIED, LocalCopyWritten(subtask="sink[0]", checkpoint=1, path=COPY), attempt(1), *OTHER_RESTORED, USED,
    task("sum[0]", 1))  # fmt: skip
near("spoilt-copy-used", "an intact copy is used", *BOTH_COPIED, attempt(1), *OTHER_RESTORED, USED, task("sum[0]", 1))

bad("spoilt-copy-fatal", "a changed copy fails the attempt",
    *BOTH_COPIED, SPOILT, attempt(1), *OTHER_RESTORED,
    failure("restore of checkpoint 1: it is damaged", "sum[0]"))  # fmt: skip
near("spoilt-copy-fatal", "a changed copy is passed over",
     *BOTH_COPIED, SPOILT, attempt(1), *OTHER_RESTORED,
     LocalCopyRefused(subtask="sum[0]", checkpoint=1, reason="damaged"), task("sum[0]", 1))  # fmt: skip

bad("intact-copy-unused", "an intact copy is passed over",
    *BOTH_COPIED, attempt(1), *OTHER_RESTORED, LocalCopyRefused(subtask="sum[0]", checkpoint=1, reason="absent"),
    task("sum[0]", 1))  # fmt: skip
near("intact-copy-unused", "an intact copy and no store",
     *BOTH_COPIED, attempt(1), *OTHER_RESTORED, USED, task("sum[0]", 1))  # fmt: skip
bad("intact-copy-unused", "the store is read besides",
    *BOTH_COPIED, attempt(1), *OTHER_RESTORED, USED, StateFileRead(path=STORED, reader="worker-0.0"),
    task("sum[0]", 1))  # fmt: skip
near("intact-copy-unused", "a disk that cannot be read",
     *BOTH_COPIED, attempt(1), *OTHER_RESTORED,
     at("worker-0.0", storage_failed("read-local", COPY, injected=True, subtask="sum[0]"), attempt=2),
     LocalCopyRefused(subtask="sum[0]", checkpoint=1, reason="injected error"), task("sum[0]", 1))  # fmt: skip

bad("copy-left", "an old copy lies there",
    COPIED[1], heard("sum[0]", 1, 2, 3), LocalDiskListed(worker=0, paths=(COPY,)))  # fmt: skip
near("copy-left", "the newest copy lies there",
     COPIED[1], COPIED[3], heard("sum[0]", 1, 2, 3),
     LocalDiskListed(worker=0, paths=("job-0/sum[0]/copy-3",)))  # fmt: skip

bad("moved", "two subtasks change places",
    *BOTH_COPIED, task("sink[0]"), task("sink[1]"), attempt(1), *OTHER_RESTORED, USED, task("sum[0]", 1),
    at("worker-1.0", task("sink[0]", 1), attempt=2), at("worker-0.0", task("sink[1]", 1), attempt=2))  # fmt: skip
near("moved", "a worker is gone",
     *BOTH_COPIED, died("worker-0.0", "killed"), attempt(1), *OTHER_RESTORED,
     at("worker-1.0", task("sum[0]", 1), attempt=2))  # fmt: skip

# --- COORD, REACH and RETAIN: what a coordinator states about the storage, and what the harness sees ------------------

COORDINATOR = "coordinator.0"
TWO_RETAINED = {"execution.checkpointing.num-retained": "2"}

STATE = {n: FileReference(f"chk-{n}/sum-0", 10, 7) for n in range(1, 5)}

METADATA = {n: FileReference(f"chk-{n}/_metadata", 20, 8) for n in range(1, 5)}

BOTH = {n: (METADATA[n], STATE[n]) for n in METADATA}

WHOLE: dict[int, list[Line]] = {
    n: [*(FileWritten(file=file) for file in BOTH[n]), published(n, *BOTH[n]), completed(n)] for n in BOTH
}  # fmt: skip


def looked(before: Sequence[Line], checkpoint: int, *files: FileReference, unrecorded: int = 0) -> list[Line]:
    """What happened, and then a look that finds these files; the last `unrecorded` events came after it was over."""
    recorded = sum(event.node == COORDINATOR for event in stamped(before)) - unrecorded
    paths = tuple(file.path for file in files)
    observed = StorageObserved(
        checkpoint=checkpoint, coordinator=COORDINATOR, recorded=recorded, paths=paths, files=files,
    )  # fmt: skip
    return [*before, observed]


# --- published -------------------------------------------------------------------------------------------------------


bad_published, near_published = exhibits("COORD", options=TWO_RETAINED)

bad_published("published-not-stored", "completes without its metadata", looked(WHOLE[1], 1, STATE[1]))
bad_published("published-not-stored", "the second is not there",
              looked([*looked(WHOLE[1], 1, *BOTH[1]), *WHOLE[2]], 2, *BOTH[1], STATE[2]))  # fmt: skip
bad_published("published-not-stored", "is not there before the harness damages it",
              looked(WHOLE[1], 1, STATE[1]), damaged(METADATA[1], 1))  # fmt: skip
near_published("published-not-stored", "is there when it completes", looked(WHOLE[1], 1, *BOTH[1]))
near_published("published-not-stored", "is dropped before the look is over",
               looked([*looked(WHOLE[1], 1, *BOTH[1]), *WHOLE[2], dropped(2), *deleted(*BOTH[2], by=COORDINATOR)], 2,
                      *BOTH[1]))  # fmt: skip
near_published("published-not-stored", "the harness has removed it",
               looked([*looked(WHOLE[1], 1, *BOTH[1]), damaged(METADATA[2], 2), *WHOLE[2]], 2, *BOTH[1],
                      STATE[2]))  # fmt: skip
near_published("published-not-stored", "its coordinator died before the completion was recorded",
               looked([*looked(WHOLE[1], 1, *BOTH[1]), published(2, *BOTH[2]), died("coordinator", "killed")], 2,
                      *BOTH[1]))  # fmt: skip

# --- named -----------------------------------------------------------------------------------------------------------

bad_named, near_named = exhibits("REACH")

bad_named("named-not-stored", "names a file that nobody wrote", looked(WHOLE[1], 1, METADATA[1]))
bad_named("named-not-stored", "loses a file of the older one",
          looked([*looked(WHOLE[1], 1, *BOTH[1]), *WHOLE[2]], 2, *BOTH[2], METADATA[1]),
          options=TWO_RETAINED)  # fmt: skip
bad_named("named-not-stored", "loses it before it is dropped",
          looked([*looked(WHOLE[1], 1, *BOTH[1]), *WHOLE[2], dropped(1)], 2, *BOTH[2], METADATA[1],
                 unrecorded=1))  # fmt: skip
bad_named("named-not-stored", "names a file that nobody wrote before the harness damages it",
          looked(WHOLE[1], 1, METADATA[1]), damaged(STATE[1], 1))  # fmt: skip
near_named("named-not-stored", "all that it names is there", looked(WHOLE[1], 1, *BOTH[1]))
near_named("named-not-stored", "the older one is dropped by then",
           looked([*looked(WHOLE[1], 1, *BOTH[1]), *WHOLE[2], dropped(1), *deleted(*BOTH[1], by=COORDINATOR)], 2,
                  *BOTH[2]))  # fmt: skip

# Its files may have come behind the listing.
near_named("named-not-stored", "a newer one is published while the harness looks",
           looked([*WHOLE[1], *WHOLE[2]], 1, *BOTH[1]), options=TWO_RETAINED)  # fmt: skip
near_named("named-not-stored", "the harness has removed a file",
           looked(WHOLE[1], 1, *BOTH[1]), damaged(STATE[2], 2), looked(WHOLE[2], 2, *BOTH[1], METADATA[2]))  # fmt: skip

# Whoever looks for the statements of this one finds none: it was superseded.
near_named("named-not-stored", "a coordinator without a record completes it",
           looked(WHOLE[1], 1, *BOTH[1]),
           StorageObserved(checkpoint=2, coordinator="coordinator.7", recorded=9, paths=(), files=()))  # fmt: skip

bad_named("file-differs", "is shorter when the harness looks",
          looked(WHOLE[1], 1, METADATA[1], FileReference(STATE[1].path, 9, 7)))  # fmt: skip
near_named("file-differs", "is as named when the harness looks", looked(WHOLE[1], 1, *BOTH[1]))
near_named("file-differs", "the harness has cut it",
           looked(WHOLE[1], 1, *BOTH[1]), damaged(STATE[2], 2),
           looked(WHOLE[2], 2, *BOTH[1], METADATA[2], FileReference(STATE[2].path, 5, 1)),
           options=TWO_RETAINED)  # fmt: skip

# --- deleted ---------------------------------------------------------------------------------------------------------

bad_deleted, near_deleted = exhibits("RETAIN")

bad_deleted("deleted-still-stored", "is there when the next one completes",
            looked([*WHOLE[1], *WHOLE[2], dropped(1), *deleted(*BOTH[1], by=COORDINATOR), *WHOLE[3]], 3, *BOTH[1],
                   *BOTH[2], *BOTH[3]))  # fmt: skip
bad_deleted("deleted-still-stored", "is there at the end",
            WHOLE[1], WHOLE[2], dropped(1), deleted(*BOTH[1], by=COORDINATOR), listed(*BOTH[1], *BOTH[2]))  # fmt: skip
near_deleted("deleted-still-stored", "is gone when the next one completes",
             looked([*WHOLE[1], *WHOLE[2], dropped(1), *deleted(*BOTH[1], by=COORDINATOR), *WHOLE[3]], 3, *BOTH[2],
                    *BOTH[3]),
             listed(*BOTH[2], *BOTH[3]))  # fmt: skip
near_deleted("deleted-still-stored", "is deleted behind the completion that the look followed",
             looked([*WHOLE[1], *WHOLE[2], dropped(1), *deleted(*BOTH[1], by=COORDINATOR)], 2, *BOTH[1], *BOTH[2]),
             listed(*BOTH[2]))  # fmt: skip
near_deleted("deleted-still-stored", "is on its way out at the end",
             WHOLE[1], WHOLE[2], dropped(1), deleted(*BOTH[1], by=COORDINATOR), WHOLE[3], dropped(2),
             listed(*BOTH[2], *BOTH[3]))  # fmt: skip

# A late write of an attempt that is over: what was deleted was not there yet.
near_deleted("deleted-still-stored", "is written behind its deletion",
             WHOLE[1], WHOLE[2], dropped(1), deleted(*BOTH[1], by=COORDINATOR),
             at(COORDINATOR, FileDeleted(path="chk-3/sum-0")), FileWritten(file=STATE[3]),
             listed(*BOTH[2], STATE[3]))  # fmt: skip
near_deleted("deleted-still-stored", "a deletion that failed was not reported",
             WHOLE[1], WHOLE[2], dropped(1), deleted(*BOTH[1], by=COORDINATOR), WHOLE[3], dropped(2),
             storage_failed("delete", METADATA[2].path, "unavailable"), listed(*BOTH[2], *BOTH[3]))  # fmt: skip
near_deleted("deleted-still-stored", "the harness has put it back",
             WHOLE[1], WHOLE[2], dropped(1), deleted(*BOTH[1], by=COORDINATOR), WHOLE[3], damaged(METADATA[2], 2),
             dropped(2), deleted(*BOTH[2], by=COORDINATOR), listed(*BOTH[3], METADATA[2]))  # fmt: skip
