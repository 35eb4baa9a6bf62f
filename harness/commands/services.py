"""`holdfast services`: what services that run as plain processes need on this machine."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from holdfast.harness.commands import console as consoles
from holdfast.harness.commands.build_progress import BuildProgress
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site.services import installer
from holdfast.harness.model.command_line import command_line
from holdfast.harness.spi.service import Part

MISSING = 3
"""Exit code where something is not there."""
FLINK = "flink"
_NAMES = 17
"""Columns of the names."""


def check_services() -> int:
    """Say which parts are there, and are as they were installed; 0 if all are."""
    provider = installer()
    console = consoles.results()
    parts = [part for part in provider.parts(verify=True) if part.present or not part.optional]
    for part in parts:
        console.print(_line(part))
    if all(part.present and part.unchanged for part in parts):
        return 0
    changed = [str(part.place) for part in parts if part.unchanged is False]
    if changed:
        consoles.progress().print(f"Not what was installed: remove {', '.join(changed)}, then install again.")
    consoles.progress().print(f"Install what is missing: {command_line('services', 'install')}")
    return MISSING


def install_services(names: Sequence[str]) -> int:
    """Fetch what is missing, showing how far each part is."""
    provider = installer()
    console = consoles.results()
    try:
        wanted = [part.name for part in _wanted(provider.parts(), names) if not part.present]
        with BuildProgress(consoles.progress(), wanted, noun="part") as progress:
            took = provider.install(names, progress)
    except (OSError, ValueError) as error:
        raise UsageError(str(error)) from error
    for part in _wanted(provider.parts(), names):
        took_s = took.get(part.name)
        console.print(_line(part) + Text("" if took_s is None else f" in {took_s:.0f} s", "dim"))
    return 0


def install_flink(version: str) -> int:
    """Fetch Flink; 0 once it is there.

    Raises:
        UsageError: the version is none that the adapter knows.
    """
    parts = installer().parts()
    fitting = [part.name for part in parts if part.of_version(FLINK, version)]
    if not fitting:
        known = ", ".join(part.version for part in parts if part.of_version(FLINK, ""))
        raise UsageError(f"Flink {version} is none that the adapter knows: use {known}, or leave it out.")
    return install_services(fitting[:1])


def _wanted(parts: Sequence[Part], names: Sequence[str]) -> list[Part]:
    """Those with these names; without names, all that are not optional."""
    return [part for part in parts if (part.name in names if names else not part.optional)]


def _line(part: Part) -> Text:
    if part.unchanged is False:
        state = Text("changed  ", "red")
    else:
        state = Text("present  ", "green") if part.present else Text("missing  ", "yellow")
    return state + Text(f"{part.name:<{_NAMES}} {part.place}")
