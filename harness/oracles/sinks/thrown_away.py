"""What the start of a sink aborts of older attempts, and whether that is committed afterwards all the same.

An abort may not name what it aborts: all that older attempts of a subtask left, but for what it has restored. A commit
may have come just before it, by a process that is taken for dead and whose node has no common order with this one. So
it is late only where that is shown: by the committed reader, which had looked in between, or by the committing process,
which requested it only afterwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.oracles.shared.clocks import SKEW_NS
from holdfast.harness.oracles.shared.exemptions import exemptions
from holdfast.harness.oracles.shared.options import NS_PER_MS
from holdfast.harness.oracles.sinks.transaction import Transaction, of_unit


def find_thrown_away(
    history: History,
    transactions: Mapping[str, Transaction],
    aborts: Sequence[events.TransactionAborted],
    kept: Mapping[int, Collection[str]],
) -> None:
    """Note of each transaction by what it was aborted, and where it became visible afterwards.

    Args:
        history: of the run.
        transactions: by name; what is not aborted yet is looked at.
        aborts: those without a name.
        kept: by attempt, what its sinks have found in their state.
    """
    evidence = _Evidence(history, transactions)
    by_subtask: dict[str, list[events.TransactionAborted]] = defaultdict(list)
    for event in aborts:
        by_subtask[event.subtask].append(event)
    for transaction in transactions.values():
        left = transaction.precommitted
        if left is None or transaction.aborted is not None:
            continue
        for event in by_subtask.get(left.subtask, ()):
            older = event.attempt > left.attempt and not evidence.is_behind(left, event)
            if not older or transaction.name in kept.get(event.attempt, ()):
                continue
            transaction.shown = evidence.shown_behind(transaction, event)
            if transaction.committed is None or transaction.shown or evidence.committed_behind(transaction, event):
                transaction.aborted = event
                break


class _Evidence:
    """What shows that a commit came after a start."""

    def __init__(self, history: History, transactions: Mapping[str, Transaction]) -> None:
        self._real_time = exemptions(history).real_time
        self._interval_ms = max((polled.interval_ms for polled in history.of(events.ReaderPolled)), default=None)
        self._seen: dict[str, events.RowsVisible] = {}
        self._of_subtask: dict[str, list[tuple[int, events.RowsVisible]]] = defaultdict(list)
        for seen in history.of(events.RowsVisible):
            transaction = of_unit(transactions, seen.name)
            if transaction is None or transaction.name in self._seen:
                continue
            self._seen[transaction.name] = seen
            if (left := transaction.precommitted) is not None:
                self._of_subtask[left.subtask].append((left.attempt, seen))

    def shown_behind(self, transaction: Transaction, start: events.TransactionAborted) -> events.RowsVisible | None:
        """Where the reader saw rows for the first time, if it had looked behind the start and not seen them: other rows
        were there that the same subtask prepared behind it. On the simulator a look takes no time, and the clock shows
        it as well."""
        seen = self._seen.get(transaction.name)
        if seen is None:
            return None
        later = [each for attempt, each in self._of_subtask[start.subtask] if attempt >= start.attempt]
        if any(each.node == seen.node and each.poll < seen.poll for each in later):
            return seen
        if self._real_time or self._interval_ms is None:
            return None
        return seen if seen.time_ns - (self._interval_ms + 1) * NS_PER_MS > start.time_ns else None

    def committed_behind(self, transaction: Transaction, start: events.TransactionAborted) -> bool:
        """Whether the committing processes show it. A confirmation does not show when a commit was, so the first
        request counts; unless an older attempt on the node of the start got its answer only behind it."""
        committed, tried, seen = transaction.committed, transaction.tried, self._seen.get(transaction.name)
        if committed is None or tried is None or (seen is not None and seen.time_ns <= start.time_ns):
            return False
        if self.is_behind(tried, start):
            return True
        older_here = committed.attempt < start.attempt and committed.node == start.node
        return seen is None and older_here and committed.sequence > start.sequence

    def is_behind(self, event: events.Event, start: events.TransactionAborted) -> bool:
        """Whether an event certainly came behind a start."""
        if event.node == start.node:
            return event.sequence > start.sequence
        return event.time_ns - start.time_ns > (SKEW_NS if self._real_time else 0)
