"""The oracles' own interpretation of TOP_SUM: at every prefix of a key's input, the sum of its largest values."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nlargest

from holdfast.harness.model.records import InputLog
from holdfast.harness.oracles.shared.fold_model import MASK, FoldModel, Sums


class TopModel(FoldModel):
    """As FoldModel, for a job whose input reaches the operator as it is.

    Args:
        inputs: what the system under test was fed.
        digest_key: of the plan.
        top: how many values are summed.
    """

    additive = False

    def __init__(self, inputs: InputLog, digest_key: int, top: int) -> None:
        super().__init__(inputs, digest_key)
        self._input = inputs
        self._top = top
        self._known: dict[tuple[str, tuple[int, ...]], int] = {}

    def expected(self, key: str, counts: Sequence[int]) -> Sums | None:
        sums = super().expected(key, counts)
        if sums is None:
            return None
        prefix = key, tuple(counts)
        if prefix not in self._known:
            self._known[prefix] = self._largest(key, counts)
        return self._known[prefix] & MASK, sums[1]

    def _largest(self, key: str, counts: Sequence[int]) -> int:
        values = (
            int(value)
            for number, (partition, count) in enumerate(zip(self._input.partitions, counts, strict=True))
            for value in partition.value[self.offsets(key, number)[:count]]
        )
        return sum(nlargest(self._top, values))
