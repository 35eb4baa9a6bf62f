"""Ten thousand checkpoints in a row on real processes: do files, memory and durations stay as they are?

A keyed sum takes checkpoints as fast as its interval allows, while records trickle in. Each sample counts the files of
checkpoints that are stored, and the memory that the processes of the runtime hold together. Beside them stand medians
of as many stretches of durations. The slope is that of Theil and Sen, the median over all pairs: what other work on the
machine comes and goes hardly moves it. The first tenth is left out, in which processes warm up. It is shown as growth
over ten thousand checkpoints, in percent of the median, beside a bound.

Every oracle must pass but those that model the whole input, TREND, whose question this is, and STABLE: its reader would
have to look ten times between two checkpoints, which are 20 ms apart.

python -m holdfast.suites.bench.endurance [--seconds 600] [--backend rocksdb]
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import combinations, pairwise
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.console import Console

from holdfast.fixtures.reference.drivers.processes.run_context import STORAGE
from holdfast.fixtures.reference.protocol.storage.file_layout import CHECKPOINTS
from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.adapter.process import descendants
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.views.recovery import checkpoints_ms
from holdfast.harness.model import profile
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import CheckpointCompleted
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Bounds, Plan, WorkloadSpec
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.bench.figures import load, median, number, repeated, table
from holdfast.suites.bench.inputs import bench_toolbox
from holdfast.suites.bench.peers.children import run_script
from holdfast.suites.bench.reference_run import MODELLING

WITHOUT = MODELLING | {"TREND", "STABLE"}
RECORDS_PER_SECOND = 100
SAMPLES = 100
WARM_UP = 0.1
MANY = 10_000
BOUNDS = {"files": 1.0, "memory, MB": 10.0, "duration, ms": 25.0}
"""Percent by which ten thousand checkpoints may let it grow."""
_STORED = f"/{STORAGE}/{CHECKPOINTS}"
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Sample(NamedTuple):
    """What was there at a time of the run, in seconds since it began."""

    at_s: float
    files: int
    memory_bytes: int


def resident_bytes(ancestor: int) -> int:
    """What all descendants of a process hold in memory; pages that two of them share count twice."""
    found = 0
    for pid in descendants(ancestor):
        try:
            found += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES
        except OSError:
            continue  # It has ended meanwhile.
    return found


@contextmanager
def sampled(folder: Path, every_s: float) -> Iterator[list[Sample]]:
    """Samples of a run, taken while the context lasts."""
    samples: list[Sample] = []

    def measure() -> None:
        files = sum(len(names) for place, _, names in os.walk(folder) if _STORED in f"{place}/")
        samples.append(Sample((len(samples) + 1) * every_s, files, resident_bytes(os.getpid())))

    with repeated(measure, every_s):
        yield samples


def slope(series: Sequence[float]) -> float:
    """From one value to the next, the median over all pairs (Theil and Sen)."""
    return median([(late - early) / (at - since) for (since, early), (at, late) in combinations(enumerate(series), 2)])


def growth_percent(series: Sequence[float], checkpoints: int) -> float:
    """Over MANY checkpoints, of the median; the series covers so many, from which a first tenth is left out."""
    settled = series[int(len(series) * WARM_UP) :]
    return 100 * slope(settled) * len(series) * MANY / checkpoints / median(settled)


def run(seconds: int, interval_ms: int, backend: str, folder: Path) -> tuple[History, list[Sample]]:
    """One run, with its samples.

    Raises:
        OSError: it does not count.
    """
    plan = Plan(
        job=KEYED_SUM,
        workload=WorkloadSpec(
            "synthetic",
            {
                "records": seconds * RECORDS_PER_SECOND,
                "records_per_second": RECORDS_PER_SECOND,
                "preloaded_percent": 0,
            },
        ),
        options={
            profile.INTERVAL: f"{interval_ms} ms",
            profile.BACKEND: backend,
            profile.INCREMENTAL: str(backend == "rocksdb").lower(),
            profile.INLINE_THRESHOLD: "0",
            profile.RETAINED: "2",
            # Until then a completed checkpoint has its timer; the first tenth of the run is longer.
            profile.TIMEOUT: "10 s",
        },
        bounds=Bounds(safety_ms=1_000, liveness_ms=seconds * 4_000),
    )
    with sampled(folder, seconds / SAMPLES) as samples:
        done = run_plan(plan, ReferenceSystem(), bench_toolbox(WITHOUT), Tier.PROCESS, folder)
    if done.outcome is not Outcome.PASS:
        failed = [verdict for verdict in done.verdicts if verdict.outcome is Outcome.FAIL]
        raise OSError(f"the run does not count: {done.outcome.value} {done.reason} {failed}")
    return done.history, samples


def figures(history: History, samples: Sequence[Sample]) -> Mapping[str, Sequence[float]]:
    """By name, a series."""
    durations = checkpoints_ms(history)
    edges = [round(index * len(durations) / SAMPLES) for index in range(SAMPLES + 1)]
    running = samples[: max(i for i, each in enumerate(samples) if each.files) + 1]
    return {
        "files": [each.files for each in running],
        "memory, MB": [each.memory_bytes / (1 << 20) for each in running],
        "duration, ms": [median(durations[begin:end]) for begin, end in pairwise(edges) if begin < end],
    }


def main(
    seconds: Annotated[int, typer.Option(min=30, help="that records trickle in")] = 600,
    interval_ms: Annotated[int, typer.Option(min=10, help="between checkpoints")] = 20,
    backend: Annotated[str, typer.Option(help="hashmap or rocksdb")] = "rocksdb",
    folder: Annotated[Path | None, typer.Option(help="for checkpoints, on a local disk")] = None,
) -> None:
    """Measure; exit code 1 where something grows beyond its bound."""
    busy = load()
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-", dir=folder) as name, Console(stderr=True).status("run"):
        history, samples = run(seconds, interval_ms, backend, Path(name))
    count = len(history.of(CheckpointCompleted))
    rows, grown = [], False
    for what, series in figures(history, samples).items():
        growth = growth_percent(series, count)
        grown = grown or growth > BOUNDS[what]
        settled = series[int(len(series) * WARM_UP) :]
        rows.append((what, number(median(settled)), number(min(settled)), number(max(settled)), f"{growth:+.1f} %",
                     f"{BOUNDS[what]:.0f} %"))  # fmt: skip
    title = f"{count:,} checkpoints in a row on {backend}, interval {interval_ms} ms; {busy}, then {load()}"
    columns = ("", "median", "least", "most", f"growth over {MANY:,}", "bound")
    print(table(title, columns, rows))
    print(f"\ncommand: python -m holdfast.suites.bench.endurance --seconds {seconds} --backend {backend}")
    raise typer.Exit(int(grown))


if __name__ == "__main__":
    run_script(lambda: typer.run(main))
