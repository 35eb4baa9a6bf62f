"""Histories for TXN: a two-phase-commit sink of the forward job, and what the committed reader saw of it."""

from __future__ import annotations

from holdfast.harness.model.events import (
    CommitFailed, CommitTried, ReaderPolled, RowsChanged, RowsVisible, TransactionAborted, TransactionCommitted,
    TransactionPrecommitted,
)  # fmt: skip
from holdfast.harness.model.history import RunEnd
from holdfast.harness.model.jobs import FORWARD
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.records import CommittedRows, IdentityRow
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits
from holdfast.suites.selfcheck.oracles.lines import (
    aborted, ack_sent, attempt, committed, failure, finalized, heard, snapshot, stopped, submitted, task,
)  # fmt: skip

# --- TXN: one two-phase-commit sink of the forward job ----------------------------------------------------------------


SINK = "sink[0]"
UNREACHED = RunEnd(reached=False, reason="not all was committed")

CLOSED: dict[int, list[Line]] = {
    n: [snapshot(SINK, n, pending=(f"t-{n}",)),
        TransactionPrecommitted(subtask=SINK, transaction=f"t-{n}", checkpoint=n, records=1), ack_sent(SINK, n)]
    for n in range(1, 5)
}  # fmt: skip
"""Each checkpoint closes its transaction."""

SECOND_HOLDS_BOTH: list[Line] = [snapshot(SINK, 2, pending=("t-1", "t-2")), *CLOSED[2][1:]]
"""Checkpoint 2 closes its transaction, and that of the first is pending still."""

WHOLE: dict[int, list[Line]] = {
    n: [*CLOSED[n], *finalized(n, SINK), heard(SINK, n), *committed(f"t-{n}")] for n in CLOSED
}  # fmt: skip

RESTARTED: list[Line] = [failure(), attempt(1), task(SINK, 1)]
RECOVERED: list[Line] = [failure(), attempt(1), task(SINK, 1, pending=("t-1",))]
"""The sink goes on from checkpoint 1, and with its transaction."""


def seen(*names: str) -> tuple[CommittedRows, ...]:
    """A reader sees units of these names, of one record each."""
    return tuple(CommittedRows(name, 0, (IdentityRow(0, 0),)) for name in names)


# --- when ------------------------------------------------------------------------------------------------------------


bad, near = exhibits("TXN", job=FORWARD, parallelism=1)

bad("acked-before-precommit", "acknowledges first",
    attempt(), task(SINK), snapshot(SINK, pending=("t-1",)), ack_sent(SINK),
    TransactionPrecommitted(subtask=SINK, transaction="t-1", checkpoint=1, records=1))  # fmt: skip
near("acked-before-precommit", "precommits first", attempt(), task(SINK), CLOSED[1])

bad("committed-before-completion", "commits when precommitted",
    attempt(), task(SINK), CLOSED[1], committed("t-1", recovering=True), finalized(1, SINK))  # fmt: skip
near("committed-before-completion", "commits when durable",
     attempt(), task(SINK), CLOSED[1], finalized(1, SINK), heard(SINK), committed("t-1"))  # fmt: skip
near("committed-before-completion", "commits with the next completed",
     attempt(), task(SINK), CLOSED[1], SECOND_HOLDS_BOTH, finalized(2, SINK), heard(SINK, 2), committed("t-1"),
     committed("t-2"))  # fmt: skip

bad("committed-above-notice", "notice for one commits two",
    attempt(), task(SINK), CLOSED[1], SECOND_HOLDS_BOTH, finalized(1, SINK), finalized(2, SINK), heard(SINK),
    committed("t-1"), committed("t-2"))  # fmt: skip
near("committed-above-notice", "notice for one commits one",
     attempt(), task(SINK), CLOSED[1], SECOND_HOLDS_BOTH, finalized(1, SINK), heard(SINK), committed("t-1"),
     finalized(2, SINK), heard(SINK, 2), committed("t-2"))  # fmt: skip

# --- whether ---------------------------------------------------------------------------------------------------------

bad("not-committed", "promised and forgotten",
    attempt(), task(SINK), CLOSED[1], finalized(1, SINK), heard(SINK), WHOLE[2])  # fmt: skip
bad("not-committed", "not committed by the notice after its own",
    attempt(), task(SINK), CLOSED[1], finalized(1, SINK), heard(SINK), WHOLE[2], end=UNREACHED)  # fmt: skip

TRIED = CommitTried(subtask=SINK, transaction="t-1")

