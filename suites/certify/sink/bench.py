"""Where a check takes place: a place to write to, a clock, and somebody who reads what is visible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest

from holdfast.harness.engine.artefacts.temporary_folder import TemporaryFolder
from holdfast.harness.spi.sink import Committable, Row, Sink, SinkContext, SinkFactory, SinkFlag, SinkWriter
from holdfast.suites.certify.answers import Answers
from holdfast.suites.certify.check import CannotTry, Violation
from holdfast.suites.certify.closing import raised_by_closing
from holdfast.suites.certify.connected import HERE, Connected, folder_of
from holdfast.suites.certify.excerpt import unlike
from holdfast.suites.certify.fault_points import FaultPoints
from holdfast.suites.certify.outside import sink_performer
from holdfast.suites.certify.outside.sink_performer import OPERATOR
from holdfast.suites.certify.outside.telling import Setting
from holdfast.suites.certify.outside.victims import Victims
from holdfast.suites.certify.sink.job import Job
from holdfast.suites.certify.sink.readers import READERS


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
        for row, count in seen.items():
            same = [each for each in seen if each.key == row.key]
            if count > 1 or len(same) > 1:
                raise Violation(self.rule, f"key {row.key!r} is there {max(count, len(same))} times; once is right.")
        table = {row.key: row.value for row in seen}
        for job in self.jobs:
            for key, right in job.table.items():
                if table.get(key) not in right:
                    shown, value = unlike(table.get(key), right[-1])
                    raise Violation(self.rule, f"key {key!r} has {shown}; {value} is right.")

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
    return f"row {row.key!r}: {row.value!r}"
