"""What RETAIN decides on deletions as the harness saw them: what was reported as deleted is gone (RULES RET-01)."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.harness.model.events import FileDeleted, FileWritten, StorageListed
from holdfast.harness.model.history import History
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.shared.exemptions import Exemptions
from holdfast.harness.oracles.shared.storage_looks import Look, storage_looks

CLAUSES = {"deleted-still-stored": "a file that was reported as deleted is in the storage afterwards"}


def judge_deleted(history: History, exempt: Exemptions, findings: Findings) -> None:
    """A path is written once: what was written before its deletion was reported does not come back."""
    written: dict[str, list[FileWritten]] = {}
    for event in history.of(FileWritten):
        written.setdefault(event.file.path, []).append(event)

    def judge(deletions: Iterable[FileDeleted], there: Iterable[str], seen: StorageListed | Look) -> None:
        left = set(there)
        witness = seen.observed if isinstance(seen, Look) else seen
        for deleted in deletions:
            before = written.get(deleted.path, [])
            if len(before) != 1 or exempt.ever_held(deleted.path):
                continue
            if history.position(before[0]) > history.position(deleted):
                continue
            findings.check("deleted-still-stored")
            if deleted.path in left:
                message = f"{deleted.path} is reported as deleted, and is still in the storage"
                findings.violated("deleted-still-stored", message, before[0], deleted, witness)

    for look in storage_looks(history):
        judge(look.deleted, look.observed.paths, look)
    listings = history.of(StorageListed)
    if listings:
        judge(history.of(FileDeleted), (file.path for file in listings[-1].files), listings[-1])
