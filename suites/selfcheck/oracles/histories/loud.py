"""Histories for LOUD: starts after a checkpoint, and plans with options to refuse."""

from __future__ import annotations

from holdfast.harness.model.history import RunEnd
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits
from holdfast.suites.selfcheck.oracles.legal import SUBTASKS, summary
from holdfast.suites.selfcheck.oracles.lines import (
    CANCELED,
    FAILED,
    RUNNING,
    attempt,
    completed,
    failure,
    published,
    savepoint_completed,
    snapshot,
    storage_failed,
    submitted,
    switched,
    task,
    triggered,
    unrecovered,
)


def completes(checkpoint: int) -> list[Line]:
    return [
        triggered(checkpoint, *SUBTASKS),
        snapshot("sum[0]", checkpoint, state=summary([(0, 0)])),
        published(checkpoint, states=len(SUBTASKS)),
        completed(checkpoint),
    ]


def restarted(restored: int | None, *lines: Line, since: int = 2) -> list[Line]:
    """Checkpoints up to `since` complete, then the job restarts."""
    done = [line for checkpoint in range(1, since + 1) for line in completes(checkpoint)]
    failed = failure()
    return [attempt(), *done, failed, *lines, attempt(restored)]


bad, near = exhibits("LOUD")

bad("started-empty", "job starts empty", restarted(None))
bad(
    "started-empty", "job starts empty after an unreadable checkpoint",
    restarted(None, unrecovered(2, "cannot be read")),
)  # fmt: skip
bad(
    "started-empty", "subtask starts empty",
    attempt(), completes(1), failure(), attempt(1), task("sum[0]", 1, state=summary(())),
)  # fmt: skip
near(
    "started-empty", "subtask starts with state",
    attempt(), completes(1), failure(), attempt(1), task("sum[0]", 1, state=summary(((0, 0),))),
)  # fmt: skip

# In checkpoint 1 of the first job the sum holds nothing, in that of the next, which starts empty, a record.
near(
    "started-empty", "the next job uses the id again",
    submitted(), attempt(), triggered(1, *SUBTASKS), snapshot("sum[0]", state=summary(())),
    snapshot("sum[1]", state=summary([(0, 1)])), published(1, states=len(SUBTASKS)), completed(), failure(), attempt(1),
    task("sum[0]", 1, state=summary(())), task("sum[1]", 1, state=summary([(0, 1)])), switched(CANCELED),
    submitted(job=1), attempt(number=1_001), completes(1),
)  # fmt: skip

bad("started-older", "job starts from the one before", restarted(1))
near("started-older", "job starts from the latest", restarted(2))
near(
    "started-older", "job fails and is started again by its user",
    attempt(), completes(1), failure("x"), attempt(1), completes(2), unrecovered(2, "cannot be read"), switched(FAILED),
    attempt(1),
)  # fmt: skip


bad(
    "partial-metadata", "restores a savepoint that lacks a state",
    submitted(), attempt(), completes(1), triggered(2, *SUBTASKS),
    savepoint_completed(2, "savepoint/_metadata", states=len(SUBTASKS) - 1), completes(3),
    submitted("savepoint/_metadata", 2, job=1), attempt(2, number=1_001),
)  # fmt: skip
near(
    "partial-metadata", "restores a whole savepoint",
    submitted(), attempt(), completes(1), triggered(2, *SUBTASKS),
    savepoint_completed(2, "savepoint/_metadata", states=len(SUBTASKS)), completes(3),
    submitted("savepoint/_metadata", 2, job=1), attempt(2, number=1_001),
)  # fmt: skip
bad("partial-metadata", "restores unpublished", restarted(3))
bad(
    "partial-metadata", "restores half of the states",
    attempt(), triggered(1, *SUBTASKS), published(1, states=3), attempt(1),
)  # fmt: skip
near("partial-metadata", "restores published", attempt(), *completes(1)[:3], attempt(1))


bad(
    "accepted-bad-option", "bad option runs",
    attempt(), switched(RUNNING), expected=ExpectedEnd.REFUSED, end=RunEnd(reached=True, reason=""),
)  # fmt: skip
bad(
    "accepted-bad-option", "bad option is accepted",
    expected=ExpectedEnd.REFUSED, end=RunEnd(reached=False, reason="the configuration was accepted"),
)  # fmt: skip
near(
    "accepted-bad-option", "bad option is refused",
    expected=ExpectedEnd.REFUSED, end=RunEnd(reached=True, reason="interval = '1 ms' is too small"),
)  # fmt: skip

bad(
    "refused-good-option", "good option is refused",
    end=RunEnd(reached=False, reason="refused: interval = '1 s' is too small"),
)  # fmt: skip
near("refused-good-option", "good option runs", attempt(), switched(RUNNING), end=RunEnd(reached=True, reason=""))


bad(
    "directory-not-named", "unreached and nobody minds",
    at("worker-1.0", storage_failed("reach-directory", "hdfs:///checkpoints", "no such host")),
    expected=ExpectedEnd.FAILED,
)  # fmt: skip
bad(
    "directory-not-named", "unreached and another worker is named",
    at("worker-1.0", storage_failed("reach-directory", "hdfs:///checkpoints", "no such host")),
    switched(FAILED, reason="worker-0.0 cannot reach hdfs:///checkpoints"), expected=ExpectedEnd.FAILED,
)  # fmt: skip
bad(
    "directory-not-named", "unreached and another directory is named",
    at("worker-1.0", storage_failed("reach-directory", "hdfs:///checkpoints", "no such host")),
    switched(FAILED, reason="worker-1.0 cannot reach hdfs:///others"), expected=ExpectedEnd.FAILED,
)  # fmt: skip
near(
    "directory-not-named", "unreached and both are named",
    at("worker-1.0", storage_failed("reach-directory", "hdfs:///checkpoints", "no such host")),
    switched(FAILED, reason="worker-1.0 cannot reach the checkpoint directory hdfs:///checkpoints: no such host"),
    expected=ExpectedEnd.FAILED,
)  # fmt: skip
