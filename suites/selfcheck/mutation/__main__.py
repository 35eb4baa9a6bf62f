"""The command of the mutation test; see the package."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import holdfast.faults
from holdfast.harness.engine.site import registry
from holdfast.suites.bench import part
from holdfast.suites.selfcheck.mutation.baseline import Expected, measured, plans_of
from holdfast.suites.selfcheck.mutation.ledger import Ledger, Permission, permitted
from holdfast.suites.selfcheck.mutation.source_mutants import SourceMutant, mutants_of, sample
from holdfast.suites.selfcheck.mutation.trial import Fate, Tried, tried

ROOT = Path(holdfast.faults.__file__).parents[1]
"""Of the source tree: the folder `faults` is loaded everywhere, and holds nothing of the runtime."""
PROTOCOL = "fixtures/reference/protocol"


def main(arguments: list[str] | None = None) -> int:
    """Run the mutation test; 0 only if `--aim` is met and every mutant could be judged."""
    parser = argparse.ArgumentParser(prog="python -m holdfast.suites.selfcheck.mutation", description=__doc__)
    parser.add_argument("--source", default=PROTOCOL, help="folder below the source tree (default: %(default)s)")
    parser.add_argument("--sample", type=int, default=0, help="how many mutants; 0: all")
    parser.add_argument("--part", type=part, default=(0, 1), metavar="K/N", help="of the sample, every N-th from K on")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (default: %(default)s)")
    parser.add_argument("--drawn", type=int, default=200, help="plans from the swarm (default: %(default)s)")
    parser.add_argument("--undirected", action="store_true", help="leave out the plans that are made for something")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one mutant (default: %(default)s)")
    parser.add_argument(
        "--aim",
        type=float,
        default=100.0,
        metavar="PERCENT",
        help="of the mutants whose trace differs, how many have to be refuted or explained (default: all)",
    )
    parser.add_argument("--out", type=Path, required=True, help="folder of the ledger; an earlier one is gone on with")
    given = parser.parse_args(arguments)
    console = Console(stderr=True)
    registry.toolbox()  # what every child needs, and nothing of the runtime
    all_mutants = mutants_of(ROOT, given.source)
    first, step = given.part
    chosen = sample(all_mutants, given.sample or len(all_mutants), given.seed)[first::step]
    ledger = Ledger(given.out, ROOT)
    console.print(f"{len(chosen)} mutants of {len(all_mutants)}; what the untouched runtime does is measured first")
    try:
        plans = ledger.plans(given.drawn, lambda: _in_children(given))
    except ValueError as error:
        console.print(str(error))
        return 3
    done = _try_all(chosen, plans, ledger, given.limit, console)
    share = report(done, permitted(), Console())
    return 1 if 100 * share < given.aim or any(each.fate is Fate.UNJUDGED for each in done) else 0


def _try_all(
    chosen: list[SourceMutant], plans: tuple[Expected, ...], ledger: Ledger, limit_s: float, console: Console
) -> list[Tried]:
    known = ledger.tried()
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeRemainingColumn())
    done: list[Tried] = []
    refuting: Counter[str] = Counter()
    of_file: defaultdict[str, Counter[str]] = defaultdict(Counter)
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("mutants", total=len(chosen))
        for mutant in chosen:
            result = known.get(mutant.identity)
            if result is None:
                best = [name for name, _ in refuting.most_common()]
                first = [name for name, _ in of_file[mutant.file].most_common()]
                result = tried(mutant, ROOT, plans, limit_s, [*dict.fromkeys([*first, *best])])
                ledger.add(result)
                if not console.is_terminal:
                    line = f"{len(done) + 1} of {len(chosen)}: {result.fate}: {mutant.identity}"
                    console.print(line, markup=False, soft_wrap=True)
            if result.fate is Fate.REFUTED:
                refuting[result.plan] += 1
                of_file[mutant.file][result.plan] += 1
            done.append(result)
            bar.advance(task)
    return done


def _in_children(given: argparse.Namespace) -> Iterable[Expected]:
    """Measure in processes of their own, one for each processor: this one must not load the runtime."""
    count = len(os.sched_getaffinity(0))
    paths = [given.out / f"measured-{number}.part" for number in range(count)]
    pids = [_fork_to_measure(given, path, number, count) for number, path in enumerate(paths)]
    ended = [os.waitpid(pid, 0)[1] for pid in pids]
    if any(ended):
        raise RuntimeError("the untouched runtime could not be run on the plans; see above.")
    stored: dict[int, Expected] = {}
    for path in paths:
        stored |= msgspec.msgpack.decode(path.read_bytes(), type=dict[int, Expected])
        path.unlink()
    return [stored[place] for place in sorted(stored)]


def _fork_to_measure(given: argparse.Namespace, path: Path, number: int, count: int) -> int:
    """A child that writes what it measured of every plan in turn, by place; returns its pid."""
    if pid := os.fork():
        return pid
    try:
        plans = list(plans_of(given.drawn, directed=not given.undirected))
        mine = {place: measured(*plans[place], ROOT, given.source) for place in range(number, len(plans), count)}
        path.write_bytes(msgspec.msgpack.encode({place: each for place, each in mine.items() if each is not None}))
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        os._exit(1)
    os._exit(0)


def report(done: list[Tried], explained: Mapping[str, Permission], console: Console) -> float:
    """Print what became of the mutants: counts, and survivors by function.

    Returns:
        Of those whose trace differs, the share that is refuted or explained; 1 if there is none.
    """
    fates = Counter(each.fate for each in done)
    differ = [each for each in done if each.fate in (Fate.REFUTED, Fate.SURVIVOR)]
    open_ones = [each for each in differ if each.fate is Fate.SURVIVOR and each.mutant.identity not in explained]
    console.print(", ".join(f"{fates[fate]} {fate.value}" for fate in Fate if fates[fate]))
    for each in sorted(open_ones, key=lambda each: (each.mutant.file, each.mutant.line)):
        mutant = each.mutant
        console.print(
            f"{mutant.file}:{mutant.line} {mutant.function}: {mutant.operator}#{mutant.occurrence} "
            f"differs on {each.differing} of {each.runs}, first on {each.plan} "
            f"at event {each.place}: {each.event} {each.reason}",
            markup=False,
            soft_wrap=True,
        )
    for each in done:
        if each.fate in (Fate.UNJUDGED, Fate.STILLBORN):
            console.print(f"{each.fate.value}: {each.mutant.identity}: {each.reason}", markup=False, soft_wrap=True)
    good = len(differ) - len(open_ones)
    if differ:
        console.print(
            f"{good} of {len(differ)} mutants whose trace differs are refuted or explained ({good / len(differ):.1%}); "
            f"{fates[Fate.REFUTED]} refuted, {fates[Fate.SURVIVOR] - len(open_ones)} explained, {len(open_ones)} open"
        )
    return good / len(differ) if differ else 1.0


if __name__ == "__main__":
    sys.exit(main())
