"""What went through the channels of a run, attempt by attempt: the facts that CUT decides on.

Only orders that one node gives show a violation: a channel's two ends are compared as sequences, and an alignment
or a snapshot is seen from the node that it happens on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.oracles.findings import replay
from holdfast.harness.oracles.shared.layout import Layout, Layouts

ORIGIN = 1 << 32
"""A batch that was counted in an older attempt is its position plus so many times that attempt."""


class Channel:
    """One channel in one attempt. A batch is its position, barrier n is ~n.

    Attributes:
        sent, received: what entered and left it, in order.
        batches: how many of those received are no barriers.
        held: ranges of `received` that sat behind the barrier of this channel while it was blocked.
        overtaking: checkpoints whose barrier was received in front of batches that were sent before it.
        restored: what was in flight at the restored cut, at the receiver and at the sender.
        processed: by checkpoint, how many batches the receiver had processed at its unaligned snapshot.
        stored: by checkpoint, what receiver and sender stored as being in flight.
    """

    __slots__ = (
        "attempt", "batches", "held", "name", "overtaking", "processed", "received", "receiver", "restored", "sent",
        "stored",
    )  # fmt: skip

    def __init__(self, name: str, attempt: int, receiver: Subtask) -> None:
        self.name = name
        self.attempt = attempt
        self.receiver = receiver
        self.sent: list[int] = []
        self.received: list[int] = []
        self.batches = 0
        self.held: list[tuple[int, int]] = []
        self.overtaking: set[int] = set()
        self.restored: tuple[list[int], list[int]] = ([], [])
        self.processed: dict[int, int] = {}
        self.stored: dict[int, tuple[list[int], list[int]]] = {}

    @property
    def plain(self) -> bool:
        """Whether it never held anything but what was sent in this attempt, in that order."""
        return not (self.overtaking or self.restored[0] or self.restored[1])

    @property
    def entered(self) -> list[int]:
        """The batches that belong on it, in order: those in flight at the restored cut, then those sent."""
        return [*self.restored[0], *self.restored[1], *(element for element in self.sent if element >= 0)]

    def element(self, attempt: int, position: int) -> int:
        """A batch counted in an attempt, 0 standing for the present one."""
        return position if attempt in (0, self.attempt) else position + ORIGIN * attempt


class Subtask:
    """One subtask in one attempt. It does not know its input channels: they know it, and a cycle costs a collection.

    Attributes:
        aligning: the checkpoint whose barrier has come on some inputs and not on all, or -1.
        settled: the highest checkpoint that was aligned or given up, or -1.
        closed: inputs whose sender has ended.
        arrived: while aligning, each input that brought the barrier, with how much it had delivered by then.
        processed: how many batches it has processed; `before`: by the time the alignment began.
        next_offsets: of a source, where each partition goes on.
        emissions: of a source, how often it has emitted.
        last_ns: of a source, when it last emitted; 0 after a snapshot, until it emits again.
        snapshots: each with how much every output had taken by then.
        windows: of a source, by checkpoint, its snapshot, where it had got by then and its emissions by then.
        in_flight: by checkpoint, what it stored as being in flight.
    """

    __slots__ = (
        "aligning", "arrived", "before", "closed", "emissions", "in_flight", "input_count", "last_ns", "name",
        "next_offsets", "outputs", "processed", "settled", "snapshots", "windows",
    )  # fmt: skip

    def __init__(self, name: str, input_count: int) -> None:
        self.name = name
        self.input_count = input_count
        self.outputs: list[Channel] = []
        self.aligning = self.settled = -1
        self.processed = self.before = self.emissions = self.last_ns = 0
        self.arrived: list[tuple[Channel, int]] = []
        self.closed: set[str] = set()
        self.next_offsets: dict[int, int] = {}
        self.snapshots: list[tuple[events.SnapshotTaken, list[int]]] = []
        self.windows: dict[int, tuple[events.SnapshotTaken, dict[int, int], int]] = {}
        self.in_flight: dict[int, events.ChannelStateTaken] = {}


class Attempt:
    """The channels and subtasks of one attempt, and whether barriers overtook records in it."""

    __slots__ = ("_taken", "channels", "layout", "overtaken", "subtasks")

    def __init__(self, number: int, layout: Layout) -> None:
        self.overtaken = False
        self._taken: dict[int, list[tuple[Subtask, events.SnapshotTaken]]] | None = None
        self.layout = layout
        self.subtasks = {name: Subtask(name, len(inputs)) for name, inputs in layout.inputs.items()}
        self.channels = {
            name: Channel(name, number, self.subtasks[receiver])
            for receiver, inputs in layout.inputs.items()
            for name in inputs
        }
        for subtask in self.subtasks.values():
            subtask.outputs = [self.channels[name] for name in layout.outputs[subtask.name]]

    def taken(self, checkpoint: int) -> Sequence[tuple[Subtask, events.SnapshotTaken]]:
        """Its snapshots for a checkpoint, subtask by subtask, once all events were seen."""
        if self._taken is None:
            self._taken = {}
            for subtask in self.subtasks.values():
                for snapshot, _ in subtask.snapshots:
                    self._taken.setdefault(snapshot.checkpoint, []).append((subtask, snapshot))
        return self._taken.get(checkpoint, ())


class Attempts(dict[int, Attempt]):
    """Attempts by number, each made at its first use."""

    def __init__(self, layouts: Layouts) -> None:
        super().__init__()
        self._layouts = layouts

    def __missing__(self, number: int) -> Attempt:
        attempt = self[number] = Attempt(number, self._layouts.at(number))
        return attempt


class Alignment(NamedTuple):
    """An alignment that ended, and during which something was processed.

    Attributes:
        checkpoint: what it was for.
        progressed: batches were.
        leaks: channels that were processed after their barrier, each with the places of the first such batch and behind
            the last one. Where the barrier overtook, some of these may belong in front of it.
    """

    checkpoint: int
    progressed: bool
    leaks: list[tuple[Channel, int, int]]


class SourceWindow(NamedTuple):
    """A source from its snapshot until the notice of the completion, on its own clock.

    Attributes:
        reached: where each of its partitions went on at the snapshot.
        emissions: in between.
    """

    checkpoint: int
    since_ns: int
    until_ns: int
    reached: dict[int, int]
    emissions: int


class ChannelTrace:
    """One pass over a history.

    Attributes:
        attempts: by number.
        alignments: in the order of their end.
        begun: checkpoints, each as often as a subtask saw its barrier on a first channel of several.
        misplaced: snapshots of sources that record other offsets than the source had reached.
        placed: how many snapshots of sources were compared for that.
        windows: of all sources.
        longest_gap_ns: between two emissions of a source with no barrier between them.
    """

    def __init__(self, history: History) -> None:
        self.attempts = Attempts(history.derived(Layouts))
        self.alignments: list[Alignment] = []
        self.begun: list[int] = []
        self.misplaced: list[tuple[events.SnapshotTaken, dict[int, int]]] = []
        self.placed = 0
        self.windows: list[SourceWindow] = []
        self.longest_gap_ns = 0
        running = {event.attempt for event in history.of(events.TaskStarted)}
        self._emits = any(event.attempt in running for event in history.of(events.SourceEmitted))
        replay(
            history,
            {
                events.BatchSent: self._batch_sent,
                events.BatchProcessed: self._batch_processed,
                events.BarrierSent: self._barrier_sent,
                events.BarrierReceived: self._barrier_received,
                events.EndOfPartitionReceived: self._end_of_partition_received,
                events.SnapshotTaken: self._snapshot_taken,
                events.TaskStarted: self._task_started,
                events.SourceEmitted: self._source_emitted,
                events.NotificationReceived: self._notification_received,
                events.DeclineSent: self._decline_sent,
                events.CancellationReceived: self._cancellation_received,
                events.ChannelStateTaken: self._channel_state_taken,
                events.ChannelStateRestored: self._channel_state_restored,
            },
        )
        for attempt in self.attempts.values():
            for subtask in attempt.subtasks.values():
                if subtask.aligning >= 0:
                    self._end(subtask)

    def _batch_sent(self, event: events.BatchSent) -> None:
        channel = self.attempts[event.attempt].channels.get(event.channel)
        if channel is not None:
            channel.sent.append(event.position)

    def _batch_processed(self, event: events.BatchProcessed) -> None:
        channel = self.attempts[event.attempt].channels.get(event.channel)
        if channel is not None:
            position, origin = event.position, event.origin
            channel.received.append(channel.element(origin, position) if origin else position)
            channel.batches += 1
            channel.receiver.processed += 1

    def _barrier_sent(self, event: events.BarrierSent) -> None:
        channel = self.attempts[event.attempt].channels.get(event.channel)
        if channel is not None:
            channel.sent.append(~event.checkpoint)

    def _barrier_received(self, event: events.BarrierReceived) -> None:
        channel = self.attempts[event.attempt].channels.get(event.channel)
        if channel is None:
            return
        subtask, checkpoint = channel.receiver, event.checkpoint
        aligning = subtask.aligning
        aligns = (
            subtask.input_count - len(subtask.closed) > 1 and checkpoint > subtask.settled and checkpoint >= aligning
        )
        if aligns and 0 <= aligning < checkpoint:  # A newer barrier ends an older alignment (BAR-10)
            self._end(subtask)
        channel.received.append(~checkpoint)
        if event.overtaking:
            channel.overtaking.add(checkpoint)
        if not aligns:
            return
        if subtask.aligning < 0:
            subtask.aligning = checkpoint
            subtask.before = subtask.processed
            self.begun.append(checkpoint)
        subtask.arrived.append((channel, len(channel.received)))
        self._end_when_complete(subtask)

    def _end_of_partition_received(self, event: events.EndOfPartitionReceived) -> None:
        channel = self.attempts[event.attempt].channels.get(event.channel)
        if channel is not None:
            channel.receiver.closed.add(event.channel)
            if channel.receiver.aligning >= 0:
                self._end_when_complete(channel.receiver)

    def _end_when_complete(self, subtask: Subtask) -> None:
        """Every input has brought the barrier, or brings none any more."""
        if len(subtask.closed) + len(subtask.arrived) < subtask.input_count:
            return
        if len(subtask.closed.union(channel.name for channel, _ in subtask.arrived)) == subtask.input_count:
            subtask.settled = subtask.aligning
            self._end(subtask)

    def _end(self, subtask: Subtask) -> None:
        """Its alignment is over, because it is complete, was given up, or the history ends."""
        progressed = subtask.processed > subtask.before
        leaks = [
            (channel, place, len(channel.received))
            for channel, place in subtask.arrived
            if len(channel.received) > place
        ]
        if progressed or leaks:
            self.alignments.append(Alignment(subtask.aligning, progressed, leaks))
        for channel, place in subtask.arrived:
            if len(channel.sent) > place:
                channel.held.append((place, len(channel.sent)))
        subtask.aligning = -1
        subtask.arrived = []

    def _give_up(self, subtask: Subtask, checkpoint: int) -> None:
        if 0 <= subtask.aligning <= checkpoint:
            self._end(subtask)
        subtask.settled = max(subtask.settled, checkpoint)

    def _notification_received(self, event: events.NotificationReceived) -> None:
        subtask = self.attempts[event.attempt].subtasks.get(event.subtask)
        if subtask is None:
            return
        if not event.completed:
            self._give_up(subtask, event.checkpoint)
        elif (window := subtask.windows.pop(event.checkpoint, None)) is not None:
            snapshot, reached, before = window
            emissions = subtask.emissions - before
            self.windows.append(SourceWindow(event.checkpoint, snapshot.time_ns, event.time_ns, reached, emissions))

    def _cancellation_received(self, event: events.CancellationReceived) -> None:
        channel = self.attempts[event.attempt].channels.get(event.channel)
        if channel is not None and event.checkpoint >= channel.receiver.aligning:
            self._give_up(channel.receiver, event.checkpoint)

    def _decline_sent(self, event: events.DeclineSent) -> None:
        subtask = self.attempts[event.attempt].subtasks.get(event.subtask)
        if subtask is not None:
            self._give_up(subtask, event.checkpoint)

    def _snapshot_taken(self, event: events.SnapshotTaken) -> None:
        attempt = self.attempts[event.attempt]
        subtask = attempt.subtasks.get(event.subtask)
        if subtask is None:
            return
        subtask.snapshots.append((event, [len(channel.sent) for channel in subtask.outputs]))
        if event.unaligned:
            attempt.overtaken = True
            self._unaligned_snapshot(subtask, event)
        reached = subtask.next_offsets
        if not (reached and self._emits):
            return
        self.placed += 1
        reached, recorded = dict(reached), dict(event.positions)
        if reached != recorded and any(recorded.get(partition) != offset for partition, offset in reached.items()):
            self.misplaced.append((event, reached))
        subtask.windows[event.checkpoint] = (event, reached, subtask.emissions)
        subtask.last_ns = 0

    def _unaligned_snapshot(self, subtask: Subtask, event: events.SnapshotTaken) -> None:
        """It ends the alignment, if there is one: whatever is not processed by now is in flight."""
        if subtask.aligning == event.checkpoint:
            self._end(subtask)
            subtask.settled = event.checkpoint
        attempt = self.attempts[event.attempt]
        channels = attempt.channels
        for name in attempt.layout.inputs[subtask.name]:
            channel = channels[name]
            channel.processed[event.checkpoint] = channel.batches

    def _channel_state_taken(self, event: events.ChannelStateTaken) -> None:
        attempt = self.attempts[event.attempt]
        if event.subtask not in attempt.subtasks:
            return
        attempt.subtasks[event.subtask].in_flight[event.checkpoint] = event
        for content in event.channels:
            channel = attempt.channels.get(content.channel)
            if channel is not None:
                stored = channel.stored.setdefault(event.checkpoint, ([], []))
                stored[content.output].extend(channel.element(*batch) for batch in content.batches)

    def _channel_state_restored(self, event: events.ChannelStateRestored) -> None:
        channels = self.attempts[event.attempt].channels
        for content in event.channels:
            channel = channels.get(content.channel)
            if channel is not None:
                channel.restored[content.output].extend(channel.element(*batch) for batch in content.batches)

    def _task_started(self, event: events.TaskStarted) -> None:
        subtask = self.attempts[event.attempt].subtasks.get(event.subtask)
        if subtask is not None:
            subtask.next_offsets = dict(event.positions)

    def _source_emitted(self, event: events.SourceEmitted) -> None:
        subtask = self.attempts[event.attempt].subtasks.get(event.subtask)
        if subtask is None:
            return
        subtask.next_offsets[event.partition] = event.next_offset
        subtask.emissions += 1
        time_ns, last_ns = event.time_ns, subtask.last_ns
        if last_ns and time_ns - last_ns > self.longest_gap_ns:
            self.longest_gap_ns = time_ns - last_ns
        subtask.last_ns = time_ns


ChannelEvent = events.BatchSent | events.BatchProcessed | events.BarrierSent | events.BarrierReceived


def elements(history: History, channel: Channel, *kinds: type[ChannelEvent]) -> list[ChannelEvent]:
    """The events of these kinds on one channel in one attempt, in order: the witnesses to a place in it."""
    return [
        event
        for event in history.events
        if isinstance(event, kinds) and event.attempt == channel.attempt and event.channel == channel.name
    ]
