"""SHARED: a shared file stays while a checkpoint can reach it, and goes when none can (RULES INC-02 to INC-05, INC-07).

What a checkpoint reaches follows from what its subtasks acknowledged, and from its published metadata. What is there
follows from what was written, deleted and listed. What the runtime reports of its registry is judged, and decides
nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.incremental.file_uses import FileUses
from holdfast.harness.oracles.incremental.registration import REGISTERED, judge_registration
from holdfast.harness.oracles.shared.exemptions import exemptions
from holdfast.harness.oracles.shared.storage_looks import settled, storage_looks, undisturbed_listing

LEFT = {
    "left-behind": "a shared file stays in the storage though no checkpoint reaches it any more",
    "late-state-left": "a shared file of an acknowledgement that counts for nothing stays in the storage",
}


def judge_leftovers(history: History, uses: FileUses, findings: Findings) -> None:
    """Files that no checkpoint uses are gone by the end, if nothing hindered a deletion (RULES INC-03, INC-05)."""
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


class SharedOracle:
    """Follows every shared file from its first acknowledgement to its deletion."""

    name = "SHARED"
    title = "shared state files"
    invariant = "A shared file is in the storage while a checkpoint can reach it, and no longer."
    clauses: Mapping[str, str] = {
        "deleted-in-use": "a shared file is deleted, or gone, that a retained, pending or restoring checkpoint reaches",
        "unconfirmed-base": "a snapshot refers to a file of a checkpoint that had not completed",
        "savepoint-shares": "a savepoint refers to shared files, so that it needs checkpoints, or they need it",
        "wrong-files": "a checkpoint names other shared files than its subtasks acknowledged",
        "conflict-accepted": "a checkpoint completes in which a subtask gives the name of one file to another",
        "placeholder-accepted": "a checkpoint completes in which a subtask refers to a name that stands for nothing",
        **LEFT,
        **REGISTERED,
    }
    evidence: tuple[type[events.Event], ...] = (
        events.AckSent, events.AckReceived, events.MetadataPublished, events.CheckpointDropped, events.FileDeleted,
    )  # fmt: skip
    observed = frozenset({"deleted-in-use", *LEFT})

    def applies(self, history: History) -> bool:
        return any(ack.shared for ack in history.of(events.AckSent))

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        uses = FileUses(history, findings)
        _judge_looks(history, uses, findings)
        judge_leftovers(history, uses, findings)
        judge_registration(history, findings)
        return findings.verdict(history)


def _judge_looks(history: History, uses: FileUses, findings: Findings) -> None:
    """What a pending checkpoint has acknowledged is there when the harness looks; REACH judges the retained ones."""
    exempt = exemptions(history)
    for look in storage_looks(history):
        there = frozenset(look.observed.paths)
        for arrival in uses.arrivals.get(look.observed.coordinator, ()):
            ended = arrival.pending.ended_at.get(look.observed.coordinator)
            over = ended is not None and ended < look.observed.recorded
            if arrival.received.sequence > look.completed.sequence or over:
                continue
            for path in arrival.paths:
                findings.check("deleted-in-use")
                if path not in there and not exempt.ever_held(path):
                    message = f"{path} of pending checkpoint {arrival.received.checkpoint} is not in the storage"
                    findings.violated("deleted-in-use", message, arrival.sent, arrival.received, look.observed)
