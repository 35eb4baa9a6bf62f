"""Histories of checkpoints that the harness damaged: nobody is to blame for these, and everybody for all others.

The metadata of checkpoint 2 are removed while checkpoint 3 is being published. The coordinator dies before it records
that, and its successor goes on from 3: it cannot know 2, whose files it deletes.
"""

from __future__ import annotations

from holdfast.harness.model.events import (
    CheckpointAudited, CheckpointRetained, CoordinatorClaimed, FileReference, FileWritten, ObjectMended, SubtaskAudited,
)  # fmt: skip
from holdfast.harness.model.jobs import FORWARD
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits
from holdfast.suites.selfcheck.oracles.histories import state as keyed
from holdfast.suites.selfcheck.oracles.histories.coord import ALL, WHOLE
from holdfast.suites.selfcheck.oracles.histories.snapshot import FILE, HELD, RELEASED, THREE_MORE, WORKER
from holdfast.suites.selfcheck.oracles.legal import summary
from holdfast.suites.selfcheck.oracles.lines import (
    CANCELED, CANCELLING, RUNNING, aborted, ack_sent, acked, attempt, completed, damaged, deleted, died, drawn, dropped,
    listed, notified, published, snapshot, submitted, switched, triggered,
)  # fmt: skip

POLICY = "execution.checkpointing.externalized-checkpoint-retention"
KEEPING = {"execution.checkpointing.interval": "100 ms", POLICY: "RETAIN_ON_CANCELLATION"}

METADATA = {n: FileReference(f"chk-{n}/_metadata", 20, n) for n in range(1, 5)}

STATE_FILE = {n: FileReference(f"chk-{n}/sum-0", 10, n) for n in range(1, 5)}

ON_ITS_WAY: dict[int, list[Line]] = {
    n: [drawn(n), triggered(n, *ALL), acked(n, *ALL), FileWritten(file=STATE_FILE[n]), FileWritten(file=METADATA[n]),
        published(n, STATE_FILE[n], METADATA[n], states=len(ALL))]
    for n in (1, 2, 3)
}  # fmt: skip
"""Published, and not complete yet."""

COMPLETE: dict[int, list[Line]] = {n: [*ON_ITS_WAY[n], completed(n)] for n in ON_ITS_WAY}
SECOND_DAMAGED: list[Line] = [
    submitted(), attempt(), switched(RUNNING), COMPLETE[1], COMPLETE[2], dropped(1), deleted(METADATA[1]),
    deleted(STATE_FILE[1]), damaged(METADATA[2]),
]  # fmt: skip
"""The latest checkpoint of two is damaged when the first has gone."""

SUM_FILE = FileReference("chk-1/sum-0", 100, 7)
NOTHING_PUT_BACK = ObjectMended(path=METADATA[2].path, length=None)
OF_3 = listed(METADATA[3], STATE_FILE[3])

# --- REACH -----------------------------------------------------------------------------------------------------------

reach_bad, reach_near = exhibits("REACH")

# Checkpoint 2 is damaged, and its coordinator dies when the third is published and has not completed.
reach_near("file-missing", "successor cleans up what it cannot know",
           *SECOND_DAMAGED, ON_ITS_WAY[3], died("coordinator", "killed"), attempt(3), switched(RUNNING),
           deleted(STATE_FILE[2]), NOTHING_PUT_BACK, OF_3)  # fmt: skip
reach_bad("file-missing", "successor deletes a file of what it restored",
          *SECOND_DAMAGED, ON_ITS_WAY[3], died("coordinator", "killed"), attempt(3), switched(RUNNING),
          deleted(STATE_FILE[2]), deleted(STATE_FILE[3]), NOTHING_PUT_BACK)  # fmt: skip
reach_bad("file-missing", "successor deletes a file that a newer one shares",
          *SECOND_DAMAGED, *ON_ITS_WAY[3][:-1],
          published(3, STATE_FILE[3], METADATA[3], STATE_FILE[2], states=len(ALL)), died("coordinator", "killed"),
          attempt(3), switched(RUNNING), deleted(STATE_FILE[2]))  # fmt: skip
reach_bad("file-missing", "deleted before the damage",
          submitted(), attempt(), switched(RUNNING), COMPLETE[1], COMPLETE[2], dropped(1), deleted(METADATA[1]),
          deleted(STATE_FILE[1]), deleted(STATE_FILE[2]), damaged(METADATA[2]), ON_ITS_WAY[3],
          died("coordinator", "killed"), attempt(3), switched(RUNNING))  # fmt: skip
