"""Input of tests."""

from __future__ import annotations

import numpy as np

from holdfast.harness.model.records import InputLog, Partition


def partition(records: int) -> Partition:
    """One whose records arrive at once, and of which the last one is a marker."""
    numbers = np.arange(records, dtype=np.int64)
    return Partition(key=numbers % 2, value=numbers * 7, preloaded=2, markers=1)


TWO_PARTITIONS = InputLog(keys=("key-0", "key 1"), partitions=(partition(5), partition(6)))
