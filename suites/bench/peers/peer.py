"""What every peer and Holdfast are to run, and what they report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from holdfast.suites.bench.figures import median, number, percentile, table, with_spread
from holdfast.suites.bench.peers.peer_input import Columns
from holdfast.suites.bench.peers.progress import Rates

SLICE_S = 0.1
"""How often a part of the year arrives where latency is measured."""
SETTLED_AFTER_S = 20.0
"""What arrived earlier does not count towards latency: a virtual machine still warms up."""


class Demand(msgspec.Struct, frozen=True):
    """What to measure.

    Attributes:
        folder: takes everything that a measurement writes; on a local disk.
        cores: to pin every process of the engine to.
        key: `tailnum` or `carrier`.
        columns: what a key is in the input.
        events: how many records there are to take at most.
        seconds: how long to measure at most, from the first record.
    """

    folder: Path
    cores: tuple[int, ...]
    key: str
    columns: Columns
    events: int
    seconds: float


class Throughput(msgspec.Struct, frozen=True):
    """How fast an engine took the input.

    Attributes:
        engine: with its version.
        mode: how it was set up.
        rates: records per second.
        checkpoint_ms: durations of the checkpoints that completed while warm (Spark: of the micro-batches).
    """

    engine: str
    mode: str
    rates: Rates
    checkpoint_ms: tuple[float, ...]


class Latency(msgspec.Struct, frozen=True):
    """How late an engine was while records arrived at a rate that it can bear; one value for each part that arrived.

    Attributes:
        engine, mode: as above.
        offered: records per second.
        applied_ms: from the arrival of a part until its last record had reached the aggregation; empty: not known.
        committed_ms: until the checkpoint with it was complete.
    """

    engine: str
    mode: str
    offered: float
    applied_ms: tuple[float, ...]
    committed_ms: tuple[float, ...]


def throughput_table(title: str, groups: Sequence[Sequence[Throughput]]) -> str:
    """One line for each engine and mode; a group is its repeats."""
    columns = (
        "engine",
        "set-up",
        "M records/s cold",
        "warm",
        "cores used",
        "warm per core",
        "checkpoints",
        "median ms",
        "p99 ms",
    )
    rows = []
    for group in groups:
        checkpoints = [duration for each in group for duration in each.checkpoint_ms]
        rows.append(
            (
                group[0].engine,
                group[0].mode,
                with_spread([each.rates.cold / 1e6 for each in group]),
                with_spread([each.rates.warm / 1e6 for each in group]),
                number(median([each.rates.warm_cores for each in group])),
                with_spread([each.rates.warm_per_core / 1e6 for each in group]),
                str(len(checkpoints)),
                number(percentile(checkpoints, 50), 0),
                number(percentile(checkpoints, 99), 0),
            )
        )
    return table(title, columns, rows)


def latency_table(title: str, measured: Sequence[Latency]) -> str:
    """One line for each engine and mode."""
    columns = ("engine", "set-up", "offered/s", "applied p50 ms", "p99 ms", "committed p50 ms", "p99 ms")
    rows = [
        (
            each.engine,
            each.mode,
            number(each.offered, 0),
            *(number(percentile(sample, percent), 0) for sample in (each.applied_ms, each.committed_ms)
              for percent in (50, 99)),
        )
        for each in measured
    ]  # fmt: skip
    return table(title, columns, rows)
