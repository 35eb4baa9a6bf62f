"""`holdfast mutants`: whether the harness still kills every bug that it is there to kill; with `--table`, each step of
a protocol, each way to take it wrongly, and what sees that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.table import Column, Table
from rich.text import Text

from holdfast.harness.commands import console as consoles
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.exploration.mutation import Trial, try_mutant
from holdfast.harness.engine.site import entry_points, registry
from holdfast.harness.engine.site.interruption import listening
from holdfast.harness.model.command_line import command_line
from holdfast.harness.model.deviation import Cell, CellState, Deviation, DeviationTable, Step
from holdfast.harness.spi.mutant import Mutant


def try_mutants(names: list[str]) -> int:
    """Try the named mutants, or all; 0 only if each is killed."""
    mutants = _named(names)
    console, progress = consoles.results(), consoles.progress()
    columns = (TextColumn("{task.description}", markup=False), BarColumn(bar_width=30), MofNCompleteColumn())
    survived = 0
    with (
        listening() as interruption,
        Progress(*columns, console=progress, transient=True, disable=not progress.is_terminal) as bar,
    ):
        for mutant in mutants:
            task = bar.add_task(f"{mutant.name}: swarm", total=mutant.swarm_seeds)
            with interruption.breakable():
                trial = try_mutant(mutant, registry.toolbox(), interruption.reason, partial(_advance, bar, task))
            bar.remove_task(task)
            if interruption.signal:
                break
            console.print(_line(mutant, trial))
            survived += not trial.killed
    if interruption.signal:
        return interruption.exit_code
    console.print(f"{len(mutants) - survived} of {len(mutants)} mutants killed")
    return 1 if survived else 0


def _advance(bar: Progress, task: TaskID, seed: int, limit: int) -> None:
    bar.update(task, completed=seed, total=limit)


def _named(names: list[str]) -> list[Mutant]:
    known = {mutant.name: mutant for mutant in registry.mutants()}
    if not known:
        raise UsageError("no mutants are installed: install a package whose system brings some.")
    for name in names:
        if name not in known:
            raise _no_mutant(name, known)
    return [known[name] for name in names] if names else list(known.values())


def _no_mutant(name: str, known: Mapping[str, Mutant]) -> UsageError:
    """A variant that no mutant is made of can be certified."""
    for base in dict.fromkeys(mutant.system.partition("+")[0] for mutant in known.values()):
        variant = f"{base}+{name}"
        with suppress(UsageError):
            if not registry.needs_trust(variant, repeats=True) and registry.system(variant):
                return UsageError(
                    f"{name!r} is a variant of {base} and not on the list of mutants: "
                    f"use `{command_line('certify', variant)}`."
                )
    return entry_points.unknown("mutant", name, known)


def _line(mutant: Mutant, trial: Trial) -> Text:
    head = Text("killed   ", "green") if trial.killed else Text("SURVIVED ", "bold red")
    lines = [
        f"{mutant.name}: {mutant.mechanism} ({mutant.source})",
        f"         own plan: {trial.directed or f'no anomaly from {_listed(mutant.oracles)}'}",
        f"         swarm: seed {trial.seed}, {trial.swarm}"
        if trial.swarm
        else f"         swarm: none in {trial.seed} seeds",
        *(f"         but {objection}" for objection in trial.objections),
    ]
    return head + Text("\n".join(lines))


def _listed(oracles: tuple[str, ...]) -> str:
    return " or ".join(oracles)


MARKS = {
    CellState.COVERED: Text("■", "green"),
    CellState.EXPLAINED: Text("·", "dim"),
    CellState.OPEN: Text("?", "bold red"),
}


class _Counts(msgspec.Struct, frozen=True):
    """Cells by state, and variants that stand in them."""

    covered: int
    explained: int
    open: int
    variants: int


def show_table(names: list[str], *, json: bool) -> int:
    """Print every registered table, or the cells of the named rows.

    Args:
        names: of rows; none: all.
        json: as JSON and nothing else.
    """
    tables = registry.deviations()
    if not tables:
        raise UsageError("no table of deviations is installed: install a package whose system brings one.")
    known = {step.name for table in tables for step in table.steps}
    for name in names:
        if name not in known:
            raise entry_points.unknown("step", name, known)
    console = consoles.results()
    for table in (_narrowed(table, names) for table in tables):
        if json:
            consoles.print_json(msgspec.json.encode({"table": table, "counts": _counts(table)}).decode())
        elif names:
            _print_cells(table.cells, console)
        else:
            _print_table(table, console)
    return 0


def _narrowed(table: DeviationTable, names: list[str]) -> DeviationTable:
    if not names:
        return table
    return msgspec.structs.replace(
        table,
        steps=tuple(step for step in table.steps if step.name in names),
        cells=tuple(cell for cell in table.cells if cell.step in names),
    )


def _counts(table: DeviationTable) -> _Counts:
    states = {(cell.step, cell.deviation): cell.state for cell in table.cells}
    by_state = {state: sum(each is state for each in states.values()) for state in CellState}
    variants = {cell.variant for cell in table.cells if cell.variant}
    return _Counts(by_state[CellState.COVERED], by_state[CellState.EXPLAINED], by_state[CellState.OPEN], len(variants))


def _print_table(table: DeviationTable, console: Console) -> None:
    cells: defaultdict[tuple[str, Deviation], list[Cell]] = defaultdict(list)
    for cell in table.cells:
        cells[cell.step, cell.deviation].append(cell)
    widest = max(len(step.name) for step in table.steps)
    named = Column("step", min_width=widest, no_wrap=True)  # on a narrow terminal the others give way
    drawn = Table(named, "kind", *(each.value for each in Deviation), title=f"Deviations of {table.system}")
    for step in table.steps:
        drawn.add_row(*_row(step, cells))
    console.print(drawn)
    counts = _counts(table)
    console.print(
        f"{counts.covered} cells are covered by {counts.variants} variants, {counts.explained} are explained, "
        f"{counts.open} are open. ■ covered, · explained, ? open; name a step to see its cells."
    )
    _print_cells((cell for cell in table.cells if cell.state is CellState.OPEN), console)


def _row(step: Step, cells: dict[tuple[str, Deviation], list[Cell]]) -> Iterable[Text | str]:
    yield step.name
    yield step.kind
    for deviation in Deviation:
        found = cells[step.name, deviation]
        yield MARKS[found[0].state]


def _print_cells(cells: Iterable[Cell], console: Console) -> None:
    for cell in cells:
        line = Text.assemble(MARKS[cell.state], f" {cell.step} {cell.deviation}: ")
        line.append(_content(cell))
        console.print(line, soft_wrap=True)


def _content(cell: Cell) -> str:
    match cell.state:
        case CellState.COVERED:
            return f"{cell.clause} refutes {cell.variant} on {cell.plan}"
        case CellState.EXPLAINED:
            return cell.reason
        case CellState.OPEN:
            return f"open: {cell.missing}"
