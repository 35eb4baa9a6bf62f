"""The folder of a run while it runs: what must be on disk before anything happens, and room for the system under test.

Light on purpose: the executor imports it, and on the simulator nothing of it is used. What a finished run leaves is in
`artefacts`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from holdfast.harness.spi.fault import UndoRecord

PLAN = "plan.json"
UNDO = "undo.jsonl"
WORK = "work"
CONTROL = "control"


def undo_writer(folder: Path) -> Callable[[UndoRecord], None]:
    """A function that appends an undo to the folder's `undo.jsonl` and returns when the disk has it, or raises
    OSError."""
    path = folder / UNDO

    def write(undo: UndoRecord) -> None:
        with path.open("ab") as file:
            file.write(msgspec.json.encode(undo) + b"\n")
            file.flush()
            os.fsync(file.fileno())

    return write


def new_work_folder(folder: Path) -> Path:
    """An empty folder for the system under test below that of the run. It is absolute: the system may run anywhere."""
    work = folder.resolve() / WORK
    work.mkdir(parents=True)
    return work
