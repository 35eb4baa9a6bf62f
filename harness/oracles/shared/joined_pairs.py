"""The oracles' own interpretation of INTERVAL_JOIN: every record of one input beside every one of the other.

It is written from the contract (`model.job.Contract`), and shares no code with any system. No record of a split is
earlier than one before it, so none is ever late, and each pair has one row.
"""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.harness.model.job import RIGHT_WEIGHT, VertexKind
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.records import InputLog
from holdfast.harness.oracles.shared.fold_model import MASK
from holdfast.harness.oracles.shared.split_windows import Record, records_of, source_of, standing_ms
from holdfast.harness.oracles.shared.windows import Sums, Window

_OFFSETS = 1 << 24
_PLACES = 1 << 31


class JoinedPairs:
    """What pairs of a job there are.

    Args:
        plan: whose job joins in intervals.
        inputs: what the system under test was fed.

    Attributes:
        must: by pair, which is named by its key and its number, its sums.
    """

    in_order = False

    def __init__(self, plan: Plan, inputs: InputLog) -> None:
        [vertex] = plan.job.of_kind(VertexKind.INTERVAL_JOIN)
        self._firsts = inputs.first_offsets or (0,) * len(inputs.partitions)
        self._splits = [records_of(plan, inputs, split) for split in range(len(inputs.partitions))]
        self.must: dict[Window, Sums] = {}
        left, right = (list(self._of(plan, edge.upstream)) for edge in plan.job.inputs_of(vertex.name))
        by_key: dict[str, list[tuple[int, Record]]] = {}
        for place, record in right:
            by_key.setdefault(record.key, []).append((place, record))
        for place, one in left:
            for other_place, other in by_key.get(one.key, ()):
                if vertex.lower_ms <= other.event_ms - one.event_ms <= vertex.upper_ms:
                    digest = one.digest + RIGHT_WEIGHT * other.digest
                    pair = one.key, place * _PLACES + other_place
                    self.must[pair] = (one.value - other.value) & MASK, digest & MASK

    def __contains__(self, pair: Window) -> bool:
        return pair in self.must

    def fits(self, pair: Window, sums: Sums) -> bool:
        return self.must[pair] == sums

    def due(self) -> Iterator[Window]:
        """Pairs that must have a row in the end: all of them."""
        return iter(self.must)

    def is_late(self, split: int, offset: int, window: int, seen: int) -> bool:
        """Whether its own split had passed the time of a record before it came; see SplitWindows."""
        records, first = self._splits[split], self._firsts[split]
        return standing_ms(records, seen - first) > records[offset - first].event_ms

    def _of(self, plan: Plan, source: str) -> Iterator[tuple[int, Record]]:
        """The records of a source, each with its place in the number of a pair."""
        for split, (first, records) in enumerate(zip(self._firsts, self._splits, strict=True)):
            if source_of(plan.job, split).name == source:
                for offset, record in enumerate(records, first):
                    yield split * _OFFSETS + offset, record
