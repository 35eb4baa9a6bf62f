"""How long the reference runtime takes to recover from a SIGKILL of a worker, on real processes.

One run with a paced input in which workers are killed one after the other, each after the next completed checkpoints.
Counted from the moment before the signal is sent, less the delay of the restart strategy, which is a setting and not
work: until the last task of the new attempt runs, and until the reader sees the first output that was not yet promised
before the kill. The run is judged by all oracles and counts only if none fails.

python -m holdfast.suites.bench.recovery
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.site.registry import toolbox
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import (
    Event,
    FaultInjected,
    JobStatus,
    JobSwitched,
    RowsVisible,
    TaskStarted,
    TransactionPrecommitted,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Bounds, FaultSpec, Plan, Schedule, Topology, WorkloadSpec
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.bench.figures import load, number, percentile, table
from holdfast.suites.bench.peers.children import run_script

RECORDS_PER_YEAR = 336_776
ORIGINS = 3
WORKERS = 2
CHECKPOINTS_BETWEEN = 2
AIM_RUNNING_S = 0.1
AIM_COMMITTED_S = 0.3
"""Plus half an interval."""


class Recovery(NamedTuple):
    """What one kill led to, in seconds, the configured delay taken off."""

    running_s: float
    committed_s: float


def plan_of(kills: int, interval_ms: int, delay_ms: int) -> Plan:
    """So many kills, with input arriving until well after the last."""
    seconds = 2 + kills * (CHECKPOINTS_BETWEEN * interval_ms + delay_ms + 500) / 1000
    faults = tuple(
        FaultSpec(
            "kill",
            Target(Role.WORKER, kill % WORKERS),
            Schedule(after_checkpoint=CHECKPOINTS_BETWEEN * (kill + 1)),
        )
        for kill in range(kills)
    )
    return Plan(
        job=KEYED_SUM,
        topology=Topology(parallelism=WORKERS),
        workload=WorkloadSpec(
            "flights",
            {"key": "tailnum", "repeat": round(seconds), "records_per_second": RECORDS_PER_YEAR // ORIGINS},
        ),
        options={
            "execution.checkpointing.interval": f"{interval_ms} ms",
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": "1000",
            "restart-strategy.fixed-delay.delay": f"{delay_ms} ms",
        },
        faults=faults,
        bounds=Bounds(safety_ms=int(seconds * 2000), liveness_ms=60_000),
    )


def recoveries(history: History, delay_ms: int) -> list[Recovery]:
    """What each kill led to before the next one; a kill whose recovery the next one cut short is left out."""
    kills = [event.time_ns for event in history.of(FaultInjected)]
    found = []
    for killed_ns, next_ns in zip(kills, [*kills[1:], 1 << 63], strict=True):
        running = [each for each in _switches(history) if killed_ns < each.time_ns < next_ns]
        if not running:
            continue
        attempt = running[-1].attempt
        started = [event for event in history.of(TaskStarted) if event.attempt == attempt]
        committed = [event for event in _new_output(history, attempt) if killed_ns < event.time_ns < next_ns]
        if not committed:
            continue
        ends = max(event.time_ns for event in (*started, running[-1])), min(event.time_ns for event in committed)
        found.append(Recovery(*((end_ns - killed_ns) / 1e9 - delay_ms / 1000 for end_ns in ends)))
    return found


def _switches(history: History) -> list[JobSwitched]:
    return [event for event in history.of(JobSwitched) if event.status is JobStatus.RUNNING]


def _new_output(history: History, attempt: int) -> list[Event]:
    """What became visible of transactions that this attempt wrote: not what the restored checkpoint had promised."""
    written = {event.transaction for event in history.of(TransactionPrecommitted) if event.attempt == attempt}
    return [event for event in history.of(RowsVisible) if event.name in written]


def measure(kills: int, interval_ms: int, delay_ms: int) -> Run:
    """Kill.

    Raises:
        OSError: the run says nothing, or an oracle refused it.
    """
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        run = run_plan(plan_of(kills, interval_ms, delay_ms), ReferenceSystem(), toolbox(), Tier.PROCESS, Path(folder))
    failed = [verdict for verdict in run.verdicts if verdict.outcome is Outcome.FAIL]
    if failed or run.history.end.problem:
        raise OSError(f"the run does not count: {run.outcome.value} {run.reason} {failed}")
    return run


def main(
    kills: Annotated[int, typer.Option(min=1)] = 20,
    interval_ms: Annotated[list[int] | None, typer.Option(help="between checkpoints; default: 1000 and 200")] = None,
    delay_ms: Annotated[int, typer.Option(min=0, help="of the restart strategy, taken off")] = 100,
    cores: Annotated[str, typer.Option(help="that every process is pinned to, with commas")] = "0,1",
) -> None:
    """Measure."""
    os.sched_setaffinity(0, [int(core) for core in cores.split(",")])
    columns = (
        "interval",
        "kills",
        "running, median s",
        "p95 s",
        "aim",
        "new commit, median s",
        "p95 s",
        "aim",
        "judged",
    )
    rows = []
    for interval in interval_ms or (1000, 200):
        run = measure(kills, interval, delay_ms)
        found = recoveries(run.history, delay_ms)
        cells = []
        for name, aim_s in (("running_s", AIM_RUNNING_S), ("committed_s", AIM_COMMITTED_S + interval / 2000)):
            sample = [getattr(each, name) for each in found]
            cells += [number(percentile(sample, 50), 3), number(percentile(sample, 95), 3), number(aim_s, 1)]
        rows.append((f"{interval} ms", f"{len(found)} of {kills}", *cells, run.outcome.value))
    title = f"SIGKILL of a worker, restart delay of {delay_ms} ms taken off, cores {cores}; {load()}"
    print(table(title, columns, rows))
    print("\ncommand: python -m holdfast.suites.bench.recovery")


if __name__ == "__main__":
    run_script(lambda: typer.run(main))
