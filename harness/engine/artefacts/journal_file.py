"""The Journal as `results.json`."""

from __future__ import annotations

from pathlib import Path

from holdfast.harness.engine.artefacts.decode import check_version, decode
from holdfast.harness.engine.artefacts.files import read_content, write_readable
from holdfast.harness.model.journal import RESULTS_VERSION, Journal


def write_journal(path: Path, journal: Journal) -> None:
    """The journal as `results.json`."""
    write_readable(path, journal)


def read_journal(path: Path) -> Journal:
    """A journal from its file.

    Raises:
        UsageError: it cannot be read, or is of a newer version.
    """
    raw = read_content(path)
    check_version(raw, RESULTS_VERSION, "result", str(path))
    return decode(raw, Journal, str(path))
