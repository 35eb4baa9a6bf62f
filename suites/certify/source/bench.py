"""Where a check takes place: input that the kit writes, and jobs that read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from holdfast.fixtures.feeders import FEEDERS
from holdfast.harness.lease import Lease
from holdfast.harness.spi.errors import Transient
from holdfast.harness.spi.source import (
    EnumeratorState,
    ReaderStatus,
    Source,
    SourceContext,
    SourceFactory,
    SourceFlag,
    SourceReader,
    SourceRecord,
    SourceSplit,
    SplitEnumerator,
)
from holdfast.suites.certify.answers import Answers
from holdfast.suites.certify.check import CannotTry, Violation, raised_by_closing
from holdfast.suites.certify.connector_kit import HERE, Connected, FaultPoints, folder_of

Record = tuple[bytes, int]
SHOWN_BYTES = 80
MOST_POLLS = 1_000
"""Of all readers, until there is nothing more, beside two for each record: a poll may return one, or none."""


def _shown(value: bytes) -> str:
    """A value in a sentence."""
    left_out = len(value) - SHOWN_BYTES
    return f"{value[:SHOWN_BYTES]!r}{f' and {left_out} more bytes' if left_out > 0 else ''}"


class Closable(Protocol):
    """Enumerators, readers, feeders."""

    def close(self) -> None: ...


class Checkpoint(NamedTuple):
    """What a completed checkpoint holds.

    Attributes:
        number: from 1.
        enumerator: its state.
        splits: of all readers, by subtask.
        read: what the job had read.
        known: ids of all splits that had been handed out.
    """

    number: int
    enumerator: EnumeratorState
    splits: tuple[tuple[SourceSplit, ...], ...]
    read: tuple[SourceRecord, ...]
    known: frozenset[str]


class Job:
    """One job.

    Attributes:
        name: of the job.
        read: what it has read, in order of the polls.
        readers: by subtask.
        handed_out: by subtask, splits since the last checkpoint, as the enumerator gave them.
        known: ids of all splits that were handed out, and not given back.
        ended: subtasks whose readers are at their ends.
        completed: the newest checkpoint.
        parts: readers and enumerators of the newest attempt, which are to be closed.
        over: those of the attempt before it, which may still be called, as those of a process that was paused.
    """

    def __init__(self, bench: Bench, name: str, *, bounded: bool, latest: bool = False) -> None:
        self.bench = bench
        self.name = name
        self.bounded = bounded
        self.latest = latest
        self.attempt = 0
        self.read: list[SourceRecord] = []
        self.readers: list[SourceReader] = []
        self.handed_out: list[list[SourceSplit]] = []
        self.known: set[str] = set()
        self.ended: set[int] = set()
        self.completed: Checkpoint | None = None
        self.parts: list[Closable] = []
        self.over: list[Closable] = []
        self.enumerator: SplitEnumerator

    # ---------------------------------------------------------------- attempts
    def start(self, parallelism: int, *, shift: int = 0) -> None:
        """The first attempt, or the next one from the newest checkpoint.

        Args:
            parallelism: number of readers, any.
            shift: how far the restored splits move from reader to reader.
        """
        self.attempt += 1
        self.bench.release(self.over)
        self.over, self.parts = self.parts, []
        self.bench.step(f"attempt {self.attempt} with {parallelism} readers")
        restored = self.completed
        self.read = list(restored.read) if restored else []
        self.known = set(restored.known) if restored else set()
        self.ended.clear()
        source = self.bench.source(self.name, self.attempt, bounded=self.bounded, latest=self.latest)
        self.enumerator = source.enumerator(restored.enumerator if restored else None)
        self.readers = [self.reader(subtask) for subtask in range(parallelism)]
        self.handed_out = [[] for _ in range(parallelism)]
        self.parts += [self.enumerator]
        splits = [split for own in restored.splits for split in own] if restored else []
        for number, split in enumerate(splits):
            self.readers[(number + shift) % parallelism].add([split])
        if restored:
            self.bench.hit("restored")

    def restart(self, parallelism: int | None = None, *, shift: int = 0) -> None:
        """All of it dies and begins again from the newest checkpoint, or from the beginning."""
        self.start(parallelism or len(self.readers), shift=shift)

    def end(self) -> None:
        """All of it ends: nothing of it is called any more."""
        self.bench.release([*self.over, *self.parts])
        self.over, self.parts = [], []

    def restart_reader(self, subtask: int) -> None:
        """One reader dies alone: what it had at the checkpoint comes back, and what it got since is given back.

        What it read since is rolled back with it; so that is known, no other reader polls in between.
        """
        self.bench.step(f"reader {subtask} dies alone")
        assert self.completed is not None
        self.read = list(self.completed.read)
        self.known -= {split.id for split in self.handed_out[subtask]}
        self.enumerator.give_back(self.handed_out[subtask])
        self.handed_out[subtask] = []
        self.readers[subtask] = self.reader(subtask)
        self.readers[subtask].add(self.completed.splits[subtask])
        self.bench.hit("reader-restarted")

    def reader(self, subtask: int) -> SourceReader:
        """Another reader of a subtask."""
        source = self.bench.source(self.name, self.attempt, bounded=self.bounded, latest=self.latest)
        reader = source.reader(subtask)
        self.parts.append(reader)
        return reader

    # ---------------------------------------------------------------- reading
    def hand_out(self, subtasks: Sequence[int] | None = None, meanwhile: Callable[[], object] = lambda: None) -> None:
        """The enumerator looks for splits, and readers get them.

        Args:
            subtasks: of readers that are there; None: all.
            meanwhile: happens when splits were handed out, before their readers have them.
        """
        subtasks = range(len(self.readers)) if subtasks is None else subtasks
        assigned = self.enumerator.assign(list(subtasks), now_ms=self.bench.now_ms)
        meanwhile()
        for subtask, splits in assigned.items():
            self.bench.step(f"reader {subtask} gets {[split.id for split in splits]}")
            if subtask not in subtasks:
                raise Violation(self.bench.rule, f"reader {subtask} gets a split, and is none of {list(subtasks)}.")
            self._require_unknown(splits)
            self.handed_out[subtask] += splits
            self.readers[subtask].add(splits)

    def _require_unknown(self, splits: Sequence[SourceSplit]) -> None:
        for split in splits:
            if split.id in self.known:
                once = "each is handed out once, and no other one has its id"
                raise Violation(self.bench.rule, f"split {split.id} was handed out twice; {once}.")
            self.known.add(split.id)

    def assign(self, subtasks: Sequence[int] | None = None) -> None:
        """The same, and readers hear when there are no more."""
        self.hand_out(subtasks)
        if self.enumerator.exhausted():
            for reader in self.readers:
                reader.no_more_splits()

    def poll(self, subtask: int, most: int) -> ReaderStatus:
        """One reader reads on."""
        batch = self.readers[subtask].poll(most, now_ms=self.bench.now_ms)
        self.bench.step(f"reader {subtask}: {[each.position for each in batch.records]}, {batch.status}")
        if len(batch.records) > most:
            raise Violation(self.bench.rule, f"poll({most}) returned {len(batch.records)} records.")
        if subtask in self.ended and (batch.records or batch.status is not ReaderStatus.END):
            raise Violation(self.bench.rule, f"reader {subtask} was at its end, and goes on.")
        if batch.status is ReaderStatus.END:
            self.ended.add(subtask)
        self.read += batch.records
        return batch.status

    def drain(self, most: int = 3) -> None:
        """Assign and read until nothing is there any more, in spite of errors that pass.

        Raises:
            Violation: there is more for ever.
        """
        for _ in range(MOST_POLLS + 2 * sum(map(len, self.bench.blocks))):
            try:
                self.assign()
                before = len(self.read)
                statuses = [self.poll(subtask, most) for subtask in range(len(self.readers))]
            except Transient as error:
                self.bench.step(f"    {error}")
                continue
            if ReaderStatus.MORE not in statuses and len(self.read) == before:
                return
        raise Violation(self.bench.rule, f"readers say more after more than {MOST_POLLS} polls.")

    # ---------------------------------------------------------------- checkpoints
    def checkpoint(self, *, confirmed: bool = True) -> Checkpoint:
        """A checkpoint completes."""
        number = (self.completed.number if self.completed else 0) + 1
        self.bench.step(f"checkpoint {number}")
        self.completed = Checkpoint(
            number,
            self.enumerator.snapshot(number),
            tuple(tuple(reader.snapshot(number)) for reader in self.readers),
            tuple(self.read),
            frozenset(self.known),
        )
        self.handed_out = [[] for _ in self.readers]
        self._require_one_owner(self.completed)
        if confirmed:
            for reader in self.readers:
                reader.confirmed(number)
        return self.completed

    def _require_one_owner(self, checkpoint: Checkpoint) -> None:
        owned = Counter(split.id for own in checkpoint.splits for split in own)
        if twice := [id_ for id_, count in owned.items() if count > 1]:
            raise Violation(self.bench.rule, f"split {twice[0]} belongs to two readers.")

    # ---------------------------------------------------------------- what is right
    def check(self, *, all_of_it: bool = True) -> None:
        """Every record was read once, as it was written, and those of one call in their order.

        Args:
            all_of_it: False: those that are missing may come later.

        Raises:
            Violation: of the bench's rule.
        """
        said = [(record.value, record.timestamp_ms) for record in self.read]
        seen = Counter(said)
        written = {record for block in self.bench.blocks for record in block}
        if strange := seen.keys() - written:
            value, at_ms = min(strange)
            raise Violation(self.bench.rule, f"{_shown(value)} at {at_ms} ms was read, and never written.")
        if twice := [record for record, count in seen.items() if count > 1]:
            raise Violation(self.bench.rule, f"{_shown(twice[0][0])} was read {seen[twice[0]]} times.")
        if all_of_it and (missing := written - seen.keys()):
            first = _shown(min(missing)[0])
            raise Violation(self.bench.rule, f"{first} was not read; {len(missing)} records are missing.")
        place = {record: number for number, record in enumerate(said)}
        for block in self.bench.blocks:
            places = [place[record] for record in block if record in place]
            if places != sorted(places):
                raise Violation(self.bench.rule, f"records from {_shown(block[0][0])} on were read in another order.")
            if skipped := [record for record in block[: len(places)] if record not in place]:
                raise Violation(self.bench.rule, f"{_shown(skipped[0][0])} was skipped.")
        positions = Counter(record.position for record in self.read)
        if same := [position for position, count in positions.items() if count > 1]:
            raise Violation(self.bench.rule, f"two records lie at {same[0]}.")


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
        unwanted: blocks that the jobs must not read, because they came too late or too early.
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
        self.unwanted: list[list[Record]] = []
        self.jobs: list[Job] = []
        self._partition_ms: dict[int, int] = {}
        self._raised: list[Exception] = []
        self._disk = Lease("kit")
        self.uri = connected.place(str(self._disk.room))
        try:
            source = self.source("observer", 1)
            self.description = source.describe()
            known = FEEDERS.get(self.description.feeder)
            self.feeder = known(folder_of(self.uri)) if known else source.feeder()
        except BaseException:
            self._disk.close()
            raise
        self.flags = self.description.flags

    def source(self, job: str, attempt: int, *, bounded: bool = False, latest: bool = False) -> Source:
        """Another source object of an attempt."""
        context = SourceContext(
            uri=self.uri,
            job=job,
            operator="source",
            attempt=attempt,
            options=self.connected.options,
            bounded=bounded,
            latest=latest,
            arrive=self.points.arrive,
        )
        return self.answers.made(self.factory, Source, context)

    def feed(self, partition: int, count: int = 5, length: int = 0) -> list[Record]:
        """Write records of a partition, which no others are like, each of at least so many bytes. Of two neighbours the
        later one comes first; those of each call are later than those of the call before it."""
        first_ms = self._partition_ms.get(partition, 1_000 * partition)
        start = sum(map(len, (*self.blocks, *self.unwanted)))
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
        self.unwanted.append(self.blocks.pop())
        self.hit("too-late")

    def feed_too_early(self, partition: int) -> None:
        """Write records of a partition that a job must not read which starts at the latest."""
        self.feed(partition)
        self.unwanted.append(self.blocks.pop())
        self.hit("too-early")

    def write(self, partition: int, block: list[Record]) -> None:
        """Write these records of a partition in one call."""
        self.feeder.append(partition, block)
        self.blocks.append(block)

    def job(self, parallelism: int = 2, *, bounded: bool | None = None, latest: bool = False) -> Job:
        """A job that begins; bounded, where nothing else is said and the source can do nothing else."""
        if bounded is None:
            bounded = SourceFlag.UNBOUNDED not in self.flags
        if bounded and SourceFlag.BOUNDED not in self.flags:
            raise CannotTry("it does not declare bounded")
        if not bounded and SourceFlag.UNBOUNDED not in self.flags:
            raise CannotTry("it does not declare unbounded")
        job = Job(self, f"job-{len(self.jobs)}", bounded=bounded, latest=latest)
        self.jobs.append(job)
        job.start(parallelism)
        return job

    def release(self, parts: Sequence[Closable]) -> None:
        """Close what nobody calls any more, as a process does that ends; what that raises, `close` returns."""
        with self.points.passed_over():
            self._raised += raised_by_closing(parts, times=2)

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
            parts = [part for job in self.jobs for part in (*job.over, *job.parts)]
            return [*self._raised, *raised_by_closing([*parts, self.feeder], times=2)]
        finally:  # Though one of them may never return.
            self._disk.close()
