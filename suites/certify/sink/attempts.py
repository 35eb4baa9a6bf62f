"""Attempts of a job that writes to a sink: their objects, and what they promise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from holdfast.harness.spi.sink import Committable, Row, Sink, SinkWriter
from holdfast.suites.certify.check import Violation, excerpt
from holdfast.suites.certify.sink.place import Place

MOST_CONTENT = 64 << 10
"""Of bytes, of a committable: more are not some kilobytes."""
SHOWN = 8
"""Rows of a write that a step shows."""


class Promise(NamedTuple):
    """What one `prepare` returned, with the rows that it stands for, and the attempt and subtask whose they are."""

    committables: tuple[Committable, ...]
    rows: tuple[Row, ...]
    attempt: int
    subtask: int


class Attempt:
    """One attempt's sink objects: one for the coordinator, and one for each subtask or for all of them.

    Attributes:
        number: from 1.
        sink: of the coordinator.
        sinks: those of the subtasks.
        writers: by subtask.
        unprepared: by subtask, rows since its last `prepare`.
        writes: whether its writers are not closed.
        living: whether it has not ended.
    """

    def __init__(self, place: Place, job: str, operator: str, number: int) -> None:
        self.place = place
        self.job = job
        self.operator = operator
        self.number = number
        self.sink: Sink = self._made()
        self.sinks: list[Sink] = []
        self.writers: list[SinkWriter] = []
        self.unprepared: list[list[Row]] = []
        self.newest_checkpoint = 0
        self.writes = self.living = True
        self._another: Sink | None = None

    def close_writers(self) -> None:
        """They are not called any more."""
        self.writes = False
        for writer in self.writers:
            writer.close()

    def another_sink(self) -> Sink:
        """One more object of this attempt; the one that was made so before is closed."""
        self._close_another()
        self._another = self._made()
        return self._another

    def end(self) -> None:
        """Its processes end, and nobody calls its objects any more."""
        self._close_another()
        self.place.release(self.writers, [*dict.fromkeys(self.sinks), *([self.sink] if self.living else ())])
        self.writes = self.living = False
        self.sinks.clear()
        self.writers.clear()

    def _made(self) -> Sink:
        return self.place.sink(self.job, self.number, self.operator)

    def _close_another(self) -> None:
        if self._another is not None:
            self.place.release([], [self._another])
            self._another = None

    def deploy(self, parallelism: int, *, in_one: bool = False) -> None:
        """Make the writers, each as in a process of its own, or all of them as in one."""
        for _ in range(parallelism):
            self.sinks.append(self.sinks[0] if in_one and self.sinks else self._made())
        for subtask, sink in enumerate(self.sinks):
            self.writers.append(sink.writer(subtask, now_ms=self.place.now_ms))
            self.unprepared.append([])

    def write(self, subtask: int, rows: Sequence[Row]) -> None:
        self.place.step(f"attempt {self.number}, subtask {subtask}: write {_shown(rows)}")
        self.writers[subtask].write(rows, now_ms=self.place.now_ms)
        self.unprepared[subtask].extend(rows)

    def prepare(self, subtask: int, checkpoint: int, *, late: bool = False) -> Promise:
        """Call the first phase of a commit, and check what it returns.

        Args:
            subtask: which prepares.
            checkpoint: for which.
            late: the attempt is over, so that it need not return a committable.

        Raises:
            Violation: TPC-01: it returns no committable, or one that no checkpoint can store.
        """
        self.place.step(f"attempt {self.number}, subtask {subtask}: prepare({checkpoint})")
        self.newest_checkpoint = max(checkpoint, self.newest_checkpoint)
        committables = tuple(self.writers[subtask].prepare(checkpoint, now_ms=self.place.now_ms))
        rows, self.unprepared[subtask] = tuple(self.unprepared[subtask]), []
        if self.place.two_phase and rows and not committables and not late:
            raise Violation("TPC-01", f"prepare() returned nothing for {len(rows)} rows.")
        for each in committables:
            if each.version != (right := self.place.description.committable_version):
                raise Violation(
                    "TPC-05", f"prepare() returned a committable of version {each.version}; {right} is right."
                )
            if len(each.content) > MOST_CONTENT:
                raise Violation("TPC-01", f"a committable has {len(each.content)} bytes; some kilobytes are right.")
        return Promise(committables, rows, self.number, subtask)


def _shown(rows: Sequence[Row]) -> str:
    more = f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
    return f"{excerpt([row.value for row in rows[:SHOWN]])}{more}"
