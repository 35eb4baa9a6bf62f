"""FENCE: of two coordinators that live only the newer one works for the job (RULES CRD-13)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import events
from holdfast.harness.model.history import History, sayings_of_superseded
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.ledger.parts import by_part, part_of

_DEEDS = (events.AttemptStarted, events.FileWritten)
"""What a coordinator does to a job that others can see. A trigger counts if somebody hears it: the last that was drawn
before the successor came may still go out, to subtasks that are gone."""


class FenceOracle:
    """Follows the claims of coordinators."""

    name = "FENCE"
    title = "coordinator fencing"
    invariant = (
        "Each coordinator claims a higher epoch than those before it, and one that was superseded changes nothing."
    )
    clauses: Mapping[str, str] = {
        "epoch-not-higher": "a coordinator claims an epoch that is not above all that were claimed before",
        "superseded-acted": "a superseded coordinator starts an attempt, stores something or is obeyed by a source",
        "superseded-completed": "a superseded coordinator completes a checkpoint that its successor did not find",
        "superseded-deleted": "a superseded coordinator deletes what a checkpoint needs that its successor found",
        "superseded-notified": "a superseded coordinator notifies a task of the end of a checkpoint that is not lost",
    }
    evidence: tuple[type[events.Event], ...] = (events.CoordinatorClaimed, events.CoordinatorSuperseded)
    sees_superseded = True

    def applies(self, history: History) -> bool:
        return True

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        _judge_epochs(history, findings)
        tells_of_deletions = bool(history.of(events.FileDeleted))
        found = {(each.node, each.checkpoint) for each in history.of(events.MetadataPublished)}
        triggers = {(each.attempt, each.checkpoint): each for each in history.of(events.TriggerReceived)}
        for claim, event in sayings_of_superseded(history):
            if isinstance(event, events.CoordinatorSuperseded):
                for clause in ("superseded-acted", "superseded-completed", "superseded-notified"):
                    findings.check(clause)
                if tells_of_deletions:
                    findings.check("superseded-deleted")
            elif isinstance(event, events.FileDeleted):
                _judge_deletion(history, claim, event, findings)
            elif isinstance(event, _DEEDS):
                findings.violated("superseded-acted", f"{event.node} acts after {claim.node} took over", claim, event)
            elif isinstance(event, events.CheckpointTriggered):
                obeyed = triggers.get((event.attempt, event.checkpoint))
                if obeyed is not None:
                    message = f"{obeyed.subtask} obeys {event.node} after {claim.node} took over"
                    findings.violated("superseded-acted", message, claim, event, obeyed)
            elif isinstance(event, events.CheckpointCompleted) and (claim.node, event.checkpoint) not in found:
                message = f"{event.node} completes checkpoint {event.checkpoint}, which {claim.node} did not find"
                findings.violated("superseded-completed", message, claim, event)
            elif isinstance(event, events.NotificationSent):
                heard = by_part(history, events.NotificationReceived).all.get(part_of(event), ())
                same = (each for each in heard if each.completed is event.completed)
                received = next(same, None)
                # What its successor did not find cannot complete any more, whoever reports that it is aborted.
                lost = not event.completed and (claim.node, event.checkpoint) not in found
                if received is not None and not lost:
                    message = f"{event.subtask} is notified of checkpoint {event.checkpoint} by superseded {event.node}"
                    findings.violated("superseded-notified", message, claim, event, received)
        return findings.verdict(history)


def _judge_deletion(
    history: History, claim: events.CoordinatorClaimed, deleted: events.FileDeleted, findings: Findings
) -> None:
    """What the successor found it needs until it drops it itself."""
    behind = history.position(deleted)
    over = {
        each.checkpoint
        for each in history.of(events.CheckpointDropped)
        if each.node == claim.node and history.position(each) < behind
    }
    for found in history.of(events.MetadataPublished):
        named = any(file.path == deleted.path for file in found.files)
        if found.node == claim.node and named and found.checkpoint not in over:
            message = f"{deleted.node} deletes {deleted.path}, and {claim.node} found checkpoint {found.checkpoint}"
            findings.violated("superseded-deleted", message, claim, found, deleted)


def _judge_epochs(history: History, findings: Findings) -> None:
    """The claims of one job, in the order in which they were made: each is made in the store before the next is."""
    highest_of: dict[int, events.CoordinatorClaimed] = {}
    for claim in history.of(events.CoordinatorClaimed):
        highest = highest_of.get(claim.first_attempt)
        if highest is not None:
            findings.check("epoch-not-higher")
            if claim.epoch <= highest.epoch:
                message = f"{claim.node} claims epoch {claim.epoch} after {highest.node} claimed {highest.epoch}"
                findings.violated("epoch-not-higher", message, highest, claim)
        highest_of[claim.first_attempt] = claim
