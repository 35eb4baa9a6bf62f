"""A reporter of systems side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from holdfast.harness.model.compared_systems import ComparedSystems


class ComparisonReporter(Protocol):
    """Registered under `holdfast.comparison_reporters` as a zero-argument factory. It computes no verdict.

    Attributes:
        name: such as `picture`.
        writes: the file that it writes, relative to the output folder.
    """

    name: str
    writes: str

    def render(self, compared: ComparedSystems, folder: Path) -> Path:
        """Write the report into an existing folder, atomically, and return its path."""
