"""Checkpoints under back-pressure, on real processes: aligned beside unaligned, and what each costs the records.

The sink is slow: it is chained to its sum, and every batch keeps the two busy for some milliseconds, while the sources
have more than they can hand on. So the buffers at both ends of all channels stay full, and a batch waits in them for
about a second, which is shown as *queued*. Aligned barriers wait in the same queue; unaligned ones overtake it and take
it along as state. At the end a worker is killed: *restore* is from the new attempt's beginning until its last task
runs, so with what was in flight put back.

For the latency one source floods its channels, and the other has a record every few milliseconds. While a checkpoint is
aligned, the second one is blocked until the barrier has come through the flood; that is reported as the time from the
planned arrival of its records until they are in the sums. Every mode gets the same input, one after the other.

Every run is judged by every oracle and counts only if none fails.

python -m holdfast.suites.bench.backpressure
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.console import Console

from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.model import events
from holdfast.harness.model.case import Tier
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Bounds, FaultSpec, Plan, Schedule, WorkloadSpec
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.bench.figures import load, median, number, percentile, table
from holdfast.suites.bench.inputs import Uneven, bench_toolbox
from holdfast.suites.bench.observed import Batches
from holdfast.suites.bench.peers.children import run_script

CHECKPOINTING = "execution.checkpointing"
MODES: Mapping[str, Mapping[str, str]] = {
    "aligned": {},
    "unaligned": {f"{CHECKPOINTING}.unaligned.enabled": "true"},
    "at-least-once": {f"{CHECKPOINTING}.mode": "AT_LEAST_ONCE"},
}
INTERVAL_MS = 1_000
SUMS = (Target(Role.TASK, 2), Target(Role.TASK, 3))
SLOW_MS = 5
BUFFERS = 84
"""At either end of a channel. A channel within a worker has one end, and its source waits when that is full, so the
other one never fills: a batch waits behind so many of either source, at some 6 ms each, about a second."""
BATCH_RECORDS = 64
TRICKLE_PER_S = 25
FLOODED_BATCHES_PER_S = 2 * 1_000 // SLOW_MS
"""More than the sums take, as each batch of a source has a part for each."""
SETTLED_AFTER_S = 2
TRICKLING = 1
SETTLE_MS = 5_000
"""An unaligned checkpoint that covers all input may hold it in flight: a second later it has taken effect, and two
checkpoints later it is committed."""
AIM = 0.02


class Checkpoints(NamedTuple):
    """Of one mode, in ms and bytes; of checkpoints and batches between the beginning and the end of the slowness."""

    durations_ms: Sequence[float]
    queued_ms: Sequence[float]
    full_bytes: Sequence[float]
    restore_ms: Sequence[float]


def checkpoints(mode: str, seconds: int, folder: Path) -> Checkpoints:
    """Take checkpoints while the sink is slow, and crash.

    Raises:
        OSError: the run does not count.
    """
    kill = FaultSpec("kill", Target(Role.WORKER, 0), Schedule(after_checkpoint=max(2, seconds // 2)))
    workload: dict[str, int | str] = {
        "records": FLOODED_BATCHES_PER_S * BATCH_RECORDS * seconds,
        "keys": 1_000,
        "preloaded_percent": 100,
    }
    history = _judged(mode, seconds, WorkloadSpec("synthetic", workload), folder, kill)
    begin_ns, end_ns = _slowness(history)
    killed_ns = [event.time_ns for event in history.of(events.FaultInjected) if event.fault_kind == kill.kind]
    restarted = [event for event in history.of(events.AttemptStarted) if killed_ns and event.time_ns > killed_ns[0]]
    end_ns = min([end_ns, *killed_ns])
    triggered = {
        event.checkpoint: event.time_ns
        for event in history.of(events.CheckpointTriggered)
        if begin_ns + SETTLED_AFTER_S * 1e9 < event.time_ns
    }
    complete = {
        event.checkpoint: event.time_ns
        for event in history.of(events.CheckpointCompleted)
        if event.checkpoint in triggered and event.time_ns < end_ns
    }
    sent = {(each.attempt, each.channel, each.position): each.time_ns for each in history.of(events.BatchSent)}
    return Checkpoints(
        [(time_ns - triggered[checkpoint]) / 1e6 for checkpoint, time_ns in complete.items()],
        [
            (each.time_ns - sent[each.attempt, each.channel, each.position]) / 1e6
            for each in history.of(events.BatchProcessed)
            if begin_ns + SETTLED_AFTER_S * 1e9 < each.time_ns < end_ns
            and (each.attempt, each.channel, each.position) in sent
        ],
        [
            each.full_bytes
            for each in history.of(events.CheckpointStatistics)
            if each.checkpoint in complete and each.status is events.CheckpointStatus.COMPLETED
        ],
        [
            (
                max(task.time_ns for task in history.of(events.TaskStarted) if task.attempt == each.attempt)
                - each.time_ns
            )
            / 1e6
            for each in restarted[-1:]
        ],
    )


def latencies(mode: str, seconds: int, folder: Path) -> list[float]:
    """From the planned arrival of each batch of the trickle until it is in the sums, in ms.

    Raises:
        OSError: the run does not count.
    """
    parameters: dict[str, int | str] = {
        "flood": FLOODED_BATCHES_PER_S * BATCH_RECORDS * seconds,
        "trickle": TRICKLE_PER_S * (seconds - 1),
        "records_per_second": TRICKLE_PER_S,
    }
    history = _judged(mode, seconds, WorkloadSpec(Uneven.name, parameters), folder)
    begin_ns, end_ns = _slowness(history)
    batches = Batches(history)
    found = []
    for batch in batches.emitted:
        arrived_ns = (batch.first_offset + 1) * 1e9 / TRICKLE_PER_S  # one after the other, from the run's start on
        slow = begin_ns + SETTLED_AFTER_S * 1e9 < arrived_ns and batches.applied_ns(batch) < end_ns
        if batch.partition == TRICKLING and slow:
            found.append((batches.applied_ns(batch) - arrived_ns) / 1e6)
    return found


def _slowness(history: History) -> tuple[int, int]:
    kind = "slow-task"
    begun = [event.time_ns for event in history.of(events.FaultInjected) if event.fault_kind == kind]
    ended = [event.time_ns for event in history.of(events.FaultHealed) if event.fault_kind == kind]
    if len(begun) < len(SUMS) or not ended:
        raise OSError("the sums were not slow for a while, so the run decides nothing.")
    return max(begun), min(ended)


def _judged(mode: str, seconds: int, workload: WorkloadSpec, folder: Path, *faults: FaultSpec) -> History:
    slow = tuple(
        FaultSpec(
            "slow-task",
            each,
            Schedule(at_event="attempt_started"),
            duration_ms=seconds * 1_000,
            parameters={"delay_ms": SLOW_MS},
        )
        for each in SUMS
    )
    plan = Plan(
        job=KEYED_SUM,
        workload=workload,
        options={
            f"{CHECKPOINTING}.interval": f"{INTERVAL_MS} ms",
            "source.max-batch-records": str(BATCH_RECORDS),
            "taskmanager.network.memory.buffers-per-channel": str(BUFFERS),
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": "10",
            "restart-strategy.fixed-delay.delay": "100 ms",
            **MODES[mode],
        },
        faults=(*slow, *faults),
        bounds=Bounds(safety_ms=seconds * 2_000 + 10_000, liveness_ms=120_000, settle_ms=SETTLE_MS),
    )
    with tempfile.TemporaryDirectory(dir=folder) as name:
        run = run_plan(plan, ReferenceSystem(), bench_toolbox(), Tier.PROCESS, Path(name))
    failed = [verdict for verdict in run.verdicts if verdict.outcome is Outcome.FAIL]
    if failed or run.history.end.problem:
        raise OSError(f"the run does not count: {run.outcome.value} {run.reason} {failed}")
    return run.history


def main(
    seconds: Annotated[int, typer.Option(min=8, help="of slowness in each of the runs")] = 24,
    cores: Annotated[str, typer.Option(help="that every process is pinned to, with commas")] = "0,1",
) -> None:
    """Measure."""
    os.sched_setaffinity(0, [int(core) for core in cores.split(",")])
    console = Console(stderr=True)
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as name:
        taken: dict[str, Checkpoints] = {}
        for mode in ("aligned", "unaligned"):
            with console.status(f"checkpoints, {mode}"):
                taken[mode] = checkpoints(mode, seconds, Path(name))
        print(_checkpoint_table(taken, f"Checkpoints with a slow sink, cores {cores}; {load()}"))
        late: dict[str, list[float]] = {}
        for mode in MODES:
            with console.status(f"latency, {mode}"):
                late[mode] = latencies(mode, seconds, Path(name))
    rows = [
        (mode, str(len(found)), number(percentile(found, 50), 0), number(percentile(found, 99), 0))
        for mode, found in late.items()
    ]
    print()
    title = f"Records that trickle in beside a flood, a checkpoint every {INTERVAL_MS} ms, cores {cores}; {load()}"
    print(table(title, ("mode", "batches", "latency p50 ms", "p99 ms"), rows))
    print(f"\ncommand: python -m holdfast.suites.bench.backpressure --seconds {seconds}")


def _checkpoint_table(taken: Mapping[str, Checkpoints], title: str) -> str:
    columns = ("mode", "checkpoints", "p50 ms", "p99 ms", "queued p50 ms", "kB of state", "restore ms")
    rows = [
        (
            mode,
            str(len(each.durations_ms)),
            number(percentile(each.durations_ms, 50), 1),
            number(percentile(each.durations_ms, 99), 1),
            number(percentile(each.queued_ms, 50), 0),
            number(median(each.full_bytes) / 1000, 0),
            number(median(each.restore_ms), 0),
        )
        for mode, each in taken.items()
    ]
    ratio = median(taken["unaligned"].durations_ms) / median(taken["aligned"].durations_ms)
    return f"{table(title, columns, rows)}\n\nUnaligned over aligned, medians: {number(ratio, 3)} (aim {AIM})"


if __name__ == "__main__":
    run_script(lambda: typer.run(main))
