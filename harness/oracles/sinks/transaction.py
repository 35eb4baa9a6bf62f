"""What is known of one transaction of a sink."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import events
from holdfast.harness.oracles.ledger.checkpoints import CheckpointId

AGAIN = "#"
"""In the name of a unit, before the number of its appearance: NOREPEAT decides whether its rows are others."""


class Transaction:
    """One transaction.

    Attributes:
        checkpoints: those that promise it: the one that closed it, and every snapshot it is pending in.
        precommitted, committed, aborted: the first such event. One without a name aborts what was not committed, or
            only behind it.
        tried: the first time that a commit was requested, or confirmed.
        shown: where the committed reader saw rows of it for the first time, if they cannot have been there when it was
            aborted.
        early: the first such event, if no promising checkpoint was durable then.
        recovered: the first start of a sink that found it in its state and not committed.
        failed: a failed commit that was neither repeated nor reported.
        overdue: the notice that its sink received when a commit had been due since the one before, was not requested,
            and no other was under way.
        again: how often it was committed once more.
        repeated: where that failed, in an attempt not older than the one that had committed it.
        carried: whether the next snapshot of its subtask in its attempt held it; None: there was none.
    """

    __slots__ = (
        "aborted", "again", "carried", "checkpoints", "committed", "early", "failed", "name", "overdue",
        "precommitted", "recovered", "repeated", "shown", "tried",
    )  # fmt: skip

    def __init__(self, name: str) -> None:
        self.name = name
        self.checkpoints: set[CheckpointId] = set()
        self.precommitted: events.TransactionPrecommitted | None = None
        self.committed: events.TransactionCommitted | None = None
        self.aborted: events.TransactionAborted | None = None
        self.tried: events.CommitTried | events.TransactionCommitted | None = None
        self.shown: events.RowsVisible | None = None
        self.early: events.CommitTried | events.TransactionCommitted | None = None
        self.recovered: events.TaskStarted | None = None
        self.failed: events.CommitFailed | None = None
        self.overdue: events.NotificationReceived | None = None
        self.again = 0
        self.repeated: events.CommitFailed | None = None
        self.carried: bool | None = None


def of_unit(transactions: Mapping[str, Transaction], name: str) -> Transaction | None:
    """The transaction that a unit of output is named after."""
    name = name.rpartition("/")[2]
    for candidate in (name, name.rpartition(".")[0], name.rpartition(AGAIN)[0]):
        if candidate in transactions:
            return transactions[candidate]
    return None
