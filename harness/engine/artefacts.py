"""The folder of a run and what lies in it. With `history_files` the only place of the engine that touches files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from holdfast.harness.spi.fault import UndoRecord

UNDO = "undo.jsonl"
WORK = "work"


def undo_writer(folder: Path) -> Callable[[UndoRecord], None]:
    """A function that appends an undo to the folder's `undo.jsonl` and returns when the disk has it."""
    path = folder / UNDO

    def write(undo: UndoRecord) -> None:
        with path.open("ab") as file:
            file.write(msgspec.json.encode(undo) + b"\n")
            file.flush()
            os.fsync(file.fileno())

    return write


def new_work_folder(folder: Path) -> Path:
    """An empty folder of its own for the accused, below that of the run."""
    work = folder / WORK
    work.mkdir(parents=True)
    return work


def control_folder(folder: Path) -> Path:
    """The folder of the fault-free control of a run."""
    return folder / "control"
