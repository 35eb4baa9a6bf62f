"""Scaffolds of what a kit judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from holdfast.suites.certify.scaffolds.text import module, template


class PartScaffold(msgspec.Struct, frozen=True):
    """Of one contract.

    Attributes:
        kind: name of its kit, such as `state-backend`.
        title: such as `A keyed state backend`.
        contract: module that is the contract.
        factory: class of the right one; that of its twin has `Wrong` before it.
    """

    kind: str
    title: str
    contract: str
    factory: str
    languages: tuple[str, ...] = ("python",)

    def files(self, name: str, language: str) -> Mapping[str, str]:
        kit = self.kind.replace("-", "_")
        words = {
            "NAME": name,
            "KIND": self.kind,
            "KIT": kit,
            "TITLE": self.title,
            "CONTRACT": self.contract,
            "FACTORY": self.factory,
            "CERTIFY": self.commands(name, language)[1],
        }
        return {
            f"{name}.py": module(f"{kit}/right.py", name),
            f"wrong_{name}.py": module(f"{kit}/wrong.py", name),
            f"test_{name}.py": template("templates/test_part.txt", words),
            "README.md": template("templates/part.md", words),
            ".github/workflows/holdfast.yml": template("templates/part.yml", words),
        }

    def commands(self, name: str, language: str) -> Sequence[str]:
        return ("pytest", f"holdfast certify --{self.kind} {name}:{self.factory}")


CHECKPOINT_STORAGE = PartScaffold(
    "checkpoint-storage", "A checkpoint storage", "holdfast.harness.spi.storage", "Storage"
)
FILE_SYSTEM = PartScaffold("file-system", "A file system for checkpoints", "holdfast.harness.spi.file_system", "Files")
RESTART_STRATEGY = PartScaffold(
    "restart-strategy", "A restart strategy", "holdfast.harness.spi.restart_strategy", "Strategy"
)
SINK = PartScaffold("sink", "A sink", "holdfast.harness.spi.sink", "Sink")
SOURCE = PartScaffold("source", "A source", "holdfast.harness.spi.source", "Source")
STATE_BACKEND = PartScaffold("state-backend", "A keyed state backend", "holdfast.harness.spi.state", "Backend")
