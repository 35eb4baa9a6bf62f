"""What RETAIN decides on files that are in the storage though their checkpoint is dropped, or they are reported as
deleted (RULES RET-01)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from holdfast.harness.model import events
from holdfast.harness.model.events import FileDeleted, FileWritten, StorageListed
from holdfast.harness.model.history import History
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.ledger.files import by_path
from holdfast.harness.oracles.shared.claimed_snapshots import claimed_snapshots
from holdfast.harness.oracles.shared.exemptions import Exemptions
from holdfast.harness.oracles.shared.shared_files import shared_files
from holdfast.harness.oracles.shared.storage_looks import Look, settled, storage_looks, undisturbed_listing

DELETED = {"deleted-still-stored": "a file that was reported as deleted is in the storage afterwards"}


def judge_deleted(history: History, exempt: Exemptions, findings: Findings) -> None:
    """A path is written once: what was written before its deletion was reported does not come back."""
    written = by_path(history, FileWritten).all

    def judge(deletions: Iterable[FileDeleted], there: Iterable[str], seen: StorageListed | Look) -> None:
        left = set(there)
        witness = seen.observed if isinstance(seen, Look) else seen
        for deleted in deletions:
            before = written.get(deleted.path, ())
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


LEFT = {"dropped-left": "a file of a dropped checkpoint stays in the storage, though nothing hindered its deletion"}


def judge_dropped_left(history: History, exempt: Exemptions, findings: Findings) -> None:
    """A deletion that failed, or whose coordinator was gone before it was due, may leave something. Shared files are
    judged by who uses them."""
    listing = undisturbed_listing(history)
    if listing is None:
        return
    there = {file.path for file in listing.files}
    claimed = claimed_snapshots(history)
    published = {event.path: event for event in history.of(events.MetadataPublished)}
    named = Counter(path for event in published.values() for path in _paths(event))
    for metadata in published.values():
        dropped = claimed.first_drop(claimed.identity(metadata, metadata.checkpoint))
        if dropped is None or not settled(history, dropped):
            continue
        own = [path for path in _paths(metadata) if named[path] == 1 and not exempt.ever_held(path)]
        left = sorted(there.intersection(own) - shared_files(history).paths)
        findings.check("dropped-left")
        if left:
            message = f"{left[0]} of checkpoint {metadata.checkpoint}, which is dropped, stays in the storage"
            findings.violated("dropped-left", message, dropped, listing)


def _paths(metadata: events.MetadataPublished) -> set[str]:
    return {metadata.path, *(file.path for file in metadata.files)}
