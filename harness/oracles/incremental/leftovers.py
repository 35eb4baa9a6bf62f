"""Shared files that nothing reaches, and that are in the storage at the end all the same (RULES INC-03, INC-05)."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.incremental.file_uses import FileUses
from holdfast.harness.oracles.shared.leftovers import settled, undisturbed_listing

LEFT = {
    "left-behind": "a shared file stays in the storage though no checkpoint reaches it any more",
    "late-state-left": "a shared file of an acknowledgement that counts for nothing stays in the storage",
}


def judge_leftovers(history: History, uses: FileUses, findings: Findings) -> None:
    """Where nothing hindered a deletion, what nobody uses is gone by the end."""
    listing = undisturbed_listing(history)
    if listing is None:
        return
    listed = {file.path for file in listing.files if not uses.exempt.ever_held(file.path)}
    for path, since in uses.last_use.items():
        if not uses.users[path] and settled(history, since):
            findings.check("left-behind")
            if path in listed:
                message = f"{path} stays in the storage, and no checkpoint reaches it"
                findings.violated("left-behind", message, since)
    for ack, received in uses.late:
        if received.outcome is events.AckOutcome.DUPLICATE or not settled(history, received):
            continue
        for path in sorted({file.path for file in ack.files} & uses.files.paths):
            if path not in uses.users and path not in uses.last_use:
                findings.check("late-state-left")
                if path in listed:
                    message = f"{path} stays in the storage, of an acknowledgement that counts for nothing"
                    findings.violated("late-state-left", message, ack, received)