near("not-committed", "waits behind a commit that is under way",
     attempt(), task(SINK), CLOSED[1], SECOND_HOLDS_BOTH, finalized(2, SINK), heard(SINK, 2), TRIED,
     snapshot(SINK, 3, pending=("t-1", "t-2", "t-3")), *CLOSED[3][1:], finalized(3, SINK), heard(SINK, 3),
     TransactionCommitted(subtask=SINK, transaction="t-1"), committed("t-2"), committed("t-3"))  # fmt: skip
near("not-committed", "promised and committed", attempt(), task(SINK), WHOLE[1], WHOLE[2])

# The first job ends behind the completion of checkpoint 2; the next one begins from a savepoint.
bad("not-committed", "the next job goes on from the last checkpoint",
    submitted(), attempt(), task(SINK), WHOLE[1], CLOSED[2], finalized(2, SINK), submitted("savepoint", 2, job=1),
    attempt(2, number=1_001), task(SINK, 2), WHOLE[3], WHOLE[4])  # fmt: skip
near("not-committed", "the next job goes back to an older savepoint",
     submitted(), attempt(), task(SINK), WHOLE[1], CLOSED[2], finalized(2, SINK), submitted("savepoint", 1, job=1),
     attempt(1, number=1_001), task(SINK, 1), WHOLE[3], WHOLE[4])  # fmt: skip

bad("recovered-not-committed", "found and forgotten",
    attempt(), task(SINK), CLOSED[1], finalized(1, SINK), RECOVERED, WHOLE[2])  # fmt: skip
bad("recovered-not-committed", "found and not committed by the next notice",
    attempt(), task(SINK), CLOSED[1], finalized(1, SINK), RECOVERED, WHOLE[2], end=UNREACHED)  # fmt: skip
near("recovered-not-committed", "found and committed",
     attempt(), task(SINK), CLOSED[1], finalized(1, SINK), RECOVERED, committed("t-1", recovering=True))  # fmt: skip
near("recovered-not-committed", "found and committed by a later attempt",
     attempt(), task(SINK), CLOSED[1], finalized(1, SINK), RECOVERED, RECOVERED,
     committed("t-1", recovering=True))  # fmt: skip

bad("open-not-aborted", "left behind",
    attempt(), task(SINK), WHOLE[1], CLOSED[2], RECOVERED, committed("t-1", recovering=True))  # fmt: skip
near("open-not-aborted", "thrown away by the restore",
     attempt(), task(SINK), WHOLE[1], CLOSED[2], RECOVERED, TransactionAborted(subtask=SINK, transaction="t-2"),
     committed("t-1", recovering=True))  # fmt: skip

CLEARED = TransactionAborted(subtask=SINK)
"""All is thrown away that older attempts left."""

near("open-not-aborted", "thrown away with all that older attempts left",
     attempt(), task(SINK), WHOLE[1], CLOSED[2], RECOVERED, CLEARED, committed("t-1", recovering=True))  # fmt: skip
bad("open-not-aborted", "what another sink left is thrown away",
    attempt(), task(SINK), WHOLE[1], CLOSED[2], RECOVERED, TransactionAborted(subtask="sink[1]"),
    committed("t-1", recovering=True))  # fmt: skip
bad("open-not-aborted", "only what came before is thrown away",
    attempt(), task(SINK), WHOLE[1], CLEARED, CLOSED[2], RECOVERED, committed("t-1", recovering=True))  # fmt: skip
ZOMBIE = at("worker-0.0", TransactionPrecommitted(subtask=SINK, transaction="t-2", checkpoint=2, records=1), attempt=1)
"""Who is taken for dead prepares a transaction that no checkpoint holds."""
bad("open-not-aborted", "prepared on the same worker behind what throws the rest away",
    attempt(), task(SINK), WHOLE[1], RECOVERED, CLEARED, ZOMBIE, committed("t-1", recovering=True))  # fmt: skip
bad("open-not-aborted", "prepared elsewhere 200 ms behind what throws the rest away",
    attempt(), task(SINK), WHOLE[1], RECOVERED, at("worker-1.0", CLEARED), 200.0, ZOMBIE,
    committed("t-1", recovering=True))  # fmt: skip
NARROWER = FaultSpec("submit", Target(Role.COORDINATOR), parameters={"parallelism": 1})

