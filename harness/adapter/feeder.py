"""Who lets records arrive: at the times of the workload, as far as a system comes after, behind an Appender."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil
from typing import Protocol

from holdfast.harness.model.events import InputDelayed
from holdfast.harness.model.records import InputLog, Partition

PATIENCE_MS, GROWTH_BITS = 1_500, 3
"""Who answers for nothing for so long gets eight times as many: it may wait for more records."""
WINDOW_RECORDS = 10_000
"""So many records of a partition may be unanswered."""
WINDOW_SHARE, LEAST_WINDOW_RECORDS = 16, 16
"""At first no more than such a part of them may be, so that input lasts for several answers, however rarely they come:
faults that count these find input unread."""


def arrived(partition: Partition, now_ms: float, *, healed: bool) -> int:
    """How many records of a partition there are.

    Args:
        partition: of the input.
        now_ms: on the clock of the input.
        healed: its markers may be among them.
    """
    limit = partition.limit(healed=healed)
    if now_ms < partition.starts_ms:
        return partition.preloaded
    if not partition.records_per_second:
        return limit
    late_ms = now_ms - partition.starts_ms
    return min(limit, partition.preloaded + int(late_ms * partition.records_per_second / 1000))


def next_arrival_ms(partition: Partition, now_ms: float, *, healed: bool) -> float:
    """When the next record of a partition arrives; infinity: none will. Arguments as for `arrived`."""
    there = arrived(partition, now_ms, healed=healed)
    if there == partition.limit(healed=healed):
        return float("inf")
    if now_ms < partition.starts_ms or not partition.records_per_second:
        return partition.starts_ms
    return partition.starts_ms + ceil((there + 1 - partition.preloaded) * 1000 / partition.records_per_second)


class Window:
    """A Pace: no more of a partition than so many records may be unanswered. That is more, the longer no answer
    has come.

    Args:
        partitions: of the input.
        patience_ms: without an answer, until eight times as many may be.

    Attributes:
        answered: by partition, the offset up to which records are answered for, or were before.
    """

    def __init__(self, partitions: Sequence[Partition], patience_ms: float = PATIENCE_MS) -> None:
        self.answered = [0] * len(partitions)
        self._partitions = partitions
        self._patience_ms = patience_ms
        self._waited_since_ms = 0.0

    def hear(self, now_ms: float) -> None:
        """Restart the silence limit: an answer has come, or none can be expected yet. `now_ms`: of the run."""
        self._waited_since_ms = now_ms

    def limit(self, partition: int, fed: int, there: int, now_ms: float) -> int:
        return min(there, self.answered[partition] + self._records(len(self._partitions[partition]), now_ms))

    def grows_ms(self, now_ms: float) -> float:
        return self._waited_since_ms + (self._growth(now_ms) + 1) * self._patience_ms

    def _records(self, length: int, now_ms: float) -> int:
        """How many of so many records may be unanswered now."""
        first = max(LEAST_WINDOW_RECORDS, length // WINDOW_SHARE)
        return min(WINDOW_RECORDS, first << min(GROWTH_BITS * self._growth(now_ms), WINDOW_RECORDS.bit_length()))

    def _growth(self, now_ms: float) -> int:
        """How often the window has grown since the last answer."""
        return int(max(0.0, now_ms - self._waited_since_ms) // self._patience_ms)


class Delays:
    """Since when each partition waits for a system that comes after no faster.

    Args:
        record: takes a delay when it is over.
    """

    def __init__(self, record: Callable[[InputDelayed], None]) -> None:
        self._record = record
        self._since_ns: dict[int, int] = {}

    def note(self, partition: int, now_ms: float, *, waits: bool) -> None:
        """Whether records of a partition wait that are due, at a time of the run."""
        if waits:
            self._since_ns.setdefault(partition, int(now_ms * 1e6))
        elif partition in self._since_ns:
            self._record(InputDelayed(partition=partition, since_ns=self._since_ns.pop(partition)))


Record = tuple[str, int]
_CHUNK_RECORDS = 10_000


class Records(Protocol):
    """Records of a partition that follow each other: keys and values."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Record]: ...


class Arrived:
    """Records that are made as they are iterated.

    Args:
        inputs: the log.
        partition: its number, from 0.
        first, end: offset of the first record, and the one behind the last.
    """

    __slots__ = ("_end", "_first", "_inputs", "_partition")

    def __init__(self, inputs: InputLog, partition: int, first: int, end: int) -> None:
        self._inputs = inputs
        self._partition = partition
        self._first = first
        self._end = end

    def __len__(self) -> int:
        return self._end - self._first

    def __iter__(self) -> Iterator[Record]:
        keys, partition = self._inputs.keys, self._inputs.partitions[self._partition]
        for first in range(self._first, self._end, _CHUNK_RECORDS):
            end = min(first + _CHUNK_RECORDS, self._end)
            values = partition.value[first:end].tolist()
            yield from zip((keys[key] for key in partition.key[first:end].tolist()), values, strict=True)


class Appender(Protocol):
    """Puts records where a system reads them. The offset of a record in the input is its place there; where a log
    reports the place, the two are compared."""

    def append(self, partition: int, first: int, records: Records) -> int:
        """Append to a partition.

        Args:
            partition: its number, from 0.
            first: offset of the first record; what is in front of it was appended before.
            records: in order.

        Returns:
            How many were taken; the others are appended again with the next step.

        Raises:
            OSError: they are not taken, or would lie elsewhere.
        """

    def settle(self) -> int:
        """Flush what is under way, once everything due by now was appended.

        Returns:
            How many records were taken and are not known to be there yet.

        Raises:
            OSError: a record was refused, or lies elsewhere than at its offset.
        """

    def close(self) -> None:
        """Give up what is under way, and free what it holds. Idempotent."""


