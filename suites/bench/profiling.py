"""Where the time goes, by folder of the house. What runs in C counts for the folder that called it."""

from __future__ import annotations

import cProfile
import pstats
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

from holdfast.suites.bench.figures import table

HOUSE = Path(__file__).resolve().parents[2]
FOLDERS = {
    "kernel": "harness/sim",
    "driver": "fixtures/reference/drivers",
    "storage": "fixtures/reference/protocol/storage",
    "protocol": "fixtures/reference/protocol",
    "operators": "fixtures/reference/operators",
    "workload": "fixtures/workloads",
    "faults": "faults",
    "oracles": "harness/oracles",
    "engine": "harness/engine",
    "model": "harness/model",
}
OTHER = "libraries"
HOTTEST = 12

Function = tuple[str, int, str]


def profiled(work: Callable[[], object], runs: int) -> str:
    """Do some work under the profiler and say what it cost per run. The profiler itself slows Python down about
    threefold, calls more than loops: read the shares, not the milliseconds."""
    profiler = cProfile.Profile()
    profiler.runcall(work)
    statistics = pstats.Stats(profiler).stats  # type: ignore[attr-defined]
    total = sum(entry[2] for entry in statistics.values())
    by_group: Counter[str] = Counter()
    by_function: Counter[Function] = Counter()
    for function, (_, _, own_s, _, callers) in statistics.items():
        if _group(function) != OTHER or not callers:
            by_group[_group(function)] += own_s
            by_function[function] += own_s
            continue
        for caller, (_, _, caused_s, _) in callers.items():
            by_group[_group(caller)] += caused_s
            by_function[caller] += caused_s
    groups = [
        (name, f"{100 * spent / total:.1f}", f"{1e3 * spent / runs:.3f}") for name, spent in by_group.most_common()
    ]
    hottest = [
        (_label(function), f"{100 * spent / total:.1f}", f"{statistics[function][0] / runs:.0f}")
        for function, spent in by_function.most_common(HOTTEST)
    ]
    return "\n\n".join(
        [
            table("Where the time goes", ("part", "%", "ms/run under the profiler"), groups),
            table("Hottest functions, with what they call in C", ("function", "%", "calls/run"), hottest),
        ]
    )


def _group(function: Function) -> str:
    shown = _shown(function[0])
    return next((name for name, folder in FOLDERS.items() if shown.startswith(f"{folder}/")), OTHER)


def _label(function: Function) -> str:
    path, line, name = function
    return f"{_shown(path)}:{line} {name}"


@cache
def _shown(file: str) -> str:
    # A package may have been found through a link.
    path = Path(file).resolve()
    return path.relative_to(HOUSE).as_posix() if path.is_relative_to(HOUSE) else path.name
