"""Of the calls of a drawn program, those that write rows."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.harness.spi.sink import Row, SinkFlag
from holdfast.suites.certify.programs import LENGTHS, MOST_BYTES, SHORT, filled, text
from holdfast.suites.certify.sink.bench import Bench
from holdfast.suites.certify.sink.jobs import Job

MOST_ROWS, MOST_TRANSACTIONS, MOST_VALUES = 13_000, 1_100, 4 << 20
"""Of one program: what is more is left out."""


class RowCalls:
    """
    Args:
        bench: of one program alone.
        rows: of a large write.
    """

    def __init__(self, bench: Bench, rows: int) -> None:
        self.bench = bench
        self.many_rows = rows
        self.jobs: list[Job] = []
        self.written: dict[str, list[Row]] = {}
        self.left_rows, self.left_transactions, self.left_values = MOST_ROWS, MOST_TRANSACTIONS, MOST_VALUES

    def check(self) -> None:
        """What is visible is right."""
        self.bench.check()

    def write(self, job: Job, subtask: int, count: int, kind: int) -> None:
        """Some new rows."""
        rows = [job.row(self._key(job, subtask, kind // 8) if kind % 4 == 0 else None) for _ in range(1 + count % 3)]
        self._write(job, subtask, rows)

    def rewrite(self, job: Job, subtask: int, which: int, count: int) -> None:
        """Rows that were written before, by anybody."""
        if before := self.written.get(job.id):
            rows = before[which % len(before) :][: 1 + count % 3]
            self._write(job, subtask, [row for row in rows if self._free(job, subtask, row.key)])

    def keyed(self, job: Job, subtask: int, key: int, count: int) -> None:
        """Rows of few keys."""
        self._write(job, subtask, [job.row(self._key(job, subtask, key)) for _ in range(1 + count % 4)])

    def awkward(self, job: Job, subtask: int, key: int, value: int) -> None:
        """Bytes that mean something elsewhere, short and repeated."""
        times = (1, 1, 1, 20)[value % 4]
        row = Row(self._own(job, text(key)), text(value // 4) * times)
        rows = [row, Row(self._own(job, text(key + 1)), text(value // 4 + 1)), row]
        self._write(job, subtask, [each for each in rows if self._free(job, subtask, each.key)])

    def long(self, job: Job, subtask: int, length: int, how: int) -> None:
        """Long rows between short ones, of one key, and one of another; the keys begin alike."""
        lengths = [LENGTHS[(length + number * how) % len(LENGTHS)] for number in range(3)]
        if self.bench.connected.location:
            lengths = [min(each, MOST_BYTES) for each in lengths]
        start = filled(b"", LENGTHS[how // 4 % SHORT])
        key, another = (start + self._key(job, subtask, how // 8 + number) for number in range(2))
        rows = [
            row._replace(value=filled(row.value + b"/", each)) for row, each in ((job.row(key), n) for n in lengths)
        ]
        rows += [job.row(key), job.row(another)]
        self._write(job, subtask, [row for row in rows if self._free(job, subtask, row.key)], apart=how % 2 == 0)

    def large(self, job: Job, subtask: int, key: int, how: int) -> None:
        """More rows than a buffer has room for, in many writes or in one."""
        count = self.many_rows if self.many_rows <= self.left_rows else 3
        of = self._key(job, subtask, key) if key % 2 else None
        rows = [job.row(of) for _ in range(count)]
        rows += [job.row(row.key) for row in rows[:2]]  # Far behind the ones that they replace.
        if how % 3 == 1:
            rows = [row._replace(value=filled(row.value + b"/", 300)) for row in rows]
        pieces = (1, 60, 7)[how % 3]
        for start in range(0, len(rows), size := -(-len(rows) // pieces)):
            self._write(job, subtask, rows[start : start + size])

    def large_keyed(self, job: Job, subtask: int, how: int, _: int) -> None:
        """Of one key, in one transaction."""
        self.large(job, subtask, 1, how)
        self.check()
        job.checkpoint()

    def in_turn(self, job: Job, subtask: int, turns: int, how: int) -> None:
        """Two writers replace each other's rows of a key, each time by the same ones; an attempt may die between."""
        first = job.row()
        rows = (first, job.row(first.key))
        for turn in range(3 + turns % 3):
            self._write(job, subtask + turn % 2, [rows[turn % 2]])
            self.left_transactions -= job.parallelism
            job.checkpoint()
            self.check()
            if how % 8 == turn:
                job.restart()

    def _write(self, job: Job, subtask: int, rows: Sequence[Row], *, apart: bool = False) -> None:
        size = sum(len(row.key) + len(row.value) for row in rows)
        if not rows or len(rows) > self.left_rows or size > self.left_values:
            return
        self.left_rows -= len(rows)
        self.left_values -= size
        self.written.setdefault(job.id, []).extend(row for row in rows[:8] if len(row.value) < 300)
        for some in [[row] for row in rows] if apart else [rows]:
            job.rewrite(some, subtask % job.parallelism)

    def _key(self, job: Job, subtask: int, number: int) -> bytes:
        """One of few keys; of another subtask's, only what that one has committed."""
        key = self._own(job, b"key-%d" % (number % 3))
        return key if self._free(job, subtask, key) else b"%s/%d" % (key, subtask % job.parallelism)

    def _own(self, job: Job, key: bytes) -> bytes:
        """A key of this job alone, where rows of a key replace each other."""
        return key if job is self.jobs[0] or SinkFlag.UPSERT not in self.bench.flags else f"{job.id}/".encode() + key

    def _free(self, job: Job, subtask: int, key: bytes) -> bool:
        """Whether no other writer has rows of a key that are not committed: whose come last would not be said."""
        subtask %= job.parallelism
        waiting = [*job.completed, *job.unknown, *(each for promises in job.pending.values() for each in promises)]
        if not self.bench.two_phase:
            waiting = []
        writer = (job.attempt.number, subtask)
        theirs = [each.rows for each in waiting if (each.attempt, each.subtask) != writer]
        theirs += [tuple(rows) for other, rows in enumerate(job.attempt.unprepared) if other != subtask]
        return all(row.key != key for rows in theirs for row in rows)
