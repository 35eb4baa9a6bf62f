"""The queue of requests for checkpoints, as a coordinator tells of it (RULES TRG-06, TRG-08)."""

from __future__ import annotations

from holdfast.harness.model.checkpoint import CheckpointOrigin
from holdfast.harness.model.events import CheckpointDrawn, CheckpointRefused, CheckpointRequested

RANKS = {
    CheckpointOrigin.SAVEPOINT: 0,
    CheckpointOrigin.FORCED: 1,
    CheckpointOrigin.USER: 2,
    CheckpointOrigin.PERIODIC: 3,
}


def turn(request: CheckpointRequested) -> tuple[int, int]:
    """The lowest goes first."""
    return RANKS[request.origin], request.request


class RequestTrace:
    """What waits.

    Attributes:
        waiting: by number, what has been asked for and neither served nor refused.
        refused: by number, what was refused.
        made: numbers of all requests.
        free_ns: the last time that something which can hold a request up went away.
    """

    def __init__(self) -> None:
        self.waiting: dict[int, CheckpointRequested] = {}
        self.refused: dict[int, CheckpointRefused] = {}
        self.made: set[int] = set()
        self.free_ns = 0

    def requested(self, event: CheckpointRequested) -> None:
        """One more waits."""
        self.waiting[event.request] = event
        self.made.add(event.request)

    def refuse(self, event: CheckpointRefused) -> None:
        """One waits no longer."""
        self.refused[event.request] = event
        self.waiting.pop(event.request, None)

    def drawn(self, event: CheckpointDrawn) -> None:
        """One is served."""
        self.waiting.pop(event.request, None)

    def freed(self, time_ns: int) -> None:
        """A slot is free, a deletion done, or a drawn id triggered."""
        self.free_ns = time_ns

    def waited_ns(self, request: CheckpointRequested, until_ns: int, pause_ns: int = 0) -> int:
        """For how long nothing has held up a request, not even a pause after whatever went away last."""
        return until_ns - max(request.time_ns, self.free_ns + pause_ns)
