"""Histories for PACE: when a coordinator begins checkpoints, over the forward job with one subtask of each vertex."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.harness.model import events
from holdfast.harness.model.checkpoint import CheckpointOrigin, FailureReason
from holdfast.harness.model.history import RunEnd
from holdfast.harness.model.jobs import FORWARD
from holdfast.harness.model.records import InputLog
from holdfast.suites.selfcheck.oracles.builder import (
    MS,
    Line,
    at,
    exhibits,
    injected,
    input_log,
    undecided,
)
from holdfast.suites.selfcheck.oracles.lines import (
    RESTARTING,
    RUNNING,
    aborted,
    attempt,
    completed,
    deleted,
    delivers,
    died,
    drawn,
    dropped,
    failure,
    metadata,
    published,
    refused,
    requested,
    storage_failed,
    switched,
    triggered,
)

ALL = ("source[0]", "map[0]", "sink[0]")
PERIODIC, USER, FORCED = CheckpointOrigin.PERIODIC, CheckpointOrigin.USER, CheckpointOrigin.FORCED
PAUSED = {"execution.checkpointing.interval": "100 ms", "execution.checkpointing.min-pause": "400 ms"}
BRIEF_PAUSE = {"execution.checkpointing.interval": "100 ms", "execution.checkpointing.min-pause": "100 ms"}
NO_INTERVAL = {"restart-strategy.type": "none"}
TWO_AT_ONCE = {
    "execution.checkpointing.interval": "100 ms",
    "execution.checkpointing.max-concurrent-checkpoints": "2",
}


def begun(checkpoint: int, request: int = 0, origin: CheckpointOrigin = PERIODIC) -> list[Line]:
    """A request that is served at once."""
    number = request or checkpoint
    return [
        requested(number, origin),
        drawn(checkpoint, number or checkpoint, origin),
        triggered(checkpoint, *ALL, origin=origin),
    ]


# --- interval and first trigger --------------------------------------------------------------------------------------


bad, near = exhibits("PACE", attempt(), switched(RUNNING), job=FORWARD, parallelism=1)

bad("triggered-without-interval", "periodic without interval", 500, begun(1), completed(), options=NO_INTERVAL)
near("triggered-without-interval", "only users ask", 500, begun(1, origin=USER), completed(), options=NO_INTERVAL)
near("triggered-without-interval", "nobody asks", 500, failure(), options=NO_INTERVAL)

bad("first-trigger-outside", "first before pause", 100, begun(1), options=PAUSED)
bad("first-trigger-outside", "first after interval", 300, begun(1))
bad(
    "first-trigger-outside", "first of second attempt too late",
    50, begun(1), completed(), failure(), switched(RESTARTING), attempt(), switched(RUNNING), 300, begun(2),
)  # fmt: skip
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


near(
    "pause-too-short", "begun while another is under way",
    *DRAWN_BEFORE_THE_COMPLETION, options={**PAUSED, "execution.checkpointing.max-concurrent-checkpoints": "2"},
)  # fmt: skip

# The turn of checkpoint 3 comes 52 ms after checkpoint 1 is complete; it is recorded when 2 is complete, too.
bad(
    "pause-too-short", "begun too soon after the completion before the last",
    400, begun(1), begun(2), 100, completed(), 102, completed(2), -51, requested(3), -1, drawn(3), -1,
    triggered(3, *ALL), options={**PAUSED, "execution.checkpointing.max-concurrent-checkpoints": "2"},
    end=RunEnd(reached=True, ended_ns=1_615 * MS),
)  # fmt: skip
bad(
    "pause-too-short", "begun before the only one was complete",
    *DRAWN_BEFORE_THE_COMPLETION, options={**PAUSED, "execution.checkpointing.max-concurrent-checkpoints": "1"},
)  # fmt: skip


bad(
    "pause-too-short", "next too soon however late it was recorded",
    400, begun(1), 290, at("harness", events.MachineStalled(since_ns=595 * MS, stalled_ns=100 * MS)), completed(), 150,
    begun(2), options=PAUSED,
)  # fmt: skip
near(
    "pause-too-short", "completed long before it was recorded",
    400, begun(1), 290, at("harness", events.MachineStalled(since_ns=415 * MS, stalled_ns=280 * MS)), completed(), 150,
    begun(2), 50, completed(2), 420, begun(3), options=PAUSED,
)  # fmt: skip
near(
    "pause-too-short", "user in between",
    400, begun(1), completed(), 100, begun(2, origin=USER), completed(2), 400, begun(3), options=PAUSED,
)  # fmt: skip


# Each gap is just long enough for a stamp; together they are too short.
bad(
    "share-too-high", "overlapping share",
    88, begun(1), 108, completed(1), 88, begun(2), 108, completed(2), 88, begun(3), 108, completed(3), 88, begun(4),
    108, completed(4), options=BRIEF_PAUSE,
)  # fmt: skip
near(
    "share-too-high", "share of pause",
    98, begun(1), 108, completed(1), 98, begun(2), 108, completed(2), 98, begun(3), 108, completed(3), 98, begun(4),
    108, completed(4), options=BRIEF_PAUSE,
)  # fmt: skip

bad(
    "records-stand-still", "still during checkpoints",
    injected("slow-storage", "storage[0]"), delivers("source[0]->map[0]", 0), begun(1), 300, completed(),
    delivers("source[0]->map[0]", 0),
)  # fmt: skip
near(
    "records-stand-still", "flow during checkpoints",
    injected("slow-storage", "storage[0]"), begun(1), 150, delivers("source[0]->map[0]", 0), 150, completed(),
    delivers("source[0]->map[0]", 0),
)  # fmt: skip
bad(
    "records-stand-still", "still before the heal",
    injected("slow-storage", "storage[0]"), delivers("source[0]->map[0]", 0), begun(1), 300, completed(),
    delivers("source[0]->map[0]", 0), end=RunEnd(reached=True, healed_ns=500 * MS, ended_ns=10_000 * MS),
)  # fmt: skip
bad(
    "records-stand-still", "still in real time",
    injected("slow-storage", "storage[0]"), delivers("source[0]->map[0]", 0), begun(1), 300, completed(),
    delivers("source[0]->map[0]", 0), real_time=True,
)  # fmt: skip


bad(
    "records-stand-still", "delayed only at first",
    injected("slow-storage", "storage[0]"), delivers("source[0]->map[0]", 0), begun(1), 100,
    at("harness", events.InputDelayed(partition=0, since_ns=0 * MS)), 200, completed(),
    delivers("source[0]->map[0]", 0), real_time=True,
)  # fmt: skip


# What it feeds between two checkpoints had to wait for the first of them.
undecided(
    "PACE",
    "records wait in the harness",
    attempt(),
    switched(RUNNING),
    *(
        injected("slow-storage", "storage[0]"),
        delivers("source[0]->map[0]", 0),
        begun(1),
        300,
        completed(),
        at("harness", events.InputDelayed(partition=0, since_ns=30 * MS)),
        delivers("source[0]->map[0]", 0),
        begun(2),
        300,
        completed(2),
    ),
    at("harness", events.InputDelayed(partition=0, since_ns=330 * MS)),
    delivers("source[0]->map[0]", 0),
    job=FORWARD,
    parallelism=1,
    real_time=True,
)


LATE_PARTITION: list[Line] = [
    injected("slow-storage", "storage[0]"), delivers("source[0]->map[0]", 0), begun(1), 300, completed(), 200,
    delivers("source[0]->map[0]", 0),
]  # fmt: skip
"""One checkpoint from 2 to 302 ms; the first partition was there from the start, the second one comes later."""


bad(
    "records-stand-still",
    "due in the first half",
    *LATE_PARTITION,
    inputs=InputLog(
        ("a",), (input_log(10).partitions[0], replace(input_log(10).partitions[0], preloaded=0, starts_ms=100))
    ),
)
bad(
    "records-stand-still",
    "due behind the next record",
    *LATE_PARTITION,
    inputs=InputLog(
        ("a",), (input_log(10).partitions[0], replace(input_log(10).partitions[0], preloaded=0, starts_ms=5_000))
    ),
)


undecided(
    "PACE",
    "nothing due before the second half",
    attempt(),
    switched(RUNNING),
    injected("slow-storage", "storage[0]"),
    delivers("source[0]->map[0]", 0),
    begun(1),
    300,
    completed(),
    200,
    delivers("source[0]->map[0]", 0),
    job=FORWARD,
    parallelism=1,
    inputs=InputLog(
        ("a",), (input_log(10).partitions[0], replace(input_log(10).partitions[0], preloaded=0, starts_ms=250))
    ),
)


# Neither: storage was not slow.
undecided(
    "PACE", "all is late on a busy machine",
    attempt(), switched(RUNNING), delivers("source[0]->map[0]", 0), begun(1), 300, completed(),
    delivers("source[0]->map[0]", 0), job=FORWARD, parallelism=1, real_time=True,
)  # fmt: skip


# --- refusals --------------------------------------------------------------------------------------------------------


bad(
    "triggered-while-not-running", "drawn while restarting",
    50, begun(1), completed(), failure(), switched(RESTARTING), requested(2), drawn(2),
)  # fmt: skip
near(
    "triggered-while-not-running", "drawn after restart",
    50, begun(1), completed(), failure(), switched(RESTARTING), attempt(), switched(RUNNING), 50, begun(2),
)  # fmt: skip

bad(
    "refused-and-begun", "served all the same",
    requested(1, USER), refused(FailureReason.TASKS_NOT_RUNNING, 1, USER), drawn(1, origin=USER),
    triggered(1, *ALL, origin=USER),
)  # fmt: skip
near(
    "refused-and-begun", "asked again",
    requested(1, USER), refused(FailureReason.TASKS_NOT_RUNNING, 1, USER), begun(1, 2, USER),
)  # fmt: skip
near(
    "refused-and-begun", "number of another coordinator",
    requested(1, USER), refused(FailureReason.TASKS_NOT_RUNNING, 1, USER), begun(1, 2, USER),
    died("coordinator", "killed"), attempt(), switched(RUNNING), begun(2, 1, USER), requested(2, USER),
    refused(FailureReason.TASKS_NOT_RUNNING, 2, USER), begun(3, 3, USER),
)  # fmt: skip


# --- turns -----------------------------------------------------------------------------------------------------------


bad(
    "served-out-of-turn", "younger user first",
    begun(1), requested(2, USER), requested(3, USER), completed(), drawn(2, 3, USER),
)  # fmt: skip
bad("served-out-of-turn", "interval before user", begun(1), requested(2), requested(3, USER), completed(), drawn(2))
bad(
    "served-out-of-turn", "user before forced",
    begun(1), requested(2, USER), requested(3, FORCED), completed(), drawn(2, origin=USER),
)  # fmt: skip
near(
    "served-out-of-turn", "in turn",
    begun(1), requested(2), requested(3, USER), requested(4, FORCED), drawn(2, 4, FORCED),
    triggered(2, *ALL, origin=FORCED), completed(), completed(2), drawn(3, origin=USER),
    triggered(3, *ALL, origin=USER), completed(3), drawn(4, 2),
)  # fmt: skip

bad(
    "user-waits-for-pause", "user waits",
    400, begun(1), completed(), requested(2, USER), 380, drawn(2, origin=USER), options=PAUSED,
)  # fmt: skip
bad("user-waits-for-pause", "user is never served", 400, begun(1), completed(), requested(2, USER), options=PAUSED)
near(
    "user-waits-for-pause", "user waits for slot",
    400, begun(1), requested(2, USER), 380, completed(), drawn(2, origin=USER), options=PAUSED,
)  # fmt: skip


def crowd(number: int, first: int = 2, origin: CheckpointOrigin = USER) -> list[Line]:
    return [requested(each, origin) for each in range(first, first + number)]


bad("queue-too-long", "queue beyond limit", begun(1), crowd(1_002))
near(
    "queue-too-long", "queue at limit",
    begun(1), crowd(1_001), refused(FailureReason.TOO_MANY_REQUESTS, 1_002, USER), completed(), drawn(2, origin=USER),
)  # fmt: skip

bad(
    "dropped-out-of-turn", "first is dropped", begun(1), crowd(1_001), refused(FailureReason.TOO_MANY_REQUESTS, 2, USER)
)
near(
    "dropped-out-of-turn", "interval is dropped",
    begun(1), requested(2), crowd(1_000, first=3), refused(FailureReason.TOO_MANY_REQUESTS, 2), requested(1_003, USER),
    refused(FailureReason.TOO_MANY_REQUESTS, 1_003, USER),
)  # fmt: skip

bad(
    "dropped-too-early", "dropped with room for one more",
    begun(1), crowd(1_000), refused(FailureReason.TOO_MANY_REQUESTS, 1_001, USER),
)  # fmt: skip
near(
    "dropped-too-early", "dropped from a full queue",
    begun(1), crowd(1_001), refused(FailureReason.TOO_MANY_REQUESTS, 1_002, USER),
)  # fmt: skip

bad(
    "refused-twice", "refused once more",
    requested(1, USER), refused(FailureReason.TASKS_NOT_RUNNING, 1, USER), requested(2, USER),
    refused(FailureReason.TASKS_NOT_RUNNING, 1, USER),
)  # fmt: skip

bad(
    "refused-without-request", "another is refused than was made",
    requested(1, USER), refused(FailureReason.TASKS_NOT_RUNNING, 2, USER),
)  # fmt: skip
near(
    "refused-without-request", "each is refused",
    requested(1, USER), refused(FailureReason.TASKS_NOT_RUNNING, 1, USER), requested(2, USER),
    refused(FailureReason.TASKS_NOT_RUNNING, 2, USER),
)  # fmt: skip

near(
    "refused-twice", "each is refused",
    requested(1, USER), refused(FailureReason.TASKS_NOT_RUNNING, 1, USER), requested(2, USER),
    refused(FailureReason.TASKS_NOT_RUNNING, 2, USER),
)  # fmt: skip

bad("periodic-waits", "interval waits for nothing", begun(1), completed(), requested(2), 40, drawn(2))
bad(
    "periodic-waits", "interval waits for the next",
    90, begun(1), completed(), 60, requested(2), 80, drawn(2), options=BRIEF_PAUSE,
)  # fmt: skip
near(
    "periodic-waits", "interval waits for the pause",
    90, begun(1), completed(), 60, requested(2), 40, drawn(2), options=BRIEF_PAUSE,
)  # fmt: skip
near("periodic-waits", "interval waits for a slot", begun(1), requested(2), 80, completed(), drawn(2))

bad(
    "drawn-and-forgotten", "two are drawn and one is triggered",
    requested(1), drawn(1), requested(2, USER), drawn(2, origin=USER), triggered(2, *ALL, origin=USER),
)  # fmt: skip
near("drawn-and-forgotten", "its id cannot be made durable", requested(1), drawn(1), aborted(1, "I/O"), begun(2))
near(
    "drawn-and-forgotten", "the job fails over in between",
    requested(1), drawn(1), failure("it failed"), attempt(), switched(RUNNING), begun(2),
)  # fmt: skip


# --- deletions -------------------------------------------------------------------------------------------------------


def whole(checkpoint: int) -> list[Line]:
    return [
        *begun(checkpoint),
        published(checkpoint, metadata(checkpoint)),
        completed(checkpoint),
    ]


bad("triggered-with-backlog", "begun over backlog", whole(1), whole(2), dropped(1), whole(3), dropped(2), begun(4))
near(
    "triggered-with-backlog", "begun with one deletion",
    whole(1), whole(2), dropped(1), whole(3), deleted(metadata(1), by="coordinator.0"), dropped(2), begun(4),
)  # fmt: skip
near(
    "triggered-with-backlog", "failed deletion is done",
    whole(1), whole(2), dropped(1), whole(3), storage_failed("delete", "chk-1/_metadata", "no answer"), dropped(2),
    begun(4),
)  # fmt: skip
near(
    "triggered-with-backlog", "two deletions where two may be pending",
    whole(1), whole(2), dropped(1), whole(3), dropped(2), begun(4), options=TWO_AT_ONCE,
)  # fmt: skip


BACKLOG: list[Line] = [*whole(1), *whole(2), dropped(1), *whole(3), dropped(2)]


near(
    "periodic-waits", "interval waits for what was dropped twice",
    BACKLOG, requested(4), dropped(1), 40, deleted(metadata(1), by="coordinator.0"), 40,
    deleted(metadata(1), by="coordinator.0"), drawn(4),
)  # fmt: skip
near(
    "periodic-waits", "interval waits for a second deletion that fails",
    BACKLOG, requested(4), dropped(1), 40, deleted(metadata(1), by="coordinator.0"), 40,
    storage_failed("delete", "chk-1/_metadata", "no answer"), drawn(4),
)  # fmt: skip
bad(
    "periodic-waits", "interval waits though nothing is deleted any more",
    BACKLOG, requested(4), dropped(1), 40, deleted(metadata(1), by="coordinator.0"),
    deleted(metadata(1), by="coordinator.0"), 40, deleted(metadata(1), by="coordinator.0"), drawn(4),
)  # fmt: skip