class Pace(Protocol):
    """How far records may be let arrive that are due."""

    def limit(self, partition: int, fed: int, there: int, now_ms: float) -> int:
        """
        Args:
            partition: its number, from 0.
            fed: how many of its records were appended.
            there: how many are due.
            now_ms: on the clock of the run.

        Returns:
            How many may have been appended; less than `fed`: no more.
        """

    def grows_ms(self, now_ms: float) -> float:
        """When it may be more, though nothing else happens; infinity: never. On the clock of the run, as `now_ms`."""


class AtOnce:
    """A Pace: what is due arrives."""

    def limit(self, partition: int, fed: int, there: int, now_ms: float) -> int:
        return there

    def grows_ms(self, now_ms: float) -> float:
        return float("inf")


class Feeder:
    """Lets the records of a log arrive. Falling behind is made up for.

    Attributes:
        fed: by partition, how many records were appended; who wants some appended again sets it back.
        healed: whether the markers may arrive.
        since_ms: when the clock of the input began, in milliseconds on that of the run; None: not yet.
    """

    def __init__(
        self,
        inputs: InputLog,
        appender: Appender,
        pace: Pace | None = None,
        *,
        record: Callable[[InputDelayed], None] | None = None,
        assigned: Sequence[int] | None = None,
    ) -> None:
        """
        Args:
            inputs: the log.
            appender: takes what arrives.
            pace: how far it may; None: AtOnce.
            record: takes the delays that the pace makes; None: they are not recorded.
            assigned: the partitions that are fed; None: all.
        """
        self._inputs = inputs
        self._partitions = inputs.partitions
        self._appender = appender
        self._pace = AtOnce() if pace is None else pace
        self._delays = None if record is None else Delays(record)
        self._assigned = range(len(inputs.partitions)) if assigned is None else assigned
        self._under_way = 0
        self.healed = False
        self.fed = [0] * len(inputs.partitions)
        self.since_ms: float | None = None

    @property
    def limits(self) -> tuple[int, ...]:
        """By partition, how many records there are, once all is healed with the markers."""
        return tuple(partition.limit(healed=self.healed) for partition in self._partitions)

    @property
    def exhausted(self) -> bool:
        """Whether everything has arrived that may arrive yet."""
        theirs = ((self.fed[index], self._partitions[index]) for index in self._assigned)
        return not self._under_way and all(fed >= each.limit(healed=self.healed) for fed, each in theirs)

    def feed_markers(self) -> None:
        """Let the markers arrive, too."""
        self.healed = True

    def preload(self, whole: Sequence[int] = (), *, kept_back: int = 0) -> None:
        """Append what is there before a system begins. Errors as of `advance`.

        Args:
            whole: partitions of which everything is there, markers included.
            kept_back: so many of the last records of each other partition arrive behind the begin in any case.
        """
        for index in self._assigned:
            partition = self._partitions[index]
            there = min(partition.preloaded, max(0, partition.regular - kept_back))
            self._feed(index, len(partition) if index in whole else there)
        self.settle()

    def settle(self) -> int:
        """See to what is under way, and append nothing; see Appender.settle."""
        self._under_way = self._appender.settle()
        return self._under_way

    def begin(self, now_ms: float) -> None:
        """Start the clock of the input at a time of the run in milliseconds. Does nothing the second time."""
        if self.since_ms is None:
            self.since_ms = now_ms

    def wait(self, now_ms: float) -> None:
        """Note a delay from this time of the run in milliseconds on: input is due and does not arrive yet. Errors as of
        `advance`."""
        self.settle()
        if self._delays is not None:
            for index in self._assigned:
                self._delays.note(index, now_ms, waits=True)

    def advance(self, now_ms: float, arrival_ms: float | None = None) -> bool:
        """Append what has arrived by now and may.

        Args:
            now_ms: on the clock of the run.
            arrival_ms: on the clock of the input; None: it runs with that of the run, since it began.

        Returns:
            Whether anything was appended.

        Raises:
            OSError: a record was not taken, or lies elsewhere than at its offset.
        """
        late_ms = now_ms - (self.since_ms or 0.0) if arrival_ms is None else arrival_ms
        moved = False
        for index in self._assigned:
            first = self.fed[index]
            there = arrived(self._partitions[index], late_ms, healed=self.healed)
            self._feed(index, min(there, self._pace.limit(index, first, there, now_ms)))
            moved = moved or self.fed[index] > first
            if self._delays is not None:
                self._delays.note(index, now_ms, waits=self.fed[index] < there)
        self.settle()
        return moved

    def next_ms(self, now_ms: float) -> float:
        """When more may arrive, on the clock of the run as `now_ms`; infinity: nothing does by itself."""
        since_ms = self.since_ms or 0.0
        late_ms = now_ms - since_ms
        theirs = [(self.fed[index], self._partitions[index]) for index in self._assigned]
        coming = (next_arrival_ms(partition, late_ms, healed=self.healed) for _, partition in theirs)
        coming_ms = min(coming, default=float("inf")) + since_ms
        waiting = any(fed < arrived(partition, late_ms, healed=self.healed) for fed, partition in theirs)
        return min(coming_ms, self._pace.grows_ms(now_ms)) if waiting else coming_ms

    def close(self) -> None:
        """Let nothing more arrive, and free what the appender holds. Idempotent."""
        self._appender.close()

    def _feed(self, index: int, end: int) -> None:
        first = self.fed[index]
        if first < end:
            taken = self._appender.append(index, first, Arrived(self._inputs, index, first, end))
            self.fed[index] += taken
            self._under_way += taken  # until the appender says how many are
