"""Histories for PACE: whose turn it is, deletions that hold up the next checkpoint, and requests that are lost."""

from __future__ import annotations

from holdfast.harness.model.checkpoint import CheckpointOrigin, FailureReason
from holdfast.harness.model.events import CheckpointRefused
from holdfast.harness.model.jobs import FORWARD
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, injected
from holdfast.suites.selfcheck.oracles.histories.coord import ALL, TWO_AT_ONCE
from holdfast.suites.selfcheck.oracles.histories.pace import BRIEF_PAUSE, FORCED, PAUSED, USER, begun
from holdfast.suites.selfcheck.oracles.lines import (
    CANCELED, RESTARTING, RUNNING, aborted, attempt, completed, deleted, died, drawn, dropped, failure, metadata,
    published, requested, storage_failed, switched, triggered,
)  # fmt: skip

bad, near = exhibits("PACE", attempt(), switched(RUNNING), job=FORWARD, parallelism=1)

# --- refusals --------------------------------------------------------------------------------------------------------

bad("triggered-while-not-running", "drawn while restarting",
    50, begun(1), completed(), failure(), switched(RESTARTING), requested(2), drawn(2))  # fmt: skip
near("triggered-while-not-running", "drawn after restart",
     50, begun(1), completed(), failure(), switched(RESTARTING), attempt(), switched(RUNNING), 50,
     begun(2))  # fmt: skip

FIRST_REFUSED = CheckpointRefused(request=1, origin=USER, reason=FailureReason.TASKS_NOT_RUNNING)

bad("refused-and-begun", "served all the same",
    requested(1, USER), FIRST_REFUSED, drawn(1, origin=USER), triggered(1, *ALL, origin=USER))  # fmt: skip
near("refused-and-begun", "asked again", requested(1, USER), FIRST_REFUSED, begun(1, 2, USER))

SECOND_REFUSED = CheckpointRefused(request=2, origin=USER, reason=FailureReason.TASKS_NOT_RUNNING)

near("refused-and-begun", "number of another coordinator",
     requested(1, USER), FIRST_REFUSED, begun(1, 2, USER), died("coordinator", "killed"), attempt(), switched(RUNNING),
     begun(2, 1, USER), requested(2, USER), SECOND_REFUSED, begun(3, 3, USER))  # fmt: skip

# --- turns -----------------------------------------------------------------------------------------------------------

bad("served-out-of-turn", "younger user first",
    begun(1), requested(2, USER), requested(3, USER), completed(), drawn(2, 3, USER))  # fmt: skip
bad("served-out-of-turn", "interval before user", begun(1), requested(2), requested(3, USER), completed(), drawn(2))
bad("served-out-of-turn", "user before forced",
    begun(1), requested(2, USER), requested(3, FORCED), completed(), drawn(2, origin=USER))  # fmt: skip
near("served-out-of-turn", "in turn",
     begun(1), requested(2), requested(3, USER), requested(4, FORCED), drawn(2, 4, FORCED),
     triggered(2, *ALL, origin=FORCED), completed(), completed(2), drawn(3, origin=USER),
     triggered(3, *ALL, origin=USER), completed(3), drawn(4, 2))  # fmt: skip

bad("user-waits-for-pause", "user waits",
    400, begun(1), completed(), requested(2, USER), 380, drawn(2, origin=USER), options=PAUSED)  # fmt: skip
bad("user-waits-for-pause", "user is never served", 400, begun(1), completed(), requested(2, USER), options=PAUSED)
near("user-waits-for-pause", "user waits for slot",
     400, begun(1), requested(2, USER), 380, completed(), drawn(2, origin=USER), options=PAUSED)  # fmt: skip

bad("queue-too-long", "queue beyond limit", begun(1), [requested(each, USER) for each in range(2, 1_004)])
near("queue-too-long", "queue at limit",
     begun(1), [requested(each, USER) for each in range(2, 1_003)],
     CheckpointRefused(request=1_002, origin=USER, reason=FailureReason.TOO_MANY_REQUESTS), completed(),
     drawn(2, origin=USER))  # fmt: skip

bad("dropped-out-of-turn", "first is dropped",
    begun(1), [requested(each, USER) for each in range(2, 1_003)],
    CheckpointRefused(request=2, origin=USER, reason=FailureReason.TOO_MANY_REQUESTS))  # fmt: skip
near("dropped-out-of-turn", "interval is dropped",
     begun(1), requested(2), [requested(each, USER) for each in range(3, 1_003)],
     CheckpointRefused(request=2, origin=CheckpointOrigin.PERIODIC, reason=FailureReason.TOO_MANY_REQUESTS),
     requested(1_003, USER),
     CheckpointRefused(request=1_003, origin=USER, reason=FailureReason.TOO_MANY_REQUESTS))  # fmt: skip

bad("dropped-too-early", "dropped with room for one more",
    begun(1), [requested(each, USER) for each in range(2, 1_002)],
    CheckpointRefused(request=1_001, origin=USER, reason=FailureReason.TOO_MANY_REQUESTS))  # fmt: skip
near("dropped-too-early", "dropped from a full queue",
     begun(1), [requested(each, USER) for each in range(2, 1_003)],
     CheckpointRefused(request=1_002, origin=USER, reason=FailureReason.TOO_MANY_REQUESTS))  # fmt: skip

bad("refused-twice", "refused once more", requested(1, USER), FIRST_REFUSED, requested(2, USER), FIRST_REFUSED)

bad("refused-without-request", "another is refused than was made", requested(1, USER), SECOND_REFUSED)
near("refused-without-request", "each is refused",
     requested(1, USER), FIRST_REFUSED, requested(2, USER), SECOND_REFUSED)  # fmt: skip