reach_bad("file-missing", "deleted when all was put back",
          COMPLETE[1], damaged(METADATA[1]), ObjectMended(path=METADATA[1].path, length=20),
          deleted(STATE_FILE[1]))  # fmt: skip
reach_bad("file-missing", "another is missing in the storage",
          *SECOND_DAMAGED, ON_ITS_WAY[3], died("coordinator", "killed"), attempt(3), switched(RUNNING),
          NOTHING_PUT_BACK, listed(METADATA[3], STATE_FILE[2]))  # fmt: skip

reach_near("file-differs", "the damaged is stored shorter",
           COMPLETE[1], damaged(STATE_FILE[1], left=5),
           listed(METADATA[1], FileReference(STATE_FILE[1].path, 5, 99)))  # fmt: skip
reach_bad("file-differs", "another than the damaged is stored shorter",
          COMPLETE[1], damaged(METADATA[1], left=5),
          listed(METADATA[1], FileReference(STATE_FILE[1].path, 5, 99)))  # fmt: skip

# --- RETAIN ----------------------------------------------------------------------------------------------------------

NEXT = drawn(4)

retain_bad, retain_near = exhibits("RETAIN")

retain_near("too-many-retained", "the damaged is not counted",
            *SECOND_DAMAGED, ON_ITS_WAY[3], died("coordinator", "killed"), attempt(3), switched(RUNNING),
            NEXT)  # fmt: skip
retain_bad("too-many-retained", "an older one stays beside the damaged",
           COMPLETE[1], COMPLETE[2], damaged(METADATA[2]), COMPLETE[3], NEXT)  # fmt: skip
retain_bad("too-many-retained", "what was put back is counted",
           COMPLETE[2], damaged(METADATA[2]), ObjectMended(path=METADATA[2].path, length=20), COMPLETE[3],
           NEXT)  # fmt: skip

CANCELLED_WITH_DAMAGE: list[Line] = [
    submitted(), attempt(), switched(RUNNING), switched(CANCELLING), COMPLETE[1], damaged(METADATA[1]), COMPLETE[2],
]  # fmt: skip

retain_near("discarded-wrongly", "the damaged is not left to the user",
            *CANCELLED_WITH_DAMAGE, CheckpointRetained(checkpoint=2, path=METADATA[2].path), dropped(1),
            switched(CANCELED), options=KEEPING)  # fmt: skip
retain_bad("discarded-wrongly", "the undamaged is not left to the user",
           *CANCELLED_WITH_DAMAGE, switched(CANCELED), options=KEEPING)  # fmt: skip

retain_near("deleted-in-use", "a file of the damaged goes while it is restored",
            COMPLETE[1], damaged(METADATA[1]), attempt(1), deleted(STATE_FILE[1]))  # fmt: skip
retain_bad("deleted-in-use", "a file goes whose checkpoint was put back",
           COMPLETE[1], damaged(METADATA[1]), ObjectMended(path=METADATA[1].path, length=20), attempt(1),
           deleted(STATE_FILE[1]))  # fmt: skip

retain_near("deleted-after-end", "the damaged is gone that was left to the user",
            COMPLETE[1], CheckpointRetained(checkpoint=1, path=METADATA[1].path), damaged(STATE_FILE[1]),
            listed(METADATA[1]), options=KEEPING)  # fmt: skip
retain_bad("deleted-after-end", "another is gone that was left to the user",
           COMPLETE[1], CheckpointRetained(checkpoint=1, path=METADATA[1].path), damaged(STATE_FILE[1]),
           listed(STATE_FILE[1]), options=KEEPING)  # fmt: skip

# --- COORD and LOUD --------------------------------------------------------------------------------------------------

coord_bad, coord_near = exhibits("COORD")

coord_near("restored-not-latest", "goes on from what was published",
           *SECOND_DAMAGED, ON_ITS_WAY[3], died("coordinator", "killed"), attempt(3), switched(RUNNING))  # fmt: skip

# --- COORD and LOUD --------------------------------------------------------------------------------------------------

loud_bad, loud_near = exhibits("LOUD", *SECOND_DAMAGED, ON_ITS_WAY[3], died("coordinator", "killed"))

loud_near("started-older", "goes on from what was published", attempt(3), switched(RUNNING))

coord_bad("restored-not-latest", "goes back behind the damaged",
          *SECOND_DAMAGED, ON_ITS_WAY[3], died("coordinator", "killed"), attempt(1), switched(RUNNING))  # fmt: skip

