"""`holdfast compare`: the same plans on several systems, in one table and one picture."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from holdfast.harness.commands import console as consoles
from holdfast.harness.commands.apart import run_apart
from holdfast.harness.commands.own_process import is_apart, run_ended
from holdfast.harness.commands.reports import written_by
from holdfast.harness.engine.artefacts.files import make_folder, write_readable
from holdfast.harness.engine.artefacts.json_files import read_plan_file
from holdfast.harness.engine.cases.side_by_side import setup_of, side_by_side
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site.interruption import listening
from holdfast.harness.engine.site.machine import processors
from holdfast.harness.engine.site.plan_code import require_trusted_code, third_party_code
from holdfast.harness.engine.site.services import close_services, require_reachable
from holdfast.harness.model.case import Tier
from holdfast.harness.model.command_line import command_line
from holdfast.harness.model.compared_systems import ComparedRun, ComparedSystems
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.verdict import Outcome

COMPARISON = "comparison.json"
COLUMNS: Sequence[str] = ("plan", "system", "verdict", "running again", "new output", "read again", "checkpoint")


def compare(
    names: Sequence[str], places: Sequence[Path], tier: Tier | None, runs: int, folder: Path, *, trust: bool
) -> int:
    """Run each plan on each system, and write table, JSON and picture; 1: one is refuted, 2: one is inconclusive."""
    plans = plans_of(places)
    for name, plan in plans.items():
        require_trusted_code(plan, f"plan {name}", trust=trust)
    theirs = dict.fromkeys(each for name in names for plan in plans.values() for each in third_party_code(name, plan))
    if theirs and not is_apart():
        return run_apart(tuple(theirs), folder)
    setups = [setup_of(name, tier) for name in names]
    if len({each.name for each in setups}) < len(setups):
        raise UsageError("two systems have the same name: give the files of their options different ones.")
    require_reachable()
    progress, found = consoles.progress(), list[ComparedRun]()
    make_folder(folder)
    try:
        with listening() as interruption:
            for run in side_by_side(plans, setups, folder / "runs", interruption, runs):
                progress.print(f"{run.plan} on {run.system}: {_verdict(run)} {run.reason}")
                found.append(run)
                run_ended()
    finally:
        close_services()
    compared = ComparedSystems(command_line(*sys.argv[1:]), tuple(found))
    write_readable(folder / COMPARISON, compared)
    written = [folder / COMPARISON, *written_by(compared, folder)]
    console = consoles.results()
    rows = rows_of(compared)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        console.print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)))
    console.print("medians in ms, and in records; in brackets, of how many")
    if loads := [run.load for run in found if run.outcome is not None]:
        console.print(f"load of the machine {min(loads):.0f} to {max(loads):.0f}, on {processors()} processors")
    console.print(", ".join(map(str, written)))
    if interruption.signal:
        return interruption.exit_code
    outcomes = {run.outcome for run in found}
    return 1 if Outcome.FAIL in outcomes else 2 if Outcome.INCONCLUSIVE in outcomes else 0


def plans_of(places: Sequence[Path]) -> Mapping[str, Plan]:
    """Plans by the names of their files.

    Raises:
        UsageError: a file is no plan, two have one name, or there is none.
    """
    files = [file for place in places for file in (sorted(place.glob("*.json")) if place.is_dir() else [place])]
    if not files:
        raise UsageError(f"{', '.join(map(str, places))} holds no plan: name a file, or a folder with *.json.")
    plans = {file.stem: read_plan_file(file) for file in files}
    if len(plans) < len(files):
        raise UsageError("two plans have the same name: give their files different ones.")
    return plans


def rows_of(compared: ComparedSystems) -> Sequence[Sequence[str]]:
    """A row for each plan and system, all runs of it together, below the names of the columns."""
    rows: list[Sequence[str]] = [COLUMNS]
    for plan in dict.fromkeys(run.plan for run in compared.runs):
        for system in dict.fromkeys(run.system for run in compared.runs if run.plan == plan):
            runs = [run for run in compared.runs if (run.plan, run.system) == (plan, system)]
            recoveries = [each for run in runs for each in run.recoveries]
            rows.append(
                (
                    plan,
                    system,
                    ", ".join(dict.fromkeys(map(_verdict, runs))),
                    _median(each.to_running_ms for each in recoveries),
                    _median(each.to_committed_ms for each in recoveries),
                    _median(each for run in runs for each in run.read_again),
                    _median(each for run in runs for each in run.checkpoints_ms),
                )
            )
    return rows


def _verdict(run: ComparedRun) -> str:
    return "does not apply" if run.outcome is None else run.outcome.value


def _median(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{statistics.median(known):,.0f} ({len(known)})" if known else "-"
