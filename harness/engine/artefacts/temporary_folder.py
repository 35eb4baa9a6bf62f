"""Temporary folders that say whose they are: what a killed process left is removed by the next one, or by a sweep."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from holdfast.harness.engine.artefacts.owner import owner_lives, owner_of, write_owner
from holdfast.harness.engine.artefacts.safe_path import is_own_folder
from holdfast.harness.label import end_labelled
from holdfast.harness.model.plural import plural

_PREFIX = "holdfast-kit-"


class TemporaryFolder:
    """One of this process, for somebody else's code; a context manager.

    Attributes:
        label: of the processes that work in it.
        path: an empty folder, beside which stands the record of its owner.
    """

    def __init__(self) -> None:
        self._whole = TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True)
        self.label = Path(self._whole.name).resolve()
        write_owner(self.label)
        self.path = self.label / "kit"
        self.path.mkdir()

    def cleanup(self) -> None:
        """Remove it. Idempotent."""
        self._whole.cleanup()

    def end_processes(self) -> None:
        """End all that carries its label."""
        end_labelled(self.label)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.cleanup()


def sweep_temporary_folders() -> Iterator[str]:
    """Remove those that outlived their owner, and end what carries one as its label; what was done, one sentence
    each."""
    for folder in sorted(Path(gettempdir()).resolve().glob(f"{_PREFIX}*")):
        if is_own_folder(folder) and owner_of(folder) is not None and not owner_lives(folder):
            ended = end_labelled(folder)
            shutil.rmtree(folder, ignore_errors=True)  # It follows no link.
            others = f", {plural(ended, 'process', 'processes')} ended" if ended else ""
            yield f"{folder}: {'cannot be removed' if folder.exists() else 'removed'}{others}."