NARROWED: list[Line] = [
    submitted(), attempt(), TransactionPrecommitted(subtask="sink[1]", transaction="t-2", checkpoint=2, records=1),
    submitted("chk-1", 1, job=1), attempt(1, number=1_001), task(SINK, 1),
]  # fmt: skip
"""The second of two sinks closes a transaction that no checkpoint holds; a job with one sink follows."""

bad("open-not-aborted", "left behind by a sink that is no more", *NARROWED, faults=(NARROWER,), parallelism=2)
near("open-not-aborted", "thrown away by another sink",
     *NARROWED, TransactionAborted(subtask=SINK, transaction="t-2"), faults=(NARROWER,), parallelism=2)  # fmt: skip

bad("committed-without-checkpoint", "committed though never completed",
    attempt(), task(SINK), WHOLE[1], CLOSED[2], committed("t-2", recovering=True))  # fmt: skip
bad("committed-without-checkpoint", "visible though never completed",
    attempt(), task(SINK), WHOLE[1], CLOSED[2], units=seen("out/t-1.arrow", "out/t-2.arrow"))  # fmt: skip
bad("committed-without-checkpoint", "leftover committed by the restore",
    attempt(), task(SINK), WHOLE[1], CLOSED[2], RESTARTED, committed("t-2", recovering=True))  # fmt: skip
near("committed-without-checkpoint", "visible and completed",
     attempt(), task(SINK), CLOSED[1], finalized(1, SINK), heard(SINK), TRIED, units=seen("out/t-1.arrow"))  # fmt: skip

bad("committed-twice", "visible under two names",
    attempt(), task(SINK), WHOLE[1], units=seen("out/t-1.arrow", "out/retry/t-1.arrow"))  # fmt: skip
bad("committed-twice", "committed and thrown away",
    attempt(), task(SINK), CLOSED[1], finalized(1, SINK), TransactionAborted(subtask=SINK, transaction="t-1"),
    heard(SINK), committed("t-1"))  # fmt: skip
bad("committed-twice", "committed by the attempt that throws it away",
    attempt(), task(SINK), CLOSED[1], finalized(1, SINK), RESTARTED, CLEARED,
    committed("t-1", recovering=True))  # fmt: skip
near("committed-twice", "restored while the rest is thrown away",
     attempt(), task(SINK), CLOSED[1], finalized(1, SINK), RECOVERED, CLEARED,
     committed("t-1", recovering=True))  # fmt: skip

# The next attempt goes on from an older checkpoint, on another worker; the first hears nothing of it. 50 ms are more
# than the clocks of two nodes differ by where the order of a history is tried otherwise.
NOTICED: list[Line] = [attempt(), task(SINK), WHOLE[1], CLOSED[2], finalized(2, SINK), heard(SINK, 2)]
SECOND_TRIED = CommitTried(subtask=SINK, transaction="t-2")
ASKED = at("worker-0.0", SECOND_TRIED, attempt=1)
UNDER_WAY: list[Line] = [NOTICED, ASKED]
ELSEWHERE: list[Line] = [
    50.0, failure(), attempt(1), at("worker-1.0", task(SINK, 1), CLEARED, CLOSED[3]), finalized(3, SINK),
    at("worker-1.0", heard(SINK, 3), committed("t-3")),
]  # fmt: skip
LATE = at("worker-0.0", TransactionCommitted(subtask=SINK, transaction="t-2"), attempt=1)
BARELY: list[Line] = [50.0, failure(), attempt(1), at("worker-1.0", task(SINK, 1), CLEARED)]
EACH_100 = ReaderPolled(polls=9, interval_ms=100)
BOTH = seen("out/t-1", "out/t-2")

bad("committed-twice", "asked for elsewhere behind the start that throws it away and seen by nobody",
    NOTICED, ELSEWHERE, ASKED, LATE)  # fmt: skip
bad("committed-twice", "asked for so late that no clock explains it",
    NOTICED, ELSEWHERE, 100.0, ASKED, LATE, real_time=True)  # fmt: skip
near("committed-twice", "asked for about when another node throws it away",
     NOTICED, ELSEWHERE, ASKED, LATE, real_time=True)  # fmt: skip
near("committed-twice", "asked for before and answered behind the start elsewhere and seen by nobody",
     UNDER_WAY, ELSEWHERE, LATE)  # fmt: skip
near("committed-twice", "seen before the start that throws away what is asked for afterwards",
     NOTICED, RowsVisible(name="out/t-2.arrow", poll=7, records=1, checksum=1), BARELY, ASKED, LATE)  # fmt: skip
