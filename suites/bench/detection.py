"""How soon a failure that nobody announces is counted, on real processes, and whether one is counted that never was.

- A hang: a worker gets SIGSTOP, one after the other. Its connections stay open, so the missing heartbeats must tell.
  Counted from the moment before the signal until the coordinator counts the failure, against `heartbeat.timeout`.
- A partition: the channel between two workers is cut in both directions, while both still answer the coordinator. What
  must tell is the checkpoint that cannot complete. Counted from the cut, against `execution.checkpointing.timeout` and
  the interval before it, because the checkpoint that fails may have been triggered as late as that.
- No failure: input is read as fast as can be on both cores, with the same heartbeats, and any failure that is counted
  is a false one. The input is cut into small batches, so that it lasts.

Every run is judged by the oracles, that under load by those without a model of the whole input; a run in which one
fails does not count.

python -m holdfast.suites.bench.detection [--minutes 60]
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
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import FailureCounted, FaultInjected, SourceEmitted
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Bounds, FaultSpec, Plan, Schedule, WorkloadSpec
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.bench.figures import load, number, percentile, table
from holdfast.suites.bench.final_sums import check_final_sums
from holdfast.suites.bench.inputs import bench_toolbox
from holdfast.suites.bench.peers.children import run_script
from holdfast.suites.bench.reference_run import MODELLING, ORIGINS, RECORDS_PER_YEAR

WORKERS = 2
INTERVAL_MS = 200
CHECKPOINT_TIMEOUT_MS = 1_000
CHECKPOINTS_BETWEEN = 3
DELAY_MS = 100
BETWEEN_WORKERS = (Target(Role.CHANNEL, 1), Target(Role.CHANNEL, 2))
YEARS_UNDER_LOAD = 100
BATCH_RECORDS = 4_096
AIM = 1.2
CHECKPOINTING = "execution.checkpointing"


class Detections(NamedTuple):
    """How long each failure took to be counted, in ms, against what was configured."""

    what: str
    faults: int
    configured_ms: int
    after_ms: Sequence[float]


def hangs(count: int, heartbeat_ms: int, timeout_ms: int, folder: Path) -> Detections:
    """Stop workers.

    Raises:
        OSError: the run does not count.
    """
    faults = tuple(
        FaultSpec(
            "pause",
            Target(Role.WORKER, index % WORKERS),
            Schedule(after_checkpoint=CHECKPOINTS_BETWEEN * (index + 1)),
            duration_ms=2 * timeout_ms,
        )
        for index in range(count)
    )
    history = _judged(_plan(faults, _heartbeats(heartbeat_ms, timeout_ms), count * (2 * timeout_ms + 2_000)), folder)
    return Detections("hang (SIGSTOP)", count, timeout_ms, detected_ms(history, "heartbeat"))


def partitions(count: int, folder: Path) -> Detections:
    """Cut the channels between the workers, in turn.

    Raises:
        OSError: the run does not count.
    """
    configured_ms = CHECKPOINT_TIMEOUT_MS + INTERVAL_MS
    faults = tuple(
        FaultSpec(
            "cut",
            BETWEEN_WORKERS[index % len(BETWEEN_WORKERS)],
            Schedule(after_checkpoint=CHECKPOINTS_BETWEEN * (index + 1)),
            duration_ms=2 * configured_ms,
        )
        for index in range(count)
    )
    options = {
        f"{CHECKPOINTING}.timeout": f"{CHECKPOINT_TIMEOUT_MS} ms",
        f"{CHECKPOINTING}.tolerable-failed-checkpoints": "0",
    }
    history = _judged(_plan(faults, options, count * (2 * configured_ms + 2_000)), folder)
    return Detections("partition (cut)", count, configured_ms, detected_ms(history, ""))


def detected_ms(history: History, cause: str) -> list[float]:
    """From each fault to the first failure of that cause before the next fault; one that nobody counted is left out."""
    injected = [event.time_ns for event in history.of(FaultInjected)]
    found = []
    for begin_ns, next_ns in zip(injected, [*injected[1:], 1 << 63], strict=True):
        counted = [
            event.time_ns
            for event in history.of(FailureCounted)
            if cause in event.cause and begin_ns < event.time_ns < next_ns
        ]
        if counted:
            found.append((counted[0] - begin_ns) / 1e6)
    return found


def under_load(minutes: float, heartbeat_ms: int, timeout_ms: int, folder: Path) -> tuple[float, list[str]]:
    """Read as fast as can be, again and again: seconds of reading, and the causes of all failures that were counted.

    Raises:
        OSError: a run does not count.
    """
    seconds, causes = 0.0, list[str]()
    while seconds < minutes * 60:
        workload = WorkloadSpec("flights", {"key": "tailnum", "repeat": YEARS_UNDER_LOAD})
        options = _heartbeats(heartbeat_ms, timeout_ms) | {"source.max-batch-records": str(BATCH_RECORDS)}
        plan = _plan((), options, 0, workload)
        history = _judged(plan, folder, modelled=False)
        check_final_sums(history)
        emitted = history.of(SourceEmitted)
        seconds += (emitted[-1].time_ns - emitted[0].time_ns) / 1e9
        causes += [event.cause for event in history.of(FailureCounted)]
    return seconds, causes


def _heartbeats(interval_ms: int, timeout_ms: int) -> dict[str, str]:
    return {"heartbeat.interval": f"{interval_ms} ms", "heartbeat.timeout": f"{timeout_ms} ms"}


def _plan(
    faults: tuple[FaultSpec, ...], options: dict[str, str], lasts_ms: int, workload: WorkloadSpec | None = None
) -> Plan:
    """With input arriving, unless there is another, until well after the last fault."""
    rate = RECORDS_PER_YEAR // ORIGINS
    arriving = WorkloadSpec(
        "flights", {"key": "tailnum", "repeat": max(1, lasts_ms // 1_000), "records_per_second": rate}
    )
    return Plan(
        job=KEYED_SUM,
        workload=workload or arriving,
        options={
            f"{CHECKPOINTING}.interval": f"{INTERVAL_MS} ms",
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": "1000",
            "restart-strategy.fixed-delay.delay": f"{DELAY_MS} ms",
            **options,
        },
        faults=faults,
        bounds=Bounds(safety_ms=max(100, 2 * lasts_ms), liveness_ms=120_000),
    )


def _judged(plan: Plan, folder: Path, *, modelled: bool = True) -> History:
    tools = bench_toolbox(frozenset() if modelled else MODELLING)
    with tempfile.TemporaryDirectory(dir=folder) as name:
        run = run_plan(plan, ReferenceSystem(), tools, Tier.PROCESS, Path(name))
    failed = [verdict for verdict in run.verdicts if verdict.outcome is Outcome.FAIL]
    if failed or run.history.end.problem:
        raise OSError(f"the run does not count: {run.outcome.value} {run.reason} {failed}")
    return run.history


def main(
    faults: Annotated[int, typer.Option(min=1, help="of each kind")] = 10,
    heartbeat_ms: Annotated[int, typer.Option(min=1, help="between two heartbeats")] = 100,
    timeout_ms: Annotated[int, typer.Option(min=1, help="without a heartbeat, until a worker is given up")] = 1_000,
    minutes: Annotated[float, typer.Option(min=0, help="of reading at full load; 0: none")] = 1.0,
    cores: Annotated[str, typer.Option(help="that every process is pinned to, with commas")] = "0,1",
) -> None:
    """Measure."""
    os.sched_setaffinity(0, [int(core) for core in cores.split(",")])
    console = Console(stderr=True)
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as name:
        folder = Path(name)
        with console.status("hangs"):
            found = [hangs(faults, heartbeat_ms, timeout_ms, folder)]
        with console.status("partitions"):
            found.append(partitions(faults, folder))
        columns = ("what", "counted", "configured ms", "median ms", "p95 ms", "p95 of configured", "aim")
        rows = [
            (
                each.what,
                f"{len(each.after_ms)} of {each.faults}",
                str(each.configured_ms),
                number(percentile(each.after_ms, 50), 0),
                number(percentile(each.after_ms, 95), 0),
                number(percentile(each.after_ms, 95) / each.configured_ms),
                number(AIM, 1),
            )
            for each in found
        ]
        print(table(f"From a fault until it is counted, cores {cores}; {load()}", columns, rows))
        if minutes:
            with console.status("full load"):
                seconds, causes = under_load(minutes, heartbeat_ms, timeout_ms, folder)
            print(f"\nFalse positives in {seconds / 60:.1f} minutes of full load: {len(causes)} (aim 0); {load()}")
            for cause in causes:
                print(f"- {cause}")
    print(f"\ncommand: python -m holdfast.suites.bench.detection --minutes {minutes:g}")


if __name__ == "__main__":
    run_script(lambda: typer.run(main))
