"""Verdict over delivered identities: two-bit counters beside DuckDB's joins, same rows, one core, in one run.

The rows are the ids 0 to n - 1 in a shuffled order, but for a few that are lost and a few that come twice; both sides
must find the same. They are made chunk by chunk, which is not timed; nor is loading them into DuckDB. Seconds are
processor time of a process of its own, pinned to one core, and memory is the most that process ever held. For DuckDB
`duplicated` is a group-by and `lost` an anti-join against the range of ids; the whole verdict takes both.

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
_LOST = "SELECT count(*) FROM range({records}) expected(id) ANTI JOIN rows USING (id)"


class Sample(NamedTuple):
    """One repeat: seconds by part, what was found, and the memory that it took."""

    seconds: tuple[float, ...]
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
    return Sample((seconds,), found.lost, found.duplicated, peak_mb())


def join(records: int, deliveries: int) -> Sample:
    """Group and join in DuckDB."""
    connection = duckdb.connect(":memory:", config={"threads": 1})
    connection.execute("SET enable_progress_bar = false")
    connection.execute("CREATE TABLE rows (id BIGINT)")
    for ids in shuffled(records, deliveries):
        chunk = pa.table({"id": ids})
        connection.register("chunk", chunk)
        connection.execute("INSERT INTO rows FROM chunk")
    seconds, answers = [], []
    for query in (_DUPLICATED, _LOST.format(records=records)):
        started = time.process_time()
        row = connection.execute(query).fetchone()
        seconds.append(time.process_time() - started)
        answers.append(int(row[0]) if row else -1)
    return Sample(tuple(seconds), answers[1], answers[0], peak_mb())


def peak_mb() -> float:
    """The most memory that this process ever held."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def measured(work: Callable[[int, int], Sample], records: int, deliveries: int, core: int) -> Sample:
    """Do some work in a new process on one core."""
    with ProcessPoolExecutor(1, get_context("spawn"), os.sched_setaffinity, (0, {core})) as pool:
        return pool.submit(work, records, deliveries).result()


def compared(records: int, deliveries: int, repeats: int, core: int) -> list[Sequence[str]]:
    """The rows of the table for one size; counters and joins take turns."""
    counted, joined = [], []
    for _ in track(range(repeats), f"{records:,} x {deliveries}", transient=True):
        counted.append(measured(count, records, deliveries, core))
        joined.append(measured(join, records, deliveries, core))
    findings = {(sample.lost, sample.duplicated) for sample in counted + joined}
    if len(findings) > 1:
        raise RuntimeError(f"counters and joins disagree on (lost, duplicated): {findings}")
    sides = {
        "counters": ([sum(sample.seconds) for sample in counted], counted),
        "DuckDB duplicated": ([sample.seconds[0] for sample in joined], joined),
        "DuckDB lost": ([sample.seconds[1] for sample in joined], joined),
        "DuckDB": ([sum(sample.seconds) for sample in joined], joined),
    }
    ours = median(sides["counters"][0])
    return [
        (
            f"{records:,} x {deliveries}",
            name,
            with_spread(seconds),
            f"{records * deliveries / median(seconds) / 1e6:.1f}",
            f"{max(sample.peak_mb for sample in samples):,.0f}",
            f"{median(seconds) / ours:.1f}",
        )
        for name, (seconds, samples) in sides.items()
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
