"""Marker records: the last ones of each partition of an unbounded input, which arrive when every fault is healed.

What lies before a marker that has its effect in the committed output, and has none itself, is lost: nothing holds it up
any more. What is missing together with its marker may still come. A bounded partition ends with its own last record.
"""

from __future__ import annotations

from math import prod

import numpy as np
from msgspec.structs import replace

from holdfast.harness.model.job import Job, VertexKind
from holdfast.harness.model.records import InputLog, Partition

MARKER_KEY = "marker"
MARKER_VALUE = 1


def with_markers(inputs: InputLog, job: Job) -> InputLog:
    """The input with markers behind the partitions of unbounded sources.

    All markers have one key, which belongs to them alone unless the workload has it too: a join then has both sides of
    it. There are so many in each partition that a filter keeps one at least.
    """
    sources = job.of_kind(VertexKind.SOURCE)
    keys = inputs.keys if MARKER_KEY in inputs.keys else (*inputs.keys, MARKER_KEY)
    count = prod(vertex.modulus for vertex in job.of_kind(VertexKind.FILTER))
    partitions = tuple(
        each if sources[number % len(sources)].bounded else _marked(each, keys.index(MARKER_KEY), count)
        for number, each in enumerate(inputs.partitions)
    )
    return inputs if job.bounded else replace(inputs, keys=keys, partitions=partitions)


def _marked(partition: Partition, code: int, count: int) -> Partition:
    key = np.concatenate((partition.key, np.full(count, code, partition.key.dtype)))
    value = np.concatenate((partition.value, np.full(count, MARKER_VALUE, partition.value.dtype)))
    return replace(partition, key=key, value=value, markers=partition.markers + count)
