"""A checkpoint that a job of another parallelism restores: what its operators hold together is what was recorded
(RULES RSC-01, RSC-04, RSC-05)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from holdfast.harness.model.events import (
    AttemptStarted,
    BroadcastSummary,
    ChannelStateRestored,
    ChannelStateTaken,
    JobSubmitted,
    SnapshotTaken,
    TaskStarted,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.plural import plural
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.held_state import held_by
from holdfast.harness.oracles.layout import Layouts
from holdfast.harness.oracles.state_fold import MODULUS
from holdfast.harness.oracles.submissions import Submissions

CLAUSES: Mapping[str, str] = {
    "rescaled-state-differs": "at another parallelism an operator starts with other state than was recorded",
    "key-in-two": "two subtasks of an operator start with state of the same key",
    "rescaled-positions-differ": "a partition goes on elsewhere, twice or nowhere at another parallelism",
    "rescaled-transactions-differ": "a pending transaction is taken up twice or by nobody at another parallelism",
    "rescaled-in-flight": "in-flight records of a checkpoint are gone, or taken up twice, at another parallelism",
}


class RescaledRestores:
    """Which starts are of a job of another parallelism than that whose checkpoint they restore.

    Args:
        history: of the run.
    """

    def __init__(self, history: History) -> None:
        self._history = history
        self._layouts = Layouts(history)
        self._job_of = Submissions(history).of

    def is_rescaled(self, started: TaskStarted, snapshot: SnapshotTaken) -> bool:
        """Whether a snapshot is one of another parallelism than a start."""
        return self._layouts.of(started) is not self._layouts.of(snapshot)

    def judge(self, findings: Findings) -> None:
        """Decide the clauses of this file."""
        history = self._history
        taken: dict[int, list[SnapshotTaken]] = {}
        for snapshot in history.of(SnapshotTaken):
            taken.setdefault(snapshot.checkpoint, []).append(snapshot)
        starts: dict[int, list[TaskStarted]] = {}
        for started in history.of(TaskStarted):
            starts.setdefault(started.attempt, []).append(started)
        for attempt in history.of(AttemptStarted):
            if attempt.restored_checkpoint is None:
                continue
            layout, job = self._layouts.of(attempt), self._job_of(attempt)
            recorded = [each for each in taken.get(attempt.restored_checkpoint, ()) if self._job_of(each) <= job]
            if not recorded:
                continue
            last = max(recorded, key=self._job_of)
            former = self._layouts.of(last)
            found = {each.subtask: each for each in starts.get(attempt.attempt, ())}
            if former is layout or found.keys() != set(layout.subtasks):
                continue  # The same parallelism, or an attempt of which not all subtasks came to run.
            by_name = {each.subtask: each for each in recorded if self._job_of(each) == self._job_of(last)}
            if by_name.keys() != set(former.subtasks):
                continue  # Some had finished: what they left is not known.
            self._judge_attempt(by_name, found, attempt, findings)
        for submitted in history.of(JobSubmitted):
            self._judge_in_flight(submitted, findings)

    def _judge_attempt(
        self,
        taken: Mapping[str, SnapshotTaken],
        found: Mapping[str, TaskStarted],
        attempt: AttemptStarted,
        findings: Findings,
    ) -> None:
        where = f"attempt {attempt.attempt} restores checkpoint {attempt.restored_checkpoint} at another parallelism:"
        for vertex in self._history.plan.job.vertices:
            before = [each for name, each in taken.items() if name.startswith(f"{vertex.name}[")]
            after = [each for name, each in found.items() if name.startswith(f"{vertex.name}[")]
            _judge_state(vertex.name, before, after, where, findings)
            _judge_sets(vertex.name, before, after, where, findings)

    def _judge_in_flight(self, submitted: JobSubmitted, findings: Findings) -> None:
        """A job of another parallelism takes up all that was in flight, or does not start."""
        history, job, checkpoint = self._history, self._job_of(submitted), submitted.checkpoint
        recorded = [
            event
            for event in history.of(ChannelStateTaken)
            if event.checkpoint == checkpoint and self._job_of(event) < job
            if self._layouts.of(event) is not self._layouts.of(submitted)
        ]
        wanted = sum(len(content.batches) for event in recorded for content in event.channels)
        if not wanted:
            return
        findings.check("rescaled-in-flight", wanted)
        for attempt in history.of(AttemptStarted):
            if self._job_of(attempt) == job and attempt.restored_checkpoint == checkpoint:
                started = sum(each.attempt == attempt.attempt for each in history.of(TaskStarted))
                found = sum(
                    len(content.batches)
                    for event in history.of(ChannelStateRestored)
                    if event.attempt == attempt.attempt
                    for content in event.channels
                )
                if found != wanted and started == len(self._layouts.of(attempt).subtasks):
                    message = (
                        f"attempt {attempt.attempt} puts back {plural(found, 'batch', 'batches')}, "
                        f"{wanted} were in flight"
                    )
                    findings.violated("rescaled-in-flight", message, *recorded, attempt)


def _judge_state(
    vertex: str, before: Sequence[SnapshotTaken], after: Sequence[TaskStarted], where: str, findings: Findings
) -> None:
    recorded = [each.state for each in before if each.state is not None]
    held = [each.state for each in after if each.state is not None]
    if not recorded or len(recorded) != len(before) or len(held) != len(after):
        return
    findings.check("rescaled-state-differs")
    (records, value, digest), (now, value_now, digest_now) = held_by(recorded), held_by(held)
    shared: set[BroadcastSummary | None] = {each.broadcast for each in (*recorded, *held)}
    off = (value - value_now) % MODULUS or (digest - digest_now) % MODULUS
    keys, keys_now = sum(each.keys for each in recorded), sum(each.keys for each in held)
    if (records, keys) != (now, keys_now) or off or len(shared) > 1:
        message = (
            f"{where} {vertex} starts with {plural(now, 'record')} of {plural(keys_now, 'key')}, "
            f"{records} of {keys} were recorded"
        )
        findings.violated("rescaled-state-differs", message, *before, *after)
    shown = [each.entries for each in held if each.entries is not None]
    if len(shown) != len(held):
        return
    findings.check("key-in-two")
    twice = sorted(key for key, times in Counter(key for entries in shown for key in entries).items() if times > 1)
    if twice:
        findings.violated("key-in-two", f"{where} two subtasks of {vertex} hold key {twice[0]!r}", *after)


def _judge_sets(
    vertex: str, before: Sequence[SnapshotTaken], after: Sequence[TaskStarted], where: str, findings: Findings
) -> None:
    """What is neither split nor merged: each is somewhere, once."""
    positions = sorted(pair for each in before for pair in each.positions)
    if positions:
        findings.check("rescaled-positions-differ")
        found = sorted(pair for each in after for pair in each.positions)
        if found != positions:
            message = f"{where} {vertex} goes on at {found}, {positions} were recorded"
            findings.violated("rescaled-positions-differ", message, *before, *after)
    transactions = sorted(name for each in before for name in each.pending_transactions)
    if transactions:
        findings.check("rescaled-transactions-differ")
        pending = sorted(name for each in after for name in each.pending_transactions)
        if pending != transactions:
            message = f"{where} {vertex} takes up {pending}, {transactions} were pending"
            findings.violated("rescaled-transactions-differ", message, *before, *after)
