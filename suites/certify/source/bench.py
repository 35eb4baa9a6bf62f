"""Where a check takes place: input that the kit writes, and jobs that read it."""

from __future__ import annotations

from collections import Counter

from holdfast.fixtures.feeders import FEEDERS
from holdfast.harness.engine.artefacts.temporary_folder import TemporaryFolder
from holdfast.harness.spi.source import Source, SourceContext, SourceFactory, SourceFlag
from holdfast.suites.certify.answers import Answers
from holdfast.suites.certify.check import CannotTry
from holdfast.suites.certify.closing import raised_by_closing
from holdfast.suites.certify.connected import HERE, Connected, folder_of
from holdfast.suites.certify.fault_points import FaultPoints
from holdfast.suites.certify.source.job import Job, Record


class Bench:
    """One check's own world; no other check sees anything of it.

    Attributes:
        factory: makes the sources.
        rule: that is broken where what is read differs from what was written.
        seed: of random programs.
        connected: where all of this takes place, in `uri`.
        description, flags: what a source declares.
        points: fault points of every source.
        now_ms: what time it is.
        steps: what was done so far: the witness.
        windows: what was met, by name.
        answers: of all sources.
        blocks: what was written, each in one call, in order.
        late: blocks that a bounded job must not read, because they came when it had begun.
    """

    def __init__(self, factory: SourceFactory, rule: str, seed: int = 0, connected: Connected = HERE) -> None:
        self.factory = factory
        self.rule = rule
        self.seed = seed
        self.connected = connected
        self.points = FaultPoints()
        self.answers = Answers(rule)
        self.now_ms = 1_000_000
        self.steps: list[str] = []
        self.windows: Counter[str] = Counter()
        self.blocks: list[list[Record]] = []
        self.late: list[list[Record]] = []
        self.jobs: list[Job] = []
        self._partition_ms: dict[int, int] = {}
        self._disk = TemporaryFolder()
        self.uri = connected.place(str(self._disk.path))
        try:
            source = self.source("observer", 1)
            self.description = source.describe()
            known = FEEDERS.get(self.description.feeder)
            self.feeder = known(folder_of(self.uri)) if known else source.feeder()
        except BaseException:
            self._disk.cleanup()
            raise
        self.flags = self.description.flags

    def source(self, job: str, attempt: int, *, bounded: bool = False) -> Source:
        """Another source object of an attempt."""
        context = SourceContext(
            uri=self.uri,
            job=job,
            operator="source",
            attempt=attempt,
            options=self.connected.options,
            bounded=bounded,
            arrive=self.points.arrive,
        )
        return self.answers.made(self.factory, Source, context)

    def feed(self, partition: int, count: int = 5, length: int = 0) -> list[Record]:
        """Write records of a partition, which no others are like, each of at least so many bytes. Of two neighbours the
        later one comes first; those of each call are later than those of the call before it."""
        first_ms = self._partition_ms.get(partition, 1_000 * partition)
        start = sum(map(len, (*self.blocks, *self.late)))
        turns = (number ^ 1 if number ^ 1 < count else number for number in range(count))
        block = [
            (f"record {start + number}".encode().ljust(length, b"."), first_ms + 10 * turn)
            for number, turn in enumerate(turns)
        ]
        self._partition_ms[partition] = first_ms + 10 * count
        self.step(f"write {count} records of partition {partition}, from {start}")
        self.write(partition, block)
        return block

    def feed_too_late(self, partition: int) -> None:
        """Write records of a partition that a bounded job must not read."""
        self.feed(partition)
        self.late.append(self.blocks.pop())
        self.hit("too-late")

    def write(self, partition: int, block: list[Record]) -> None:
        """Write these records of a partition in one call."""
        self.feeder.append(partition, block)
        self.blocks.append(block)

    def job(self, parallelism: int = 2, *, bounded: bool | None = None) -> Job:
        """A job that begins; bounded, where nothing else is said and the source can do nothing else."""
        if bounded is None:
            bounded = SourceFlag.UNBOUNDED not in self.flags
        if bounded and SourceFlag.BOUNDED not in self.flags:
            raise CannotTry("it does not declare bounded")
        if not bounded and SourceFlag.UNBOUNDED not in self.flags:
            raise CannotTry("it does not declare unbounded")
        job = Job(self, f"job-{len(self.jobs)}", bounded=bounded)
        self.jobs.append(job)
        job.start(parallelism)
        return job

    # ---------------------------------------------------------------- what happened
    def step(self, step: str) -> None:
        self.steps.append(step)

    def hit(self, window: str) -> None:
        """A window was met."""
        self.windows[window] += 1

    def close(self) -> list[Exception]:
        """Free everything; what was raised by what was closed."""
        self.points.disarm()
        try:
            return raised_by_closing([*(part for job in self.jobs for part in job.parts), self.feeder], times=2)
        finally:  # Though one of them may never return.
            self._disk.cleanup()
