"""`holdfast mutants`: whether the harness still kills every bug that it is there to kill."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.text import Text

from holdfast.harness.commands import console as consoles
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.exploration.mutation import Trial, try_mutant
from holdfast.harness.engine.site import entry_points, registry
from holdfast.harness.engine.site.interruption import listening
from holdfast.harness.model.command_line import command_line
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
