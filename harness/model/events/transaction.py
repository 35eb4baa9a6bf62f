"""Transactions of a two-phase-commit sink."""

from __future__ import annotations

from holdfast.harness.model.events.event import Event


class TransactionPrecommitted(Event, tag="transaction_precommitted"):
    """The rows of a transaction are durable and invisible. `checkpoint` is the barrier that closed it, `records` the
    number of its rows."""

    subtask: str
    transaction: str
    checkpoint: int
    records: int


class CommitTried(Event, tag="commit_tried"):
    """A commit was asked of the sink system; `recovering` when a restored state asks for it."""

    subtask: str
    transaction: str
    recovering: bool = False


class TransactionCommitted(Event, tag="transaction_committed"):
    """The sink system confirmed; committing again what is committed also ends here."""

    subtask: str
    transaction: str


class CommitFailed(Event, tag="commit_failed"):
    """The sink system answered with an error."""

    subtask: str
    transaction: str
    reason: str


class TransactionAborted(Event, tag="transaction_aborted"):
    """An invisible transaction was thrown away. Without a name: all that older attempts of a subtask left, but for what
    the sinks of this attempt have found in their state."""

    subtask: str
    transaction: str = ""

    @property
    def what(self) -> str:
        """In words."""
        return self.transaction or "what older attempts left"
