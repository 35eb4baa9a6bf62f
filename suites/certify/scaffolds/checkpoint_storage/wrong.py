"""Wrong, against STO-02: it looks whether a name is free and then renames, and another writer comes between."""

from __future__ import annotations

from pathlib import Path

from holdfast.suites.certify.scaffolds.checkpoint_storage.right import Storage


class WrongStorage(Storage):
    """The wrong twin of Storage."""

    def publish(self, begun: Path, target: Path) -> None:
        if target.exists():
            raise FileExistsError(f"{target} is there.")
        begun.rename(target)
