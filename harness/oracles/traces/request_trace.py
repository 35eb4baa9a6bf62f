"""The queue of requests for checkpoints, as PACE holds a coordinator's trace against it (RULES TRG-06, TRG-08)."""

from __future__ import annotations

from collections.abc import Set

from holdfast.harness.model.checkpoint import PREFLIGHT, CheckpointOrigin, FailureReason
from holdfast.harness.model.events import CheckpointDrawn, CheckpointRefused, CheckpointRequested
from holdfast.harness.model.plural import plural
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.models.options import NS_PER_MS

LIMIT = 1_000
"""How many requests may wait."""
SLACK_NS = 50 * NS_PER_MS
"""How long a request that nothing holds up may take to be served."""
RANKS = {CheckpointOrigin.FORCED: 0, CheckpointOrigin.USER: 1, CheckpointOrigin.PERIODIC: 2}


def turn(request: CheckpointRequested) -> tuple[int, int]:
    """The lowest goes first."""
    return RANKS[request.origin], request.request


class RequestTrace:
    """What waits, from what a coordinator says of it.

    Args:
        findings: where anomalies go.
        pause_ns: that user requests must not wait for.
        waits: whether it is judged how long a request waits.

    Attributes:
        waiting: by number, what has been asked for and neither served nor refused.
        refused: by number, what was refused.
        free_ns: the last time that something which can hold a request up went away.
    """

    def __init__(self, findings: Findings, pause_ns: int, *, waits: bool) -> None:
        self.findings = findings
        self.pause_ns = pause_ns
        self.waits = waits and pause_ns >= 4 * SLACK_NS
        self.waiting: dict[int, CheckpointRequested] = {}
        self.refused: dict[int, CheckpointRefused] = {}
        self.free_ns = 0

    def requested(self, event: CheckpointRequested) -> None:
        self._judge_length(event)
        self.waiting[event.request] = event

    def refuse(self, event: CheckpointRefused) -> None:
        findings = self.findings
        self.refused[event.request] = event
        if event.reason is FailureReason.TOO_MANY_REQUESTS and event.request in self.waiting:
            findings.check("dropped-out-of-turn")
            last = max(self.waiting.values(), key=turn)
            if last.request != event.request:
                message = f"request {event.request} ({event.origin}) is dropped, the last in turn is {last.request}"
                findings.violated("dropped-out-of-turn", message, last, event)
        self.waiting.pop(event.request, None)

    def drawn(self, event: CheckpointDrawn) -> None:
        findings = self.findings
        self._judge_length(event)
        refused = self.refused.get(event.request)
        if self.refused:
            findings.check("refused-and-begun")
        if refused is not None and refused.reason in PREFLIGHT:
            message = f"request {event.request} was refused and has an id all the same, {event.checkpoint}"
            findings.violated("refused-and-begun", message, refused, event)
        request = self.waiting.get(event.request)
        if request is None:
            return
        if len(self.waiting) > 1:
            findings.check("served-out-of-turn")
            first = min(self.waiting.values(), key=turn)
            if first is not request:
                message = (
                    f"request {event.request} ({event.origin}) is served, "
                    f"and request {first.request} ({first.origin}) waits"
                )
                findings.violated("served-out-of-turn", message, first, request, event)
        if request.origin is not CheckpointOrigin.PERIODIC and self.waits:
            findings.check("user-waits-for-pause")
            waited_ns = event.time_ns - max(request.time_ns, self.free_ns)
            if waited_ns > SLACK_NS + self.pause_ns // 2:
                message = f"request {event.request} ({event.origin}) waits {waited_ns // NS_PER_MS} ms for nothing"
                findings.violated("user-waits-for-pause", message, request, event)
        del self.waiting[event.request]

    def freed(self, time_ns: int) -> None:
        """A slot is free, a deletion done, or a drawn id triggered."""
        self.free_ns = time_ns

    def close(self, ended_ns: int, held_up: bool, dead: Set[str]) -> None:
        """The run is over; `held_up` when a slot is still taken."""
        if not self.waits or held_up:
            return
        for request in self.waiting.values():
            waited_ns = ended_ns - max(request.time_ns, self.free_ns)
            if (
                request.origin is not CheckpointOrigin.PERIODIC
                and request.node not in dead
                and waited_ns > SLACK_NS + self.pause_ns // 2
            ):
                message = f"request {request.request} ({request.origin}) waits {waited_ns // NS_PER_MS} ms for nothing"
                self.findings.violated("user-waits-for-pause", message, request)

    def _judge_length(self, event: CheckpointRequested | CheckpointDrawn) -> None:
        """What exceeds the limit goes at once: before anything else happens."""
        if len(self.waiting) >= LIMIT:
            self.findings.check("queue-too-long")
        if len(self.waiting) > LIMIT:
            message = f"{plural(len(self.waiting), 'request waits', 'requests wait')}, {LIMIT} may"
            self.findings.violated("queue-too-long", message, event)
