"""Histories for COORD: acknowledgements and declines, the memory of a coordinator, what an attempt begins from."""

from __future__ import annotations

from holdfast.harness.model import profile
from holdfast.harness.model.checkpoint import FailureReason
from holdfast.harness.model.events import (
    AckOutcome, DeclineReceived, FileReference, SharedHandle, StateOverBudget, StorageSlowed,
)  # fmt: skip
from holdfast.harness.model.jobs import FORWARD
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, injected
from holdfast.suites.selfcheck.oracles.histories.coord import ALL, FILE, TOLD_OF_THE_ABORT, TWO_AT_ONCE, WHOLE
from holdfast.suites.selfcheck.oracles.lines import (
    aborted, ack_sent, acked, attempt, completed, died, dropped, failure, finalized, listed, notified, published, task,
    triggered,
)  # fmt: skip

# --- COORD: what is made of acknowledgements and declines -------------------------------------------------------------


bad, near = exhibits("COORD", attempt(), job=FORWARD, parallelism=1)

bad("ack-counted-wrongly", "repeated ack counted", triggered(1, *ALL), acked(1, ALL[0], ALL[0]))
bad("ack-counted-wrongly", "late ack counted", WHOLE[1], acked(1, ALL[0]))
bad("ack-counted-wrongly", "ack of older attempt counted", triggered(1, *ALL), at("", acked(1, ALL[0]), attempt=7))
bad("ack-counted-wrongly", "ack of no checkpoint counted", WHOLE[1], acked(2, ALL[0]))
near("ack-counted-wrongly", "repeated ack ignored",
     triggered(1, *ALL), acked(1, ALL[0]), acked(1, ALL[0], outcome=AckOutcome.DUPLICATE))  # fmt: skip

DECLINED = DeclineReceived(checkpoint=1, subtask="sink[0]", reason="disk full")

bad("completed-after-decline", "completed after decline",
    triggered(1, *ALL), DECLINED, acked(1, *ALL), published(1), completed())  # fmt: skip

near("completed-after-decline", "aborted after decline",
     triggered(1, *ALL), acked(1, ALL[0]), DECLINED, aborted(), TOLD_OF_THE_ABORT, triggered(2, *ALL))  # fmt: skip
near("completed-after-decline", "declined when all had acked",
     triggered(1, *ALL), DECLINED, aborted(), TOLD_OF_THE_ABORT, triggered(2, *ALL), acked(2, *ALL),
     DeclineReceived(checkpoint=2, subtask="sink[0]", reason="disk full"), published(2), completed(2))  # fmt: skip

bad("abort-not-notified", "abort notified to two of three",
    triggered(1, *ALL), aborted(), notified(1, *ALL[:2], completed=False),
    acked(1, ALL[0], outcome=AckOutcome.DISCARDED), triggered(2, *ALL))  # fmt: skip
near("abort-not-notified", "abort notified to all",
     triggered(1, *ALL), aborted(), TOLD_OF_THE_ABORT, acked(1, ALL[0], outcome=AckOutcome.DISCARDED),
     triggered(2, *ALL))  # fmt: skip
near("abort-not-notified", "died while telling",
     triggered(1, *ALL), aborted(), TOLD_OF_THE_ABORT, triggered(2, *ALL), aborted(2),
     notified(2, *ALL[:1], completed=False), died("coordinator", "killed"), attempt(),
     acked(2, ALL[0], outcome=AckOutcome.UNKNOWN))  # fmt: skip

DISCARDS: list[Line] = [triggered(1, *ALL), ack_sent(ALL[0], 1, FILE)]
"""The source's file of checkpoint 1 belongs to nobody, for the checkpoint is aborted or the ack comes late."""

bad("state-not-discarded", "state of aborted checkpoint left",
    *DISCARDS, acked(1, ALL[0]), aborted(), TOLD_OF_THE_ABORT, WHOLE[2], listed(FILE))  # fmt: skip
bad("state-not-discarded", "state of late ack left",
    *DISCARDS, aborted(), TOLD_OF_THE_ABORT, acked(1, ALL[0], outcome=AckOutcome.DISCARDED), WHOLE[2],
    listed(FILE))  # fmt: skip
near("state-not-discarded", "state of aborted checkpoint discarded",
     *DISCARDS, acked(1, ALL[0]), aborted(), TOLD_OF_THE_ABORT, WHOLE[2], listed())  # fmt: skip

DELETION_HELD_UP: list[Line] = [
    injected("slow-storage", "storage[0]"), triggered(1, *ALL), ack_sent(ALL[0], 1, FILE), acked(1, ALL[0]), aborted(),
    TOLD_OF_THE_ABORT,
]  # fmt: skip
"""The harness holds up an operation for 50 ms, on the source's file of the aborted checkpoint 1. The job
completes the next one, and then something cuts it short."""

HELD_UP = at("coordinator.0", StorageSlowed(operation="delete", path=FILE.path, delay_ms=50))

near("state-not-discarded", "suspended while the deletion is held up",
     *DELETION_HELD_UP, HELD_UP, WHOLE[2], 30, injected("suspend", "coordinator[0]", fault=1),
     listed(FILE))  # fmt: skip
near("state-not-discarded", "died while the deletion is held up",
     *DELETION_HELD_UP, HELD_UP, WHOLE[2], 30, died("coordinator", "killed"), listed(FILE))  # fmt: skip
bad("state-not-discarded", "suspended when the deletion was due",
    *DELETION_HELD_UP, HELD_UP, WHOLE[2], 60, injected("suspend", "coordinator[0]", fault=1), listed(FILE))  # fmt: skip
