"""What SAVEPOINT decides of who owns a snapshot that was restored (RULES SAV-06)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import events, profile
from holdfast.harness.model.checkpoint import ClaimMode
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import Plan
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.shared.exemptions import exemptions
from holdfast.harness.oracles.shared.stated_options import texts
from holdfast.harness.oracles.shared.submissions import Submissions

CLAUSES: Mapping[str, str] = {
    "claimed-left": "a job has claimed a snapshot, goes on from a checkpoint of its own, and leaves the snapshot there",
    "claimed-too-early": "a job deletes the snapshot that it has claimed before it has a checkpoint of its own",
}
SETTLED = 2
"""So many checkpoints of its own must a job have: with the first it deletes, by the second that is done."""


def claims(plan: Plan) -> bool:
    """Whether the jobs of a plan own what they restore."""
    return texts(plan).get(profile.CLAIM_MODE, "").upper() == ClaimMode.CLAIM


def judge(history: History, findings: Findings) -> None:
    """Decide on each job that has claimed a savepoint."""
    if not claims(history.plan):
        return
    number = Submissions(history).of
    paths = {event.path: event for event in history.of(events.SavepointCompleted)}
    listings = history.of(events.StorageListed)
    listed = {file.path for file in listings[-1].files} if listings else None
    for submitted in history.of(events.JobSubmitted):
        savepoint = paths.get(submitted.path)
        if savepoint is None:
            continue
        own = [event for event in history.of(events.CheckpointCompleted) if number(event) == number(submitted)]
        named = {file.path for file in savepoint.files}
        early = [
            event
            for event in history.of(events.FileDeleted)
            if event.path in named and (not own or history.position(event) < history.position(own[0]))
        ]
        findings.check("claimed-too-early")
        if early:
            message = f"{early[0].path} is deleted before the job that has claimed it has a checkpoint of its own"
            findings.violated("claimed-too-early", message, submitted, early[0])
        lives = {event.node for event in own[:1]}
        if len(own) < SETTLED or listed is None or lives & exemptions(history).dead:
            continue
        findings.check("claimed-left")
        left = sorted(named & listed)
        if left:
            message = f"{left[0]} of savepoint {savepoint.checkpoint} was claimed, and is still there"
            findings.violated("claimed-left", message, submitted, own[SETTLED - 1])
