"""Histories in which something happens twice: it counts as it was the first time."""

from __future__ import annotations

from holdfast.harness.model.capability import EXACTLY_ONCE, Claims
from holdfast.harness.model.checkpoint import SavepointFormat, StopMode
from holdfast.harness.model.events import (
    ChannelStateRestored, CheckpointAudited, DeclineSent, SavepointTriggered, SplitsLeft, SplitsListed,
)  # fmt: skip
from holdfast.harness.model.jobs import FORWARD
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits
from holdfast.suites.selfcheck.oracles.histories import (
    damage, final, message, pace, restore, savepoint, snapshot, splits, state,
)  # fmt: skip
from holdfast.suites.selfcheck.oracles.histories.coord import ALL, BARRIER
from holdfast.suites.selfcheck.oracles.legal import summary
from holdfast.suites.selfcheck.oracles.lines import (
    RUNNING, Barrier, ack_sent, attempt, audited, completed, content, damaged, deleted, delivers, died, dropped,
    failure, heard, in_flight, metadata, notified, published, sends, snapshot as taken, storage_failed, submitted,
    switched, triggered,
)  # fmt: skip

# --- parts of checkpoints --------------------------------------------------------------------------------------------

bad, near = exhibits("SNAPSHOT", attempt(), snapshot.TAKEN)

near("acked-before-durable", "acks again without the state", snapshot.WRITTEN, snapshot.ACKED, ack_sent("sum[0]"))
near("acked-before-durable", "writes the file again behind its ack", snapshot.WRITTEN, snapshot.ACKED, snapshot.WRITTEN)
bad("acked-before-durable", "acks state that is nowhere and cuts again without any",
    taken("sum[0]"), ack_sent("sum[0]"))  # fmt: skip
bad("freed-too-early", "frees before the file is written and again afterwards",
    snapshot.RELEASED, snapshot.WRITTEN, snapshot.RELEASED, snapshot.ACKED)  # fmt: skip
bad("barrier-after-upload", "one of two barriers waits for the file",
    sends(snapshot.BELOW, Barrier(1)), snapshot.WRITTEN, sends("sum[0]->sink[1]", Barrier(1)),
    snapshot.ACKED)  # fmt: skip

UPLOAD_FAILS = at("worker-0.0", storage_failed("write-state", snapshot.FILE[1].path, subtask="sum[0]"))
ANOTHER_DECLINES: list[Line] = [
    at("worker-1.0", storage_failed("write-state", "chk-1/sum-1", subtask="sum[1]")),
    DeclineSent(subtask="sum[1]", checkpoint=1, reason="full"), delivers("source[0]->sum[1]", 0),
]  # fmt: skip

near("async-error-swallowed", "is told of the abort before the upload fails and again afterwards",
     heard("sum[0]", completed=False), UPLOAD_FAILS, heard("sum[0]", completed=False), delivers(snapshot.LEFT, 0, 1),
     ANOTHER_DECLINES)  # fmt: skip

coord_bad, coord_near = exhibits("COORD", attempt(), job=FORWARD, parallelism=1)

coord_near("begun-without-barrier", "snapshot between two barriers",
           triggered(1, *ALL), delivers(BARRIER, Barrier(1)), taken("map[0]"),
           delivers(BARRIER, Barrier(1)))  # fmt: skip

exhibits("FENCE")[0]("superseded-notified", "task hears of it behind an abort",
                     *message.BOTH_LIVE, at(message.FORMER, notified(1, "sink[0]"), attempt=1),
                     heard("sink[0]", completed=False), heard("sink[0]"), message.LEARNS, options={})  # fmt: skip

# --- checkpoints -----------------------------------------------------------------------------------------------------

damage.coord_bad("restored-not-latest", "goes back to the damaged and finds the newer one again later",
                 submitted(), attempt(), switched(RUNNING), *damage.ON_ITS_WAY[1], completed(1), *damage.ON_ITS_WAY[2],
                 completed(2), dropped(1), deleted(metadata(1)), deleted(damage.STATE_FILE[1]), damaged(metadata(2)),
                 damage.ON_ITS_WAY[3], died("coordinator", "killed"), attempt(2), switched(RUNNING),
                 published(3, damage.STATE_FILE[3]))  # fmt: skip

damage.state_near("state-extra", "completes again with other positions",
                  state.COMPLETED, audited(summary(state.A), summary(state.B)), completed(1, 2, 2),
                  claimed=Claims(state=EXACTLY_ONCE))  # fmt: skip

