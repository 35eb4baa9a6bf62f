"""What a job waits for that misses its end: the transaction, the acknowledgement, the subtask. Words of LIVE."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.oracles.ledger.checkpoints import by_checkpoint
from holdfast.harness.oracles.ledger.submissions import Submissions

NAMED = 3

Waiting = tuple[str, events.Event]
"""In words, with its witness."""


def status_in_words(history: History) -> str:
    """What the job is at the end, and not what it was expected to be."""
    switched = history.of(events.JobSwitched)
    if not switched:
        return f"the job is not seen to be {history.plan.expected_end}"
    last = switched[-1].status
    return "the job runs" if last is events.JobStatus.RUNNING else f"the job is {last}"


def waiting_for(history: History) -> list[Waiting]:
    """The transactions and acknowledgements that are missing, the transactions first."""
    return [*_transactions(history), *_acknowledgements(history)][:NAMED]


def _transactions(history: History) -> Iterator[Waiting]:
    """Transactions that a completed checkpoint of the same job promises, and that were not committed."""
    checkpoint_of = history.derived(Submissions).checkpoint_of
    completed = by_checkpoint(history, events.CheckpointCompleted).things
    committed = {event.transaction for event in history.of(events.TransactionCommitted)}
    aborted = {event.transaction: event for event in history.of(events.TransactionAborted)}
    for event in history.of(events.TransactionPrecommitted):
        name = event.transaction
        if name in committed or checkpoint_of(event) not in completed:
            continue
        fate = "was aborted" if name in aborted else "is not committed"
        promise = f"which completed checkpoint {event.checkpoint} promises"
        yield f"transaction {name} of {event.subtask}, {promise}, {fate}", aborted.get(name, event)


def _acknowledgements(history: History) -> Iterator[Waiting]:
    """The missing acknowledgements of the last triggered checkpoint, if it has not completed."""
    triggered = history.of(events.CheckpointTriggered)
    if not triggered:
        return
    last = triggered[-1]
    same = (last.attempt, last.checkpoint)
    if any((event.attempt, event.checkpoint) == same for event in history.of(events.CheckpointCompleted)):
        return
    acknowledged = {
        event.subtask
        for event in history.of(events.AckReceived)
        if (event.attempt, event.checkpoint) == same and event.outcome is events.AckOutcome.SUCCESS
    }
    missing = [subtask for subtask in last.participants if subtask not in acknowledged]
    aborted = [event for event in history.of(events.CheckpointAborted) if (event.attempt, event.checkpoint) == same]
    if missing:
        lacking = f"the acknowledgement of {', '.join(missing[:NAMED])}"
        more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
        if aborted:
            yield f"checkpoint {last.checkpoint}, aborted ({aborted[-1].reason}), lacked {lacking}{more}", aborted[-1]
        else:
            yield f"checkpoint {last.checkpoint} lacks {lacking}{more}", last
    elif aborted:
        yield f"checkpoint {last.checkpoint}, the last, was aborted: {aborted[-1].reason}", aborted[-1]
    elif last.participants:
        yield f"checkpoint {last.checkpoint} has all acknowledgements and does not complete", last
