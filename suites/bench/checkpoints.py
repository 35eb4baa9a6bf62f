"""Checkpoints of a million keys every second while as much input is read as can be, beside Flink SQL in the same run.

Both systems run twice on the same input and the same cores: with a checkpoint every second, and with hardly any. The
input is one shuffle of all keys after the other, so nothing can be summed in advance. Only checkpoints that hold all
keys and were triggered while input was waiting count. What a checkpoint costs is the share of the rate of reading that
it takes; for Holdfast the rate without checkpoints is taken between those of the second run.

The sinks of both systems throw all rows away. With `--committed` Holdfast runs once more with its own sink, where a
checkpoint also writes the rows of its second to files and commits them. A run counts only if no oracle refuses it and
its sums, or its last rows, are those of the whole input in the end (the oracles with a model of the whole input are
left out, as in `throughput`).

With `--backend rocksdb` both keep their state in RocksDB, and store increments.

python -m holdfast.suites.bench.checkpoints [--no-peer] [--committed] [--backend rocksdb]
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.console import Console

from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.model import profile
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import CheckpointCompleted, CheckpointTriggered, SourceEmitted, SubtaskStatistics
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Bounds, Plan, WorkloadSpec
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.bench.discarding import VARIANT, check_final_state
from holdfast.suites.bench.figures import load, number, percentile, table
from holdfast.suites.bench.final_sums import check_final_sums
from holdfast.suites.bench.inputs import Uniform, bench_toolbox
from holdfast.suites.bench.peers import flink
from holdfast.suites.bench.peers.cache import DEFAULT_CACHE, PeerCache
from holdfast.suites.bench.peers.children import run_script
from holdfast.suites.bench.peers.peer import Demand, Throughput
from holdfast.suites.bench.peers.peer_input import Columns, write_input
from holdfast.suites.bench.reference_run import ENGINE, MODELLING

INTERVAL_S = 1
LONG_S = 12
"""Between checkpoints of the run that hardly has any; a run owes two of them in the end."""
PASSES = {"hashmap": 4, "rocksdb": 2}
"""Shuffles in a round of the input."""
BATCH_RECORDS = {"hashmap": "16384", "rocksdb": "2048"}
"""Aligned barriers wait behind what is in flight: at most some 65,000 records on their way to a sum, which is the order
of what Flink's own buffers of 32 kB hold; by default it would be sixteen times that. Where each record takes longer,
there are fewer."""
FLINK_MODE = "record by record"
FLINK_EVENTS = 200_000_000
FLINK_WARM_S = 15.0
AIM_OF_FLINK = {"hashmap": 0.1, "rocksdb": 0.3}
"""By state backend, of the duration of Flink's checkpoints."""
AIM_LOST_PERCENT = 7.0


class Measured(NamedTuple):
    """Durations of the checkpoints in ms, records per second with and without them, and for Holdfast how long a sum
    processed no record for its snapshot, in ms."""

    engine: str
    durations_ms: Sequence[float]
    rate: float
    rate_without: float
    standing_ms: Sequence[float] = ()

    @property
    def lost_percent(self) -> float:
        """Of the throughput without checkpoints."""
        return 100 * (1 - self.rate / self.rate_without)


def kept_in(backend: str) -> dict[str, str]:
    """Options of both systems: where state is, and that increments are stored where there are any."""
    return {profile.BACKEND: backend, profile.INCREMENTAL: str(backend == "rocksdb").lower()}


def holdfast(keys: int, rounds: int, folder: Path, backend: str = "hashmap", variant: str = VARIANT) -> Measured:
    """Both runs of the reference runtime, or of a variant.

    Raises:
        OSError: a run does not count.
    """
    history = _run(keys, rounds, INTERVAL_S, folder, backend, variant)
    checkpoints = _checkpoints(history)
    emitted = history.of(SourceEmitted)
    full = {
        event.checkpoint
        for event in history.of(CheckpointCompleted)
        if sum(event.positions) > keys and event.checkpoint in checkpoints
        and checkpoints[event.checkpoint][0] < emitted[-1].time_ns
    }  # fmt: skip
    durations = [(end - begin) / 1e6 for number, (begin, end) in checkpoints.items() if number in full]
    standing = [
        event.sync_ms
        for event in history.of(SubtaskStatistics)
        if event.checkpoint in full and event.subtask.startswith("sum")
    ]
    rate = _rate(emitted, keys, ())
    del history
    long = _run(keys, rounds, LONG_S, folder, backend, variant)
    return Measured(
        f"{ENGINE}, {backend}{'' if variant else ', rows committed'}",
        durations,
        rate,
        _rate(long.of(SourceEmitted), keys, list(_checkpoints(long).values())),
        standing,
    )


def _run(keys: int, rounds: int, interval_s: int, folder: Path, backend: str, variant: str) -> History:
    plan = Plan(
        job=KEYED_SUM,
        workload=WorkloadSpec(Uniform.name, {"keys": keys, "passes": PASSES[backend], "repeat": rounds}),
        options={
            profile.INTERVAL: f"{interval_s} s",
            profile.BATCH_RECORDS: BATCH_RECORDS[backend],
            profile.BUFFERS_PER_CHANNEL: "2",
            **kept_in(backend),
        },
        bounds=Bounds(safety_ms=100, liveness_ms=300_000),
    )
    with tempfile.TemporaryDirectory(dir=folder) as name:
        run = run_plan(plan, ReferenceSystem(variant), bench_toolbox(MODELLING), Tier.PROCESS, Path(name))
    failed = [verdict for verdict in run.verdicts if verdict.outcome is Outcome.FAIL]
    if failed or run.outcome is not Outcome.PASS:
        raise OSError(f"the run does not count: {run.outcome.value} {run.reason} {failed}")
    check_final = check_final_state if variant else check_final_sums
    check_final(run.history)
    return run.history


