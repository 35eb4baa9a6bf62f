"""Statements about the checkpoint storage against what the harness saw there (RULES CRD-01, STO-01, RET-01).

A checkpoint that is retained when the harness looks has its metadata and every file that it names in the store; what
was reported as deleted before is gone. Objects that the harness damaged say nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.harness.model.events import FileDeleted, FileWritten, StorageListed
from holdfast.harness.model.history import History
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.traces.exemptions import Exemptions
from holdfast.harness.oracles.traces.storage_looks import Look, storage_looks

PUBLISHED = {"published-not-stored": "a checkpoint completes, and its metadata is not in the storage"}
"""Of COORD."""
NAMED = {"named-not-stored": "a retained checkpoint names a file that is not in the storage when the harness looks"}
"""Of REACH."""
DELETED = {"deleted-still-stored": "a file that was reported as deleted is in the storage afterwards"}
"""Of RETAIN."""


def judge_published(history: History, findings: Findings) -> None:
    """The metadata of a checkpoint is there as soon as it has completed."""
    exempt = Exemptions(history)
    for look in storage_looks(history):
        metadata = look.retained.get(look.observed.checkpoint)
        if metadata is None or exempt.hold(look.observed, metadata.path):
            continue
        findings.check("published-not-stored")
        if metadata.path not in look.observed.paths:
            message = f"checkpoint {metadata.checkpoint} has completed, and {metadata.path} is not in the storage"
            findings.violated("published-not-stored", message, metadata, look.completed, look.observed)


def judge_named(history: History, findings: Findings) -> None:
    """Every file of a retained checkpoint is there as it is named; the metadata of older ones, too."""
    exempt = Exemptions(history)
    missing: set[str] = set()
    for look in storage_looks(history):
        there = set(look.observed.paths)
        for metadata in look.retained.values():
            if exempt.hold(look.observed, metadata.path):
                continue
            own = metadata.checkpoint == look.observed.checkpoint
            paths = [file.path for file in metadata.files if not exempt.hold(look.observed, file.path)]
            named = [path for path in paths if not (own and path == metadata.path)]
            findings.check("named-not-stored", len(named))
            for path in named:
                if path not in there and path not in missing:
                    missing.add(path)
                    message = f"{path}, a file of checkpoint {metadata.checkpoint}, is not in the storage"
                    findings.violated("named-not-stored", message, metadata, look.observed)
        _judge_contents(look, exempt, findings)


def _judge_contents(look: Look, exempt: Exemptions, findings: Findings) -> None:
    """What the checkpoint that has just completed names is what is there."""
    metadata = look.retained.get(look.observed.checkpoint)
    if metadata is None:
        return
    found = {file.path: file for file in look.observed.files if not exempt.hold(look.observed, file.path)}
    for file in metadata.files:
        stored = found.get(file.path)
        if stored is None:
            continue
        findings.check("file-differs")
        if stored != file:
            message = (
                f"{file.path} has {stored.length} bytes, checksum {stored.checksum:#010x} in the storage, and "
                f"{file.length} bytes, checksum {file.checksum:#010x} in checkpoint {metadata.checkpoint}"
            )
            findings.violated("file-differs", message, metadata, look.observed)


def judge_deleted(history: History, findings: Findings) -> None:
    """A path is written once: what was written before its deletion was reported does not come back."""
    written: dict[str, list[FileWritten]] = {}
    for event in history.of(FileWritten):
        written.setdefault(event.file.path, []).append(event)
    exempt = Exemptions(history)

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