near("refused-twice", "each is refused", requested(1, USER), FIRST_REFUSED, requested(2, USER), SECOND_REFUSED)

bad("periodic-waits", "interval waits for nothing", begun(1), completed(), requested(2), 40, drawn(2))
bad("periodic-waits", "interval waits for the next",
    90, begun(1), completed(), 60, requested(2), 80, drawn(2), options=BRIEF_PAUSE)  # fmt: skip
near("periodic-waits", "interval waits for the pause",
     90, begun(1), completed(), 60, requested(2), 40, drawn(2), options=BRIEF_PAUSE)  # fmt: skip
near("periodic-waits", "interval waits for a slot", begun(1), requested(2), 80, completed(), drawn(2))

bad("drawn-and-forgotten", "two are drawn and one is triggered",
    requested(1), drawn(1), requested(2, USER), drawn(2, origin=USER), triggered(2, *ALL, origin=USER))  # fmt: skip
near("drawn-and-forgotten", "its id cannot be made durable", requested(1), drawn(1), aborted(1, "I/O"), begun(2))
near("drawn-and-forgotten", "the job fails over in between",
     requested(1), drawn(1), failure("it failed"), attempt(), switched(RUNNING), begun(2))  # fmt: skip

# --- deletions -------------------------------------------------------------------------------------------------------

THREE_COMPLETE: list[Line] = [
    *begun(1), published(1, metadata(1)), completed(1), *begun(2), published(2, metadata(2)), completed(2), dropped(1),
    *begun(3), published(3, metadata(3)), completed(3),
]  # fmt: skip
"""Checkpoints 1 to 3; the first is dropped with the second."""

bad("triggered-with-backlog", "begun over backlog", *THREE_COMPLETE, dropped(2), begun(4))

FIRST_DELETED = deleted(metadata(1), by="coordinator.0")

near("triggered-with-backlog", "begun with one deletion", *THREE_COMPLETE, FIRST_DELETED, dropped(2), begun(4))
near("triggered-with-backlog", "failed deletion is done",
     *THREE_COMPLETE, storage_failed("delete", "chk-1/_metadata", "no answer"), dropped(2), begun(4))  # fmt: skip
near("triggered-with-backlog", "two deletions where two may be pending",
     *THREE_COMPLETE, dropped(2), begun(4), options=TWO_AT_ONCE)  # fmt: skip

BACKLOG: list[Line] = [*THREE_COMPLETE, dropped(2)]

near("periodic-waits", "interval waits for what was dropped twice",
     BACKLOG, requested(4), dropped(1), 40, FIRST_DELETED, 40, FIRST_DELETED, drawn(4))  # fmt: skip
near("periodic-waits", "interval waits for a second deletion that fails",
     BACKLOG, requested(4), dropped(1), 40, FIRST_DELETED, 40, storage_failed("delete", "chk-1/_metadata", "no answer"),
     drawn(4))  # fmt: skip
bad("periodic-waits", "interval waits though nothing is deleted any more",
    BACKLOG, requested(4), dropped(1), 40, FIRST_DELETED, FIRST_DELETED, 40, FIRST_DELETED, drawn(4))  # fmt: skip

# --- requests that nobody takes ---------------------------------------------------------------------------------------

WHILE_MS = 600
"""Longer than a coordinator needs."""

bad, near = exhibits("PACE", attempt(), WHILE_MS)

USER_ASKS = at("harness", injected("request-checkpoint", "job"))

bad("request-lost", "nobody takes it", USER_ASKS, WHILE_MS)
bad("request-lost", "only the interval asks", USER_ASKS, requested(9), WHILE_MS)
bad("request-lost", "the coordinator had died before", died(), attempt(), WHILE_MS, USER_ASKS, WHILE_MS)
bad("request-lost", "a worker dies with it", USER_ASKS, died("worker-0"), WHILE_MS)

USER_ASKS_FOR_A_SAVEPOINT = at("harness", injected("savepoint", "job"))

bad("request-lost", "nobody takes that for a savepoint",
    USER_ASKS_FOR_A_SAVEPOINT, requested(9, CheckpointOrigin.USER), WHILE_MS)  # fmt: skip
near("request-lost", "the coordinator takes that for a savepoint",
     USER_ASKS_FOR_A_SAVEPOINT, requested(9, CheckpointOrigin.SAVEPOINT), WHILE_MS)  # fmt: skip

bad("savepoint-unasked", "one request counts twice",
    USER_ASKS_FOR_A_SAVEPOINT, requested(9, CheckpointOrigin.SAVEPOINT), requested(10, CheckpointOrigin.SAVEPOINT),
    WHILE_MS)  # fmt: skip
near("savepoint-unasked", "two savepoints are requested of two coordinators",
     USER_ASKS_FOR_A_SAVEPOINT, requested(9, CheckpointOrigin.SAVEPOINT), died(), attempt(), WHILE_MS,
     at("harness", injected("stop", "job")), requested(9, CheckpointOrigin.SAVEPOINT), WHILE_MS)  # fmt: skip

near("request-lost", "the coordinator takes it", USER_ASKS, 20, requested(9, CheckpointOrigin.USER), WHILE_MS)
near("request-lost", "the coordinator dies with the last of two",
     USER_ASKS, requested(9, CheckpointOrigin.USER), WHILE_MS, USER_ASKS, 20, died(), WHILE_MS)  # fmt: skip
near("request-lost", "the job ends with the last of two",
     USER_ASKS, requested(9, CheckpointOrigin.USER), WHILE_MS, USER_ASKS, 20, switched(CANCELED), WHILE_MS)  # fmt: skip