def _checkpoints(history: History) -> dict[int, tuple[int, int]]:
    """When each completed checkpoint was triggered and complete."""
    triggered = {event.checkpoint: event.time_ns for event in history.of(CheckpointTriggered)}
    return {event.checkpoint: (triggered[event.checkpoint], event.time_ns) for event in history.of(CheckpointCompleted)}


def _rate(emitted: Sequence[SourceEmitted], keys: int, without: Sequence[tuple[int, int]]) -> float:
    """Records read per second once every key was read, leaving out what was read, and the time, in some spans."""
    read = 0
    counted, since_ns = 0, 0
    for event in emitted:
        read += event.next_offset - event.first_offset
        if read <= keys:
            since_ns = event.time_ns
        elif not any(begin <= event.time_ns <= end for begin, end in without):
            counted += event.next_offset - event.first_offset
    until_ns = emitted[-1].time_ns
    excluded_ns = sum(max(0, min(end, until_ns) - max(begin, since_ns)) for begin, end in without)
    if until_ns - since_ns <= excluded_ns:
        raise OSError("all input was read during one checkpoint: raise --rounds.")
    return counted * 1e9 / (until_ns - since_ns - excluded_ns)


def beside(
    keys: int, cache: PeerCache, seconds: float, cores: tuple[int, ...], folder: Path, backend: str = "hashmap"
) -> Measured:
    """Both runs of Flink.

    Raises:
        OSError: Flink cannot be had or fails.
    """
    source = write_input(
        folder / "round", Uniform().generate({"keys": keys, "passes": PASSES[backend]}, 0), Columns.NUMBER
    )  # the same round that Holdfast repeats
    demand = Demand(folder, cores, "", Columns.NUMBER, FLINK_EVENTS, seconds)

    def take(interval: str) -> Throughput:
        with tempfile.TemporaryDirectory(dir=folder) as name:
            options = {profile.INTERVAL: interval, **kept_in(backend)}
            return flink.take(cache, demand, Path(name), source, FLINK_MODE, options, FLINK_WARM_S)

    often, never = take(f"{INTERVAL_S} s"), take("1 h")
    return Measured(f"{often.engine}, {backend}", often.checkpoint_ms, often.rates.warm, never.rates.warm)


def shown(title: str, systems: Sequence[Measured], backend: str = "hashmap") -> str:
    """Side by side, and as ratios."""
    columns = ("system", "checkpoints", "p50 ms", "p99 ms", "standing still p50 ms", "M records/s", "without", "lost %")
    rows = [
        (
            each.engine,
            str(len(each.durations_ms)),
            number(percentile(each.durations_ms, 50), 0),
            number(percentile(each.durations_ms, 99), 0),
            number(percentile(each.standing_ms, 50), 0),
            number(each.rate / 1e6),
            number(each.rate_without / 1e6),
            number(each.lost_percent, 1),
        )
        for each in systems
    ]
    lines = [table(title, columns, rows), "", f"Aim: at most {AIM_LOST_PERCENT:.0f} % lost."]
    if len(systems) > 1:
        ours, peer = systems
        ratios = [
            number(percentile(ours.durations_ms, percent) / percentile(peer.durations_ms, percent))
            for percent in (50, 99)
        ]
        aim = AIM_OF_FLINK[backend]
        lines.append(
            f"Duration of Holdfast over that of {peer.engine}: p50 {ratios[0]}, p99 {ratios[1]} (aim {aim}); "
            f"throughput {number(ours.rate / peer.rate)} times."
        )
    return "\n".join(lines)


def main(
    keys: Annotated[int, typer.Option(min=1)] = 1_000_000,
    rounds: Annotated[int, typer.Option(min=1, help="of 4 records for every key, on rocksdb 2; for Holdfast")] = 5,
    seconds: Annotated[float, typer.Option(help="of each of Flink's runs, from its first record")] = 40.0,
    committed: Annotated[bool, typer.Option("--committed", help="Holdfast once more, with its own sink")] = False,
    backend: Annotated[str, typer.Option(help="hashmap or rocksdb, of both systems")] = "hashmap",
    peer: Annotated[bool, typer.Option("--peer/--no-peer")] = True,
    cache: Annotated[Path, typer.Option(help="where the peer is installed")] = DEFAULT_CACHE,
    cores: Annotated[str, typer.Option(help="that every system is pinned to, with commas")] = "0,1",
    folder: Annotated[Path | None, typer.Option(help="for inputs and checkpoints, on a local disk")] = None,
) -> None:
    """Measure."""
    chosen = tuple(int(core) for core in cores.split(","))
    os.sched_setaffinity(0, chosen)
    console = Console(stderr=True)
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-", dir=folder) as name:
        with console.status(ENGINE):
            systems = [holdfast(keys, rounds, Path(name), backend)]
        title = f"Checkpoints of {keys:,} keys every {INTERVAL_S} s while saturated, cores {cores}; {load()}"
        print(shown(title, systems, backend))
        if committed:
            with console.status(f"{ENGINE}, rows committed"):
                print(f"\n{shown('With rows that are committed', [holdfast(keys, rounds, Path(name), backend, '')])}")
        if peer:
            with console.status("Flink"):
                systems.append(beside(keys, PeerCache(cache), seconds, chosen, Path(name), backend))
            print(f"\n{shown('Beside the peer', systems, backend)}")
    command = f"python -m holdfast.suites.bench.checkpoints --keys {keys} --rounds {rounds} --backend {backend}"
    print(f"\ncommand: {command}")


if __name__ == "__main__":
    run_script(lambda: typer.run(main))
