"""Judged simulator runs per second and core: a plan is drawn, executed and judged by every registered oracle.

Plans are drawn from seeds 1, 2, ... of a mix. `swarm` is every plan as a campaign draws it, without selection. Of the
other mixes a first, untimed pass finds those whose run is as the definition of the figure demands, and says how many
were not. Only these are timed, all of them, in each repeat. Runs are deterministic, so the timed run of a seed is the
run that qualified. Time is processor time of this one process: the figure for one core, also when others use the
machine. The wall clock is printed beside it.

python -m holdfast.suites.bench.simulator [--mix swarm] [--profile]
"""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Annotated, NamedTuple

import msgspec
import typer
from rich.progress import track

from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.site.registry import Toolbox, system, toolbox
from holdfast.harness.engine.swarm.draw import draw_plan
from holdfast.harness.engine.swarm.mix import SWARM, Mix
from holdfast.harness.model.events import CheckpointCompleted
from holdfast.harness.spi.system import System
from holdfast.suites.bench.figures import load, table, with_spread
from holdfast.suites.bench.profiling import profiled


class Definition(msgspec.Struct, frozen=True):
    """What a figure is about.

    Attributes:
        title: in words.
        mix: what plans are drawn from.
        fewest_dispatched, most_dispatched: events of the simulator in a run that counts.
        fewest_checkpoints: completed in a run that counts.
        fewest_landed: faults that took effect in one.
    """

    title: str
    mix: Mix
    fewest_dispatched: int = 0
    most_dispatched: int = 1 << 62
    fewest_checkpoints: int = 3
    fewest_landed: int = 2


_TWO_WIDE = msgspec.structs.replace(SWARM, jobs={"keyed-sum": 1}, parallelism={2: 1}, regional_percent=0)
DEFINITIONS = {
    "swarm": Definition("every plan as a campaign draws it", SWARM, fewest_checkpoints=0, fewest_landed=0),
    "a": Definition("300 to 500 dispatched events", msgspec.structs.replace(_TWO_WIDE, records=(20, 40)), 300, 500),
    "b": Definition("3 stages x parallelism 2, 400 records", msgspec.structs.replace(_TWO_WIDE, records=(400, 400))),
}


class Facts(NamedTuple):
    """What decides whether a run counts."""

    dispatched: int
    checkpoints: int
    landed: int
    outcome: str


class Bench:
    """Draws, runs and judges for one definition."""

    def __init__(self, definition: Definition, under_test: System, tools: Toolbox) -> None:
        self._definition, self._system, self._tools = definition, under_test, tools

    def run(self, seed: int) -> Run:
        """What is measured."""
        return run_plan(draw_plan(seed, self._definition.mix), self._system, self._tools)

    def select(self, wanted: int) -> tuple[list[int], list[Facts], Counter[str]]:
        """The first seeds whose runs count, what these were like, and why others do not count."""
        seeds: list[int] = []
        facts: list[Facts] = []
        rejected: Counter[str] = Counter()
        for seed in track(range(1, 20 * wanted), "which runs count", total=None, transient=True):
            found = _facts(self.run(seed))
            reason = self._rejection(found)
            if reason:
                rejected[reason] += 1
                continue
            seeds.append(seed)
            facts.append(found)
            if len(seeds) == wanted:
                break
        return seeds, facts, rejected

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

    def _rejection(self, facts: Facts) -> str:
        if facts.dispatched < self._definition.fewest_dispatched:
            return "too few events"
        if facts.dispatched > self._definition.most_dispatched:
            return "too many events"
        if facts.checkpoints < self._definition.fewest_checkpoints:
            return "too few checkpoints"
        return "too few landed faults" if facts.landed < self._definition.fewest_landed else ""


def _facts(run: Run) -> Facts:
    return Facts(
        dispatched=run.dispatched,
        checkpoints=sum(type(event) is CheckpointCompleted for event in run.history.events),
        landed=sum(landed is True for landed in run.history.end.faults_landed),
        outcome=run.outcome.value,
    )


def _spread(values: Sequence[int]) -> str:
    ordered = sorted(values)
    return f"{ordered[0]} / {ordered[len(ordered) // 2]} / {ordered[-1]}"


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common()) or "none"


def main(
    mix: Annotated[list[str] | None, typer.Option(help="swarm, a or b; default: all")] = None,
    runs: Annotated[int, typer.Option(min=10, help="that count, of each mix")] = 500,
    repeats: Annotated[int, typer.Option(min=1)] = 5,
    name: Annotated[str, typer.Option("--system", help="the system under test")] = "reference",
    profile: Annotated[bool, typer.Option(help="print where the time goes")] = False,
) -> None:
    """Measure."""
    under_test, tools = system(name), toolbox()
    columns = ("mix", "runs/s and core", "runs/s wall", "events/run min / median / max", "checkpoints", "faults landed")
    rows, notes = [], []
    for letter in mix or list(DEFINITIONS):
        bench = Bench(DEFINITIONS[letter], under_test, tools)
        seeds, facts, rejected = bench.select(runs)
        timed = [bench.time(seeds) for _ in range(repeats)]
        shapes = [_spread(each) for each in zip(*(fact[:3] for fact in facts), strict=True)]
        rates = [with_spread([each[index] for each in timed], 0) for index in range(2)]
        rows.append((f"({letter}) {DEFINITIONS[letter].title}", *rates, *shapes))
        outcomes = Counter(fact.outcome for fact in facts)
        notes.append(f"({letter}): {len(seeds)} runs timed ({_counted(outcomes)}), rejected: {_counted(rejected)}")
        if profile:
            notes.append(profiled(partial(bench.time, seeds), len(seeds)))
    oracles = ", ".join(oracle.name for oracle in tools.oracles)
    print(table(f"Judged simulator runs, {repeats} x {runs} runs, oracles {oracles}; {load()}", columns, rows))
    print("\n" + "\n".join(notes))
    print("\ncommand: python -m holdfast.suites.bench.simulator")


if __name__ == "__main__":
    typer.run(main)
