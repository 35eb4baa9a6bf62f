"""The oracles' own interpretation of idleness: how far a watermark may have come while a split was idle.

Rules of this file:
- A split may have been idle if it was fed no record for the idleness of its source; the input shows when it was fed.
- Meanwhile the watermark may have come as far as the other splits were fed, until the next record of it was read.
- Faults that only end processes make no split idle: behind a restart each has its time again. But the progress of the
  others is unknown when a record is read behind one.
- Where a fault holds records up, or the machine had other things to do, the time at which a record was read is unknown:
  each split may have been idle at any time.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.history import History
from holdfast.harness.model.records import InputLog, Partition
from holdfast.harness.oracles.shared.exemptions import exemptions
from holdfast.harness.oracles.shared.options import NS_PER_MS

NEVER_MS, EVER_MS = float("-inf"), float("inf")
_READ_LATE = 0.5
"""Share of its idleness by which a record may be read later than it was fed."""


class WhileIdle:
    """How far the watermark may have come while a split was idle.

    Args:
        history: of the run.
        inputs: what was read.
        idleness_ms: of the source of each split; 0: it is never idle.
        watermarks: of each split, behind each of its records.
    """

    def __init__(
        self,
        history: History,
        inputs: InputLog,
        idleness_ms: Sequence[int],
        watermarks: Sequence[Sequence[float]],
    ) -> None:
        exempt = exemptions(history)
        self._unknown = exempt.real_time or not exempt.only(
            Consequence.ENDS_PROCESS, Consequence.LOSES_PROCESS, Consequence.FAILS_TASK
        )
        self._undisturbed = exempt.undisturbed
        self._healed_ms = history.end.healed_ns / NS_PER_MS
        self._idleness_ms = idleness_ms
        self._watermarks = watermarks
        firsts = inputs.first_offsets or (0,) * len(inputs.partitions)
        self._fed_ms = [
            [self._when_fed_ms(partition, offset) for offset in range(first, len(partition))]
            for first, partition in zip(firsts, inputs.partitions, strict=True)
        ]

    def before_ms(self, split: int) -> list[float]:
        """How far it may have come before each of its records; NEVER_MS: it was not idle so far."""
        idleness_ms, fed_ms = self._idleness_ms[split], self._fed_ms[split]
        if not idleness_ms:
            return [NEVER_MS] * len(fed_ms)
        reached, before, found = NEVER_MS, 0.0, []
        for at_ms in fed_ms:
            if self._unknown or at_ms - before >= idleness_ms * _READ_LATE:
                reached = max(reached, self._others_ms(split, at_ms + idleness_ms * _READ_LATE))
            before = at_ms
            found.append(reached)
        return found

    def _others_ms(self, split: int, at_ms: float) -> float:
        """How far the furthest of the others was fed."""
        until_ms = at_ms if self._undisturbed and not self._unknown else EVER_MS
        found = NEVER_MS
        for other, watermarks in enumerate(self._watermarks):
            if other != split:
                fed = sum(each <= until_ms for each in self._fed_ms[other])
                found = max([found, *watermarks[:fed]])
        return found

    def _when_fed_ms(self, partition: Partition, offset: int) -> float:
        return self._healed_ms if offset >= partition.regular else partition.due_ms(offset)
