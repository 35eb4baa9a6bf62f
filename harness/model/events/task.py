"""The life of a subtask: from where it starts, what it reads, how it ends."""

from __future__ import annotations

from holdfast.harness.model.events.event import Event
from holdfast.harness.model.events.state import ListSummary, StateSummary


class TaskStarted(Event, tag="task_started"):
    """A subtask runs, with the state that it starts from.

    `positions` holds (partition, next offset) of a source subtask, `pending_transactions` those a sink found in its
    state. `finished`: it had finished before the restored checkpoint, and only says so to those behind it. `given` is
    what it found in its operator state, before it forgot what is another's.
    """

    subtask: str
    restored_checkpoint: int | None = None
    state: StateSummary | None = None
    positions: tuple[tuple[int, int], ...] = ()
    pending_transactions: tuple[str, ...] = ()
    finished: bool = False
    given: tuple[ListSummary, ...] = ()


class SourceEmitted(Event, tag="source_emitted"):
    """A source subtask emitted the records [first_offset, next_offset) of a partition."""

    subtask: str
    partition: int
    first_offset: int
    next_offset: int


class InputRead(Event, tag="input_read"):
    """The source system handed records of a partition to a subtask for the first time in an attempt, from this offset
    on; recorded by the harness, whose source system it is.

    On the simulator only. On real tiers nobody outside sees where a subtask reads: a log file is mapped into memory,
    and the kernel notes accesses by pages of 512 records; a consumer reads ahead, commits no offsets of its own, and
    its requests name no attempt; a socket hands out whatever comes next. There a statement about positions rests on
    the word of the system under test. Records that it skips or repeats show in the committed output all the same.

    Of a source behind the SPI the runtime tells every batch, by the numbers that its records carry: unless the source
    is its own, it knows no positions, and emits none."""

    subtask: str
    partition: int
    first_offset: int


class RecordFailed(Event, tag="record_failed"):
    """A record made its operator fail. `recoverable` False: the operator says that no restart can help."""

    subtask: str
    partition: int
    offset: int
    cause: str
    recoverable: bool = True


class OperatorFinished(Event, tag="operator_finished"):
    """finish() of a subtask was called: no input will come any more, and what it held back has been emitted.

    Attributes:
        subtask: of which.
        positions: of a source, (partition, next offset) where it has read to; empty where other events say so.
    """

    subtask: str
    positions: tuple[tuple[int, int], ...] = ()


class SubtaskFinished(Event, tag="subtask_finished"):
    """A subtask ended well, with the state and positions that it had: from now on it takes part in nothing."""

    subtask: str
    state: StateSummary | None = None
    positions: tuple[tuple[int, int], ...] = ()


class FinishReceived(Event, tag="finish_received"):
    """The coordinator heard that a subtask finished, or found it so in the checkpoint that an attempt starts from."""

    subtask: str


class TaskStopped(Event, tag="task_stopped"):
    """A subtask was cancelled or failed."""

    subtask: str
    reason: str
