"""Verdict over delivered identities: two-bit counters beside what DuckDB offers, same rows, one core, in one run.

The rows are the ids 0 to n - 1 in a shuffled order, but for a few that are lost and a few that come twice; both sides
must find the same. They are made chunk by chunk, which is not timed; nor is loading them into DuckDB. Seconds are
processor time of a process of its own, pinned to one core, and memory is the most that process ever held. DuckDB has
three ways: `joins`, a group-by and an anti-join against the range of ids, which can also name the culprits;
`group-by`, one that only counts; and `bitmap`, its `bitstring_agg`, which sees presence alone: repeats are rows less
bits, which says how many ids came twice only where none came more often.

python -m holdfast.suites.bench.delivery [--records 10000000 --records 100000000] [--repeats 3]
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
import typer
from rich.progress import track

from holdfast.harness.model.records import Integers
from holdfast.harness.oracles.output.delivery import DeliveryCounter
from holdfast.suites.bench.figures import load, median, table, with_spread

CHUNK_RECORDS = 1 << 22
MARKED_EVERY = 1_000_003
"""Of so many ids one is lost and one comes twice."""
LOST, TWICE = 7, 11
_MULTIPLIERS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_DUPLICATED = "SELECT count(*) FROM (SELECT id FROM rows GROUP BY id HAVING count(*) > 1)"
_GROUPED = (
    "SELECT {records} - count(*), count(*) FILTER (copies > 1) FROM (SELECT count(*) AS copies FROM rows GROUP BY id)"
)
_BITMAP = (
    "SELECT {records} - bit_count(present), total - bit_count(present) "
    "FROM (SELECT bitstring_agg(id, 0, {records} - 1) AS present, count(*) AS total FROM rows)"
)
_LOST = "SELECT count(*) FROM range({records}) expected(id) ANTI JOIN rows USING (id)"


class Sample(NamedTuple):
    """One repeat: its seconds, what was found, and the memory that it took."""

    seconds: float
    lost: int
    duplicated: int
    peak_mb: float


def shuffled(records: int, deliveries: int) -> Iterator[Integers]:
    """The rows. A permutation of all numbers of as many bits, so that no more than a chunk of it is ever held."""
    bits = max(records - 1, 1).bit_length()
    mask = np.uint64((1 << bits) - 1)
    for delivery in range(deliveries):
        for start in range(0, 1 << bits, CHUNK_RECORDS):
            number = np.arange(start, min(start + CHUNK_RECORDS, 1 << bits), dtype=np.uint64)
            for multiplier in _MULTIPLIERS:  # an odd factor and a shift down can both be undone: nothing collides
                number = (number * np.uint64(multiplier + 2 * delivery)) & mask
                number ^= number >> np.uint64(bits // 2)
            ids = number[number < records].astype(np.int64)
            mark = ids % MARKED_EVERY
            yield np.concatenate([ids[mark != LOST], ids[mark == TWICE]])


def count(records: int, deliveries: int) -> Sample:
    """Count with two bits for each id."""
    counter = DeliveryCounter([records])
    seconds = 0.0
    for ids in shuffled(records, deliveries):
        started = time.process_time()
        counter.count(0, ids)
        seconds += time.process_time() - started
    started = time.process_time()
    found = counter.verdict()
    seconds += time.process_time() - started
    return Sample(seconds, found.lost, found.duplicated, peak_mb())


def join(records: int, deliveries: int) -> Sample:
    """Group and join in DuckDB."""
    connection = loaded(records, deliveries)
    seconds = time.process_time()
    [duplicated], [lost] = answer(connection, _DUPLICATED), answer(connection, _LOST.format(records=records))
    return Sample(time.process_time() - seconds, lost, duplicated, peak_mb())


def group(records: int, deliveries: int) -> Sample:
    """Group once in DuckDB."""
    return asked_once(_GROUPED, records, deliveries)


def bitmap(records: int, deliveries: int) -> Sample:
    """Set bits in DuckDB."""
    return asked_once(_BITMAP, records, deliveries)


def asked_once(query: str, records: int, deliveries: int) -> Sample:
    """One query of DuckDB that answers both."""
    connection = loaded(records, deliveries)
    started = time.process_time()
    lost, duplicated = answer(connection, query.format(records=records))
    return Sample(time.process_time() - started, lost, duplicated, peak_mb())


def loaded(records: int, deliveries: int) -> duckdb.DuckDBPyConnection:
    """The rows in DuckDB."""
    connection = duckdb.connect(":memory:", config={"threads": 1})
    connection.execute("SET enable_progress_bar = false")
    connection.execute("CREATE TABLE rows (id BIGINT)")
    for ids in shuffled(records, deliveries):
        chunk = pa.table({"id": ids})
        connection.register("chunk", chunk)
        connection.execute("INSERT INTO rows FROM chunk")
    return connection


def answer(connection: duckdb.DuckDBPyConnection, query: str) -> list[int]:
    """The only row of an answer."""
    row = connection.execute(query).fetchone()
    assert row is not None
    return [int(each) for each in row]


def peak_mb() -> float:
    """The most memory that this process ever held."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


SIDES: dict[str, Callable[[int, int], Sample]] = {
    "counters": count,
    "DuckDB bitmap": bitmap,
    "DuckDB group-by": group,
    "DuckDB joins": join,
}


def measured(work: Callable[[int, int], Sample], records: int, deliveries: int, core: int) -> Sample:
    """Do some work in a new process on one core."""
    with ProcessPoolExecutor(1, get_context("spawn"), os.sched_setaffinity, (0, {core})) as pool:
        return pool.submit(work, records, deliveries).result()


def compared(records: int, deliveries: int, repeats: int, core: int) -> list[Sequence[str]]:
    """The rows of the table for one size; all sides take turns."""
    sides = SIDES if deliveries == 1 else {name: work for name, work in SIDES.items() if work is not bitmap}
    samples: dict[str, list[Sample]] = {name: [] for name in sides}
    for _ in track(range(repeats), f"{records:,} x {deliveries}", transient=True):
        for name, work in sides.items():
            samples[name].append(measured(work, records, deliveries, core))
    findings = {(sample.lost, sample.duplicated) for each in samples.values() for sample in each}
    if len(findings) > 1:
        raise RuntimeError(f"the sides disagree on (lost, duplicated): {findings}")
    seconds = {name: [sample.seconds for sample in each] for name, each in samples.items()}
    ours = median(seconds["counters"])
    return [
        (
            f"{records:,} x {deliveries}",
            name,
            with_spread(seconds[name]),
            f"{records * deliveries / median(seconds[name]) / 1e6:.1f}",
            f"{max(sample.peak_mb for sample in each):,.0f}",
            f"{median(seconds[name]) / ours:.1f}",
        )
        for name, each in samples.items()
    ]


def main(
    records: Annotated[list[int] | None, typer.Option(help="How many ids; give it again for another size.")] = None,
    repeats: Annotated[int, typer.Option(min=3, help="How often each side is measured.")] = 3,
    core: Annotated[int, typer.Option(help="The core that both sides are pinned to.")] = 0,
) -> None:
    """Measure and print."""
    sizes = [(size, 1) for size in records or (10_000_000, 100_000_000)]
    sizes.append((sizes[0][0], 5))
    rows = [row for size, deliveries in sizes for row in compared(size, deliveries, repeats, core)]
    columns = ("ids x deliveries", "by", "seconds", "M rows/s", "peak MB", "of counters")
    print(table(f"Delivery of shuffled ids, {repeats} repeats, {load()}", columns, rows))


if __name__ == "__main__":
    typer.run(main)
