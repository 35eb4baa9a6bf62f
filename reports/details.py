"""What lies beside the runs: the checkpoints and pictures of those that a report shows."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from holdfast.harness.model.journal import RunResult
from holdfast.harness.model.run_details import DETAILS_VERSION, RunDetails
from holdfast.harness.spi.outside_files import read_outside


def read_details(folder: Path, runs: Iterable[RunResult]) -> dict[str, RunDetails]:
    """The details of runs, by id. Of a file that is not there, or cannot be read, a report shows nothing.

    Args:
        folder: of the report.
        runs: those that are shown.
    """
    found = {}
    for run in runs:
        path = folder / run.details
        # Only what lies below the report belongs to it.
        if run.details and path.is_file() and path.resolve().is_relative_to(folder.resolve()):
            with suppress(OSError, ValueError, msgspec.MsgspecError, RecursionError):
                details = msgspec.json.decode(read_outside(path), type=RunDetails)
                if details.version <= DETAILS_VERSION:
                    found[run.id] = details
    return found
