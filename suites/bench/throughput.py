"""The reference runtime on real processes beside Flink SQL and Spark: records per second and latency on the flights.

The same keyed sum and count by the same key, a checkpoint every second to the local disk, exactly-once, parallelism 2,
the same cores. The runtime also keeps a digest of every contributing record and commits its output through files, which
the peers do not. Before anything is measured, a run over JUDGED_YEARS is judged by every oracle; the measured runs are
longer, so those oracles that would hold all of the input in memory give way to a comparison of the final sums.

python -m holdfast.suites.bench.throughput [--no-peers]
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console

from holdfast.suites.bench.figures import load, median, number, percentile, table
from holdfast.suites.bench.peers import flink, spark
from holdfast.suites.bench.peers.cache import DEFAULT_CACHE, PeerCache
from holdfast.suites.bench.peers.children import run_script
from holdfast.suites.bench.peers.peer import Demand, Latency, Throughput, latency_table, throughput_table
from holdfast.suites.bench.peers.peer_input import Columns
from holdfast.suites.bench.reference_run import ENGINE, RECORDS_PER_YEAR, judge, paced, saturated

JUDGED_YEARS = 300
PARTS_PER_YEAR = 10
BUSY_OFFERED = 5_000_000
LATENCY_S = 20.0
"""Of Holdfast's own runs: it has nothing to warm up, and its whole input is in memory."""

console = Console(stderr=True)


def main(
    cache: Annotated[Path, typer.Option(help="where the peers are installed")] = DEFAULT_CACHE,
    cores: Annotated[str, typer.Option(help="that every engine is pinned to, with commas")] = "0,1",
    key: Annotated[str, typer.Option(help="carrier (16 keys) or tailnum (4,044)")] = "tailnum",
    years: Annotated[int, typer.Option(min=1, help="of 336,776 records, for Holdfast; 16 bytes of memory each")] = 900,
    judged_years: Annotated[int, typer.Option(min=0, help="judged by every oracle first; 0: none")] = JUDGED_YEARS,
    seconds: Annotated[float, typer.Option(help="of every peer's run, from its first record")] = 60.0,
    repeats: Annotated[int, typer.Option(min=1)] = 3,
    offered: Annotated[list[int] | None, typer.Option(help="rates for latency, in records per second")] = None,
    peers: Annotated[bool, typer.Option("--peers/--no-peers")] = True,
    latency: Annotated[bool, typer.Option("--latency/--no-latency")] = True,
    folder: Annotated[Path | None, typer.Option(help="for inputs and checkpoints, on a local disk")] = None,
) -> None:
    """Measure."""
    chosen = tuple(int(core) for core in cores.split(","))
    installed = PeerCache(cache)
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-", dir=folder) as name:
        # The same whole numbers as in Holdfast's own log: the input format that suits the peers best.
        demand = Demand(Path(name), chosen, key, Columns.NUMBER, 900_000_000, seconds)
        if judged_years:
            with console.status(f"{judged_years} years judged by every oracle"):
                judge(demand, judged_years)
            print(f"{judged_years * RECORDS_PER_YEAR:,} records: passed by every oracle")
        _compare_throughput(demand, installed, years, repeats, peers=peers)
        if latency:
            measured = _latencies(demand, installed, offered or [RECORDS_PER_YEAR, BUSY_OFFERED], peers=peers)
            print(f"\n{latency_table(f'Latency, {key}, cores {cores}; {load()}', measured)}")
    print(f"\ncommand: python -m holdfast.suites.bench.throughput --years {years}")


def _compare_throughput(demand: Demand, cache: PeerCache, years: int, repeats: int, *, peers: bool) -> None:
    modes = [*flink.MODES, spark.MODE] if peers else []
    ours: list[Throughput] = []
    applied: list[float] = []
    visible: list[float] = []
    theirs: dict[str, list[Throughput]] = {mode: [] for mode in modes}
    for repeat in range(repeats):
        with console.status(f"repeat {repeat + 1} of {repeats}: {ENGINE}"):
            measured = saturated(demand, years)
        ours.append(measured.throughput)
        applied += measured.applied_ms
        visible += measured.visible_ms
        for mode, group in theirs.items():
            with console.status(f"repeat {repeat + 1} of {repeats}: {mode}"):
                group.append(
                    spark.throughput(cache, demand) if mode == spark.MODE else flink.throughput(cache, demand, mode)
                )
    records = years * RECORDS_PER_YEAR
    title = f"Throughput, {demand.key}, Holdfast {records:,} records, {repeats} repeats; {load()}"
    print(f"\n{throughput_table(title, [ours, *theirs.values()])}")
    if peers:
        print(f"\n{_ratios(ours, list(theirs.values()))}")
    print(
        f"\n{ENGINE}, saturated: from leaving the source to the sums p99 {number(percentile(applied, 99), 0)} ms, "
        f"to visible committed output p99 {number(percentile(visible, 99), 0)} ms"
    )


def _latencies(demand: Demand, cache: PeerCache, offered: Sequence[int], *, peers: bool) -> list[Latency]:
    short = msgspec.structs.replace(demand, seconds=min(demand.seconds, LATENCY_S))
    measured = [paced(short, rate) for rate in offered]
    if peers:
        measured += [flink.latency(cache, demand, mode, PARTS_PER_YEAR) for mode in flink.MODES]
        measured.append(spark.latency(cache, demand, PARTS_PER_YEAR))
    return measured


def _ratios(ours: Sequence[Throughput], theirs: Sequence[Sequence[Throughput]]) -> str:
    def ratio(group: Sequence[Throughput], *, per_core: bool) -> str:
        rates = [
            median([each.rates.warm_per_core if per_core else each.rates.warm for each in side])
            for side in (ours, group)
        ]
        return number(rates[0] / rates[1], 1)

    rows = [
        (f"{group[0].engine}, {group[0].mode}", ratio(group, per_core=False), ratio(group, per_core=True))
        for group in theirs
    ]
    return table("Holdfast is so many times as fast as", ("peer", "warm", "warm per core"), rows)


if __name__ == "__main__":
    run_script(lambda: typer.run(main))
