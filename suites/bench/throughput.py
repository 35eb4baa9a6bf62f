"""The reference runtime on real processes beside Flink SQL and Spark: records per second and latency on the flights.

The same keyed sum and count by the same key, a checkpoint every second to the local disk, exactly-once, parallelism 2,
the same cores. The runtime also keeps a digest of every contributing record and commits its output through files, which
the peers do not; and every one of its runs is judged by all oracles, and counts only if none fails.

python -m holdfast.suites.bench.throughput [--no-peers]
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from holdfast.harness.engine.registry import toolbox
from holdfast.harness.engine.run import Run, run_plan
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import CheckpointCompleted, CheckpointTriggered, SourceEmitted
from holdfast.harness.model.history import History
from holdfast.harness.model.job import KEYED_SUM
from holdfast.harness.model.plan import Bounds, Plan, WorkloadSpec
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.bench.figures import load, median, number, percentile, table
from holdfast.suites.bench.observed import Batches, ObservedReference, processor_time
from holdfast.suites.bench.peers import flink, spark
from holdfast.suites.bench.peers.cache import DEFAULT_CACHE, PeerCache
from holdfast.suites.bench.peers.children import heed_termination
from holdfast.suites.bench.peers.flights_input import Columns
from holdfast.suites.bench.peers.peer import Demand, Latency, Throughput, latency_table, throughput_table
from holdfast.suites.bench.peers.progress import Sample, rates_of

RECORDS_PER_YEAR = 336_776
ORIGINS = 3
AT_ONCE_S = 1e-6
"""Cold is until the output of the first checkpoint is visible, warm from there to that of the last one that did not
wait for input to end. So what is counted is committed, with all the work that a checkpoint and its output take."""
SETTLED_AFTER_S = 2.0
ENGINE, MODE = "Holdfast reference", "real processes"

console = Console(stderr=True)


def measure_throughput(demand: Demand, years: int) -> tuple[Throughput, tuple[float, ...], tuple[float, ...]]:
    """Take all years as fast as possible.

    Returns:
        What the peers answer too, and milliseconds from every batch's leaving its source until it was in the sums, and
        until the output of its checkpoint was visible.

    Raises:
        OSError: the run says nothing, or an oracle refused it.
    """
    accused = ObservedReference()
    with processor_time() as spent:
        run = _run(accused, demand, {"repeat": years}, seconds=demand.seconds * 10)
    batches = Batches(run.history)
    samples = [Sample(time_ns / 1e9, records) for time_ns, records in batches.committed_samples()]
    rates = rates_of(samples, spent, cold_s=AT_ONCE_S, warm_after_s=AT_ONCE_S)
    measured = Throughput(ENGINE, MODE, rates, _checkpoint_durations(run.history))
    return (
        measured,
        tuple((batches.applied_ns(batch) - batch.time_ns) / 1e6 for batch in batches.emitted),
        tuple((batches.visible_ns(batch) - batch.time_ns) / 1e6 for batch in batches.emitted),
    )


def measure_latency(demand: Demand, offered: int) -> Latency:
    """Let records arrive at a rate; latency counts from the planned arrival of the first record of each batch that the
    sources emit, so it is an upper bound for the records of the batch.

    Raises:
        OSError: the run says nothing, or an oracle refused it.
    """
    accused = ObservedReference()
    years = max(1, round(offered * (SETTLED_AFTER_S + demand.seconds) / RECORDS_PER_YEAR))
    rate = max(1, offered // ORIGINS)
    run = _run(accused, demand, {"repeat": years, "records_per_second": rate}, seconds=demand.seconds * 2 + 60)
    batches = Batches(run.history)

    def arrived_ns(batch: SourceEmitted) -> float:
        return accused.zero_ns + batch.first_offset * 1e9 / rate

    settled = [each for each in batches.emitted if arrived_ns(each) - accused.zero_ns >= SETTLED_AFTER_S * 1e9]
    return Latency(
        engine=ENGINE,
        mode=MODE,
        offered=rate * ORIGINS,
        applied_ms=tuple((batches.applied_ns(each) - arrived_ns(each)) / 1e6 for each in settled),
        committed_ms=tuple((batches.visible_ns(each) - arrived_ns(each)) / 1e6 for each in settled),
    )


def _run(accused: ObservedReference, demand: Demand, parameters: dict[str, int | str], seconds: float) -> Run:
    plan = Plan(
        job=KEYED_SUM,
        workload=WorkloadSpec("flights", {"key": demand.key, **parameters}),
        options={"execution.checkpointing.interval": "1 s"},
        bounds=Bounds(safety_ms=100, liveness_ms=int(seconds * 1000)),
    )
    with tempfile.TemporaryDirectory(dir=demand.folder) as folder:
        run = run_plan(plan, accused, toolbox(), Tier.PROCESS, Path(folder))
    failed = [verdict for verdict in run.verdicts if verdict.outcome is Outcome.FAIL]
    if failed or run.outcome is not Outcome.PASS:
        raise OSError(f"the run does not count: {run.outcome.value} {run.reason} {failed}")
    return run


def _checkpoint_durations(history: History) -> tuple[float, ...]:
    triggered = {event.checkpoint: event.time_ns for event in history.of(CheckpointTriggered)}
    return tuple((event.time_ns - triggered[event.checkpoint]) / 1e6 for event in history.of(CheckpointCompleted))


def main(
    cache: Annotated[Path, typer.Option(help="where the peers are installed")] = DEFAULT_CACHE,
    cores: Annotated[str, typer.Option(help="that every engine is pinned to, with commas")] = "0,1",
    key: Annotated[str, typer.Option(help="carrier (16 keys) or tailnum (4,044)")] = "tailnum",
    years: Annotated[int, typer.Option(min=1, help="of 336,776 records, for Holdfast")] = 300,
    seconds: Annotated[float, typer.Option(help="of every peer's run, from its first record")] = 60.0,
    repeats: Annotated[int, typer.Option(min=1)] = 3,
    offered: Annotated[list[int] | None, typer.Option(help="rates for latency, in records per second")] = None,
    peers: Annotated[bool, typer.Option("--peers/--no-peers")] = True,
    latency: Annotated[bool, typer.Option("--latency/--no-latency")] = True,
    folder: Annotated[Path | None, typer.Option(help="for inputs and checkpoints, on a local disk")] = None,
) -> None:
    """Measure."""
    heed_termination()
    chosen = tuple(int(core) for core in cores.split(","))
    os.sched_setaffinity(0, chosen)
    installed = PeerCache(cache)
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-", dir=folder) as name:
        # The same whole numbers as in Holdfast's own log: the input format that suits the peers best.
        demand = Demand(Path(name), chosen, key, Columns.NUMBER, 500_000_000, seconds)
        _compare_throughput(demand, installed, years, repeats, peers=peers)
        if latency:
            measured = [measure_latency(demand, rate) for rate in offered or (RECORDS_PER_YEAR, 5_000_000)]
            if peers:
                measured += [flink.latency(installed, demand, mode, 10) for mode in flink.MODES]
                measured.append(spark.latency(installed, demand, 10))
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
            measured, applied_ms, visible_ms = measure_throughput(demand, years)
        ours.append(measured)
        applied += applied_ms
        visible += visible_ms
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
    typer.run(main)
