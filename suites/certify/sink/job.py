"""A job as its sink sees it: attempts, subtasks, checkpoints and their committables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from holdfast.harness.spi.errors import Transient
from holdfast.harness.spi.sink import Committable, Outcome, OutcomeKind, Row, Sink, SinkWriter
from holdfast.suites.certify.check import Violation

if TYPE_CHECKING:
    from holdfast.suites.certify.sink.bench import Bench

DONE = frozenset({OutcomeKind.COMMITTED, OutcomeKind.ALREADY})
MOST_CALLS = 20
"""How often a call that raises Transient, or a commit that says RETRY, is repeated."""


class Promise(NamedTuple):
    """What one `prepare` returned, with the rows that it stands for."""

    committables: tuple[Committable, ...]
    rows: tuple[Row, ...]


class Attempt:
    """One attempt's sink objects: one for the coordinator, one for each subtask.

    Attributes:
        number: from 1.
        sink: of the coordinator.
        writers: by subtask.
        unprepared: by subtask, rows since its last `prepare`.
    """

    def __init__(self, bench: Bench, job: str, operator: str, number: int) -> None:
        self.bench = bench
        self.job = job
        self.operator = operator
        self.number = number
        self.sink: Sink = bench.sink(job, number, operator)
        self.writers: list[SinkWriter] = []
        self.unprepared: list[list[Row]] = []

    def deploy(self, parallelism: int) -> None:
        """Make the writers, each as in a process of its own."""
        for subtask in range(parallelism):
            sink = self.bench.sink(self.job, self.number, self.operator)
            self.writers.append(sink.writer(subtask, now_ms=self.bench.now_ms))
            self.unprepared.append([])

    def write(self, subtask: int, rows: Sequence[Row]) -> None:
        self.bench.step(f"attempt {self.number}, subtask {subtask}: write {[row.value for row in rows]}")
        self.writers[subtask].write(rows, now_ms=self.bench.now_ms)
        self.unprepared[subtask].extend(rows)

    def prepare(self, subtask: int, checkpoint: int) -> Promise:
        self.bench.step(f"attempt {self.number}, subtask {subtask}: prepare({checkpoint})")
        committables = tuple(self.writers[subtask].prepare(checkpoint, now_ms=self.bench.now_ms))
        rows, self.unprepared[subtask] = tuple(self.unprepared[subtask]), []
        if self.bench.two_phase and rows and not committables:
            raise Violation("TPC-01", f"prepare() returned nothing for {len(rows)} rows.")
        return Promise(committables, rows)


class Job:
    """One job. What it wrote and did not complete is written again by whoever drives it, or never.

    Attributes:
        name: of the job.
        operator: whose sink it is.
        attempt: the newest.
        dead: earlier attempts; their objects still work, as those of a process that was paused do.
        pending: promises that no completed checkpoint holds, by checkpoint.
        completed: promises of the newest completed checkpoint that are not known to be committed.
        owed: rows that are visible.
        in_doubt: rows that may be visible.
        table: by key, values that may be there; the last one is right in the end.
    """

    def __init__(self, bench: Bench, name: str, operator: str, first_attempt: int) -> None:
        self.bench = bench
        self.name = name
        self.operator = operator
        self.dead: list[Attempt] = []
        self.pending: dict[int, list[Promise]] = {}
        self.completed: list[Promise] = []
        self.owed: Counter[Row] = Counter()
        self.in_doubt: Counter[Row] = Counter()
        self.table: dict[bytes, list[bytes | None]] = {}
        self.parallelism = 0
        self._checkpoint = 0
        self._row = 0
        self._first_attempt = first_attempt

    # ---------------------------------------------------------------- attempts
    def start(self, parallelism: int) -> None:
        """The first attempt, or the next one from the newest completed checkpoint, with any parallelism."""
        number = len(self.dead) + self._first_attempt
        self.bench.step(f"{self.name}: attempt {number} with {parallelism} subtasks")
        self.parallelism = parallelism
        self.attempt = Attempt(self.bench, self.name, self.operator, number)
        restored = [each for promise in self.completed for each in promise.committables]
        for _ in range(MOST_CALLS):
            with suppress(Transient):
                self.attempt.sink.begin(restored, now_ms=self.bench.now_ms)
                break
        self.commit()
        self.attempt.deploy(parallelism)

    def crash(self) -> None:
        """The attempt is dead, and what no completed checkpoint holds with it."""
        self.bench.step(f"{self.name}: attempt {self.attempt.number} dies")
        self.dead.append(self.attempt)
        self.pending.clear()

    def restart(self, parallelism: int | None = None) -> None:
        """Die, and begin again."""
        self.crash()
        self.start(parallelism or self.parallelism)
        self.bench.hit("restarted")

    @property
    def all_writers(self) -> list[SinkWriter]:
        """Of all attempts."""
        return [writer for attempt in (*self.dead, self.attempt) for writer in attempt.writers]

    # ---------------------------------------------------------------- rows and checkpoints
    def row(self, key: bytes | None = None) -> Row:
        """A row that no other is like."""
        self._row += 1
        name = f"{self.name}/{self.operator}/{self._row}".encode()
        return Row(name if key is None else key, name)

    def write(self, subtask: int = 0, count: int = 2, key: bytes | None = None) -> list[Row]:
        """New rows of a subtask; they are not visible."""
        rows = [self.row(key) for _ in range(count)]
        self.rewrite(rows, subtask)
        return rows

    def rewrite(self, rows: Sequence[Row], subtask: int = 0) -> None:
        """These rows of a subtask; without a second phase they may be visible from now on."""
        if not self.bench.two_phase:
            self.in_doubt.update(rows)
            for row in rows:
                self.table.setdefault(row.key, [None]).append(row.value)
        self.attempt.write(subtask, rows)

    def prepare(self) -> int:
        """All subtasks prepare; returns the checkpoint, which is pending."""
        self._checkpoint += 1
        promises: list[Promise] = []
        for subtask in range(self.parallelism):
            promises.append(self.attempt.prepare(subtask, self._checkpoint))
            self._kept(promises[-1])
        self.pending[self._checkpoint] = promises
        return self._checkpoint

    def _kept(self, promise: Promise) -> None:
        """Without a second phase they are."""
        if not self.bench.two_phase:
            self.owed.update(promise.rows)
            for row in promise.rows:
                self.table[row.key] = [row.value]

    def complete(self, checkpoint: int) -> None:
        """It completes, and with it goes what was prepared for earlier ones (TPC-03)."""
        self.bench.step(f"{self.name}: checkpoint {checkpoint} completes")
        for earlier in sorted(self.pending):
            if earlier <= checkpoint:
                self.completed += self.pending.pop(earlier)

    def abort(self, checkpoint: int) -> None:
        """It fails. What was prepared for it waits for the next one."""
        self.bench.step(f"{self.name}: checkpoint {checkpoint} is aborted")

    def commit(self) -> None:
        """The notice of the newest completed checkpoint: commit until it is decided.

        Raises:
            Violation: TPC-05: an outcome is missing, FAILED, or RETRY for ever.
        """
        for promise in self.completed:
            self.in_doubt.update(promise.rows)
        for _ in range(MOST_CALLS):
            try:
                outcomes = self.commit_once(self.completed)
            except Transient as error:
                self.bench.step(f"    {error}")
                continue
            if all(each.kind in DONE for each in outcomes):
                break
            lost = [each for each in outcomes if each.kind is OutcomeKind.FAILED]
            if lost:
                raise Violation(self.bench.rule, f"commit failed: {lost[0].reason}")
        else:
            raise Violation(self.bench.rule, f"commit was repeated {MOST_CALLS} times and is still undecided.")
        self.settle()

    def settle(self) -> None:
        """What the newest completed checkpoint holds is committed."""
        for promise in self.completed:
            self.in_doubt.subtract(promise.rows)
            self.owed.update(promise.rows)
        self.in_doubt = +self.in_doubt
        self.completed = []

    def forget(self, promises: Sequence[Promise]) -> None:
        """Nobody knows any more that these were committed: the next attempt goes on from them."""
        self.bench.step(f"{self.name}: the record of {len(promises)} commits is lost")
        self.completed = list(promises)
        for promise in promises:
            self.owed.subtract(promise.rows)

    def commit_once(self, promises: Sequence[Promise], attempt: Attempt | None = None) -> Sequence[Outcome]:
        """One call with the committables of some promises; each outcome belongs to one of them."""
        committables = [each for promise in promises for each in promise.committables]
        if not committables:
            return ()
        by = attempt or self.attempt
        self.bench.step(f"attempt {by.number}: commit {len(committables)}")
        outcomes = by.sink.commit(committables, now_ms=self.bench.now_ms)
        if len(outcomes) != len(committables):
            raise Violation("TPC-05", f"commit() of {len(committables)} returned {len(outcomes)} outcomes.")
        self.bench.step(f"    {', '.join(each.kind for each in outcomes)}")
        return outcomes

    def checkpoint(self) -> int:
        """All of one: prepare, complete, commit."""
        checkpoint = self.prepare()
        self.complete(checkpoint)
        self.commit()
        return checkpoint
