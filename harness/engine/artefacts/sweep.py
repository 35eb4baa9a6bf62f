"""The sweep: what a harness that was killed left behind is undone, ended and removed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec

from holdfast.harness.engine.artefacts.owner import owner_lives
from holdfast.harness.engine.artefacts.plan_file import read_plan_file
from holdfast.harness.engine.artefacts.stored_run import PARTS
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.executor.run_folder import CONTROL, PLAN, UNDO, WORK
from holdfast.harness.engine.site import registry
from holdfast.harness.spi.fault import UndoRecord
from holdfast.harness.spi.system import Sweeper


def unfinished(root: Path) -> list[Path]:
    """Folders of runs whose harness is gone."""
    return sorted(
        folder
        for folder in root.rglob(PARTS)
        # Who makes one says at once that it is theirs: an empty one may belong to somebody who is about to.
        if folder.is_dir() and any(folder.iterdir()) and not owner_lives(folder)
    )


def sweep(root: Path) -> Iterator[str]:
    """Undo, end and remove what is left below an output folder; says what it did, one sentence each."""
    for folder in unfinished(root):
        yield from _swept(folder)
        shutil.rmtree(folder, ignore_errors=True)
        yield f"{folder}: removed."


def _swept(folder: Path) -> Iterator[str]:
    """Through the adapter, because only it knows how its system is found again from a folder."""
    try:
        system = registry.system(read_plan_file(folder / PLAN).system)
    except UsageError as error:
        yield f"{folder}: its system cannot be asked to clean up ({error})"
        return
    if not isinstance(system, Sweeper):
        return
    for work in (folder / WORK, folder / CONTROL / WORK):
        if work.is_dir():
            for sentence in system.sweep(work, _undos(folder)):
                yield f"{folder}: {sentence}"


def _undos(folder: Path) -> list[UndoRecord]:
    try:
        lines = (folder / UNDO).read_bytes().splitlines()
    except FileNotFoundError:
        return []
    undos = []
    for line in lines:
        try:
            undos.append(msgspec.json.decode(line, type=UndoRecord))
        except msgspec.MsgspecError:
            continue  # Torn: the harness died before its fault acted.
    return undos
