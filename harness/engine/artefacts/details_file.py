"""`details.json` of a stored run: what of it is shown and too large for the results of all runs."""

from __future__ import annotations

from pathlib import Path

from holdfast.harness.engine.artefacts.files import write_readable
from holdfast.harness.model.run_details import RunDetails

DETAILS = "details.json"


def write_details(folder: Path, details: RunDetails) -> str:
    """Store what there is beside a run; the name of the file, or an empty text if there is nothing to store."""
    if details == RunDetails():
        return ""
    write_readable(folder / DETAILS, details)
    return DETAILS
