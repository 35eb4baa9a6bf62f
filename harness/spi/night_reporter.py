"""A reporter of nights: shows one night, or many."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from holdfast.harness.model.night import Night


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
