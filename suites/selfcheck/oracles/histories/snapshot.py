"""Histories for SNAPSHOT: the first sum of the keyed sum, from the cut of a snapshot to the end of its upload."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.harness.model.checkpoint import SavepointFormat
from holdfast.harness.model.events import (
    AckOutcome, CoordinatorClaimed, DeclineSent, FileReference, FileWritten, SavepointTriggered, SnapshotReleased,
)  # fmt: skip
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, input_log
from holdfast.suites.selfcheck.oracles.legal import summary
from holdfast.suites.selfcheck.oracles.lines import (
    Barrier, aborted, ack_sent, acked, attempt, delivers, died, finalized, heard, listed, metadata, sends, snapshot,
    stopped, storage_failed, triggered,
)  # fmt: skip

LEFT, BELOW = "source[0]->sum[0]", "sum[0]->sink[0]"
HELD = [(0, 0), (0, 2)]
WORKER = "worker-0.0"
SYNCHRONOUS = {"execution.checkpointing.interval": "100 ms", "state.backend.async": "false"}

FILE = {n: FileReference(f"chk-{n}/sum-0", 100, 7) for n in range(1, 9)}

# --- durable before the ack ------------------------------------------------------------------------------------------


bad, near = exhibits("SNAPSHOT")

TAKEN = snapshot("sum[0]", state=summary(HELD))
ACKED = ack_sent("sum[0]", 1, FILE[1])
RELEASED = SnapshotReleased(subtask="sum[0]", checkpoint=1, kept_entries=0, open_versions=0)
WRITTEN = FileWritten(node=WORKER, file=FILE[1])

bad("acked-before-durable", "acks before its file is written", attempt(), TAKEN, ACKED, WRITTEN)
bad("acked-before-durable", "acks state that is nowhere", attempt(), TAKEN, ack_sent("sum[0]"))

TAKEN_AGAIN = snapshot("sum[0]", 2, state=summary(HELD))

near("acked-before-durable", "acks what is written",
     attempt(), TAKEN, WRITTEN, ACKED, TAKEN_AGAIN, ack_sent("sum[0]", 2, inline_bytes=9))  # fmt: skip

# --- beside the records ----------------------------------------------------------------------------------------------

bad("barrier-after-upload", "barrier waits for the file", attempt(), TAKEN, WRITTEN, sends(BELOW, Barrier(1)), ACKED)
near("barrier-after-upload", "barrier leaves with the cut", attempt(), TAKEN, sends(BELOW, Barrier(1)), WRITTEN, ACKED)

UPLOADING: dict[tuple[int, int], list[Line]] = {
    (n, first): [*(line for position in range(first, first + 4) for line in (1, delivers(LEFT, position))),
                 snapshot("sum[0]", n, state=summary(HELD)), 10]
    for n, first in ((1, 0), (2, 4), (3, 8), (3, 9))
}  # fmt: skip
"""By checkpoint and the next batch: batches come every two milliseconds, up to the first half of an upload of 20 ms."""
UPLOADED: dict[tuple[int, int], list[Line]] = {
    (n, kept): [10, FileWritten(node=WORKER, file=FILE[n]),
                SnapshotReleased(subtask="sum[0]", checkpoint=n, kept_entries=kept, open_versions=0),
                ack_sent("sum[0]", n, FILE[n])]
    for n, kept in ((1, 0), (2, 0), (2, 1), (3, 0))
}  # fmt: skip
"""By checkpoint and the entries that were kept: its second half."""
MOVES_ONCE: list[Line] = [
    attempt(), UPLOADING[1, 0], UPLOADED[1, 0], UPLOADING[2, 4], delivers(LEFT, 8), UPLOADED[2, 1], UPLOADING[3, 9],
    UPLOADED[3, 0], 1, delivers(LEFT, 13),
]  # fmt: skip

bad("stood-while-uploading", "stands during every upload",
    attempt(), UPLOADING[1, 0], UPLOADED[1, 0], UPLOADING[2, 4], UPLOADED[2, 0], UPLOADING[3, 8], UPLOADED[3, 0], 1,
    delivers(LEFT, 12), 1, delivers(LEFT, 13))  # fmt: skip
near("stood-while-uploading", "moves during one upload", *MOVES_ONCE, 1, delivers(LEFT, 14))
near("stood-while-uploading", "moves though the machine stood still once", *MOVES_ONCE, 40, delivers(LEFT, 14))

bad("processed-while-writing", "processes during a synchronous write",
    attempt(), TAKEN, delivers(LEFT, 0), WRITTEN,
    SnapshotReleased(subtask="sum[0]", checkpoint=1, kept_entries=1, open_versions=0), ACKED,
    options=SYNCHRONOUS)  # fmt: skip

# Batches come every millisecond, but for a write of twenty, and for what the machine stands still before it.
near("processed-while-writing", "waits for a synchronous write",
     attempt(), 1, delivers(LEFT, 0), 1, delivers(LEFT, 1), 1, delivers(LEFT, 2), 1, delivers(LEFT, 3), 1,
     delivers(LEFT, 4), TAKEN, 20, WRITTEN, RELEASED, ACKED, 1, delivers(LEFT, 5), options=SYNCHRONOUS)  # fmt: skip
near("processed-while-writing", "waits for one on a machine that stood still once",
     attempt(), 1, delivers(LEFT, 0), 1, delivers(LEFT, 1), 1, delivers(LEFT, 2), 1, delivers(LEFT, 3), 40,
     delivers(LEFT, 4), TAKEN, 20, WRITTEN, RELEASED, ACKED, 1, delivers(LEFT, 5), options=SYNCHRONOUS)  # fmt: skip

# --- errors ----------------------------------------------------------------------------------------------------------

bad("async-error-swallowed", "goes on without declining",
    attempt(), TAKEN, at(WORKER, storage_failed("write-state", FILE[1].path, "injected", subtask="sum[0]")),
    delivers(LEFT, 0), delivers(LEFT, 1))  # fmt: skip
near("async-error-swallowed", "declines",
     attempt(), TAKEN, at(WORKER, storage_failed("write-state", FILE[1].path, "injected", subtask="sum[0]")),
     DeclineSent(subtask="sum[0]", checkpoint=1, reason="injected"), delivers(LEFT, 0))  # fmt: skip

FIX_FAILED = at(WORKER, storage_failed("fix-state", FILE[1].path, "injected", subtask="sum[0]"))

bad("sync-error-swallowed", "goes on without a snapshot", attempt(), FIX_FAILED, delivers(LEFT, 0), delivers(LEFT, 1))
near("sync-error-swallowed", "dies in the turn of the next error",
     attempt(), FIX_FAILED, stopped("sum[0]", reason="snapshot"), delivers(LEFT, 0), FIX_FAILED,
     delivers(LEFT, 1))  # fmt: skip
near("sync-error-swallowed", "stops", attempt(), FIX_FAILED, stopped("sum[0]", reason="snapshot"), delivers(LEFT, 0))

# --- versions --------------------------------------------------------------------------------------------------------

bad("freed-too-early", "frees before the file is written", attempt(), TAKEN, RELEASED, WRITTEN, ACKED)
near("freed-too-early", "frees when the file is written", attempt(), TAKEN, WRITTEN, RELEASED, ACKED)
WRITTEN_AGAIN = FileWritten(node=WORKER, file=FILE[2])

RELEASED_AGAIN = SnapshotReleased(subtask="sum[0]", checkpoint=2, kept_entries=0, open_versions=0)

near("freed-too-early", "keyed state comes with the ack and what was in flight is written later",
     attempt(), snapshot("sum[0]", state=summary(HELD), unaligned=True), RELEASED, WRITTEN,
     ack_sent("sum[0]", 1, FILE[1], inline_bytes=9), TAKEN_AGAIN, WRITTEN_AGAIN, RELEASED_AGAIN,
     ack_sent("sum[0]", 2, FILE[2]))  # fmt: skip
near("freed-too-early", "empty state is stored nowhere and what was in flight is written later",
     attempt(), snapshot("sum[0]", state=summary([]), unaligned=True), RELEASED, WRITTEN, ACKED, TAKEN_AGAIN,
     WRITTEN_AGAIN, RELEASED_AGAIN, ack_sent("sum[0]", 2, FILE[2]))  # fmt: skip

bad("versions-kept", "never frees the first",
    attempt(), TAKEN, WRITTEN, ACKED, TAKEN_AGAIN, WRITTEN_AGAIN, RELEASED_AGAIN,
    ack_sent("sum[0]", 2, FILE[2]))  # fmt: skip
bad("versions-kept", "says that another is open",
    attempt(), TAKEN, WRITTEN, SnapshotReleased(subtask="sum[0]", checkpoint=1, kept_entries=0, open_versions=1),
    ACKED)  # fmt: skip
near("versions-kept", "another is open",
     attempt(), TAKEN, TAKEN_AGAIN, WRITTEN,
     SnapshotReleased(subtask="sum[0]", checkpoint=1, kept_entries=0, open_versions=1), ACKED,
     RELEASED_AGAIN)  # fmt: skip

MANY_KEYS = replace(input_log(10, 10), keys=tuple(f"key-{number}" for number in range(4_000)))
"""Enough for pages of four."""

bad("kept-wrong", "keeps more than was changed",
    attempt(), TAKEN, delivers(LEFT, 0, records=2), WRITTEN,
    SnapshotReleased(subtask="sum[0]", checkpoint=1, kept_entries=3, open_versions=0), ACKED)  # fmt: skip
bad("kept-wrong", "keeps nothing of what was changed",
    attempt(), TAKEN, delivers(LEFT, 0, records=2), WRITTEN,
    SnapshotReleased(subtask="sum[0]", checkpoint=1, kept_entries=0, open_versions=0), ACKED)  # fmt: skip
bad("kept-wrong", "keeps more pages than entries were changed",
    attempt(), TAKEN, delivers(LEFT, 0, records=2), WRITTEN,
    SnapshotReleased(subtask="sum[0]", checkpoint=1, kept_entries=12, open_versions=0, page_entries=4), ACKED,
    inputs=MANY_KEYS)  # fmt: skip
bad("kept-wrong", "calls the whole state a page",
    attempt(), TAKEN, delivers(LEFT, 0), WRITTEN,
    SnapshotReleased(subtask="sum[0]", checkpoint=1, kept_entries=2, open_versions=0, page_entries=2),
    ACKED)  # fmt: skip
bad("kept-wrong", "calls a large part of many keys a page",
    attempt(), TAKEN, delivers(LEFT, 0), WRITTEN,
    SnapshotReleased(subtask="sum[0]", checkpoint=1, kept_entries=1_000, open_versions=0, page_entries=1_000), ACKED,
    inputs=MANY_KEYS)  # fmt: skip
near("kept-wrong", "keeps whole pages",
     attempt(), TAKEN, delivers(LEFT, 0, records=2), WRITTEN,
     SnapshotReleased(subtask="sum[0]", checkpoint=1, kept_entries=8, open_versions=0, page_entries=4), ACKED,
     inputs=MANY_KEYS)  # fmt: skip
near("kept-wrong", "keeps what was changed",
     attempt(), delivers(LEFT, 0), TAKEN, delivers(LEFT, 1, records=3), WRITTEN,
     SnapshotReleased(subtask="sum[0]", checkpoint=1, kept_entries=2, open_versions=0), ACKED)  # fmt: skip
near("kept-wrong", "does not tell of every snapshot what it keeps",
     attempt(), TAKEN, delivers(LEFT, 0, records=2), WRITTEN,
     SnapshotReleased(subtask="sum[0]", checkpoint=1, kept_entries=None, open_versions=0), ACKED, TAKEN_AGAIN,
     delivers(LEFT, 1), WRITTEN_AGAIN,
     SnapshotReleased(subtask="sum[0]", checkpoint=2, kept_entries=1, open_versions=0),
     ack_sent("sum[0]", 2, FILE[2]))  # fmt: skip


# --- files -----------------------------------------------------------------------------------------------------------

COMPLETE: dict[int, list[Line]] = {
    n: [triggered(n), *finalized(n, files=(metadata(n, checksum=1),))] for n in range(2, 9)
}  # fmt: skip
THREE_MORE: list[Line] = [COMPLETE[2], COMPLETE[3], COMPLETE[4]]

LISTED: list[Line] = [attempt(), TAKEN]
"""Checkpoint 1 is aborted while its file is being written, or when it is acknowledged; three more complete."""

LEFT_BEHIND: list[Line] = [CoordinatorClaimed(epoch=1), attempt(), triggered(), TAKEN, WRITTEN, RELEASED, ACKED]
"""Checkpoint 1 is pending when the coordinator dies, and three others complete under the next one."""

bad("aborted-file-left", "successor leaves a file of the pending",
    *LEFT_BEHIND, acked(1, "sum[0]"), died(), CoordinatorClaimed(epoch=2), THREE_MORE, listed(FILE[1]))  # fmt: skip
near("aborted-file-left", "successor deletes it",
     *LEFT_BEHIND, acked(1, "sum[0]"), died(), CoordinatorClaimed(epoch=2), THREE_MORE, listed())  # fmt: skip
near("aborted-file-left", "the dead had not heard of it",
     *LEFT_BEHIND, died(), CoordinatorClaimed(epoch=2), THREE_MORE, listed(FILE[1]))  # fmt: skip
bad("aborted-file-left", "aborted file is there",
    *LISTED, heard("sum[0]", completed=False), WRITTEN, RELEASED, THREE_MORE, listed(FILE[1]))  # fmt: skip
bad("aborted-file-left", "file of a late ack is there",
    *LISTED, WRITTEN, RELEASED, ACKED, acked(1, "sum[0]", outcome=AckOutcome.DISCARDED), THREE_MORE,
    listed(FILE[1]))  # fmt: skip
near("aborted-file-left", "ack of the file never arrived",
     *LISTED, WRITTEN, RELEASED, ACKED, THREE_MORE, listed(FILE[1]))  # fmt: skip
near("aborted-file-left", "aborted file is gone",
     *LISTED, heard("sum[0]", completed=False), WRITTEN, RELEASED, THREE_MORE, listed())  # fmt: skip

IN_SAVEPOINT = FileReference("saved/5/state", 10, 1)

SAVEPOINT_ACKED: list[Line] = [
    SavepointTriggered(checkpoint=5, folder="saved/5/", format=SavepointFormat.CANONICAL),
    snapshot("sum[0]", 5, state=summary(HELD)), FileWritten(node=WORKER, file=IN_SAVEPOINT),
    ack_sent("sum[0]", 5, IN_SAVEPOINT), acked(5, "sum[0]"),
]  # fmt: skip
SAVEPOINT_LISTED: list[Line] = [COMPLETE[6], COMPLETE[7], COMPLETE[8], listed(IN_SAVEPOINT)]
"""Its file lies there when three checkpoints have completed."""

near("aborted-file-left", "of a savepoint whose end nobody reported", attempt(), SAVEPOINT_ACKED, SAVEPOINT_LISTED)
near("aborted-file-left", "of one whose id an aborted checkpoint had drawn before it",
     attempt(), aborted(5), SAVEPOINT_ACKED, SAVEPOINT_LISTED)  # fmt: skip
bad("aborted-file-left", "of a savepoint that was aborted",
    attempt(), aborted(5), SAVEPOINT_ACKED, aborted(5), SAVEPOINT_LISTED)  # fmt: skip
