"""What each subtask did between the cut of a snapshot and its end: the facts that SNAPSHOT decides on.

Everything happens on the node of the subtask, so its own order and its own clock are enough.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from holdfast.harness.model.events import (
    AckSent,
    BarrierSent,
    BatchProcessed,
    DeclineSent,
    Event,
    FileWritten,
    NotificationReceived,
    SnapshotReleased,
    SnapshotTaken,
    StorageFailed,
    TaskStopped,
)
from holdfast.harness.model.history import History
from holdfast.harness.oracles.ledger.files import by_path
from holdfast.harness.oracles.ledger.parts import PartId, by_part
from holdfast.harness.oracles.shared.exemptions import Exemptions
from holdfast.harness.oracles.shared.layout import widest_layout

LONG = 3
"""So many times the longest other pause: batches that come at random leave longer pauses now and then."""


class Part(NamedTuple):
    """The part of a subtask in a checkpoint.

    Attributes:
        taken: its cut.
        barriers: of this checkpoint, that it sent.
        acked, released: its ack, and the end of the version that it was written from.
        stored: when its state was durable, as far as the ack shows: the first of its files, or if not all of it is in
            files the ack itself.
    """

    taken: SnapshotTaken
    barriers: Sequence[BarrierSent]
    acked: AckSent | None
    released: SnapshotReleased | None
    stored: FileWritten | AckSent | None


class _Chain:
    """Batches that a chain took in one attempt.

    Attributes:
        sequences, times_ns, records: of each; `records` is a running sum with a zero in front.
        gap_ns: the longest pause between two of them outside of uploads.
        usual_gap_ns: the middle one of these pauses.
    """

    __slots__ = ("gap_ns", "records", "sequences", "times_ns", "usual_gap_ns")

    def __init__(self) -> None:
        self.sequences: list[int] = []
        self.times_ns: list[int] = []
        self.records = [0]
        self.gap_ns = self.usual_gap_ns = 0

    def add(self, event: BatchProcessed) -> None:
        self.sequences.append(event.sequence)
        self.times_ns.append(event.time_ns)
        self.records.append(self.records[-1] + event.records)

    def measure(self, uploads: Iterable[tuple[int, int]]) -> None:
        """The pauses that no upload, as (first, last) sequence, overlaps."""
        busy: set[int] = set()
        for first, last in uploads:
            busy.update(range(bisect_left(self.sequences, first), bisect_right(self.sequences, last) + 1))
        pauses = sorted(
            later - earlier for place, (earlier, later) in enumerate(pairwise(self.times_ns)) if place + 1 not in busy
        )
        if pauses:
            self.gap_ns, self.usual_gap_ns = pauses[-1], pauses[len(pauses) // 2]


class SnapshotTrace:
    """All parts of a run.

    Attributes:
        parts: in the order of their cuts.
    """

    def __init__(self, history: History, exempt: Exemptions) -> None:
        self._written = by_path(history, FileWritten).all
        self.parts = self._collected(history)
        self._heads = _heads(history)
        self._stopped = history.of(TaskStopped)
        self._declined = history.of(DeclineSent)
        self._history = history
        self._stalls = exempt.stalls
        self._releases = bool(history.of(SnapshotReleased))
        self._chains: dict[tuple[int, str], _Chain] = {}
        by_channel: dict[tuple[int, str], _Chain] = {}
        for event in history.of(BatchProcessed):
            chain = by_channel.get((event.attempt, event.channel))
            if chain is None:
                receiver = event.attempt, event.channel.partition("->")[2]
                chain = self._chains.setdefault(receiver, _Chain())
                by_channel[event.attempt, event.channel] = chain
            chain.add(event)
        self._measure()
        self._versions = self._count_versions()

    def _collected(self, history: History) -> dict[PartId, Part]:
        barriers, releases = by_part(history, BarrierSent).all, by_part(history, SnapshotReleased).first
        acks = by_part(history, AckSent).first
        parts: dict[PartId, Part] = {}
        for key, taken in by_part(history, SnapshotTaken).first.items():
            acked = acks.get(key)
            stored = None if acked is None else self._stored(acked)
            parts[key] = Part(taken, barriers.get(key, ()), acked, releases.get(key), stored)
        return parts

    def _stored(self, ack: AckSent) -> FileWritten | AckSent:
        if ack.inline_bytes or not ack.files:
            return ack
        writes = filter(None, [self._write_of(ack, file.path) for file in ack.files])
        return min(writes, key=attrgetter("sequence"), default=ack)

    def _write_of(self, ack: AckSent, path: str) -> FileWritten | None:
        for write in self._written.get(path, ()):
            if write.node == ack.node:
                return write
        return None

    def _measure(self) -> None:
        uploads: dict[tuple[int, str], list[tuple[int, int]]] = {}
        for (attempt, subtask, _), part in self.parts.items():
            end = part.stored or part.released
            if end is not None:
                key = attempt, self._heads.get(subtask, subtask)
                uploads.setdefault(key, []).append((part.taken.sequence, end.sequence))
        for key, chain in self._chains.items():
            chain.measure(uploads.get(key, ()))

    def _count_versions(self) -> dict[tuple[int, str], tuple[list[int], list[int]]]:
        """By attempt and subtask, when versions of its state were taken, and when they were released."""
        versions: dict[tuple[int, str], tuple[list[int], list[int]]] = {}
        for (attempt, subtask, _), part in self.parts.items():
            if part.taken.state is not None:
                taken, gone = versions.setdefault((attempt, subtask), ([], []))
                taken.append(part.taken.sequence)
                if part.released is not None:
                    gone.append(part.released.sequence)
        return {key: (sorted(taken), sorted(gone)) for key, (taken, gone) in versions.items()}

    # --- queries about one part ---

    def missing_files(self, ack: AckSent) -> list[str]:
        """Files that an ack names and that were not written before it."""
        found = ((file.path, self._write_of(ack, file.path)) for file in ack.files)
        return [path for path, written in found if written is None or written.sequence > ack.sequence]

    def has_inputs(self, subtask: str) -> bool:
        """Whether a subtask takes its batches from channels."""
        return self._heads.get(subtask, subtask) == subtask

    def processed_between(self, start: SnapshotTaken, end: Event) -> tuple[int, int]:
        """How many batches the chain of a subtask took between two of its events, and of how many records."""
        chain = self._chain_of(start)
        if chain is None:
            return 0, 0
        first, last = (bisect_left(chain.sequences, event.sequence) for event in (start, end))
        return last - first, chain.records[last] - chain.records[first]

    def lasts(self, part: Part, end: Event) -> bool:
        """Whether it takes far longer until `end` than usual between two batches."""
        chain = self._chain_of(part.taken)
        return chain is not None and end.time_ns - part.taken.time_ns > LONG * chain.usual_gap_ns > 0

    def interrupts(self, part: Part, end: Event) -> bool:
        """Whether batches were processed before and after it, and it takes far longer than usual between two."""
        chain = self._chain_of(part.taken)
        return (
            chain is not None
            and chain.sequences[0] < part.taken.sequence
            and end.sequence < chain.sequences[-1]
            and end.time_ns - part.taken.time_ns > LONG * chain.usual_gap_ns
        )

    def owes(self, part: Part, end: Event) -> bool:
        """Whether something would have been processed until `end` if it could: it takes far longer than any other
        pause, what waited for a processor left out, and right before and right afterwards something was."""
        chain = self._chain_of(part.taken)
        if chain is None or not chain.gap_ns:
            return False
        long_ns = LONG * chain.gap_ns
        before = bisect_left(chain.sequences, part.taken.sequence) - 1
        after = bisect_right(chain.sequences, end.sequence)
        return (
            before >= 0
            and after < len(chain.sequences)
            and part.taken.time_ns - chain.times_ns[before] <= long_ns
            and chain.times_ns[after] - end.time_ns <= long_ns
            and end.time_ns - part.taken.time_ns - self._stalls.within_ns(part.taken.time_ns, end.time_ns) > long_ns
        )

    def _chain_of(self, taken: SnapshotTaken) -> _Chain | None:
        return self._chains.get((taken.attempt, self._heads.get(taken.subtask, taken.subtask)))

    def open_at(self, released: SnapshotReleased) -> int:
        """How many snapshots of a subtask were taken and not released when one had been."""
        taken, gone = self._versions.get((released.attempt, released.subtask), ([], []))
        return bisect_left(taken, released.sequence) - bisect_right(gone, released.sequence)

    def left_open(self, part: Part) -> bool:
        """Whether the version of a part is not released although its subtask acked a later checkpoint, and others
        are."""
        if part.taken.state is None or part.released is not None or part.acked is None or not self._releases:
            return False
        attempt, subtask, checkpoint = part.taken.attempt, part.taken.subtask, part.taken.checkpoint
        return any(
            key[:2] == (attempt, subtask) and key[2] > checkpoint and later.acked is not None
            for key, later in self.parts.items()
        )

    # --- queries about one error ---

    def goes_on_after(self, failed: StorageFailed) -> bool:
        """Whether the node of an error had time to react to it: two turns, as the one in which it came may have been
        broken off by its death."""
        events = self._history.events
        turns_ns = {each.time_ns for each in events if each.node == failed.node and each.time_ns > failed.time_ns}
        return len(turns_ns) > 1

    def declined(self, failed: StorageFailed) -> bool:
        """Whether the subtask declined the checkpoint that could not be stored."""
        return any(
            (event.node, event.subtask, event.checkpoint) == (failed.node, failed.subtask, failed.checkpoint)
            for event in self._declined
        )

    def stopped_after(self, failed: StorageFailed) -> bool:
        """Whether the subtask stopped after an error."""
        return any(
            (event.node, event.subtask) == (failed.node, failed.subtask) and event.sequence > failed.sequence
            for event in self._stopped
        )

    def given_up_before(self, failed: StorageFailed) -> bool:
        """Whether its subtask had stopped, or been notified of the end of the checkpoint, before an upload failed."""
        notices = by_part(self._history, NotificationReceived).first
        for key, part in self.parts.items():
            _, subtask, checkpoint = key
            if (subtask, checkpoint, part.taken.node) == (failed.subtask, failed.checkpoint, failed.node):
                stops = [event for event in self._stopped if (event.node, event.subtask) == (failed.node, subtask)]
                signs = [notices.get(key), *stops]
                if any(sign and part.taken.sequence < sign.sequence < failed.sequence for sign in signs):
                    return True
        return False


def _heads(history: History) -> dict[str, str]:
    """By subtask, the first of its chain."""
    layout = widest_layout(history)
    heads = {subtask: subtask for subtask in layout.subtasks}
    for chain in layout.chains:
        heads.update(dict.fromkeys(chain, chain[0]))
    return heads
