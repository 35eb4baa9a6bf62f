"""`holdfast doctor`: what this machine can run, and what is missing for the rest."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Callable, Iterable, Sized
from functools import partial

import typer

from holdfast.harness.engine.errors import ForeignError, UsageError
from holdfast.harness.engine.site import entry_points, registry
from holdfast.harness.engine.site.machine import lacking
from holdfast.harness.engine.site.services import missing_parts
from holdfast.harness.model.case import Tier
from holdfast.harness.spi.parts import part_names, part_problems

_NAMES = 16
"""Columns of the names."""
_COUNTED: dict[str, Callable[[], Sized]] = {
    "faults": lambda: registry.toolbox().faults,
    "oracles": lambda: registry.toolbox().oracles,
    "rules": registry.rules,
}
"""Of these there are many: how many."""
_NAMED: dict[str, Callable[[], Iterable[str]]] = {
    "systems": partial(entry_points.names, "systems"),
    "state backends": partial(part_names, "state-backend"),
    "storages": partial(part_names, "checkpoint-storage"),
    "kits": registry.kits,
    "workloads": partial(entry_points.names, "workloads"),
    "reporters": partial(entry_points.names, "reporters"),
}
"""Of these there are few: by what a line is called, their names."""


def examine() -> int:
    """One line for each tier, and what is plugged in. Always 0: a missing tier is no error."""
    for tier in Tier:
        typer.echo(_wrapped(tier, lacking(tier) or "ready"))
    absent = missing_parts()
    services = f"lack {absent}: holdfast services install" if absent else "are ready"
    typer.echo(_wrapped("no Docker", f"services as plain processes {services}"))
    for name, things in _COUNTED.items():
        typer.echo(_wrapped(name, _counted(things)))
    for name, names in _NAMED.items():
        typer.echo(_wrapped(name, ", ".join(names()) or "none"))
    for problem in (*part_problems(), *entry_points.misplaced()):
        typer.echo(_wrapped("not read", problem))
    return 0


def _counted(things: Callable[[], Sized]) -> str:
    """How many there are, or why a package that brings some cannot be loaded."""
    try:
        return str(len(things()) or "none")
    except (ForeignError, UsageError) as error:
        return str(error)


def _wrapped(name: str, words: str) -> str:
    """A name and the text on it, in a column of its own."""
    width = shutil.get_terminal_size().columns
    return textwrap.fill(
        words,
        width,
        initial_indent=f"{name:<{_NAMES}}",
        subsequent_indent=" " * _NAMES,
        break_on_hyphens=False,
        break_long_words=False,
    )
