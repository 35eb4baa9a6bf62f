"""Histories for PACE: when a coordinator begins checkpoints, over the forward job with one subtask of each vertex."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.harness.model.checkpoint import CheckpointOrigin
from holdfast.harness.model.events import InputDelayed, MachineStalled, StorageSlowed
from holdfast.harness.model.history import RunEnd
from holdfast.harness.model.jobs import FORWARD
from holdfast.harness.model.records import InputLog
from holdfast.suites.selfcheck.oracles.builder import MS, Line, at, exhibits, injected, input_log, undecided
from holdfast.suites.selfcheck.oracles.histories.coord import ALL
from holdfast.suites.selfcheck.oracles.lines import (
    RESTARTING, RUNNING, attempt, completed, delivers, drawn, failure, requested, switched, triggered,
)  # fmt: skip

PERIODIC, USER, FORCED = CheckpointOrigin.PERIODIC, CheckpointOrigin.USER, CheckpointOrigin.FORCED
PAUSED = {"execution.checkpointing.interval": "100 ms", "execution.checkpointing.min-pause": "400 ms"}
BRIEF_PAUSE = {"execution.checkpointing.interval": "100 ms", "execution.checkpointing.min-pause": "100 ms"}
NO_INTERVAL = {"restart-strategy.type": "none"}


def begun(checkpoint: int, request: int = 0, origin: CheckpointOrigin = PERIODIC) -> list[Line]:
    """A request that is served at once."""
    number = request or checkpoint
    return [requested(number, origin), drawn(checkpoint, number, origin),
            triggered(checkpoint, *ALL, origin=origin)]  # fmt: skip


# --- interval and first trigger --------------------------------------------------------------------------------------


bad, near = exhibits("PACE", attempt(), switched(RUNNING), job=FORWARD, parallelism=1)

bad("triggered-without-interval", "periodic without interval", 500, begun(1), completed(), options=NO_INTERVAL)
near("triggered-without-interval", "only users ask", 500, begun(1, origin=USER), completed(), options=NO_INTERVAL)
near("triggered-without-interval", "nobody asks", 500, failure(), options=NO_INTERVAL)

bad("first-trigger-outside", "first before pause", 100, begun(1), options=PAUSED)
bad("first-trigger-outside", "first after interval", 300, begun(1))
bad("first-trigger-outside", "first of second attempt too late",
    50, begun(1), completed(), failure(), switched(RESTARTING), attempt(), switched(RUNNING), 300,
    begun(2))  # fmt: skip
near("first-trigger-outside", "first within interval", 90, begun(1), completed(), 300, begun(2))
near("first-trigger-outside", "pause above interval", 400, begun(1), options=PAUSED)

# --- pauses ----------------------------------------------------------------------------------------------------------

bad("pause-too-short", "next too soon", 400, begun(1), 50, completed(), 300, begun(2), options=PAUSED)
near("pause-too-short", "next after pause", 400, begun(1), 50, completed(), 400, begun(2), options=PAUSED)

DRAWN_BEFORE_THE_COMPLETION: list[Line] = [
    400, begun(1), 290, completed(), -151, requested(2), -1, drawn(2), -1, triggered(2, *ALL), 553, completed(2), 600,
    begun(3),
]  # fmt: skip
"""The turn of checkpoint 2 comes while checkpoint 1 is under way; it is recorded when that is complete."""

near("pause-too-short", "begun while another is under way",
     *DRAWN_BEFORE_THE_COMPLETION,
     options={**PAUSED, "execution.checkpointing.max-concurrent-checkpoints": "2"})  # fmt: skip

# The turn of checkpoint 3 comes 52 ms after checkpoint 1 is complete; it is recorded when 2 is complete, too.
bad("pause-too-short", "begun too soon after the completion before the last",
    400, begun(1), begun(2), 100, completed(), 102, completed(2), -51, requested(3), -1, drawn(3), -1,
    triggered(3, *ALL), options={**PAUSED, "execution.checkpointing.max-concurrent-checkpoints": "2"},
    end=RunEnd(reached=True, ended_ns=1_615 * MS))  # fmt: skip
bad("pause-too-short", "begun before the only one was complete",
    *DRAWN_BEFORE_THE_COMPLETION,
    options={**PAUSED, "execution.checkpointing.max-concurrent-checkpoints": "1"})  # fmt: skip

# Before it records a completion, a coordinator waits for a processor; the next checkpoint begins 150 ms later.
bad("pause-too-short", "next too soon however late it was recorded",
    400, begun(1), 290, at("harness", MachineStalled(since_ns=595 * MS, stalled_ns=100 * MS)), completed(), 150,
    begun(2), options=PAUSED)  # fmt: skip
near("pause-too-short", "completed long before it was recorded",
     400, begun(1), 290, at("harness", MachineStalled(since_ns=415 * MS, stalled_ns=280 * MS)), completed(), 150,
     begun(2), 50, completed(2), 420, begun(3), options=PAUSED)  # fmt: skip
near("pause-too-short", "user in between",
     400, begun(1), completed(), 100, begun(2, origin=USER), completed(2), 400, begun(3), options=PAUSED)  # fmt: skip

# Each gap is just long enough for a stamp; together they are too short.
bad("share-too-high", "overlapping share",
    88, begun(1), 108, completed(1), 88, begun(2), 108, completed(2), 88, begun(3), 108, completed(3), 88, begun(4),
    108, completed(4), options=BRIEF_PAUSE)  # fmt: skip
near("share-too-high", "share of pause",
     98, begun(1), 108, completed(1), 98, begun(2), 108, completed(2), 98, begun(3), 108, completed(3), 98, begun(4),
     108, completed(4), options=BRIEF_PAUSE)  # fmt: skip

BATCH = delivers("source[0]->map[0]", 0)
SLOW = injected("slow-storage", "storage[0]")

bad("records-stand-still", "still during checkpoints", SLOW, BATCH, begun(1), 300, completed(), BATCH)
near("records-stand-still", "flow during checkpoints", SLOW, begun(1), 150, BATCH, 150, completed(), BATCH)
bad("records-stand-still", "still before the heal",
    SLOW, BATCH, begun(1), 300, completed(), BATCH,
    end=RunEnd(reached=True, healed_ns=500 * MS, ended_ns=10_000 * MS))  # fmt: skip
bad("records-stand-still", "still in real time", SLOW, BATCH, begun(1), 300, completed(), BATCH, real_time=True)

bad("records-stand-still", "delayed only at first",
    SLOW, BATCH, begun(1), 100, at("harness", InputDelayed(partition=0, since_ns=0 * MS)), 200, completed(), BATCH,
    real_time=True)  # fmt: skip

# What it feeds between two checkpoints had to wait for the first of them.
undecided("PACE", "records wait in the harness",
          attempt(), switched(RUNNING), SLOW, BATCH, begun(1), 300, completed(),
          at("harness", InputDelayed(partition=0, since_ns=30 * MS)), BATCH, begun(2), 300, completed(2),
          at("harness", InputDelayed(partition=0, since_ns=330 * MS)), BATCH, job=FORWARD, parallelism=1,
          real_time=True)  # fmt: skip

LATE_PARTITION: list[Line] = [SLOW, BATCH, begun(1), 300, completed(), 200, BATCH]
"""One checkpoint from 2 to 302 ms; the first partition was there from the start, the second one comes later."""

bad("records-stand-still", "due in the first half",
    *LATE_PARTITION,
    inputs=InputLog(("a",),
                    (input_log(10).partitions[0],
                     replace(input_log(10).partitions[0], preloaded=0, starts_ms=100))))  # fmt: skip
bad("records-stand-still", "due behind the next record",
    *LATE_PARTITION,
    inputs=InputLog(("a",),
                    (input_log(10).partitions[0],
                     replace(input_log(10).partitions[0], preloaded=0, starts_ms=5_000))))  # fmt: skip

undecided("PACE", "nothing due before the second half",
          attempt(), switched(RUNNING), SLOW, BATCH, begun(1), 300, completed(), 200, BATCH, job=FORWARD, parallelism=1,
          inputs=InputLog(("a",),
                          (input_log(10).partitions[0],
                           replace(input_log(10).partitions[0], preloaded=0, starts_ms=250))))  # fmt: skip

SYNCHRONOUS = {"execution.checkpointing.interval": "100 ms", "state.backend.async": "false"}
WRITE_SLOWED = at("worker-0.0", StorageSlowed(operation="write-state", path="chk-1/", delay_ms=290))
"""Storage holds up what a worker writes for checkpoint 1."""

bad("records-stand-still", "held up beside asynchronous snapshots",
    SLOW, BATCH, begun(1), WRITE_SLOWED, 300, completed(), BATCH)  # fmt: skip
bad("records-stand-still", "synchronous write held up only at first",
    SLOW, BATCH, begun(1), at("worker-0.0", StorageSlowed(operation="write-state", path="chk-1/", delay_ms=140)), 300,
    completed(), BATCH, options=SYNCHRONOUS)  # fmt: skip
bad("records-stand-still", "publication held up behind synchronous snapshots",
    SLOW, BATCH, begun(1),
    at("coordinator.0", StorageSlowed(operation="publish-metadata", path="chk-1/", delay_ms=290)), 300, completed(),
    BATCH, options=SYNCHRONOUS)  # fmt: skip
bad("records-stand-still", "synchronous write held up in one checkpoint of two",
    SLOW, BATCH, begun(1), WRITE_SLOWED, 300, completed(), BATCH, begun(2), 300, completed(2), BATCH,
    options=SYNCHRONOUS)  # fmt: skip

# A task whose snapshots are synchronous waits for its write, and whoever it feeds waits for it.
undecided("PACE", "synchronous write held up",
          attempt(), switched(RUNNING), SLOW, BATCH, begun(1), WRITE_SLOWED, 300, completed(), BATCH, job=FORWARD,
          parallelism=1, options=SYNCHRONOUS)  # fmt: skip

# Neither: storage was not slow.
undecided("PACE", "all is late on a busy machine",
          attempt(), switched(RUNNING), BATCH, begun(1), 300, completed(), BATCH, job=FORWARD, parallelism=1,
          real_time=True)  # fmt: skip
