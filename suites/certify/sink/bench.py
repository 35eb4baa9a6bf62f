"""Where a check takes place: a place to write to, a clock, and somebody who reads what is visible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from itertools import zip_longest
from typing import NamedTuple

from holdfast.harness.engine.artefacts.temporary_folder import TemporaryFolder
from holdfast.harness.spi.errors import Transient
from holdfast.harness.spi.sink import (
    Committable,
    Outcome,
    OutcomeKind,
    Row,
    Sink,
    SinkContext,
    SinkFactory,
    SinkFlag,
    SinkWriter,
)
from holdfast.suites.certify.answers import Answers
from holdfast.suites.certify.check import CannotTry, Violation
from holdfast.suites.certify.closing import raised_by_closing
from holdfast.suites.certify.connected import HERE, Connected, folder_of
from holdfast.suites.certify.excerpt import excerpt, unlike
from holdfast.suites.certify.fault_points import FaultPoints
from holdfast.suites.certify.outside import sink_performer
from holdfast.suites.certify.outside.sink_performer import OPERATOR
from holdfast.suites.certify.outside.telling import Setting
from holdfast.suites.certify.outside.victims import Victims
from holdfast.suites.certify.sink.readers import READERS

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
        self.bench.step(f"attempt {self.number}, subtask {subtask}: write {excerpt([row.value for row in rows])}")
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
    def start(self, parallelism: int, *, skipped: int = 0) -> None:
        """The first attempt, or the next one from the newest completed checkpoint.

        Args:
            parallelism: number of writers, any.
            skipped: so many attempts in between never begin.
        """
        self._first_attempt += skipped
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

    def restart(self, parallelism: int | None = None, *, skipped: int = 0) -> None:
        """Die, and begin again."""
        self.crash()
        self.start(parallelism or self.parallelism, skipped=skipped)
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
        if self.bench.two_phase:  # A row is doubted once, however often it is committed, and by how many attempts.
            self.in_doubt.clear()
        self.doubt(self.completed)
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

    def doubt(self, promises: Sequence[Promise]) -> None:
        """These are being committed: their rows may be visible from now on."""
        for promise in promises:
            self.in_doubt.update(promise.rows)
            for row in promise.rows:
                self.table.setdefault(row.key, [None]).append(row.value)

    def settle(self) -> None:
        """What the newest completed checkpoint holds is committed."""
        for promise in self.completed:
            self.in_doubt.subtract(promise.rows)
            self.owed.update(promise.rows)
            self.table.update({row.key: [row.value] for row in promise.rows})
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


class Bench:
    """One check's own world; no other check sees anything of it.

    Attributes:
        factory: makes the sinks.
        rule: that is broken where what is visible differs from the model.
        seed: of random programs.
        connected: where all of this takes place, in `uri`.
        description, flags: what a sink declares.
        points: fault points of every sink.
        now_ms: what time it is.
        steps: what was done so far: the witness.
        windows: what was met, by name.
        answers: of all sinks.
        jobs: all of them.
    """

    def __init__(self, factory: SinkFactory, rule: str, seed: int = 0, connected: Connected = HERE) -> None:
        self.factory = factory
        self.rule = rule
        self.seed = seed
        self.connected = connected
        self.points = FaultPoints()
        self.answers = Answers(rule)
        self.now_ms = 1_000_000
        self.steps: list[str] = []
        self.windows: Counter[str] = Counter()
        self.jobs: list[Job] = []
        self._disk = TemporaryFolder()
        self.uri = connected.place(str(self._disk.path))
        self._sinks: list[Sink] = []
        self._victims: Victims | None = None
        try:
            self.observer = self.sink("observer", 1)
            self.description = self.observer.describe()
        except BaseException:
            self.close()
            raise
        self.flags = self.description.flags
        self._others = None if self.description.committed_reader else self.observer.committed_reader()

    def sink(self, job: str, attempt: int, operator: str = OPERATOR) -> Sink:
        """Another sink object of an attempt; it is closed at the end of the check."""
        context = SinkContext(
            uri=self.uri,
            job=job,
            operator=operator,
            attempt=attempt,
            options=self.connected.options,
            arrive=self.points.arrive,
        )
        made = self.answers.made(self.factory, Sink, context)
        self._sinks.append(made)
        return made

    def job(self, name: str = "job", parallelism: int = 2, *, operator: str = OPERATOR, first_attempt: int = 1) -> Job:
        """A job that begins, with any attempt: those before it got nowhere."""
        job = Job(self, name, operator, first_attempt)
        self.jobs.append(job)
        job.start(parallelism)
        return job

    def elsewhere(self, job: str) -> Victims:
        """Other processes, in which a job goes on.

        Raises:
            CannotTry: they find no factory.
        """
        name = sink_performer.CONTRACT.name_of(self.factory)
        if not name:
            raise CannotTry("another process cannot import its factory: give it as module:name")
        setting = Setting(sink_performer.__name__, name, self.uri, job, self.connected.options)
        self._victims = Victims(setting, self.rule)
        return self._victims

    @property
    def two_phase(self) -> bool:
        """Whether rows wait for a commit."""
        return SinkFlag.TWO_PHASE in self.flags

    # ---------------------------------------------------------------- what is visible
    def rows(self) -> Sequence[Row]:
        """All visible rows, by our own reader where we know the format."""
        if self._others is not None:
            return self._others.rows()
        return READERS[self.description.committed_reader](folder_of(self.uri))

    def check(self) -> None:
        """What is visible is what the jobs may show.

        Raises:
            Violation: of the bench's rule.
        """
        seen = Counter(self.rows())
        if SinkFlag.UPSERT in self.flags:
            self._check_table(seen)
            return
        owed: Counter[Row] = sum((job.owed for job in self.jobs), Counter())
        allowed: Counter[Row] = owed + sum((job.in_doubt for job in self.jobs), Counter())
        if not self.two_phase:
            owed = Counter(owed.keys())
            allowed = Counter({row: max(count, seen[row]) for row, count in allowed.items()})
        if missing := owed - seen:
            raise Violation(self.rule, f"{_first(missing)} is not visible; {missing.total()} rows are missing.")
        if extra := seen - allowed:
            row = min(extra)
            times = f"visible {seen[row]} times; {allowed[row]} is right"
            raise Violation(self.rule, f"{_first(extra)} is {times}.")

    def check_order(self, key: bytes, written: Sequence[Row]) -> None:
        """The visible rows of a key are those of one writer in its order; where they replace each other, the last one.

        Raises:
            Violation: of the bench's rule.
        """
        right = written[-1:] if SinkFlag.UPSERT in self.flags else written
        for place, (seen, row) in enumerate(zip_longest((each for each in self.rows() if each.key == key), right)):
            if seen != row:
                shown, value = unlike(*(None if each is None else each.value for each in (seen, row)))
                raise Violation(self.rule, f"row {place} of a key is {shown}; {value} is right.")

    def _check_table(self, seen: Counter[Row]) -> None:
        keys = Counter(row.key for row in seen.elements())
        for key, count in keys.items():
            if count > 1:
                raise Violation(self.rule, f"key {key!r} is there {count} times; once is right.")
        table = {row.key: row.value for row in seen}
        for job in self.jobs:
            for key, right in job.table.items():
                if table.get(key) not in right:
                    shown, value = unlike(table.get(key), right[-1])
                    raise Violation(self.rule, f"key {key!r} has {shown}; {value} is right.")
        if strange := table.keys() - {key for job in self.jobs for key in job.table}:
            raise Violation(self.rule, f"key {min(strange)!r} is there, and none is right.")

    def check_unfinished(self, job: Job, least: int = 0) -> None:
        """Nothing of the job is left open or prepared but so much; where the reader cannot know it, nothing is said.

        Raises:
            Violation: of the bench's rule.
        """
        left = (self._others or self.observer.committed_reader()).unfinished(job.name)
        if left is not None:
            self.hit("counted-unfinished")
            if left > least:
                raise Violation(self.rule, f"{left} transactions of dead attempts are left; {least} is right.")

    # ---------------------------------------------------------------- what happened
    def step(self, step: str) -> None:
        self.steps.append(step)

    def hit(self, window: str) -> None:
        """A window was met."""
        self.windows[window] += 1

    def close(self) -> list[Exception]:
        """Free everything; what sinks raised when they were closed."""
        self.points.disarm()
        closables: list[SinkWriter | Sink] = [writer for job in self.jobs for writer in job.all_writers]
        try:
            if self._victims is not None:
                self._victims.close()
            return raised_by_closing([*closables, *self._sinks], times=2)
        finally:  # Though one of them may never return.
            self._disk.cleanup()


def changed(committable: Committable, *, version: int | None = None, content: bytes | None = None) -> Committable:
    """A committable of another version, or of other content."""
    return Committable(
        committable.version if version is None else version, committable.content if content is None else content
    )


def _first(rows: Counter[Row]) -> str:
    row = min(rows)
    return f"row {excerpt(row.key)}: {excerpt(row.value)}"