SECOND_SEEN = RowsVisible(name="out/t-2.arrow", poll=8, records=1, checksum=1)

bad("committed-twice", "seen behind the rows of an attempt that throws it away",
    UNDER_WAY, ELSEWHERE, RowsVisible(name="out/t-3.arrow", poll=7, records=1, checksum=1), LATE,
    SECOND_SEEN)  # fmt: skip
bad("committed-twice", "seen behind those rows and confirmed by nobody",
    UNDER_WAY, ELSEWHERE, RowsVisible(name="out/t-3.arrow", poll=7, records=1, checksum=1), SECOND_SEEN,
    end=UNREACHED)  # fmt: skip
near("committed-twice", "seen before the rows of an attempt that does not restore it",
     UNDER_WAY, RowsVisible(name="out/t-2.arrow", poll=7, records=1, checksum=1), ELSEWHERE,
     RowsVisible(name="out/t-3.arrow", poll=8, records=1, checksum=1), LATE)  # fmt: skip
near("committed-twice", "seen with the rows of an attempt that does not restore it",
     UNDER_WAY, ELSEWHERE, SECOND_SEEN, RowsVisible(name="out/t-3.arrow", poll=8, records=1, checksum=1),
     LATE)  # fmt: skip
bad("committed-twice", "seen more than a look behind the start",
    UNDER_WAY, BARELY, LATE, 150.0, SECOND_SEEN, EACH_100, units=BOTH)  # fmt: skip
near("committed-twice", "seen at the first look behind the start",
     UNDER_WAY, BARELY, LATE, 50.0, SECOND_SEEN, EACH_100, units=BOTH)  # fmt: skip
near("committed-twice", "seen late by a reader that may have been kept waiting",
     UNDER_WAY, BARELY, LATE, 150.0, SECOND_SEEN, EACH_100, units=BOTH, real_time=True)  # fmt: skip
near("committed-twice", "confirmed by an attempt that has restored it again",
     UNDER_WAY, RESTARTED, CLEARED, failure(), attempt(2), task(SINK, 2, pending=("t-2",)),
     committed("t-2", recovering=True))  # fmt: skip
bad("committed-twice", "committed on the worker that has thrown it away", UNDER_WAY, RESTARTED, CLEARED, LATE)
near("committed-twice", "seen before its answer on the worker that has thrown the rest away",
     UNDER_WAY, RESTARTED, CLEARED, SECOND_SEEN, LATE)  # fmt: skip
near("committed-twice", "committed on the worker that throws the rest away", UNDER_WAY, LATE, RESTARTED, CLEARED)

near("committed-twice", "confirmed again",
     attempt(), task(SINK), WHOLE[1], RECOVERED, committed("t-1", recovering=True), units=seen("t-1"))  # fmt: skip

# --- failures --------------------------------------------------------------------------------------------------------

# Checkpoint 1 closes a transaction and is aborted.
bad("aborted-data-lost", "dropped with its checkpoint",
    attempt(), task(SINK), CLOSED[1], aborted(), heard(SINK, completed=False), CLOSED[2], finalized(2, SINK),
    heard(SINK, 2), committed("t-2"))  # fmt: skip
near("aborted-data-lost", "carried to the next checkpoint",
     attempt(), task(SINK), CLOSED[1], aborted(), heard(SINK, completed=False), SECOND_HOLDS_BOTH, finalized(2, SINK),
     heard(SINK, 2), committed("t-1"), committed("t-2"))  # fmt: skip

COMMIT_FAILED = CommitFailed(subtask=SINK, transaction="t-1", reason="unavailable")

bad("error-swallowed", "failure taken for success",
    attempt(), task(SINK), CLOSED[1], finalized(1, SINK), heard(SINK), TRIED, COMMIT_FAILED,
    TransactionCommitted(subtask=SINK, transaction="t-1"))  # fmt: skip
bad("error-swallowed", "failure only logged",
    attempt(), task(SINK), CLOSED[1], finalized(1, SINK), heard(SINK), TRIED, COMMIT_FAILED)  # fmt: skip
bad("error-swallowed", "failure survives the next notice",
    attempt(), task(SINK), CLOSED[1], finalized(1, SINK), heard(SINK), TRIED, COMMIT_FAILED, WHOLE[2],
    end=UNREACHED)  # fmt: skip
near("error-swallowed", "failure tried again",
     attempt(), task(SINK), CLOSED[1], finalized(1, SINK), heard(SINK), TRIED, COMMIT_FAILED,
     committed("t-1"))  # fmt: skip
