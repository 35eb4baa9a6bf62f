"""What a SIGKILL of a worker costs, on real processes: full beside regional restart, and replay against the interval.

Full and regional: two pipelines that share nothing, each on a worker of its own, so that one of them can go on. Counted
from the moment before the signal, less the restart delay, until the last restarted task runs; *restarted* is how many
tasks that were.

Replay (REC-11): a keyed sum over input that arrives at a fixed rate. Each kill waits for the trigger of a checkpoint,
so that a whole interval must be read again: the worst case. A longer interval costs fewer checkpoints and a longer
replay. *Bound* is the rate times the interval and the longest checkpoint; *under way* is the share of the time in which
a checkpoint was in progress.

Every run is judged by every oracle and counts only if none fails.

python -m holdfast.suites.bench.failover
"""

from __future__ import annotations

import os
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site.registry import toolbox
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import (
    CheckpointCompleted,
    CheckpointTriggered,
    FaultInjected,
    SourceEmitted,
    TaskStarted,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM
from holdfast.harness.model.plan import Bounds, FaultSpec, Plan, Schedule, WorkloadSpec
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.bench.figures import load, median, number, percentile, table
from holdfast.suites.bench.peers.children import run_script

WORKERS = 2
CHECKPOINTS_BETWEEN = 2
DELAY_MS = 100
FAILOVER_INTERVAL_MS = 500
FORWARD_RECORDS_PER_S = 5_000
SUM_RECORDS_PER_S = 100_000
"""Of each of the two partitions."""


def judged(plan: Plan, folder: Path) -> History:
    """Run it.

    Raises:
        OSError: the run does not count.
    """
    with tempfile.TemporaryDirectory(dir=folder) as name:
        run = run_plan(plan, ReferenceSystem(), toolbox(), Tier.PROCESS, Path(name))
    failed = [verdict for verdict in run.verdicts if verdict.outcome is Outcome.FAIL]
    if failed or run.history.end.problem:
        raise OSError(f"the run does not count: {run.outcome.value} {run.reason} {failed}")
    return run.history


def restarts(strategy: str, kills: int, folder: Path) -> Sequence[str]:
    """A line of the first table.

    Raises:
        OSError: the run does not count.
    """
    seconds = 2 + kills * (CHECKPOINTS_BETWEEN * FAILOVER_INTERVAL_MS + DELAY_MS + 500) / 1_000
    workload = _arriving(FORWARD_RECORDS_PER_S, seconds)
    faults = tuple(_kill(index, "") for index in range(kills))
    options = {"jobmanager.execution.failover-strategy": strategy}
    history = judged(_plan(FORWARD, FAILOVER_INTERVAL_MS, workload, faults, options), folder)
    took_ms, tasks = [], []
    killed = [event.time_ns for event in history.of(FaultInjected)]
    for begin_ns, next_ns in zip(killed, [*killed[1:], 1 << 63], strict=True):
        started = [event.time_ns for event in history.of(TaskStarted) if begin_ns < event.time_ns < next_ns]
        if started:
            took_ms.append((max(started) - begin_ns) / 1e6 - DELAY_MS)
            tasks.append(len(started))
    return (
        strategy,
        f"{len(took_ms)} of {kills}",
        number(median(tasks), 0),
        number(percentile(took_ms, 50), 0),
        number(percentile(took_ms, 95), 0),
        number(replayed(history) / max(1, len(killed)), 0),
    )


def replay(interval_ms: int, kills: int, folder: Path) -> Sequence[str]:
    """A line of the second table.

    Raises:
        OSError: the run does not count.
    """
    seconds = 2 + kills * ((CHECKPOINTS_BETWEEN + 1) * interval_ms + DELAY_MS + 500) / 1_000
    workload = _arriving(SUM_RECORDS_PER_S, seconds)
    faults = tuple(_kill(index, "checkpoint_triggered") for index in range(kills))
    history = judged(_plan(KEYED_SUM, interval_ms, workload, faults, {}), folder)
    killed = history.of(FaultInjected)
    triggered = {event.checkpoint: event.time_ns for event in history.of(CheckpointTriggered)}
    durations = [(event.time_ns - triggered[event.checkpoint]) / 1e6 for event in history.of(CheckpointCompleted)]
    emitted = history.of(SourceEmitted)
    lasted_ms = (max(event.time_ns for event in emitted) - min(event.time_ns for event in emitted)) / 1e6
    bound = WORKERS * SUM_RECORDS_PER_S * (interval_ms + max(durations)) / 1_000
    return (
        f"{interval_ms} ms",
        str(len(killed)),
        number(replayed(history) / max(1, len(killed)), 0),
        number(bound, 0),
        number(len(durations) / lasted_ms * 60_000, 0),
        number(percentile(durations, 50), 0),
        number(percentile(durations, 99), 0),
        number(100 * sum(durations) / lasted_ms, 1),
    )


def replayed(history: History) -> int:
    """How many records were read again, over all failures."""
    reached: dict[int, int] = defaultdict(int)
    again = 0
    for event in sorted(history.of(SourceEmitted), key=lambda each: each.time_ns):
        again += max(0, min(event.next_offset, reached[event.partition]) - event.first_offset)
        reached[event.partition] = max(event.next_offset, reached[event.partition])
    return again


def _kill(index: int, event: str) -> FaultSpec:
    schedule = Schedule(after_checkpoint=CHECKPOINTS_BETWEEN * (index + 1), at_event=event)
    return FaultSpec("kill", Target(Role.WORKER, index % WORKERS), schedule)


def _arriving(records_per_second: int, seconds: float) -> WorkloadSpec:
    return WorkloadSpec(
        "synthetic",
        {
            "records": int(WORKERS * records_per_second * seconds),
            "records_per_second": records_per_second,
            "preloaded_percent": 0,
            "keys": 1_000,
            "partitions": WORKERS,
        },
    )


def _plan(
    job: Job, interval_ms: int, workload: WorkloadSpec, faults: tuple[FaultSpec, ...], options: dict[str, str]
) -> Plan:
    return Plan(
        job=job,
        workload=workload,
        options={
            "execution.checkpointing.interval": f"{interval_ms} ms",
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": "1000",
            "restart-strategy.fixed-delay.delay": f"{DELAY_MS} ms",
            **options,
        },
        faults=faults,
        bounds=Bounds(safety_ms=120_000, liveness_ms=60_000),
    )


def main(
    kills: Annotated[int, typer.Option(min=1, help="in each run")] = 8,
    interval_ms: Annotated[list[int] | None, typer.Option(help="of the replays; default: 250, 500 and 1000")] = None,
    cores: Annotated[str, typer.Option(help="that every process is pinned to, with commas")] = "0,1",
) -> None:
    """Measure."""
    os.sched_setaffinity(0, [int(core) for core in cores.split(",")])
    console = Console(stderr=True)
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as name:
        rows: list[Sequence[str]] = []
        for strategy in ("full", "region"):
            with console.status(f"restart, {strategy}"):
                rows.append(restarts(strategy, kills, Path(name)))
        columns: Sequence[str] = (
            "restart",
            "kills",
            "tasks restarted",
            "running again, median ms",
            "p95 ms",
            "records read again",
        )
        title = f"SIGKILL of one of two pipelines, restart delay of {DELAY_MS} ms taken off, cores {cores}; {load()}"
        print(table(title, columns, rows))
        rows = []
        for interval in interval_ms or (250, 500, 1_000):
            with console.status(f"replay, {interval} ms"):
                rows.append(replay(interval, kills, Path(name)))
    columns = ("interval", "kills", "read again", "bound", "checkpoints/min", "p50 ms", "p99 ms", "under way %")
    title = f"Records read again after a SIGKILL, of {WORKERS * SUM_RECORDS_PER_S:,}/s, cores {cores}; {load()}"
    print(f"\n{table(title, columns, rows)}")
    print(f"\ncommand: python -m holdfast.suites.bench.failover --kills {kills}")


if __name__ == "__main__":
    run_script(lambda: typer.run(main))
