"""A history played on a stage: after any of its events, what every subtask holds and what is in every channel.

What batches hold follows from the input and from what the snapshots say of the keys of each subtask; where it does not,
they are numbered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from holdfast.harness.model.events import (
    AckReceived,
    AckSent,
    AttemptStarted,
    BarrierReceived,
    BarrierSent,
    BatchProcessed,
    BatchSent,
    ChannelBlocked,
    ChannelUnblocked,
    CheckpointAborted,
    CheckpointCompleted,
    CheckpointTriggered,
    Event,
    NotificationReceived,
    NotificationSent,
    SnapshotTaken,
    SourceEmitted,
    TaskStarted,
    TriggerReceived,
    TriggerSent,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.job import Partitioning, VertexKind
from holdfast.harness.model.picture import ChannelScene, Element, Scene, SubtaskScene
from holdfast.harness.model.topology import all_channels, channel_ends, subtasks

MOST_NUMBERS = 3
"""On one batch; more are counted."""


class Record(NamedTuple):
    """One input record: its number in its partition, counted from 1, its key and its value."""

    number: int
    key: str
    value: int


class Batch(NamedTuple):
    """A batch in a channel; `records` is None where they are unknown."""

    words: str
    records: tuple[Record, ...] | None


def batch_of(records: tuple[Record, ...]) -> Batch:
    """A batch of known records, by their numbers."""
    if len(records) > MOST_NUMBERS:
        return Batch(f"{len(records)}×", records)
    return Batch(", ".join(str(record.number) for record in records), records)


def counted(records: int) -> Batch:
    """A batch of so many records of which no more is known."""
    return Batch(f"{records}×", None)


def records_of(history: History, event: SourceEmitted) -> Iterable[Record]:
    """What a source emitted, read off the input."""
    inputs = history.inputs
    if event.partition >= len(inputs.partitions):
        return
    partition = inputs.partitions[event.partition]
    for offset in range(event.first_offset, event.next_offset):
        if offset < len(partition.key):
            yield Record(offset + 1, inputs.keys[partition.key[offset]], int(partition.value[offset]))


MOST_CHARACTERS = 17
"""On a subtask."""
_MILLISECOND_NS = 1_000_000


class Stage:
    """What the history has come to.

    Attributes:
        channels: by name, what is in it: batches, and the ids of barriers.
        blocked: by channel, the checkpoint that blocks it.
        words: by subtask, what it holds.
    """

    def __init__(self, history: History) -> None:
        self._history = history
        plan = history.plan
        self.subtasks = subtasks(plan.job, plan.topology)
        self.names = all_channels(plan.job, plan.topology)
        self._kinds = {vertex.name: vertex.kind for vertex in plan.job.vertices}
        self._owners = _owners(history)
        self._by_key = {
            channel
            for channel in self.names
            for edge in plan.job.edges
            if edge.partitioning is Partitioning.HASH
            and (_vertex(channel_ends(channel)[0]), _vertex(channel_ends(channel)[1]))
            == (edge.upstream, edge.downstream)
        }
        self._start_ns = min((event.time_ns for event in history.events), default=0)
        self._next = 0
        self._now_ns = self._start_ns
        self._used: set[str] = set()
        self._clear()
        self._handlers: Mapping[type[Event], Callable[[Any], None]] = {
            AttemptStarted: self._attempt_started,
            TaskStarted: self._task_started,
            SourceEmitted: self._emitted,
            BatchSent: self._batch_sent,
            BatchProcessed: self._batch_processed,
            BarrierSent: self._barrier_sent,
            BarrierReceived: self._barrier_received,
            ChannelBlocked: self._blocked,
            ChannelUnblocked: self._unblocked,
            SnapshotTaken: self._snapshot_taken,
            CheckpointTriggered: self._triggered,
            CheckpointCompleted: self._completed,
            CheckpointAborted: self._aborted,
            TriggerSent: lambda event: self._down(event.subtask, f"trigger {event.checkpoint}", 1),
            TriggerReceived: lambda event: self._down(event.subtask, f"trigger {event.checkpoint}", -1),
            NotificationSent: lambda event: self._down(event.subtask, f"notice {event.checkpoint}", 1),
            NotificationReceived: lambda event: self._down(event.subtask, f"notice {event.checkpoint}", -1),
            AckSent: lambda event: self._up(event.subtask, f"ack {event.checkpoint}", 1),
            AckReceived: self._ack_received,
        }

    def _clear(self) -> None:
        """Clear what is left of an older attempt."""
        self.channels: dict[str, deque[Batch | int]] = {name: deque() for name in self.names}
        self.blocked: dict[str, int] = {}
        self._passed: set[tuple[str, int]] = set()
        self.offsets: dict[str, dict[int, int]] = {}
        self.sums: dict[str, dict[str, int]] = {}
        self.rows: dict[str, int] = {}
        self.snapshots: dict[tuple[str, int], str] = {}
        self.acks: dict[int, set[str]] = {}
        self.participants: dict[int, int] = {}
        self.ends: dict[int, str] = {}
        self.down: dict[str, list[str]] = {}
        self.up: dict[str, list[str]] = {}
        self._emission: dict[str, tuple[Record, ...]] = {}
        self._pending: dict[str, deque[Batch]] = {}

    # --- time ---

    def advance(self, end: int) -> None:
        """Go on until so many events have happened."""
        events = self._history.events
        while self._next < min(end, len(events)):
            event = events[self._next]
            self._next += 1
            self._now_ns = event.time_ns
            handler = self._handlers.get(type(event))
            if handler is not None:
                handler(event)

    def scene(self, caption: str, checkpoint: int, *, only: Iterable[str] = (), focus: str = "") -> Scene:
        """The moment, for a picture of a checkpoint.

        Args:
            caption: what happens.
            checkpoint: that it is about.
            only: subtasks that it shows; all, if there are none.
            focus: the subtask that it is about.
        """
        shown = tuple(only) or self.subtasks
        channels = tuple(
            self._channel_scene(name, checkpoint)
            for name in self.names
            if name in self._used and set(channel_ends(name)) <= set(shown)
        )
        return Scene(
            caption=caption,
            at_ms=(self._now_ns - self._start_ns) / _MILLISECOND_NS,
            coordinator=self._known(checkpoint),
            subtasks=tuple(self._subtask_scene(name, checkpoint) for name in shown),
            channels=channels,
            chains=tuple(
                channel_ends(name)
                for name in self.names
                if name not in self._used and set(channel_ends(name)) <= set(shown)
            ),
            focus=focus,
        )

    def use(self, channels: Iterable[str]) -> None:
        """Name the channels that carry anything; between other subtasks that are joined there are calls."""
        self._used = set(channels)

    def newest(self, channel: str) -> str:
        """The element that was last put into a channel."""
        last = self.channels[channel][-1]
        return str(last) if isinstance(last, int) else last.words

    def _known(self, checkpoint: int) -> str:
        if checkpoint in self.ends:
            return f"checkpoint {checkpoint} {self.ends[checkpoint]}"
        if checkpoint not in self.participants:
            return "no checkpoint"
        return f"checkpoint {checkpoint}: {len(self.acks.get(checkpoint, ()))} of {self.participants[checkpoint]} acks"

    def _subtask_scene(self, name: str, checkpoint: int) -> SubtaskScene:
        return SubtaskScene(
            name=name,
            words=self.words(name),
            snapshot=self.snapshots.get((name, checkpoint), ""),
            down=tuple(self.down.get(name, ())),
            up=tuple(self.up.get(name, ())),
            acknowledged=name in self.acks.get(checkpoint, ()),
        )

    def _channel_scene(self, name: str, checkpoint: int) -> ChannelScene:
        sender, receiver = channel_ends(name)
        elements = []
        blocked = self.blocked.get(name, 0)
        after = blocked >= checkpoint > 0 or (name, checkpoint) in self._passed
        for element in self.channels[name]:
            if isinstance(element, int):
                elements.append(Element(str(element), barrier=True, after=element > checkpoint))
                after = after or element >= checkpoint
            else:
                elements.append(Element(element.words, after=after))
        return ChannelScene(sender, receiver, tuple(elements), blocked)

    def words(self, name: str) -> str:
        """What a subtask holds."""
        if name in self.offsets:
            return ", ".join(f"offset {offset}" for _, offset in sorted(self.offsets[name].items()))
        if name in self.sums:
            return _sums_in_words(self.sums[name])
        return f"{self.rows[name]} rows" if self.rows.get(name) else ""

    # --- events ---

    def _attempt_started(self, event: AttemptStarted) -> None:
        self._clear()

    def _task_started(self, event: TaskStarted) -> None:
        if event.positions:
            self.offsets[event.subtask] = dict(event.positions)
        if self._kinds[_vertex(event.subtask)] is VertexKind.KEYED_SUM:
            self.sums[event.subtask] = dict(event.state.entries or {}) if event.state is not None else {}

    def _emitted(self, event: SourceEmitted) -> None:
        self.offsets.setdefault(event.subtask, {})[event.partition] = event.next_offset
        self._emission[event.subtask] = tuple(records_of(self._history, event))

    def _batch_sent(self, event: BatchSent) -> None:
        sender, receiver = channel_ends(event.channel)
        channel = self.channels.get(event.channel)
        if channel is None:
            return
        waiting = self._pending.get(sender)
        if sender in self._emission:
            records = self._emission[sender]
            if event.channel in self._by_key:
                records = tuple(each for each in records if self._owners.get((_vertex(receiver), each.key)) == receiver)
            channel.append(batch_of(records) if len(records) == event.records else counted(event.records))
        elif waiting:
            channel.append(waiting.popleft())
        else:
            channel.append(counted(event.records))

    def _batch_processed(self, event: BatchProcessed) -> None:
        channel = self.channels.get(event.channel)
        if not channel or isinstance(channel[0], int):
            return
        batch = channel.popleft()
        assert isinstance(batch, Batch)
        receiver = channel_ends(event.channel)[1]
        self._take(receiver, batch, event.records)

    def _take(self, name: str, batch: Batch, count: int) -> None:
        """A batch takes effect on a subtask, and on those that it calls."""
        kind = self._kinds[_vertex(name)]
        if kind is VertexKind.KEYED_SUM and batch.records is not None:
            sums = self.sums.setdefault(name, {})
            for record in batch.records:
                sums[record.key] = sums.get(record.key, 0) + record.value
            touched = dict.fromkeys(record.key for record in batch.records)
            result = Batch(", ".join(str(sums[key]) for key in touched), None)
            count = len(touched)
        else:
            result = batch
        if kind is VertexKind.SINK:
            self.rows[name] = self.rows.get(name, 0) + count
            return
        self._pending.setdefault(name, deque(maxlen=8)).append(result)
        for channel in self.names:
            sender, receiver = channel_ends(channel)
            if sender == name and channel not in self._used:
                self._take(receiver, result, count)

    def _barrier_sent(self, event: BarrierSent) -> None:
        if event.channel in self.channels:
            self.channels[event.channel].append(event.checkpoint)

    def _barrier_received(self, event: BarrierReceived) -> None:
        channel = self.channels.get(event.channel)
        if channel and isinstance(channel[0], int):
            channel.popleft()
            self._passed.add((event.channel, event.checkpoint))

    def _blocked(self, event: ChannelBlocked) -> None:
        self.blocked[event.channel] = event.checkpoint

    def _unblocked(self, event: ChannelUnblocked) -> None:
        self.blocked.pop(event.channel, None)

    def _snapshot_taken(self, event: SnapshotTaken) -> None:
        if event.positions:
            words = ", ".join(f"offset {offset}" for _, offset in event.positions)
        elif event.state is not None and event.state.entries is not None:
            words = _sums_in_words(event.state.entries)
        elif event.pending_transactions:
            words = f"{len(event.pending_transactions)} transaction{'s' if len(event.pending_transactions) > 1 else ''}"
        else:
            words = "nothing"
        self.snapshots[event.subtask, event.checkpoint] = words

    def _triggered(self, event: CheckpointTriggered) -> None:
        self.participants[event.checkpoint] = len(event.participants)

    def _completed(self, event: CheckpointCompleted) -> None:
        self.ends[event.checkpoint] = "is complete"

    def _aborted(self, event: CheckpointAborted) -> None:
        self.ends[event.checkpoint] = f"was aborted: {event.reason}"

    def _ack_received(self, event: AckReceived) -> None:
        self.acks.setdefault(event.checkpoint, set()).add(event.subtask)
        self._up(event.subtask, f"ack {event.checkpoint}", -1)

    def _down(self, subtask: str, words: str, change: int) -> None:
        _change(self.down.setdefault(subtask, []), words, change)

    def _up(self, subtask: str, words: str, change: int) -> None:
        _change(self.up.setdefault(subtask, []), words, change)


def _change(messages: list[str], words: str, change: int) -> None:
    if change > 0:
        messages.append(words)
    elif words in messages:
        messages.remove(words)


def _vertex(subtask: str) -> str:
    return subtask.partition("[")[0]


def _sums_in_words(sums: Mapping[str, int]) -> str:
    words = ", ".join(f"{key} {value}" for key, value in sorted(sums.items())) or "empty"
    return words if len(words) <= MOST_CHARACTERS else f"{len(sums)} keys"


def _owners(history: History) -> dict[tuple[str, str], str]:
    """Which subtask of a vertex has a key, as far as snapshots show."""
    found: dict[tuple[str, str], str] = {}
    for event in history.of(SnapshotTaken):
        if event.state is not None:
            for key in event.state.entries or ():
                found[_vertex(event.subtask), key] = event.subtask
    return found
