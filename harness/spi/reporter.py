"""Reporters: of a Journal, of nights, of systems side by side, and of certificates in one table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from holdfast.harness.model.compared_systems import ComparedSystems
from holdfast.harness.model.journal import Journal
from holdfast.harness.model.matrix import Matrix
from holdfast.harness.model.night import Night


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


class NightReporter(Protocol):
    """Registered under `holdfast.night_reporters`, for the last of the nights, or `holdfast.trend_reporters`, for all
    of them, as a zero-argument factory. It computes no verdict.

    Attributes:
        name: such as `trend`.
        writes: the file or folder that it writes, relative to the output folder.
    """

    name: str
    writes: str

    def render(self, nights: Sequence[Night], folder: Path) -> Path:
        """Write the report into an existing folder, atomically, and return its path.

        Args:
            nights: at least one, the oldest first.
            folder: of the last night, which also holds its certificates; or the one that holds all nights.
        """


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
