"""The source of an engine that reads its input from a log by itself: records appear there at their times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from holdfast.harness.adapter.arrival import PATIENCE_MS, Patience, arrived, next_arrival_ms
from holdfast.harness.adapter.delays import Delays
from holdfast.harness.adapter.recorder import HARNESS, SOURCE, Recorder
from holdfast.harness.model.events import SourceEmitted
from holdfast.harness.model.records import InputLog

Record = tuple[str, int]
Append = Callable[[int, int, Sequence[Record]], None]
FEED_INTERVAL_MS = 20
"""Records that arrive within it are appended together."""
_BEGIN_LIMIT_MS = 5_000
"""So long the rest waits for an engine that has what is preloaded and persists nothing of it."""


class LogFeeder:
    """Appends what is preloaded at once. The rest begins to arrive when the engine has persisted something, and is held
    back where the engine does not come after.

    Args:
        inputs: what there is.
        append: appends records to a partition of the log: its number, the offset of the first, and keys with values.
        recorder: takes what is appended.
        subtask: name of the source.
        patience_ms: see arrival.Patience; longer for an engine that persists rarely, or takes long to start.
    """

    def __init__(
        self, inputs: InputLog, append: Append, recorder: Recorder, subtask: str, patience_ms: float = PATIENCE_MS
    ) -> None:
        self._keys = inputs.keys
        self._partitions = inputs.partitions
        self._append = append
        self._recorder = recorder
        self._subtask = subtask
        self._patience = Patience(patience_ms)
        self._delays = Delays(partial(recorder.record, HARNESS))
        self._fed = [0] * len(inputs.partitions)
        self._positions = [0] * len(inputs.partitions)
        self._ready_ms: float | None = None
        self._since_ms: float | None = None
        self._due_ms = 0.0
        self._healed = False
        for index, partition in enumerate(self._partitions):
            self._feed(index, partition.preloaded)

    @property
    def covered(self) -> bool:
        """Whether the engine has persisted the effect of everything, once all is healed of the markers, too."""
        return all(position >= limit for position, limit in zip(self._positions, self.limits, strict=True))

    @property
    def limits(self) -> tuple[int, ...]:
        """By partition, how many records there are, once all is healed with the markers."""
        return tuple(partition.limit(healed=self._healed) for partition in self._partitions)

    def feed_markers(self) -> None:
        """Let the markers arrive, too."""
        self._healed = True

    def next_ms(self, now_ms: float) -> float:
        """When there is something to append."""
        if self._since_ms is None:
            return now_ms + FEED_INTERVAL_MS
        late_ms = now_ms - self._since_ms
        arrivals = (next_arrival_ms(each, late_ms, healed=self._healed) for each in self._partitions)
        fed = zip(self._fed, self._partitions, strict=True)
        waiting = any(end < arrived(each, late_ms, healed=self._healed) for end, each in fed)
        coming_ms = min(arrivals, default=float("inf")) + self._since_ms
        return max(self._due_ms, min(coming_ms, self._patience.grows_ms(now_ms) if waiting else coming_ms))

    def persisted(self, positions: Sequence[int], now_ms: float) -> None:
        """By partition, the next offset whose effect the engine has not persisted."""
        if any(new > old for new, old in zip(positions, self._positions, strict=True)):
            self._positions = [*map(max, positions, self._positions)]
            self._patience.answered(now_ms)

    def tend(self, now_ms: float, *, ready: bool) -> None:
        """Append what has arrived.

        Args:
            now_ms: on the clock of the run.
            ready: whether the engine can come after; while it cannot, its silence says nothing.
        """
        if not ready:
            self._patience.answered(now_ms)
        elif self._ready_ms is None:
            self._ready_ms = now_ms
        if self._since_ms is None:
            waits = any(self._fed) and self._ready_ms is not None and now_ms < self._ready_ms + _BEGIN_LIMIT_MS
            if not any(self._positions) and (self._ready_ms is None or waits):
                for index in range(len(self._partitions)):
                    self._delays.note(index, now_ms, waits=True)
                return
            self._since_ms = now_ms
        if now_ms < self._due_ms:
            return
        for index, partition in enumerate(self._partitions):
            there = arrived(partition, now_ms - self._since_ms, healed=self._healed)
            self._feed(index, min(there, self._positions[index] + self._patience.window(partition, now_ms)))
            self._delays.note(index, now_ms, waits=self._fed[index] < there)
        self._due_ms = now_ms + FEED_INTERVAL_MS

    def _feed(self, index: int, end: int) -> None:
        first, partition = self._fed[index], self._partitions[index]
        if first >= end:
            return
        keys = (self._keys[key] for key in partition.key[first:end].tolist())
        self._append(index, first, [*zip(keys, partition.value[first:end].tolist(), strict=True)])
        emitted = SourceEmitted(subtask=self._subtask, partition=index, first_offset=first, next_offset=end)
        self._recorder.record(SOURCE, emitted)
        self._fed[index] = end
