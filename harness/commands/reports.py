"""Every report of a journal, in its folder."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from holdfast.harness.commands.folders import RESULTS
from holdfast.harness.engine.artefacts.journal_file import write_journal
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.foreign import foreign
from holdfast.harness.model.journal import Journal


def load_reporters() -> None:
    """Load every reporter before anything runs: somebody may wait for the report after a signal, and one that cannot be
    loaded is refused at once."""
    registry.reporters(Journal)


def write_reports(journal: Journal, folder: Path, progress: Console) -> bool:
    """Write every report; one that breaks is named and keeps no other from being written."""
    write_journal(folder / RESULTS, journal)
    return bool(write_each(journal, folder, progress))


def write_each(shown: object, folder: Path, progress: Console) -> int:
    """Let whoever shows such values write this one; how many broke, each of which is named and keeps no other from
    being written."""
    broken = 0
    for reporter in registry.reporters(type(shown)):
        try:
            with foreign(f"reporter {reporter.name}"):
                reporter.render(shown, folder)
        except Exception as error:  # A reporter is somebody's plug-in.
            progress.print(f"reporter {reporter.name} broke: {type(error).__name__}: {error}")
            broken += 1
    return broken


def written_by(shown: object, folder: Path) -> list[Path]:
    """Let whoever shows such values write this one; what was written."""
    paths = []
    for reporter in registry.reporters(type(shown)):
        with foreign(f"reporter {reporter.name}"):
            paths.append(reporter.render(shown, folder))
    return paths
