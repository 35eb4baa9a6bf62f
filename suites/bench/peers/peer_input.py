"""An input as the peers read it: Parquet files with the two columns of Holdfast's own log, key and value.

A round of the input is one file, or several that arrive one after the other; more rounds are further names (hard links)
of the same files, so that the input fits into the page cache and no engine waits for the disk. Engines take them for
new files.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from holdfast.fixtures.workloads.flights import Flights
from holdfast.harness.model.records import InputLog


class Columns(StrEnum):
    """What a key is.

    TEXT: what a user would have, dictionary encoded in the file. NUMBER: its index among the distinct keys, a 64-bit
    whole number, which is what Holdfast's own log holds: the same input byte for byte, and quicker for the peers.
    """

    TEXT = "text"
    NUMBER = "number"


class PeerInput(msgspec.Struct, frozen=True):
    """A round of an input in parts.

    Attributes:
        columns: what its keys are.
        parts: Parquet files, to be linked, never to be moved.
        records: of each part.
    """

    columns: Columns
    parts: tuple[Path, ...]
    records: tuple[int, ...]

    @property
    def records_per_round(self) -> int:
        return sum(self.records)

    def link(self, folder: Path, index: int) -> int:
        """Let the part of that running number appear in a folder, whole and at once; its number of records."""
        part = index % len(self.parts)
        os.link(self.parts[part], folder / f"part-{index:06d}.parquet")
        return self.records[part]


def write_flights(folder: Path, key: str, columns: Columns, parts: int = 1) -> PeerInput:
    """Write a year of flights, summed by `tailnum` or `carrier`; the rest as for any input."""
    return write_input(folder, Flights().generate({"key": key}, 0), columns, parts)


def write_input(folder: Path, log: InputLog, columns: Columns, parts: int = 1) -> PeerInput:
    """Write a log, partition after partition.

    Args:
        folder: takes the parts.
        log: one round of the input.
        columns: what a key is in the files.
        parts: into how many files of about equal length.
    """
    folder.mkdir(parents=True)
    table = _table(log, columns)
    bounds = [table.num_rows * part // parts for part in range(parts + 1)]
    paths = tuple(folder / f"part-{part:03d}.parquet" for part in range(parts))
    for path, first, end in zip(paths, bounds[:-1], bounds[1:], strict=True):
        # Uncompressed: what is measured is aggregation, and Holdfast's log is not compressed either.
        pq.write_table(table.slice(first, end - first), path, compression="none")
    lengths = tuple(end - first for first, end in pairwise(bounds))
    return PeerInput(columns, paths, lengths)


def _table(log: InputLog, columns: Columns) -> pa.Table:
    indices = np.concatenate([partition.key for partition in log.partitions])
    value = np.concatenate([partition.value for partition in log.partitions])
    key = pa.array(indices) if columns is Columns.NUMBER else pa.array(log.keys).take(pa.array(indices))
    return pa.table({"key": key, "value": pa.array(value)})


class Arrival(NamedTuple):
    """A part that arrived: its running number, when (in seconds since 1970), and how many records with it so far."""

    number: int
    time_s: float
    records: int


def arrive(
    source: PeerInput, folder: Path, interval_s: float, seconds: float, watch: Callable[[], object]
) -> list[Arrival]:
    """Let parts arrive for some time, and call `watch` whenever there is nothing else to do.

    When a part came later than planned because this process had no turn, its true time counts.
    """
    arrivals: list[Arrival] = []
    records = 0
    for index in _paced(interval_s, seconds, watch):
        records += source.link(folder, index)
        arrivals.append(Arrival(index, time.time(), records))
    return arrivals


def _paced(interval_s: float, seconds: float, watch: Callable[[], object]) -> Iterator[int]:
    begin = time.monotonic()
    for index in range(round(seconds / interval_s)):
        while time.monotonic() < begin + index * interval_s:
            watch()
            time.sleep(max(0.0, min(0.02, begin + index * interval_s - time.monotonic())))
        yield index
