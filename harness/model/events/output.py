"""What is seen from outside: committed output, by the harness's own reader; a program that acknowledges its input, by
its feeder. Transactions of sinks are recorded by the sinks."""

from __future__ import annotations

from holdfast.harness.model.events.event import Event


class RowsVisible(Event, tag="rows_visible"):
    """The committed reader saw a unit of output for the first time.

    Attributes:
        name: of the unit, such as a file or a transaction.
        poll: the reader's look at the output that found it, counted from 0.
        records: rows in it.
        checksum: of its content.
        final: seen after the end of the run.
    """

    name: str
    poll: int
    records: int
    checksum: int
    final: bool = False


class RowsChanged(Event, tag="rows_changed"):
    """A unit that was visible changed its content, or with `vanished` is not there any more.

    Attributes:
        name: of the unit.
        poll: see RowsVisible.
        vanished: it is not there any more.
        final: see RowsVisible.
        records: rows in it now; None where what it held first is all that counts.
        compared: of a table whose rows have a version, how many rows were compared with the one that they replace.
        gone: keys that it does not have any more, the first few; of a table without keys, rows.
        older: keys whose row has an older version than one that was visible before, the first few.
    """

    name: str
    poll: int
    vanished: bool
    final: bool = False
    records: int | None = None
    compared: int = 0
    gone: tuple[str, ...] = ()
    older: tuple[str, ...] = ()


class ReaderPolled(Event, tag="reader_polled"):
    """How often the reader looked, recorded when it ends.

    Attributes:
        polls: its looks.
        interval_ms: between two of them, on average.
        gaps: from when until when, as `time_ns`, it did not look for more than twice as long as it was to; empty where
            they are not reported.
        nothing: where it looked and what was there, if no row was ever visible; empty where that is not reported.
        found: what was declared as the output was there, be it without a row.
    """

    polls: int
    interval_ms: int
    gaps: tuple[tuple[int, int], ...] = ()
    nothing: str = ""
    found: bool = False


class InvariantChecked(Event, tag="invariant_checked"):
    """An invariant of the user was evaluated over the rows that were visible at a look of the committed reader.

    Attributes:
        name: of the invariant.
        poll: the look.
        unit: of output, the last that this look found.
        rows: how many rows were visible then.
        problem: what is wrong, in words of the user's; empty if it holds.
    """

    name: str
    poll: int
    unit: str
    rows: int
    problem: str = ""


class TransactionPrecommitted(Event, tag="transaction_precommitted"):
    """The rows of a transaction are durable and invisible. `checkpoint` is the barrier that closed it, `records` the
    number of its rows."""

    subtask: str
    transaction: str
    checkpoint: int
    records: int


class CommitTried(Event, tag="commit_tried"):
    """A commit was requested of the sink system; `recovering`: it is one of a restored transaction."""

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


class StateFound(Event, tag="state_found"):
    """What a life of the program begins from, read by the harness before that life runs. `positions`: by partition, how
    many records the table holds."""

    positions: tuple[int, ...]


class ProgramReady(Event, tag="program_ready"):
    """The program has read its table. `positions`: by partition, the next offset that it lacks, by its own word."""

    positions: tuple[int, ...]


class StateRestored(Event, tag="state_restored"):
    """The program begins this life from a checkpoint that it has reported, by its own word."""

    checkpoint: int


class ProgramHeld(Event, tag="program_held"):
    """The program stands at a gate of its own, and does nothing until it is released."""

    gate: str


class AcknowledgementHeld(Event, tag="acknowledgement_held"):
    """An acknowledgement arrived and is held at a gate; it is lost if the program dies meanwhile."""

    partition: int
    next_offset: int


class InputAcknowledged(Event, tag="input_acknowledged"):
    """The program answers for the records of a partition before `next_offset`: they are not sent again."""

    partition: int
    next_offset: int
