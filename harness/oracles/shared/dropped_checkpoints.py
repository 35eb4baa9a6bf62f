"""Checkpoints that their job has dropped: nobody needs to restore one any more.

Whether they may be dropped is for REACH to judge, and what is left of them for RETAIN.
"""

from __future__ import annotations

from holdfast.harness.model.events import CheckpointAudited, CheckpointDropped
from holdfast.harness.model.history import History
from holdfast.harness.oracles.shared.claimed_snapshots import Identity, claimed_snapshots


class DroppedCheckpoints:
    """Those of one history.

    Attributes:
        first: by checkpoint, the event that dropped it first.
    """

    def __init__(self, history: History) -> None:
        self._identity = claimed_snapshots(history).identity
        self.first: dict[Identity, CheckpointDropped] = {}
        for event in history.of(CheckpointDropped):
            self.first.setdefault(self._identity(event, event.checkpoint), event)

    def before(self, history: History, audit: CheckpointAudited) -> bool:
        """Whether a checkpoint was dropped before it was audited."""
        dropped = self.first.get(self._identity(audit, audit.checkpoint))
        return dropped is not None and history.position(dropped) < history.position(audit)


def dropped_checkpoints(history: History) -> DroppedCheckpoints:
    """Worked out once, however many oracles ask."""
    return history.derived(DroppedCheckpoints)
