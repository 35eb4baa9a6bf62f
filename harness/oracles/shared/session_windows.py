"""The oracles' own interpretation of SESSION_SUM: the records of a key in order of time, cut where nothing comes.

It is written from the contract (`model.job.Contract`), and shares no code with any system. Only where no record of a
split is earlier than one before it is the answer determined: then none is ever late.
"""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.harness.model.job import VertexKind
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.records import InputLog
from holdfast.harness.oracles.shared.fold_model import MASK
from holdfast.harness.oracles.shared.split_windows import Record, passed_ms, records_of, standing_ms
from holdfast.harness.oracles.shared.windows import Sums, Window


class SessionWindows:
    """What the sessions of a job hold.

    Args:
        plan: whose job sums sessions.
        inputs: what the system under test has read.
        over: nothing more can come.

    Attributes:
        must: by session, which is named by its key and the time of its first record, its sums.
    """

    in_order = True

    def __init__(self, plan: Plan, inputs: InputLog, *, over: bool) -> None:
        [vertex] = plan.job.of_kind(VertexKind.SESSION_SUM)
        self._gap_ms = vertex.gap_ms
        self._firsts = inputs.first_offsets or (0,) * len(inputs.partitions)
        self._splits = [records_of(plan, inputs, split) for split in range(len(inputs.partitions))]
        self._passed_ms = passed_ms(plan.job, self._splits, over=over)
        self.must: dict[Window, Sums] = {}
        self._last_ms: dict[Window, int] = {}
        by_key: dict[str, list[Record]] = {}
        for records in self._splits:
            for record in records:
                by_key.setdefault(record.key, []).append(record)
        for key, records in by_key.items():
            self._cut(key, sorted(records, key=lambda record: record.event_ms))

    def __contains__(self, window: Window) -> bool:
        return window in self.must

    def fits(self, window: Window, sums: Sums) -> bool:
        """Whether a session may have these sums."""
        return self.must[window] == sums

    def due(self) -> Iterator[Window]:
        """Sessions that must have a row in the end."""
        return (window for window, last_ms in self._last_ms.items() if last_ms + self._gap_ms <= self._passed_ms)

    def is_late(self, split: int, offset: int, window: int, seen: int) -> bool:
        """Whether the watermark of its own split had passed a record by the gap before it came; see SplitWindows."""
        records, first = self._splits[split], self._firsts[split]
        return standing_ms(records, seen - first) >= records[offset - first].event_ms + self._gap_ms

    def _cut(self, key: str, records: list[Record]) -> None:
        session = key, records[0].event_ms
        for record in records:
            if record.event_ms >= self._last_ms.get(session, record.event_ms) + self._gap_ms:
                session = key, record.event_ms
            value, digest = self.must.get(session, (0, 0))
            self.must[session] = (value + record.value) & MASK, (digest + record.digest) & MASK
            self._last_ms[session] = record.event_ms
