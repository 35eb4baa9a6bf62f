"""Judged simulator runs per second and core: a plan is drawn, executed and judged by every registered oracle.

Plans are drawn from seeds 1, 2, ... of a mix. `swarm` is every plan as a campaign draws it, without selection. Of the
other mixes a first, untimed pass finds those whose run is as the definition of the figure demands, and says how many
were not. Only these are timed, all of them, in each repeat. Runs are deterministic, so the timed run of a seed is the
run that qualified. Time is processor time of this one process: the figure for one core, also when others use the
machine. The wall clock is printed beside it.

With `--against COMMIT` the working tree is compared with a commit: see `against`.

python -m holdfast.suites.bench.simulator [--mix swarm] [--profile]
python -m holdfast.suites.bench.simulator --against main [--mix swarm] [--blocks 8] [--json]
"""

from __future__ import annotations

import cProfile
import gc
import pstats
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.progress import track

from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.site.registry import Toolbox, system, toolbox
from holdfast.harness.engine.swarm.draw import draw_plan
from holdfast.harness.spi.system import System
from holdfast.suites.bench.against import CannotCompare, Comparison, compared
from holdfast.suites.bench.behaviour import FIELDS, listed, stored
from holdfast.suites.bench.figures import load, table, with_spread
from holdfast.suites.bench.mixes import DEFINITIONS, Definition, Shape, shape_of

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


ROOT = Path(__file__).resolve().parents[2]
COLUMNS = (
    "working tree / commit", "ratio (quartiles)", "of plans", "runs/s and core", "µs/event", "calls/run",
)  # fmt: skip


class Bench:
    """Draws, runs and judges for one definition."""

    def __init__(self, definition: Definition, under_test: System, tools: Toolbox) -> None:
        self._definition, self._system, self._tools = definition, under_test, tools

    def run(self, seed: int) -> Run:
        """What is measured."""
        return run_plan(draw_plan(seed, self._definition.mix), self._system, self._tools)

    def select(self, wanted: int) -> tuple[list[int], list[Shape], Counter[str], Counter[str]]:
        """The first seeds whose runs count, the shapes of these, their outcomes, and why others do not count."""
        seeds: list[int] = []
        shapes: list[Shape] = []
        outcomes: Counter[str] = Counter()
        rejected: Counter[str] = Counter()
        for seed in track(range(1, 20 * wanted), "which runs count", total=None, transient=True):
            run = self.run(seed)
            shape = shape_of(run)
            if reason := self._definition.rejection(shape):
                rejected[reason] += 1
                continue
            seeds.append(seed)
            shapes.append(shape)
            outcomes[run.outcome.value] += 1
            if len(seeds) == wanted:
                break
        return seeds, shapes, outcomes, rejected

    def time(self, seeds: Sequence[int]) -> tuple[float, float]:
        """Runs per second of processor time, and per second on the wall clock."""
        gc.collect()
        wall, processor = time.perf_counter(), time.process_time()
        for seed in seeds:
            self.run(seed)
        return (
            len(seeds) / (time.process_time() - processor),
            len(seeds) / (time.perf_counter() - wall),
        )


def _spread(values: Sequence[int]) -> str:
    ordered = sorted(values)
    return f"{ordered[0]} / {ordered[len(ordered) // 2]} / {ordered[-1]}"


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common()) or "none"


