"""The life of a subtask: from where it starts, what it reads, the splits that it is assigned, its timers, how it ends,
and what enters and leaves its channels."""

from __future__ import annotations

from holdfast.harness.model.events.event import Event, ListSummary, StateSummary


class TaskStarted(Event, tag="task_started"):
    """A subtask runs, with the state that it starts from.

    `positions` holds (partition, next offset) of a source subtask, `pending_transactions` those a sink found in its
    state. `finished`: it had finished before the restored checkpoint, and only reports that downstream. `given` is what
    it found in its operator state, before it dropped what belongs to other subtasks.
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

    On the simulator only. On real tiers no observer sees where a subtask reads: a log file is mapped into memory,
    and the kernel notes accesses by pages of 512 records; a consumer reads ahead, commits no offsets of its own, and
    its requests name no attempt; a socket hands out whatever comes next. There a statement about positions rests on
    the word of the system under test. Records that it skips or repeats show in the committed output all the same.

    For a source behind the SPI the runtime reports every batch, by the numbers that its records carry: unless the
    source is its own, it knows no positions, and emits none."""

    subtask: str
    partition: int
    first_offset: int


class RecordFailed(Event, tag="record_failed"):
    """A record made its operator fail. `recoverable` False: the operator reports that no restart can help."""

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
    """The coordinator was notified that a subtask finished, or found it so in the checkpoint of a restore."""

    subtask: str


class TaskStopped(Event, tag="task_stopped"):
    """A subtask was cancelled or failed."""

    subtask: str
    reason: str


NamedTimers = tuple[tuple[str, int], ...]
"""Of each timer whose it is, and its time in milliseconds. No two of one operator that wait are equal."""


LateRecords = tuple[tuple[int, int, int, int], ...]
"""Of each partition, offset, the window that did not take it, and the watermark of the operator in milliseconds."""


LookedUp = tuple[tuple[str, int, int, bool], ...]
"""Of each record its key, partition and offset, and whether state of its key was found that lives."""


class TimersSet(Event, tag="timers_set"):
    """A subtask has new timers, and `deleted` others, or some of these, before their time."""

    subtask: str
    timers: NamedTimers
    deleted: NamedTimers = ()


class TimersFired(Event, tag="timers_fired"):
    """The time of a subtask, processing time or its watermark, has reached these timers.

    `final`: its input has ended, so that it waits for no time any more.
    """

    subtask: str
    time_ms: int
    timers: NamedTimers
    final: bool = False


class RecordsDropped(Event, tag="records_dropped"):
    """Records came too late for windows that were over."""

    subtask: str
    records: LateRecords


class KeysLookedUp(Event, tag="keys_looked_up"):
    """A subtask looked up state with a time to live, at the processing time that it reports, for each record in turn.

    In a job with a THROTTLE a record for which nothing was found is passed on.
    """

    subtask: str
    now_ms: int
    found: LookedUp


class SplitsListed(Event, tag="splits_listed"):
    """What a source system answered when it was to list its splits; a later answer may hold more of them, or fewer."""

    splits: tuple[int, ...]


class SplitsAssigned(Event, tag="splits_assigned"):
    """An enumerator sent splits to a reader; `attempt` is the reader's."""

    subtask: str
    splits: tuple[int, ...]


class SplitsReceived(Event, tag="splits_received"):
    """A reader was given splits; it may have some of them already."""

    subtask: str
    splits: tuple[int, ...]


class SplitsLeft(Event, tag="splits_left"):
    """An enumerator's part of a checkpoint: the splits of a source vertex that no reader's part holds."""

    checkpoint: int
    vertex: str
    splits: tuple[int, ...]


class BatchSent(Event, tag="batch_sent"):
    """A batch entered a channel. `position` counts the batches of this channel and attempt from 0. What was in flight
    at the restored cut is not sent again: see ChannelStateRestored, and `origin` of BatchProcessed."""

    channel: str
    position: int
    records: int
    origin: int = 0


class BatchProcessed(Event, tag="batch_processed"):
    """A batch left a channel and took effect on the receiving subtask. One that was in flight at the restored cut has
    the position of its `origin`, the attempt that counted it; 0: this one."""

    channel: str
    position: int
    records: int
    origin: int = 0


class BarrierSent(Event, tag="barrier_sent"):
    """A barrier entered a channel; `overtaking` in front of what waited at its sender."""

    channel: str
    checkpoint: int
    overtaking: bool = False


class BarrierReceived(Event, tag="barrier_received"):
    """A barrier left a channel; `overtaking` in front of what waited at its receiver. `held_bytes` waited then in the
    channels that its receiver had blocked."""

    channel: str
    checkpoint: int
    held_bytes: int = 0
    overtaking: bool = False


class CancellationSent(Event, tag="cancellation_sent"):
    """A marker entered a channel in the place of a barrier: the checkpoint was given up above."""

    channel: str
    checkpoint: int


class CancellationReceived(Event, tag="cancellation_received"):
    """Such a marker left a channel."""

    channel: str
    checkpoint: int


class EndOfDataSent(Event, tag="end_of_data_sent"):
    """The end of the records entered a channel; barriers may follow."""

    channel: str


class EndOfDataReceived(Event, tag="end_of_data_received"):
    """The end of the records left a channel."""

    channel: str


class EndOfPartitionReceived(Event, tag="end_of_partition_received"):
    """The end of its sender left a channel: no barrier will come on it any more."""

    channel: str


class ChannelBlocked(Event, tag="channel_blocked"):
    """Aligned: nothing is taken from this channel until the alignment ends."""

    channel: str
    checkpoint: int


class ChannelUnblocked(Event, tag="channel_unblocked"):
    """The alignment ended or was given up."""

    channel: str
    checkpoint: int


class BuffersResized(Event, tag="buffers_resized"):
    """Buffer debloating: from now on either end of each input of a subtask holds so many batches."""

    subtask: str
    buffers: int
