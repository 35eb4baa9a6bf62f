"""Shared files that nothing reaches, and that are in the storage at the end all the same (RULES INC-03, INC-05)."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.incremental.file_uses import FileUses

LEFT = {
    "left-behind": "a shared file stays in the storage though no checkpoint reaches it any more",
    "late-state-left": "a shared file of an acknowledgement that counts for nothing stays in the storage",
}
SETTLED = 2
"""So many checkpoints complete behind the last use of a file until it must be gone: one may have been pending then, and
its completion begins the deletion."""


def judge_leftovers(history: History, uses: FileUses, findings: Findings) -> None:
    """Where nothing hindered a deletion, what nobody uses is gone by the end."""
    listings = history.of(events.StorageListed)
    hindered: list[events.StorageFailed | events.StorageSlowed] = [
        *history.of(events.StorageFailed),
        *history.of(events.StorageSlowed),
    ]
    if not listings or any("delete" in event.operation for event in hindered):
        return
    completed = history.of(events.CheckpointCompleted)
    listed = {file.path for file in listings[-1].files if not uses.exempt.ever_held(file.path)}
    for path, since in uses.last_use.items():
        if not uses.users[path] and settled(history, completed, since):
            findings.check("left-behind")
            if path in listed:
                message = f"{path} stays in the storage, and no checkpoint reaches it"
                findings.violated("left-behind", message, since)
    for ack, received in uses.late:
        if received.outcome is events.AckOutcome.DUPLICATE or not settled(history, completed, received):
            continue
        for path in sorted({file.path for file in ack.files} & uses.files.paths):
            if path not in uses.users and path not in uses.last_use:
                findings.check("late-state-left")
                if path in listed:
                    message = f"{path} stays in the storage, of an acknowledgement that counts for nothing"
                    findings.violated("late-state-left", message, ack, received)


def settled(history: History, completed: list[events.CheckpointCompleted], since: events.Event) -> bool:
    """Whether the same coordinator has completed enough checkpoints behind an event."""
    position = history.position(since)
    later = [each for each in completed if each.node == since.node and history.position(each) > position]
    return len(later) >= SETTLED