damage.restore_near("audit-failed", "what cannot be restored was dropped before and is again later",
                    restore.TAKEN, failure(), attempt(1), dropped(1), restore.STATE_IS_MISSING,
                    CheckpointAudited(checkpoint=2), dropped(1))  # fmt: skip

pace.bad("records-stand-still", "still during one that the next coordinator draws again",
         pace.SLOW, pace.BATCH, pace.begun(1), died("coordinator", "killed"), attempt(), switched(RUNNING),
         pace.begun(1), 300, completed(), pace.BATCH)  # fmt: skip

final.bad("running-before-finished", "the checkpoint is triggered again with all",
          submitted(), final.ALL_START, triggered(3, *final.MAP_FINISHED), triggered(3, *final.ALL), completed(3),
          at("coordinator.1", submitted("chk-3", 3), attempt=1_000_000), attempt(3, number=final.ANOTHER),
          faults=final.EDIT)  # fmt: skip

# The other subtask has something in flight.
savepoint.bad(
    "carries-in-flight", "records were overtaken at the second subtask",
    savepoint.SUBMITS, savepoint.SUSPENDS, in_flight("sum[0]", checkpoint=4),
    in_flight("sum[1]", content("source[0]->sum[1]", 1), checkpoint=4), savepoint.SAVED, savepoint.JOB_FINISHES,
)  # fmt: skip
savepoint.bad("savepoint-restored", "an attempt goes back to it and it completes again",
              savepoint.SUBMITS, savepoint.STOP_TRIGGERED[StopMode.GO_ON], savepoint.SAVED_WITHOUT_RECOVERY_POINT,
              failure(), attempt(4), savepoint.SAVED_WITHOUT_RECOVERY_POINT)  # fmt: skip
savepoint.bad("savepoint-commits", "a sink is told and the job is to stop with it afterwards",
              savepoint.SUBMITS, savepoint.STOP_TRIGGERED[StopMode.GO_ON], savepoint.SAVED_WITHOUT_RECOVERY_POINT,
              notified(4, "sink[0]"),
              SavepointTriggered(checkpoint=4, folder=savepoint.FOLDER, format=SavepointFormat.CANONICAL,
                                 stop=StopMode.SUSPEND),
              savepoint.JOB_FINISHES)  # fmt: skip

TAKEN_AGAIN = taken("sum[0]", state=summary([(0, 1)]))

damage.restore_near(
    "state-differs", "cuts again with other state",
    restore.TAKEN, TAKEN_AGAIN, failure(), attempt(1), restore.SUM_STARTS,
)  # fmt: skip
damage.restore_near("channel-state-differs", "tells again what was in flight",
                    restore.TAKEN, restore.IN_FLIGHT, in_flight("sum[0]"), attempt(1), restore.SUM_STARTS,
                    ChannelStateRestored(subtask="sum[0]", checkpoint=1,
                                         channels=(content(restore.LEFT, 5, 6),)))  # fmt: skip

splits.near(
    "split-lost", "two sources leave splits to their enumerators",
    splits.snapshot_of((0,), (1,), (2,))[:-2], SplitsLeft(checkpoint=1, vertex="other", splits=(3,)), published(1),
    completed(),
)  # fmt: skip
splits.bad(
    "split-lost", "listed between the parts of two sources",
    SplitsListed(splits=(0,)), attempt(), *[taken(each, 1) for each in splits.ALL],
    SplitsLeft(checkpoint=1, vertex="source", splits=(0,)), SplitsListed(splits=(0, 1)),
    SplitsLeft(checkpoint=1, vertex="other", splits=()), SplitsListed(splits=(0,1,2,3)), completed(),
)  # fmt: skip

splits.bad(
    "split-assigned-again", "an ack of the reader is taken twice", attempt(), splits.ONE_ASSIGNED, splits.ONE_RECEIVED,
    1, ack_sent("source[1]"), splits.ACK_TAKEN, splits.AGAIN * 4, splits.ACK_TAKEN,
)  # fmt: skip

# --- files -----------------------------------------------------------------------------------------------------------

damage.reach_bad("file-missing", "deleted while its checkpoint is retained and again when it is dropped",
                 *damage.ON_ITS_WAY[1], completed(1), deleted(damage.STATE_FILE[1]), *damage.ON_ITS_WAY[2],
                 completed(2), dropped(1), deleted(damage.STATE_FILE[1]))  # fmt: skip
