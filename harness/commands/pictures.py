"""`holdfast pictures`: what a run, or a system, looks like, as SVG files with a page that shows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from holdfast.harness.commands import console as consoles
from holdfast.harness.commands.reports import written_by
from holdfast.harness.engine.artefacts.stored_run import read_run
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.pictures.failure import pictures_of_failure
from holdfast.harness.engine.pictures.of_runs import PICTURES, drawn_machine, pictures_of, state_machines
from holdfast.harness.engine.plans.words import plan_in_words
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.history import History
from holdfast.harness.model.picture import Exhibit, Gallery, Picture
from holdfast.harness.spi.system import System

REFERENCE = "reference"
"""A system that has all of them."""


def draw_run(stored: Path, folder: Path, *, trust: bool) -> int:
    """Every picture that a stored run has something to show for."""
    history, judged = read_run(stored)
    system = registry.stored_system(history.plan.system, stored, trust=trust)
    machines = state_machines(system)
    names = (*PICTURES, *(f"states:{machine.name}" for machine in machines))
    pictures = (*pictures_of_failure(history, judged.verdicts), *pictures_of(names, history, machines))
    found = [(picture, "") for picture in pictures]
    if not found:
        raise UsageError(f"{stored}: this run shows nothing to draw: it completed no checkpoint.")
    return _write(folder, f"A run of {history.plan.system}", plan_in_words(history.plan), found)


def draw_system(name: str, folder: Path) -> int:
    """The state machines of a system, and one picture of each kind from runs of the cases that ask for one."""
    system = registry.system(name)
    machines = state_machines(system)
    found: list[tuple[Picture, str]] = [(drawn_machine(machine), "") for machine in machines]
    wanted = dict.fromkeys(PICTURES)
    for case in _with_pictures(system):
        history: History | None = None
        for kind in case.pictures:
            if kind not in wanted:
                continue
            history = history or run_plan(case.plan_for(0), system, registry.toolbox()).history
            for picture in pictures_of([kind], history, machines):
                found.append((picture, case.id))
                del wanted[kind]
    if not found:
        raise UsageError(
            f"system {name!r} has no state machines, and no case of it on the simulator has pictures: "
            f"use --system {REFERENCE}, or name the folder of a stored run."
        )
    order = {kind: number for number, kind in enumerate(PICTURES)}
    found.sort(key=lambda each: order.get(each[0].name, -1))
    return _write(folder, f"How {name} works", "Drawn from its tables, and from runs on the simulator.", found)


def _with_pictures(system: System) -> Iterable[Case]:
    if Tier.SIM not in system.capabilities:
        return ()
    return (
        case
        for case in registry.cases()
        if case.pictures and Tier.SIM in case.tiers and case.needs <= system.capabilities[Tier.SIM]
    )


def _write(folder: Path, title: str, words: str, pictures: Sequence[tuple[Picture, str]]) -> int:
    """Files and the page that shows them, and what was written."""
    if not registry.reporters(Gallery):
        raise UsageError("no reporter draws: install a package whose reporter shows a Gallery (holdfast.reporters).")
    folder.mkdir(parents=True, exist_ok=True)
    console = consoles.results()
    pages = written_by(Gallery(title, words, tuple(Exhibit(*each) for each in pictures)), folder)
    for picture, _ in pictures:
        console.print(f"{picture.name}: {picture.title}")
    for page in pages:
        console.print(f"{page} shows them all")
    return 0
