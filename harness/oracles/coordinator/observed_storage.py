"""What COORD and REACH decide on the checkpoint storage as the harness saw it (RULES CRD-01, STO-01).

A checkpoint that is retained when the harness looks has its metadata and every file that it names in the store. Objects
that the harness damaged say nothing.
"""

from __future__ import annotations

from holdfast.harness.model.history import History
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.shared.exemptions import Exemptions
from holdfast.harness.oracles.shared.storage_looks import Look, storage_looks

PUBLISHED = {"published-not-stored": "a checkpoint completes, and its metadata is not in the storage"}
"""Of COORD."""
NAMED = {"named-not-stored": "a retained checkpoint names a file that is not in the storage when the harness looks"}
"""Of REACH."""


def judge_published(history: History, exempt: Exemptions, findings: Findings) -> None:
    """The metadata of a checkpoint is there as soon as it has completed."""
    for look in storage_looks(history):
        metadata = look.retained.get(look.observed.checkpoint)
        if metadata is None or exempt.hold(look.observed, metadata.path):
            continue
        findings.check("published-not-stored")
        if metadata.path not in look.observed.paths:
            message = f"checkpoint {metadata.checkpoint} has completed, and {metadata.path} is not in the storage"
            findings.violated("published-not-stored", message, metadata, look.completed, look.observed)


def judge_named(history: History, exempt: Exemptions, findings: Findings) -> None:
    """Every file of a retained checkpoint is there as it is named; the metadata of older ones, too."""
    missing: set[str] = set()
    damaged = exempt.damaged
    for look in storage_looks(history):
        there = set(look.observed.paths)
        for metadata in look.retained.values():
            if damaged and exempt.hold(look.observed, metadata.path):
                continue
            own = metadata.checkpoint == look.observed.checkpoint
            named = [file.path for file in metadata.files if not (own and file.path == metadata.path)]
            if damaged:
                named = [path for path in named if not exempt.hold(look.observed, path)]
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
