"""Temporary folders that say whose they are: what a killed process left is removed by the next one, or by a sweep."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from holdfast.harness.engine.artefacts.owner import owner_lives, owner_of, write_owner
from holdfast.harness.engine.artefacts.safe_path import is_own_folder

_PREFIX = "holdfast-kit-"


class TemporaryFolder:
    """One of this process, for a kit; a context manager.

    Attributes:
        path: an empty folder, beside which stands the record of its owner.
    """

    def __init__(self) -> None:
        self._whole = TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True)
        write_owner(Path(self._whole.name))
        self.path = Path(self._whole.name, "kit")
        self.path.mkdir()

    def cleanup(self) -> None:
        """Remove it. Idempotent."""
        self._whole.cleanup()

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.cleanup()


def sweep_temporary_folders() -> Iterator[str]:
    """Remove those that outlived their owner; what was done, one sentence each."""
    for folder in sorted(Path(gettempdir()).glob(f"{_PREFIX}*")):
        if is_own_folder(folder) and owner_of(folder) is not None and not owner_lives(folder):
            shutil.rmtree(folder, ignore_errors=True)  # It follows no link.
            yield f"{folder}: {'cannot be removed' if folder.exists() else 'removed'}."
