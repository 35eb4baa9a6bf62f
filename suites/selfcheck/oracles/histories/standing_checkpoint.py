"""Histories for PROGRESS: a job that runs, and a checkpoint or a commit that stands."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.suites.selfcheck.oracles.builder import OPTIONS, Line, exhibits
from holdfast.suites.selfcheck.oracles.histories.standing_job import (
    ALL_RUN,
    WITHOUT_CHECKPOINTS,
    failed,
)
from holdfast.suites.selfcheck.oracles.legal import SUBTASKS
from holdfast.suites.selfcheck.oracles.lines import (
    aborted,
    ack_sent,
    acked,
    barriers,
    commit_tried,
    committed,
    completed,
    decline_sent,
    died,
    drawn,
    finish_received,
    heard,
    in_flight,
    snapshot,
    stopped,
    triggered,
)

SUM = "sum[0]"
AROUND = ("source[0]->sum[0]", "source[1]->sum[0]", "sum[0]->sink[0]")
"""Its inputs and its output."""


bad, near = exhibits("PROGRESS", ALL_RUN, options=WITHOUT_CHECKPOINTS)

bad("checkpoint-not-triggered", "only its id is drawn", drawn(1))
near("checkpoint-not-triggered", "it is triggered", drawn(1), triggered(1, *SUBTASKS))
near("checkpoint-not-triggered", "its id is not durable", drawn(1), aborted())
near(
    "checkpoint-not-triggered", "the job fails over first",
    drawn(1), failed(), stopped(*SUBTASKS), ALL_RUN, drawn(2), triggered(2, *SUBTASKS),
)  # fmt: skip

bad("checkpoint-not-ended", "every acknowledgement is there", triggered(1, *SUBTASKS), acked(1, *SUBTASKS))
near("checkpoint-not-ended", "it completes", triggered(1, *SUBTASKS), acked(1, *SUBTASKS), completed())
near("checkpoint-not-ended", "it cannot be stored", triggered(1, *SUBTASKS), acked(1, *SUBTASKS), aborted())
near(
    "checkpoint-not-ended", "one acknowledgement is missing",
    triggered(1, *SUBTASKS), acked(1, *SUBTASKS), completed(), triggered(2, *SUBTASKS), acked(2, SUM),
)  # fmt: skip


bad(
    "no-checkpoint-begun", "the first never begins",
    triggered(1, *SUBTASKS), completed(), options=OPTIONS, unreached="nothing moves",
)  # fmt: skip
bad(
    "no-checkpoint-begun", "none follows an abort",
    triggered(1, *SUBTASKS), aborted(), options=OPTIONS, unreached="nothing moves",
)  # fmt: skip
near("no-checkpoint-begun", "one is under way", triggered(1, *SUBTASKS), options=OPTIONS, unreached="nothing moves")
near("no-checkpoint-begun", "there is no interval", triggered(1, *SUBTASKS), completed())
near(
    "no-checkpoint-begun", "none is taken when some have finished",
    triggered(1, *SUBTASKS), completed(), finish_received("source[0]"),
    options={**OPTIONS, "execution.checkpointing.checkpoints-after-tasks-finish": "false"}, unreached="nothing moves",
)  # fmt: skip


ANSWERED: list[Line] = [*barriers(*AROUND), snapshot(SUM), ack_sent(SUM)]


bad(
    "snapshot-not-acknowledged", "nothing is told of it",
    barriers(*AROUND[:2], checkpoint=1), snapshot(SUM), barriers(AROUND[2], checkpoint=1),
)  # fmt: skip
bad("snapshot-not-acknowledged", "its channel state is known", snapshot(SUM, unaligned=True), in_flight(SUM))
bad(
    "snapshot-not-acknowledged", "each expires",
    barriers(*AROUND), snapshot(SUM), 200, heard(SUM, completed=False), snapshot(SUM, 2), 200,
    heard(SUM, 2, completed=False),
)  # fmt: skip
near("snapshot-not-acknowledged", "it is acknowledged", ANSWERED)
near(
    "snapshot-not-acknowledged", "the second is declined",
    ANSWERED, barriers(*AROUND, checkpoint=2), snapshot(SUM, 2), decline_sent(SUM, 2),
)  # fmt: skip
near(
    "snapshot-not-acknowledged", "the second waits for a barrier",
    ANSWERED, barriers(AROUND[0], checkpoint=2), snapshot(SUM, 2, unaligned=True),
)  # fmt: skip
near(
    "snapshot-not-acknowledged", "the second is aborted at once",
    ANSWERED, barriers(*AROUND, checkpoint=2), snapshot(SUM, 2), heard(SUM, 2, completed=False),
)  # fmt: skip
near(
    "snapshot-not-acknowledged", "a later one completes",
    ANSWERED, barriers(*AROUND, checkpoint=2), snapshot(SUM, 2), heard(SUM, 3),
)  # fmt: skip
near(
    "snapshot-not-acknowledged", "it dies in the second",
    ANSWERED, barriers(*AROUND, checkpoint=2), snapshot(SUM, 2), died("worker-0"),
)  # fmt: skip


bad("commit-not-ended", "nothing comes of it", commit_tried("sink[0]-1-1"))
bad(
    "commit-not-ended", "another is committed",
    commit_tried("sink[0]-1-1"), commit_tried("sink[0]-1-2"), committed("sink[0]-1-2"),
)  # fmt: skip
near("commit-not-ended", "it is committed", commit_tried("sink[0]-1-1"), committed("sink[0]-1-1"))
near(
    "commit-not-ended", "the second fails",
    commit_tried("sink[0]-1-1"), committed("sink[0]-1-1"), commit_tried("sink[0]-1-2"),
    events.CommitFailed(subtask="sink[0]", transaction="sink[0]-1-2", reason="gone"),
)  # fmt: skip
near(
    "commit-not-ended", "its sink dies in the second",
    commit_tried("sink[0]-1-1"), committed("sink[0]-1-1"), commit_tried("sink[0]-1-2"), died("worker-0"),
)  # fmt: skip