def main(
    context: typer.Context,
    mix: Annotated[list[str] | None, typer.Option(help="swarm, a or b; default: all")] = None,
    runs: Annotated[int | None, typer.Option(min=10, help="of each mix; default: 500, and 100 with --against")] = None,
    repeats: Annotated[int, typer.Option(min=1)] = 5,
    name: Annotated[str, typer.Option("--system", help="the system under test")] = "reference",
    profile: Annotated[bool, typer.Option(help="print where the time goes")] = False,
    against: Annotated[str | None, typer.Option(help="compare the working tree with this commit")] = None,
    blocks: Annotated[int, typer.Option(min=1, help="of each of the two")] = 8,
    may: Annotated[list[str] | None, typer.Option(help=f"what may differ: {', '.join(FIELDS)}")] = None,
    json: Annotated[bool, typer.Option("--json", help="print JSON and nothing else")] = False,
) -> None:
    """Measure."""
    modes = ("blocks", "may", "json"), ("repeats", "name", "profile")
    for option in modes[against is not None]:
        source = context.get_parameter_source(option)
        if source is not None and source.name == "COMMANDLINE":
            shown = "system" if option == "name" else option
            raise typer.BadParameter(
                f"--{shown} goes only without --against: leave one of the two out."
                if against
                else f"--{shown} goes only with --against COMMIT: add that, or leave --{shown} out."
            )
    for what, given, known in (("mix", mix, DEFINITIONS), ("field", may, FIELDS)):
        if unknown := sorted({*(given or ())} - {*known}):
            raise typer.BadParameter(f"there is no {what} {unknown[0]!r}: choose of {', '.join(known)}.")
    if against is None:
        measure(mix or list(DEFINITIONS), runs or 500, repeats, name, profile=profile)
    else:
        raise typer.Exit(compare(against, mix or list(DEFINITIONS), runs or 100, blocks, may or [], json=json))


def measure(mixes: Sequence[str], runs: int, repeats: int, name: str, *, profile: bool) -> None:
    """Print the rates of the working tree on plans that are drawn."""
    under_test, tools = system(name), toolbox()
    columns = ("mix", "runs/s and core", "runs/s wall", "events/run min / median / max", "checkpoints", "faults landed")
    rows, notes = [], []
    for letter in mixes:
        bench = Bench(DEFINITIONS[letter], under_test, tools)
        seeds, found, outcomes, rejected = bench.select(runs)
        timed = [bench.time(seeds) for _ in range(repeats)]
        shapes = [_spread(each) for each in zip(*found, strict=True)]
        rates = [with_spread([each[index] for each in timed], 0) for index in range(2)]
        rows.append((f"({letter}) {DEFINITIONS[letter].title}", *rates, *shapes))
        notes.append(f"({letter}): {len(seeds)} runs timed ({_counted(outcomes)}), rejected: {_counted(rejected)}")
        if profile:
            notes.append(profiled(partial(bench.time, seeds), len(seeds)))
    oracles = ", ".join(oracle.name for oracle in tools.oracles)
    print(table(f"Judged simulator runs, {repeats} x {runs} runs, oracles {oracles}; {load()}", columns, rows))
    print("\n" + "\n".join(notes))
    print("\ncommand: python -m holdfast.suites.bench.simulator")


def compare(commit: str, mixes: Sequence[str], runs: int, blocks: int, may: Sequence[str], *, json: bool) -> int:
    """Print how the working tree compares with a commit; 1: what it does differs."""
    plans = [each for mix in mixes for each in islice((every for every in stored() if every.mix == mix), runs)]
    try:
        found = compared(ROOT, commit, plans, blocks, may)
    except CannotCompare as error:
        print(error, file=sys.stderr)
        return 3
    if json:
        print(msgspec.json.encode(found).decode())
    else:
        print(table(f"Working tree against {found.commit}, {blocks} blocks of each; {load()}", COLUMNS, _rows(found)))
        print(f"\nPython {found.python}")
        print(listed(found.differing), end="")
        for plan, problem in found.problems.items():
            print(f"{plan} cannot be run: {problem}")
    refused = any(names and field not in may for field, names in found.differing.items())
    return int(refused or bool(found.problems))


def _rows(found: Comparison) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for each in found.mixes:
        sides = (each.working_tree, each.commit)
        low, high = each.quartiles
        rows.append((
            f"({each.mix}) {each.plans} plans",
            f"{each.ratio:.3f} ({low:.3f} to {high:.3f})",
            f"{each.plan_ratio:.3f}",
            " / ".join(f"{side.runs_per_s:.1f}" for side in sides),
            " / ".join(f"{side.microseconds_per_event:.1f}" for side in sides),
            " / ".join(f"{side.calls:,.0f}" for side in sides),
        ))  # fmt: skip
    return rows


if __name__ == "__main__":
    typer.run(main)
