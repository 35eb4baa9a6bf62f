"""The peers beside each other: Flink SQL and Spark Structured Streaming on the flights stream.

python -m holdfast.suites.bench.peers
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from holdfast.suites.bench.figures import load
from holdfast.suites.bench.peers import flink, spark
from holdfast.suites.bench.peers.cache import DEFAULT_CACHE, PeerCache
from holdfast.suites.bench.peers.children import run_script
from holdfast.suites.bench.peers.peer import Demand, Latency, Throughput, latency_table, throughput_table
from holdfast.suites.bench.peers.peer_input import Columns

PARTS_PER_YEAR = 10

console = Console(stderr=True)


def main(
    cache: Annotated[Path, typer.Option(help="where the peers are installed")] = DEFAULT_CACHE,
    cores: Annotated[str, typer.Option(help="that every engine is pinned to, with commas")] = "0,1",
    key: Annotated[str, typer.Option(help="carrier (16 keys) or tailnum (4,044)")] = "tailnum",
    columns: Annotated[list[Columns] | None, typer.Option(help="keys as text or as number; default: both")] = None,
    events: Annotated[int, typer.Option(help="most records of a run")] = 900_000_000,
    seconds: Annotated[float, typer.Option(help="longest time of a run, from the first record")] = 60.0,
    repeats: Annotated[int, typer.Option(min=1, help="of every measurement of throughput")] = 3,
    only: Annotated[str, typer.Option(help="flink or spark")] = "",
    throughputs: Annotated[bool, typer.Option("--throughput/--no-throughput")] = True,
    latencies: Annotated[bool, typer.Option("--latency/--no-latency")] = True,
) -> None:
    """Measure."""
    installed = PeerCache(cache)
    chosen = tuple(int(core) for core in cores.split(","))
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as name:
        for column in columns or list(Columns):
            demand = Demand(Path(name), chosen, key, column, events, seconds)
            if throughputs:
                groups = [group for group in (_repeated(installed, demand, repeats, only)) if group]
                title = f"Throughput, {key}, keys as {column}, {repeats} x {seconds:.0f} s, cores {cores}; {load()}"
                print(f"\n{throughput_table(title, groups)}")
            if latencies:
                title = f"Latency, {key}, keys as {column}, {seconds:.0f} s, cores {cores}; {load()}"
                print(f"\n{latency_table(title, _latencies(installed, demand, only))}")
    print(f"\ncommand: python -m holdfast.suites.bench.peers; cores of this machine: {os.cpu_count()}")


def _repeated(cache: PeerCache, demand: Demand, repeats: int, only: str) -> list[list[Throughput]]:
    """Every repeat measures every engine once, so that a busy minute does not hit one engine alone."""
    modes = [*flink.MODES, spark.MODE]
    groups: dict[str, list[Throughput]] = {mode: [] for mode in modes if _wanted(mode, only)}
    for repeat in range(repeats):
        for mode, group in groups.items():
            with console.status(f"repeat {repeat + 1} of {repeats}: {mode}"):
                if mode == spark.MODE:
                    group.append(spark.throughput(cache, demand))
                else:
                    group.append(flink.throughput(cache, demand, mode))
    return list(groups.values())


def _latencies(cache: PeerCache, demand: Demand, only: str) -> list[Latency]:
    measured = [flink.latency(cache, demand, mode, PARTS_PER_YEAR) for mode in flink.MODES if _wanted(mode, only)]
    if _wanted(spark.MODE, only):
        measured.append(spark.latency(cache, demand, PARTS_PER_YEAR))
    return measured


def _wanted(mode: str, only: str) -> bool:
    return not only or (only == "spark") is (mode == spark.MODE)


if __name__ == "__main__":
    run_script(lambda: typer.run(main))
