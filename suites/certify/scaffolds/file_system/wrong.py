"""Wrong, against STO-02: a rename replaces what is there, so that a path may be published twice."""

from __future__ import annotations

from pathlib import Path

from holdfast.suites.certify.scaffolds.file_system.right import Files


class WrongFiles(Files):
    """The wrong twin of Files."""

    def publish(self, begun: Path, target: Path) -> None:
        begun.rename(target)