bad("state-not-discarded", "suspended while another operation is held up",
    *DELETION_HELD_UP, at("coordinator.0", StorageSlowed(operation="list", path=FILE.path, delay_ms=50)), WHOLE[2], 30,
    injected("suspend", "coordinator[0]", fault=1), listed(FILE))  # fmt: skip
bad("state-not-discarded", "another process died while the deletion is held up",
    *DELETION_HELD_UP, HELD_UP, WHOLE[2], 30, died("worker-1", "killed"), listed(FILE))  # fmt: skip

# --- COORD: what has room in the coordinator's memory -----------------------------------------------------------------

BUDGET = 100
NO_ROOM = FailureReason.COORDINATOR_MEMORY
SHARED = FileReference("shared/a", 90, 7)


def whole_of(checkpoint: int, source_bytes: int, *shared: SharedHandle) -> list[Line]:
    """A whole checkpoint of which the source acknowledges so many bytes of state."""
    return [triggered(checkpoint, *ALL), ack_sent(ALL[0], checkpoint, inline_bytes=source_bytes, shared=shared),
            *(ack_sent(each, checkpoint) for each in ALL[1:]), *acked(checkpoint, *ALL),
            *finalized(checkpoint, *ALL)]  # fmt: skip


NOT_KEPT: list[Line] = [aborted(2, NO_ROOM), notified(2, *ALL, completed=False), triggered(3, *ALL)]

bad, near = exhibits(
    "COORD", attempt(), job=FORWARD, options={**TWO_AT_ONCE, profile.MEMORY_BUDGET: f"{BUDGET} b"}, parallelism=1
)

bad("over-budget-kept", "two that fit alone", whole_of(1, 50), whole_of(2, BUDGET - 49), dropped(1))
near("over-budget-kept", "two that fit together", whole_of(1, 50), whole_of(2, BUDGET - 50), dropped(1))
near("over-budget-kept", "one that takes the place of another",
     whole_of(1, 40), whole_of(2, 50), dropped(1), whole_of(3, 50), dropped(2))  # fmt: skip
near("over-budget-kept", "what is in two is there once",
     whole_of(1, 90, SharedHandle("a", SHARED, inline=True)), whole_of(2, 90, SharedHandle("a", SHARED, inline=True)),
     dropped(1))  # fmt: skip

bad("refused-within-budget", "refused at the budget",
    whole_of(1, 50), whole_of(2, BUDGET - 50)[:5],
    StateOverBudget(checkpoint=2, subtask=ALL[0], reason=f"{BUDGET} b are needed, {BUDGET} b are allowed"),
    NOT_KEPT)  # fmt: skip
near("refused-within-budget", "refused one byte above",
     whole_of(1, 50), whole_of(2, BUDGET - 49)[:5],
     StateOverBudget(checkpoint=2, subtask=ALL[0], reason=f"{BUDGET + 1} b are needed, {BUDGET} b are allowed"),
     NOT_KEPT)  # fmt: skip

bad("over-budget-unnamed", "size is not named",
    whole_of(1, 50), whole_of(2, 70)[:5],
    StateOverBudget(checkpoint=2, subtask=ALL[0], reason=f"no room: {BUDGET} b are allowed"), NOT_KEPT)  # fmt: skip
bad("over-budget-unnamed", "limit is not named",
    whole_of(1, 50), whole_of(2, 70)[:5], StateOverBudget(checkpoint=2, subtask=ALL[0], reason="no room for 120 b"),
    NOT_KEPT)  # fmt: skip
near("over-budget-unnamed", "both are named",
     whole_of(1, 50), whole_of(2, 70)[:5],
     StateOverBudget(checkpoint=2, subtask=ALL[0], reason=f"120 b are needed, {BUDGET} b are allowed"),
     NOT_KEPT)  # fmt: skip

# --- COORD: what an attempt begins from -------------------------------------------------------------------------------

bad, near = exhibits("COORD", attempt(), job=FORWARD, parallelism=1)

bad("restored-not-latest", "restores older", WHOLE[1], WHOLE[2], failure(), attempt(1))
bad("restored-not-latest", "restores nothing", WHOLE[1], failure(), attempt())
bad("restored-not-latest", "restores what never was", WHOLE[1], failure(), attempt(2))
bad("restored-not-latest", "goes back behind a restored one",
    WHOLE[1], triggered(2, *ALL), acked(2, *ALL), published(2), died("coordinator", "killed"), attempt(2), failure(),
    attempt(1))  # fmt: skip
near("restored-not-latest", "restores latest",
     WHOLE[1], triggered(2, *ALL), aborted(2, "task failure"), failure(), attempt(1))  # fmt: skip
near("restored-not-latest", "restores published but not completed",
     WHOLE[1], triggered(2, *ALL), acked(2, *ALL), published(2), died("coordinator", "killed"), attempt(2))  # fmt: skip

# The attempt restores checkpoint 1; each task says what it restores.
bad("tasks-restored-differently", "task restores nothing",
    WHOLE[1], failure(), attempt(1),
    [task(name, each) for name, each in zip(ALL, (1, None, 1), strict=True)])  # fmt: skip
near("tasks-restored-differently", "tasks restore the same",
     WHOLE[1], failure(), attempt(1),
     [task(name, each) for name, each in zip(ALL, (1, 1, 1), strict=True)])  # fmt: skip

bad("started-late-attempt", "attempt number drawn again", failure(), attempt(number=1))
near("started-late-attempt", "attempt number left out", failure(), attempt(number=3))
