"""What a system may have beside System: it shows what its checkpoints hold."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from holdfast.harness.model.inspection import InspectedCheckpoint


class InspectsCheckpoints(Protocol):
    """A system whose checkpoints are files."""

    def inspect(self, path: Path) -> InspectedCheckpoint:
        """Read a checkpoint or savepoint, by its folder or by its metadata file (RULES STO-10).

        Raises:
            ValueError: there is none, or it is damaged; one sentence.
        """