loud_bad("started-older", "goes back behind the damaged", attempt(1), switched(RUNNING))

loud_bad("started-empty", "starts empty beside the damaged", attempt(), switched(RUNNING))

coord_bad("restored-not-latest", "goes back to the damaged",
          *SECOND_DAMAGED, ON_ITS_WAY[3], died("coordinator", "killed"), attempt(2), switched(RUNNING))  # fmt: skip

DISCARDED: list[Line] = [attempt(), triggered(1, *ALL), ack_sent(ALL[0], 1, STATE_FILE[1]), acked(1, ALL[0])]

coord_near("state-not-discarded", "the harness put back a file of an aborted one",
           *DISCARDED, damaged(STATE_FILE[1], left=5), ObjectMended(path=STATE_FILE[1].path, length=10), aborted(),
           notified(1, *ALL, completed=False), WHOLE[2], listed(STATE_FILE[1]), job=FORWARD, parallelism=1)  # fmt: skip
coord_bad("state-not-discarded", "the harness put back another file",
          *DISCARDED, damaged(METADATA[1], left=5), ObjectMended(path=METADATA[1].path, length=10), aborted(),
          notified(1, *ALL, completed=False), WHOLE[2], listed(STATE_FILE[1]), job=FORWARD, parallelism=1)  # fmt: skip


# --- what is read back -----------------------------------------------------------------------------------------------

CANNOT_BE_READ = CheckpointAudited(checkpoint=1, problem="cannot be read")
ONE_UNREADABLE: list[Line] = [CANNOT_BE_READ, CheckpointAudited(checkpoint=2)]

restore_bad, restore_near = exhibits("RESTORE")

restore_near("audit-failed", "the damaged cannot be read back",
             COMPLETE[1], COMPLETE[2], damaged(STATE_FILE[1], left=5), ONE_UNREADABLE)  # fmt: skip
restore_bad("audit-failed", "another than the damaged cannot be read back",
            COMPLETE[1], COMPLETE[2], damaged(STATE_FILE[2], left=5), ONE_UNREADABLE)  # fmt: skip

# Read back as soon as it has completed, in vain.
restore_bad("audit-failed", "cannot be read back before the damage",
            COMPLETE[1], CANNOT_BE_READ, damaged(STATE_FILE[1], left=5))  # fmt: skip
restore_near("audit-failed", "the damaged cannot be read back and is mended",
             COMPLETE[1], damaged(STATE_FILE[1], left=5), CANNOT_BE_READ,
             ObjectMended(path=STATE_FILE[1].path, length=10), COMPLETE[2],
             CheckpointAudited(checkpoint=2))  # fmt: skip

state_bad, state_near = exhibits("STATE")

state_near("state-unreadable", "state of the damaged cannot be read back",
           ON_ITS_WAY[1], completed(1, 4, 2), COMPLETE[2], damaged(STATE_FILE[1], left=5), ONE_UNREADABLE,
           CheckpointAudited(checkpoint=1), SubtaskAudited(checkpoint=1, subtask="sum[0]", state=summary(keyed.A)),
           SubtaskAudited(checkpoint=1, subtask="sum[1]", state=summary(keyed.B)))  # fmt: skip
state_bad("state-unreadable", "state of another cannot be read back",
          COMPLETE[1], COMPLETE[2], damaged(STATE_FILE[2], left=5), ONE_UNREADABLE)  # fmt: skip
state_bad("state-unreadable", "state cannot be read back before the damage",
          COMPLETE[1], CANNOT_BE_READ, damaged(STATE_FILE[1], left=5))  # fmt: skip

snapshot_bad, snapshot_near = exhibits(
    "SNAPSHOT", CoordinatorClaimed(epoch=1), attempt(), triggered(), snapshot("sum[0]", state=summary(HELD)),
    FileWritten(node=WORKER, file=FILE[1]), RELEASED, ack_sent("sum[0]", 1, FILE[1]), acked(1, "sum[0]"), died(),
    CoordinatorClaimed(epoch=2),
)  # fmt: skip

snapshot_near("aborted-file-left", "the harness put back a file of the pending",
              damaged(SUM_FILE, left=5), ObjectMended(path=SUM_FILE.path, length=10), THREE_MORE,
              listed(SUM_FILE))  # fmt: skip
snapshot_bad("aborted-file-left", "the harness put back another than that of the pending",
             damaged(METADATA[2]), ObjectMended(path=METADATA[2].path, length=20), THREE_MORE,
             listed(SUM_FILE))  # fmt: skip
