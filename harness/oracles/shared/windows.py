"""The oracles' own interpretation of event-time windows: what is in one, and when it is over.

Rules of this file:
- It is written from the contract (`model.job.Contract`), and shares no code with any system.
- Event time rises with the offset, so what the open windows hold of a partition is one range of offsets. A record is
  late only if its window is over, so no late record belongs to any of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from holdfast.harness.model.job import WATERMARK_DELAY_MS, WINDOW_MS
from holdfast.harness.model.records import InputLog
from holdfast.harness.oracles.shared.fold_model import MASK, identity_hashes

Window = tuple[str, int]
"""Key and number."""
Sums = tuple[int, int]
"""Value and digest, modulo 2**64."""


def window_sums(
    inputs: InputLog, digest_key: int, ends: Sequence[int] = (), since: Sequence[int] = ()
) -> dict[Window, Sums]:
    """The sums of every window that has records.

    Args:
        inputs: what the system under test was fed.
        digest_key: of the plan.
        ends: by partition, the first offset that does not count; empty: all do that were fed.
        since: by partition, the first that does; empty: those of the log.
    """
    sums: dict[Window, Sums] = {}
    firsts = since or inputs.first_offsets or (0,) * len(inputs.partitions)
    ranges = zip(inputs.partitions, firsts, ends or inputs.lengths(), strict=True)
    for number, (partition, first, end) in enumerate(ranges):
        windows = np.arange(first, end) * partition.event_step_ms // WINDOW_MS
        hashes = identity_hashes(digest_key, number, len(partition))[first:end]
        columns = (partition.key[first:end], windows, partition.value[first:end], hashes)
        for key, window, value, digest in zip(*(column.tolist() for column in columns), strict=True):
            place = inputs.keys[key], window
            before = sums.get(place, (0, 0))
            sums[place] = (before[0] + value) & MASK, (before[1] + digest) & MASK
    return sums


def latest_watermark_ms(inputs: InputLog, ends: Sequence[int]) -> int:
    """The watermark when everything before these offsets was read; 0 as long as nothing is over."""
    latest = ((end - 1) * each.event_step_ms for each, end in zip(inputs.partitions, ends, strict=True) if end)
    return max(0, max(latest, default=0) - WATERMARK_DELAY_MS)


def windows_over(watermark_ms: int) -> int:
    """How many windows, from the first, a watermark has passed."""
    return watermark_ms // WINDOW_MS


def first_open_offsets(inputs: InputLog, watermark_ms: int) -> tuple[int, ...]:
    """By partition, the first offset whose window a watermark has not passed."""
    firsts = inputs.first_offsets or (0,) * len(inputs.partitions)
    begins_ms = windows_over(watermark_ms) * WINDOW_MS
    found = []
    for partition, first in zip(inputs.partitions, firsts, strict=True):
        step_ms = partition.event_step_ms
        # Rounded up. Where time stands still, all records are of the first window.
        behind = -(-begins_ms // step_ms) if step_ms else len(partition) * bool(begins_ms)
        found.append(max(first, min(behind, len(partition))))
    return tuple(found)


def describe_window(window: Window) -> str:
    return f"window {window[1]} of key {window[0]!r}"


class JobWindows:
    """What the windows of WINDOW_SUM hold: of each, one thing.

    Args:
        inputs: what the system under test was fed.
        digest_key: of the plan.
    """

    in_order = True

    def __init__(self, inputs: InputLog, digest_key: int) -> None:
        self.must = window_sums(inputs, digest_key)
        self._over = windows_over(latest_watermark_ms(inputs, inputs.lengths()))

    def __contains__(self, window: Window) -> bool:
        return window in self.must

    def fits(self, window: Window, sums: Sums) -> bool:
        return self.must[window] == sums

    def due(self) -> Iterator[Window]:
        """Windows that must have a row in the end."""
        return (window for window in self.must if window[1] < self._over)
