"""A reporter: shows a Journal."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from holdfast.harness.model.journal import Journal


class Reporter(Protocol):
    """Registered under `holdfast.reporters` as a zero-argument factory. It computes no verdict.

    Attributes:
        name: such as `html`.
        writes: the file or folder that it writes, relative to the output folder.
    """

    name: str
    writes: str

    def render(self, journal: Journal, folder: Path) -> Path:
        """Write the report into an existing folder, atomically, and return its path."""
