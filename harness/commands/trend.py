"""`holdfast trend`: what the nights in a folder add up to; and the reports of one night."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console

from holdfast.harness.commands import console as consoles
from holdfast.harness.engine.errors import HARNESS_ERROR
from holdfast.harness.engine.nights.night_folder import NIGHT, read_night, read_nights
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.foreign import foreign
from holdfast.harness.model.night import Night
from holdfast.harness.model.plural import plural
from holdfast.harness.spi.reporter import NightReporter


def show_trend(folder: Path) -> int:
    """Write the pages over all nights of a folder."""
    nights = read_nights(folder)
    if _render(registry.trend_reporters(), nights, folder, consoles.progress()):
        return HARNESS_ERROR
    written = ", ".join(str(folder / each.writes) for each in registry.trend_reporters())
    consoles.results().print(f"{plural(len(nights), 'night')}: {written}")
    return 0


def write_night_reports(out: Path, folder: Path, progress: Console) -> int:
    """The reports of a night in its folder, with those before it, and the trend beside it; how many reporters broke."""
    night = read_night(folder / NIGHT)
    nights = read_nights(out)
    earlier = tuple(each for each in nights if (each.started, each.name) <= (night.started, night.name))
    broken = _render(registry.night_reporters(), earlier, folder, progress)
    return broken + _render(registry.trend_reporters(), nights, out, progress)


def _render(reporters: Iterable[NightReporter], nights: Sequence[Night], folder: Path, progress: Console) -> int:
    """How many broke; one that breaks is named and keeps no other from being written."""
    broken = 0
    for reporter in reporters:
        try:
            with foreign(f"reporter {reporter.name}"):
                reporter.render(nights, folder)
        except Exception as error:  # A reporter is somebody's plug-in.
            progress.print(f"reporter {reporter.name} broke: {type(error).__name__}: {error}")
            broken += 1
    return broken
