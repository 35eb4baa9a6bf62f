"""The source of an engine that reads its input from a log by itself: records appear there at their times."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

from holdfast.harness.adapter.feeder import PATIENCE_MS, Appender, Feeder, Record, Records, Window
from holdfast.harness.adapter.recorder import HARNESS, SOURCE, Recorder
from holdfast.harness.model.events import SourceEmitted
from holdfast.harness.model.records import InputLog
from holdfast.harness.model.sentence import plural

FEED_INTERVAL_MS = 20
"""Records that arrive within it are appended together."""
_BEGIN_LIMIT_MS = 5_000
"""So long the rest waits for an engine that has what is preloaded and persists nothing of it."""
_CONFIRM_LIMIT_S, _LOOK_S = 5.0, 0.01


class LogFeeder:
    """Appends what is preloaded at once. The rest begins to arrive when the engine has persisted something, and is held
    back where the engine does not come after.

    Args:
        inputs: what there is.
        appender: appends records to the log.
        recorder: takes what is appended.
        subtask: name of the source.
        patience_ms: see feeder.Window; longer for an engine that persists rarely, or takes long to start.

    Attributes:
        problem: why it is not known that the engine could read what was appended; set by `finish`, empty: it is known.

    Raises:
        OSError: what is preloaded is not taken.
    """

    def __init__(
        self, inputs: InputLog, appender: Appender, recorder: Recorder, subtask: str, patience_ms: float = PATIENCE_MS
    ) -> None:
        self._window = Window(inputs.partitions, patience_ms)
        self._feeder = Feeder(
            inputs, _Emitted(appender, recorder, subtask), self._window, record=partial(recorder.record, HARNESS)
        )
        self._ready_ms: float | None = None
        self.problem = ""
        self._due_ms = 0.0
        self._feeder.preload()

    @property
    def covered(self) -> bool:
        """Whether the engine has persisted the effect of everything, once all is healed of the markers, too."""
        return all(position >= limit for position, limit in zip(self._window.answered, self.limits, strict=True))

    @property
    def limits(self) -> tuple[int, ...]:
        """By partition, how many records there are, once all is healed with the markers."""
        return self._feeder.limits

    def feed_markers(self) -> None:
        """Let the markers arrive, too."""
        self._feeder.feed_markers()

    def next_ms(self, now_ms: float) -> float:
        """When there is something to append, in milliseconds on the clock of the run, as `now_ms`."""
        if self._feeder.since_ms is None:
            return now_ms + FEED_INTERVAL_MS
        return max(self._due_ms, self._feeder.next_ms(now_ms))

    def persisted(self, positions: Sequence[int], now_ms: float) -> None:
        """Take, by partition, the next offset whose effect the engine has not persisted, at a time of the run."""
        window = self._window
        if any(new > old for new, old in zip(positions, window.answered, strict=True)):
            window.answered = [*map(max, positions, window.answered)]
            window.hear(now_ms)

    def tend(self, now_ms: float, *, ready: bool) -> None:
        """Append what has arrived.

        Args:
            now_ms: on the clock of the run.
            ready: whether the engine can follow; while it cannot, missing progress means nothing.

        Raises:
            OSError: a record was not taken, or lies elsewhere than at its offset.
        """
        if not ready:
            self._window.hear(now_ms)
        elif self._ready_ms is None:
            self._ready_ms = now_ms
        if self._feeder.since_ms is None:
            waits = any(self._feeder.fed) and self._ready_ms is not None and now_ms < self._ready_ms + _BEGIN_LIMIT_MS
            if not any(self._window.answered) and (self._ready_ms is None or waits):
                self._feeder.wait(now_ms)
                return
            self._feeder.begin(now_ms)
        if now_ms < self._due_ms:
            return
        self._feeder.advance(now_ms)
        self._due_ms = now_ms + FEED_INTERVAL_MS

    def finish(self) -> None:
        """At the end of a run: what the log refused, or has not confirmed by now, is a problem of the run, since it is
        none of the engine's losses."""
        until_s = time.monotonic() + _CONFIRM_LIMIT_S
        try:
            while (left := self._feeder.settle()) and time.monotonic() < until_s:
                time.sleep(_LOOK_S)
        except OSError as error:
            self.problem = str(error)
            return
        if left:
            has = plural(left, "record that was appended has", "records that were appended have")
            self.problem = f"{has} no confirmation of the input after {_CONFIRM_LIMIT_S:.0f} s."


class Calls:
    """A feeder.Appender: two methods of an engine.

    Args:
        append: takes a partition, the offset of the first record, and all records.
        undelivered: see engine.Engine.
    """

    def __init__(self, append: Callable[[int, int, Sequence[Record]], None], undelivered: Callable[[], int]) -> None:
        self._append = append
        self._undelivered = undelivered

    def append(self, partition: int, first: int, records: Records) -> int:
        self._append(partition, first, [*records])
        return len(records)

    def settle(self) -> int:
        return self._undelivered()

    def close(self) -> None:
        pass


class _Emitted:
    """A feeder.Appender that records what another one has taken."""

    def __init__(self, appender: Appender, recorder: Recorder, subtask: str) -> None:
        self._appender = appender
        self._recorder = recorder
        self._subtask = subtask

    def append(self, partition: int, first: int, records: Records) -> int:
        taken = self._appender.append(partition, first, records)
        if taken:
            emitted = SourceEmitted(
                subtask=self._subtask, partition=partition, first_offset=first, next_offset=first + taken
            )
            self._recorder.record(SOURCE, emitted)
        return taken

    def settle(self) -> int:
        return self._appender.settle()

    def close(self) -> None:
        self._appender.close()
