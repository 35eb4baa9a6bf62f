"""A reporter of several certificates in one table."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from holdfast.harness.model.matrix import Matrix


class MatrixReporter(Protocol):
    """Registered under `holdfast.matrix_reporters` as a zero-argument factory. It computes no verdict.

    Attributes:
        name: such as `html`.
        writes: the file or folder that it writes, relative to the output folder.
    """

    name: str
    writes: str

    def render(self, matrix: Matrix, folder: Path) -> Path:
        """Write the report into an existing folder, atomically, and return its path."""
