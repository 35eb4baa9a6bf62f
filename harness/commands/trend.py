"""`holdfast trend`: what the nights in a folder add up to; and the reports of one night."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from holdfast.harness.commands import console as consoles
from holdfast.harness.commands.reports import write_each
from holdfast.harness.engine.errors import HARNESS_ERROR
from holdfast.harness.engine.nights.night_folder import NIGHT, read_night, read_nights
from holdfast.harness.engine.site import registry
from holdfast.harness.model.night import AllNights, LatestNight
from holdfast.harness.model.plural import plural


def show_trend(folder: Path) -> int:
    """Write the pages over all nights of a folder."""
    nights = read_nights(folder)
    if write_each(AllNights(nights), folder, consoles.progress()):
        return HARNESS_ERROR
    written = ", ".join(str(folder / each.writes) for each in registry.reporters(AllNights))
    consoles.results().print(f"{plural(len(nights), 'night')}: {written}")
    return 0


def write_night_reports(out: Path, folder: Path, progress: Console) -> int:
    """The reports of a night in its folder, with those before it, and the trend beside it; how many reporters broke."""
    night = read_night(folder / NIGHT)
    nights = read_nights(out)
    earlier = tuple(each for each in nights if (each.started, each.name) <= (night.started, night.name))
    return write_each(LatestNight(earlier), folder, progress) + write_each(AllNights(nights), out, progress)
