"""Reports, and where commands put them: a new folder below the output folder, and `latest` beside it."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import datetime
from itertools import count
from pathlib import Path

from rich.console import Console

from holdfast.harness.engine.artefacts.json_files import write_journal
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.foreign import foreign
from holdfast.harness.model.journal import Journal

LATEST = "latest"
RESULTS = "results.json"


def new_folder(root: Path) -> Path:
    """Make a folder of one's own, whoever else makes one at the same time; its name is the time.

    Raises:
        UsageError: none can be made there.
    """
    while True:
        folder = free_folder(root)
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            if isinstance(error, FileExistsError) and os.path.lexists(folder):
                continue  # Somebody else was faster.
            raise UsageError(
                f"{root}: no folder can be made in it ({error.strerror}); choose another one with --out."
            ) from error
        return folder


def free_folder(root: Path) -> Path:
    """A name for a folder that does not exist yet, after the time; it is made by whoever begins to fill it."""
    stamp = datetime.now().strftime("%Y-%m-%d-%H%M%S")  # noqa: TID251 - a name for people
    names = (stamp if number == 1 else f"{stamp}-{number}" for number in count(1))
    return next(root / name for name in names if not os.path.exists(root / name))  # False where one may not look.


def way_back(folder: Path) -> str:
    """The path of the current folder from another one; empty if it is gone."""
    try:
        return os.path.relpath(Path.cwd(), folder.resolve())
    except FileNotFoundError:
        return ""


def point_latest(folder: Path) -> None:
    """Let `latest` beside a folder name it, where the platform allows such links."""
    folder = folder.resolve()  # A user may have named it by `latest` itself.
    link = folder.with_name(f".{LATEST}.{os.getpid()}")
    with suppress(OSError):
        link.symlink_to(folder.name, target_is_directory=True)
        os.replace(link, folder.with_name(LATEST))


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