near("error-swallowed", "failure fails the task",
     attempt(), task(SINK), CLOSED[1], finalized(1, SINK), heard(SINK), TRIED, COMMIT_FAILED,
     stopped(SINK, reason="commit failed"), RECOVERED, committed("t-1", recovering=True))  # fmt: skip

bad("failed-untried", "failure of another transaction",
    attempt(), task(SINK), CLOSED[1], CLOSED[2], finalized(2, SINK), heard(SINK, 2), SECOND_TRIED, COMMIT_FAILED,
    stopped(SINK, reason="commit failed"), end=UNREACHED)  # fmt: skip
near("failed-untried", "failure of the one that is tried",
     attempt(), task(SINK), WHOLE[1], CLOSED[2], finalized(2, SINK), heard(SINK, 2), SECOND_TRIED,
     CommitFailed(subtask=SINK, transaction="t-2", reason="unavailable"), stopped(SINK, reason="commit failed"),
     end=UNREACHED)  # fmt: skip

bad("commit-not-idempotent", "recovery cannot commit again",
    attempt(), task(SINK), WHOLE[1], RECOVERED, CommitTried(subtask=SINK, transaction="t-1", recovering=True),
    COMMIT_FAILED, stopped(SINK, reason="x"))  # fmt: skip
near("commit-not-idempotent", "recovery commits again",
     attempt(), task(SINK), WHOLE[1], RECOVERED, committed("t-1", recovering=True))  # fmt: skip

# --- TXN: what sinks report of transactions, and what the committed reader saw of them --------------------------------

LOOKED = ReaderPolled(polls=9, interval_ms=5)

bad, near = exhibits("TXN", attempt(), task(SINK), job=FORWARD, parallelism=1)

bad("committed-not-visible", "reported and never seen", WHOLE[1], WHOLE[2], LOOKED, units=seen("out/t-1.arrow"))
bad("committed-not-visible", "all reported and none seen", WHOLE[1], WHOLE[2], LOOKED)
bad("committed-not-visible", "reported at a recovery and never seen",
    CLOSED[1], finalized(1, SINK), RECOVERED, committed("t-1", recovering=True), WHOLE[2], LOOKED,
    units=seen("t-2"))  # fmt: skip
near("committed-not-visible", "reported and seen",
     WHOLE[1], WHOLE[2], LOOKED, units=seen("out/t-1.arrow", "out/t-2.arrow"))  # fmt: skip
near("committed-not-visible", "nothing was in it",
     WHOLE[1], snapshot(SINK, 2, pending=("t-2",)),
     TransactionPrecommitted(subtask=SINK, transaction="t-2", checkpoint=2, records=0), ack_sent(SINK, 2),
     finalized(2, SINK), heard(SINK, 2), committed("t-2"), LOOKED, units=seen("t-1"))  # fmt: skip
near("committed-not-visible", "the answer to the second is lost at the end",
     WHOLE[1], CLOSED[2], finalized(2, SINK), heard(SINK, 2), SECOND_TRIED, LOOKED, units=seen("t-1"),
     end=UNREACHED)  # fmt: skip

bad("visible-without-commit", "seen and never pre committed", WHOLE[1], units=seen("t-1", "t-9"))
bad("visible-without-commit", "promised and seen and nobody commits",
    CLOSED[1], finalized(1, SINK), WHOLE[2], units=seen("t-1", "t-2"), end=UNREACHED)  # fmt: skip
near("visible-without-commit", "seen and its worker dies before the report",
     CLOSED[1], finalized(1, SINK), heard(SINK), TRIED, units=seen("t-1"), end=UNREACHED)  # fmt: skip

bad("committed-twice", "visible under two names in a numbered folder",
    WHOLE[1], units=seen("out#1/t-1.arrow", "out#1/retry/t-1.arrow"))  # fmt: skip

near("visible-without-commit", "seen again under a number", WHOLE[1], units=seen("t-1", "t-1#2"))

bad("rows-differ", "shows fewer rows than were pre committed", WHOLE[1], LOOKED, units=(CommittedRows("t-1", 0, ()),))
near("rows-differ", "shows what was pre committed", WHOLE[1], LOOKED, units=seen("t-1"))
near("rows-differ", "was seen torn and changed",
     WHOLE[1], WHOLE[2], RowsChanged(name="t-2", poll=1, vanished=False), LOOKED,
     units=(*seen("t-1"), CommittedRows("t-2", 0, ())))  # fmt: skip
