"""The oracles' own interpretation of a job: which records reach its keyed operator, or its sink, made of which input.

Rules of this file:
- It is written from the definitions of operators and partitionings (`model.job`), and shares no code with any system.
- A lane is what one source partition sends to one input of a vertex, in order. What is behind a position of the source
  is behind the same position of every lane made of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from itertools import repeat
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from holdfast.harness.model.job import RIGHT_WEIGHT, STATEFUL, Job, VertexKind
from holdfast.harness.model.records import InputLog, Integers, Partition

_PLAIN = frozenset(
    {
        VertexKind.SOURCE,
        VertexKind.MAP,
        VertexKind.MINI_BATCH,
        VertexKind.KEYED_SUM,
        VertexKind.DELAYED_SUM,
        VertexKind.SESSION_SUM,
        VertexKind.TOP_SUM,
        VertexKind.WINDOW_SUM,
        VertexKind.SINK,
    }
)


Identity = tuple[int, int]
"""Partition and offset."""


class Lane(msgspec.Struct, frozen=True, eq=False):
    """Records of one source partition.

    Attributes:
        partition: of all of them.
        origins: (n,) offset of the input record that each was made of, in ascending order.
        offsets: (n,) the offset that each has now.
        sign: what its values are multiplied by in a sum.
        weight: what its hashes are multiplied by in a digest.
        everywhere: each of them counts for every key.
    """

    partition: int
    origins: Integers
    offsets: Integers
    sign: int = 1
    weight: int = 1
    everywhere: bool = False


def is_plain(job: Job) -> bool:
    """Whether every record of the input reaches the end once, as it is."""
    return all(vertex.kind in _PLAIN for vertex in job.vertices) and len(job.of_kind(VertexKind.SOURCE)) == 1


class KeyedInput(msgspec.Struct, frozen=True, eq=False):
    """What reaches a keyed operator.

    Attributes:
        lanes: one for each place of `counts` in its rows.
        sides: lanes of which one at least must have a record of a key before the key has a row.
        copied: lanes besides these, which count in no row, and in every copy of broadcast state.
    """

    lanes: list[Lane]
    sides: tuple[tuple[int, ...], ...] = ()
    copied: tuple[Lane, ...] = ()


def keyed_input(job: Job, inputs: InputLog) -> KeyedInput:
    """What reaches the keyed operator of a job that has one."""
    (vertex,) = job.of_kind(*STATEFUL)
    arrivals = [_arriving(job, inputs, edge.upstream) for edge in job.inputs_of(vertex.name)]
    partitions = range(len(inputs.partitions))
    if vertex.kind is VertexKind.JOIN:
        left, right = arrivals
        lanes = [_lane(left, each) for each in partitions]
        lanes += [_lane(right, each, sign=-1, weight=RIGHT_WEIGHT) for each in partitions]
        return KeyedInput(lanes, (tuple(partitions), tuple(range(len(partitions), len(lanes)))))
    if vertex.kind is VertexKind.BROADCAST_SUM:
        data, shared = arrivals
        lanes = [_lane({**shared, **data}, each, everywhere=each in shared) for each in partitions]
        return KeyedInput(lanes, (tuple(data),))
    if vertex.kind is VertexKind.RULED_SUM:
        data, shared = arrivals
        copied = tuple(_lane(shared, each, everywhere=True) for each in partitions)
        return KeyedInput([_lane(data, each) for each in partitions], copied=copied)
    merged = {partition: lane for arrival in arrivals for partition, lane in arrival.items()}
    return KeyedInput([_lane(merged, each) for each in partitions])


def expected_rows(job: Job, inputs: InputLog, taken: Collection[Identity] | None = None) -> Counter[Identity]:
    """How many rows of each record the sinks must show under contract RECORDS.

    Args:
        job: that makes them.
        inputs: of it.
        taken: the only records that a DEDUPLICATE was given, where others may be lost; None: it was given all.
    """
    found: Counter[Identity] = Counter()
    for sink in job.of_kind(VertexKind.SINK):
        for edge in job.inputs_of(sink.name):
            for partition, lane in _arriving(job, inputs, edge.upstream, taken).items():
                found.update(zip(repeat(partition), lane.offsets.tolist(), strict=False))
    return found


def marker_rows(job: Job, inputs: InputLog) -> Counter[tuple[int, int]]:
    """The rows of the markers, or, where there are none, of the last record of a partition that reaches a sink."""
    found: Counter[tuple[int, int]] = Counter()
    for sink in job.of_kind(VertexKind.SINK):
        for edge in job.inputs_of(sink.name):
            for partition, lane in _arriving(job, inputs, edge.upstream).items():
                last = lane.origins[-1:]
                regular = inputs.partitions[partition].regular
                found.update(
                    (partition, offset) for offset in lane.offsets[lane.origins >= last.clip(max=regular)].tolist()
                )
    return found


_Arrivals = Mapping[int, Lane]
"""By source partition."""


def _lane(arrivals: _Arrivals, partition: int, **changes: Any) -> Lane:
    nothing = np.zeros(0, np.int64)
    lane = arrivals.get(partition) or Lane(partition, nothing, nothing)
    return msgspec.structs.replace(lane, **changes)


def _arriving(job: Job, inputs: InputLog, name: str, taken: Collection[Identity] | None = None) -> dict[int, Lane]:
    """What a vertex sends on; `taken` as of `expected_rows`."""
    vertex = job.vertex(name)
    if vertex.kind is VertexKind.SOURCE:
        return _read(job, inputs, name)
    found: dict[int, Lane] = {}
    for edge in job.inputs_of(name):
        if edge.feedback:
            continue  # What comes back has come by another edge.
        for partition, lane in _arriving(job, inputs, edge.upstream, taken).items():
            if vertex.kind is VertexKind.FLAT_MAP:
                lane = _copied(lane, vertex.copies)
            elif vertex.kind is VertexKind.FILTER:
                lane = _chosen(lane, lane.offsets % vertex.modulus == vertex.remainder)
            elif vertex.kind is VertexKind.DEDUPLICATE:
                if taken is not None:
                    there = [(partition, offset) in taken for offset in lane.offsets.tolist()]
                    lane = _chosen(lane, np.array(there, bool))
                lane = _chosen(lane, _apart(lane, inputs.partitions[partition], vertex.ttl_ms))
            found[partition] = _both(found[partition], lane) if partition in found else lane
    return found


def _read(job: Job, inputs: InputLog, name: str) -> dict[int, Lane]:
    """What a source reads: sources take the partitions in turn."""
    sources = [vertex.name for vertex in job.of_kind(VertexKind.SOURCE)]
    firsts = inputs.first_offsets or (0,) * len(inputs.partitions)
    lanes: dict[int, Lane] = {}
    for partition, (length, first) in enumerate(zip(inputs.lengths(), firsts, strict=True)):
        if sources[partition % len(sources)] == name:
            offsets = np.arange(first, length)
            lanes[partition] = Lane(partition, offsets, offsets)
    return lanes


def _copied(lane: Lane, copies: int) -> Lane:
    offsets = (lane.offsets[:, None] * copies + np.arange(copies)).reshape(-1)
    return Lane(lane.partition, np.repeat(lane.origins, copies), offsets)


def _chosen(lane: Lane, which: npt.NDArray[np.bool_]) -> Lane:
    return Lane(lane.partition, lane.origins[which], lane.offsets[which])


def _apart(lane: Lane, partition: Partition, ttl_ms: int) -> npt.NDArray[np.bool_]:
    """Which records come no sooner than this behind the last of their key that was chosen."""
    chosen = np.zeros(len(lane.origins), bool)
    last_ms: dict[int, int] = {}
    for place, origin in enumerate(lane.origins.tolist()):
        key, event_ms = int(partition.key[origin]), origin * partition.event_step_ms
        if key not in last_ms or event_ms >= last_ms[key] + ttl_ms:
            last_ms[key] = event_ms
            chosen[place] = True
    return chosen


def _both(one: Lane, other: Lane) -> Lane:
    """Two ways of one partition, side by side."""
    origins = np.concatenate((one.origins, other.origins))
    order = np.argsort(origins, kind="stable")
    return Lane(one.partition, origins[order], np.concatenate((one.offsets, other.offsets))[order])
