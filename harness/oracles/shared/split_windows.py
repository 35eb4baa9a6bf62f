"""The oracles' own interpretation of SLIDING_SUM: what must be in a window, what may be, and which windows are over.

Rules of this file:
- It is written from the contract (`model.job.Contract`), and shares no code with any system.
- The watermark of an operator is never ahead of that of any split that is not idle. So a record is in each window that
  its own split had not passed before, nor the others while it was idle (idle_splits). In others it may be or not: that
  depends on how far other splits are.
- Watermarks never go back. So of the records of a key and split that may be missing from a window, those that are in it
  come before those that are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from holdfast.harness.model.history import History
from holdfast.harness.model.job import Job, Vertex, VertexKind
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.records import InputLog
from holdfast.harness.oracles.shared.fold_model import MASK, identity_hashes
from holdfast.harness.oracles.shared.idle_splits import WhileIdle
from holdfast.harness.oracles.shared.windows import Sums, Window

COMBINATIONS = 100_000
"""With more ways to fill one window than this, any row of it passes."""


class Record(NamedTuple):
    """One record: its time, and how far the watermark may be before it."""

    key: str
    value: int
    digest: int
    event_ms: int
    before_ms: float


class SplitWindows:
    """What the windows of a job hold.

    Args:
        history: of a plan whose job sums windows by a SLIDING_SUM.
        inputs: what the system under test has read.
        over: nothing more can come.

    Attributes:
        must: by window, the sums of the records that it must hold; zero where it may hold some, and must hold none.
        may: by window, for each split that has any, the sums of the records that it may hold or not, in their order.
    """

    in_order = True

    def __init__(self, history: History, inputs: InputLog, *, over: bool) -> None:
        plan = history.plan
        self._firsts = inputs.first_offsets or (0,) * len(inputs.partitions)
        [self._vertex] = plan.job.of_kind(VertexKind.SLIDING_SUM)
        self._splits = _with_idleness(history, inputs)
        self.must: dict[Window, Sums] = {}
        self.may: dict[Window, list[list[Sums]]] = {}
        for records in self._splits:
            self._sort_in(records)
        self._passed_ms = passed_ms(plan.job, self._splits, over=over)

    def __contains__(self, window: Window) -> bool:
        return window in self.must

    def fits(self, window: Window, sums: Sums) -> bool:
        possible = {self.must[window]}
        for some in self.may.get(window, ()):
            prefixes = [(0, 0)]
            for value, digest in some:
                prefixes.append((prefixes[-1][0] + value, prefixes[-1][1] + digest))
            if len(possible) * len(prefixes) > COMBINATIONS:
                return True
            possible = {
                ((value + more) & MASK, (digest + further) & MASK)
                for value, digest in possible
                for more, further in prefixes
            }
        return sums in possible

    def due(self) -> Iterator[Window]:
        """Windows that must have a row in the end."""
        return (window for window, (_, digest) in self.must.items() if digest and self._is_over(window))

    def is_late(self, split: int, offset: int, window: int, seen: int) -> bool:
        """Whether the watermark of its own split has passed a window before a record of it comes.

        Args:
            split, offset: of the record.
            window: its number.
            seen: of the record before which the watermark stands: that one, or one that comes later.
        """
        return standing_ms(self._splits[split], seen - self._firsts[split]) >= self._closes_ms(window)

    def _is_over(self, window: Window) -> bool:
        return self._closes_ms(window[1]) <= self._passed_ms

    def _sort_in(self, records: list[Record]) -> None:
        vertex = self._vertex
        late: dict[Window, list[Sums]] = {}
        for record in records:
            number = record.event_ms // vertex.slide_ms
            while number * vertex.slide_ms + vertex.window_ms > record.event_ms:
                window = record.key, number
                value, digest = self.must.setdefault(window, (0, 0))
                if record.before_ms >= self._closes_ms(number):
                    late.setdefault(window, []).append((record.value, record.digest))
                else:
                    self.must[window] = (value + record.value) & MASK, (digest + record.digest) & MASK
                number -= 1
        for window, some in late.items():
            self.may.setdefault(window, []).append(some)

    def _closes_ms(self, window: int) -> int:
        return window * self._vertex.slide_ms + self._vertex.window_ms + self._vertex.lateness_ms


def standing_ms(records: Sequence[Record], place: int) -> float:
    """The watermark of a split before its record at a place; behind the last one no more than that of a source whose
    records are in order."""
    if place < len(records):
        return records[place].before_ms
    return max(records[-1].before_ms, records[-1].event_ms)


def passed_ms(job: Job, splits: Sequence[Sequence[Record]], *, over: bool) -> float:
    """The watermark of an operator in the end, from the records of all splits; `over`: there can be no more. Whatever
    split can be idle is idle then."""
    if over:
        return float("inf")
    latest = [
        max((record.event_ms for record in records), default=float("-inf")) - source_of(job, split).disorder_ms
        for split, records in enumerate(splits)
    ]
    awake = [each for split, each in enumerate(latest) if not source_of(job, split).idleness_ms]
    return min(awake) if awake else max(latest, default=0)


def _with_idleness(history: History, inputs: InputLog) -> list[list[Record]]:
    """The records of each split."""
    job = history.plan.job
    splits = [records_of(history.plan, inputs, split) for split in range(len(inputs.partitions))]
    idleness_ms = [source_of(job, split).idleness_ms for split in range(len(splits))]
    if not any(idleness_ms):
        return splits
    watermarks = [
        [record.event_ms - source_of(job, split).disorder_ms for record in records]
        for split, records in enumerate(splits)
    ]
    idle = WhileIdle(history, inputs, idleness_ms, watermarks)
    return [
        [
            record._replace(before_ms=max(record.before_ms, before_ms))
            for record, before_ms in zip(records, idle.before_ms(split), strict=True)
        ]
        for split, records in enumerate(splits)
    ]


def source_of(job: Job, split: int) -> Vertex:
    """The source that reads a split."""
    sources = job.of_kind(VertexKind.SOURCE)
    return sources[split % len(sources)]


def records_of(plan: Plan, inputs: InputLog, split: int) -> list[Record]:
    job, digest_key = plan.job, plan.digest_key
    source, partition = source_of(job, split), inputs.partitions[split]
    first = inputs.first_offsets[split] if inputs.first_offsets else 0
    hashes = identity_hashes(digest_key, split, len(partition)).tolist()
    latest_ms = float("-inf")
    records = []
    for offset in range(first, len(partition)):
        straggles = source.straggling > 0 and (offset + 1) % source.straggling == 0
        event_ms = offset * partition.event_step_ms - source.straggling_ms * straggles
        key, value = inputs.keys[partition.key[offset]], int(partition.value[offset])
        records.append(Record(key, value, hashes[offset], event_ms, latest_ms - source.disorder_ms))
        latest_ms = max(latest_ms, event_ms)
    return records
