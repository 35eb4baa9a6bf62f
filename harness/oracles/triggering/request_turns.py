"""What PACE decides on the queue of requests for checkpoints: whose turn it is (RULES TRG-06, TRG-08)."""

from __future__ import annotations

from collections.abc import Set

from holdfast.harness.model.checkpoint import PREFLIGHT, CheckpointOrigin, FailureReason
from holdfast.harness.model.events import CheckpointDrawn, CheckpointRefused, CheckpointRequested, CheckpointTriggered
from holdfast.harness.model.sentence import plural
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.shared.options import NS_PER_MS

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
    """The requests for checkpoints that wait.

    Attributes:
        waiting: by number, requests that were neither served nor refused.
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
        """Add a waiting request."""
        self.waiting[event.request] = event
        self.made.add(event.request)

    def refuse(self, event: CheckpointRefused) -> None:
        """Remove a refused request."""
        self.refused[event.request] = event
        self.waiting.pop(event.request, None)

    def drawn(self, event: CheckpointDrawn) -> None:
        """Remove a request that is served."""
        self.waiting.pop(event.request, None)

    def freed(self, time_ns: int) -> None:
        """A slot is free, a deletion done, or a drawn id triggered."""
        self.free_ns = time_ns

    def waited_ns(self, request: CheckpointRequested, until_ns: int, pause_ns: int = 0) -> int:
        """For how long nothing has held up a request, not even a pause after whatever went away last."""
        return until_ns - max(request.time_ns, self.free_ns + pause_ns)


LIMIT = 1_000
"""How many requests may wait."""
SLACK_NS = 50 * NS_PER_MS
"""How long a request that nothing holds up may take to be served."""
TIMER_NS = 20 * NS_PER_MS
"""How late the timer of a periodic request may be, where nothing else keeps the machine busy."""


class RequestTurns:
    """Follows the queue of one life of a coordinator.

    Args:
        findings: where anomalies go.
        pause_ns: that user requests must not wait for.
        waits: whether it is judged how long a request waits.
    """

    def __init__(self, findings: Findings, pause_ns: int, *, waits: bool) -> None:
        self._findings = findings
        self._trace = RequestTrace()
        self._pause_ns = pause_ns
        self._longest_ns = SLACK_NS + pause_ns // 2
        self._drawn: dict[int, CheckpointDrawn] = {}
        self._punctual = waits
        self._waits = waits and pause_ns >= 4 * SLACK_NS

    def requested(self, event: CheckpointRequested) -> None:
        """A request arrives."""
        self._judge_length(event)
        self._trace.requested(event)

    def refuse(self, event: CheckpointRefused) -> None:
        """A full queue drops the last in turn, and drops it once."""
        waiting = self._trace.waiting
        self._findings.check("refused-twice")
        before = self._trace.refused.get(event.request)
        if before is not None:
            message = f"request {event.request} ({event.origin}) is refused once more"
            self._findings.violated("refused-twice", message, before, event)
        self._findings.check("refused-without-request")
        if event.request not in self._trace.made:
            message = f"request {event.request} ({event.origin}) is refused, which was not made"
            self._findings.violated("refused-without-request", message, event)
        if event.reason is FailureReason.TOO_MANY_REQUESTS and event.request in waiting:
            self._findings.check("dropped-too-early")
            if len(waiting) <= LIMIT:
                message = f"request {event.request} is dropped for want of room, and {len(waiting)} wait of {LIMIT}"
                self._findings.violated("dropped-too-early", message, event)
            self._findings.check("dropped-out-of-turn")
            last = max(waiting.values(), key=turn)
            if last.request != event.request:
                message = f"request {event.request} ({event.origin}) is dropped, the last in turn is {last.request}"
                self._findings.violated("dropped-out-of-turn", message, last, event)
        self._trace.refuse(event)

    def drawn(self, event: CheckpointDrawn) -> None:
        """The first in turn is served, unless it was refused."""
        findings, trace = self._findings, self._trace
        self._judge_length(event)
        refused = trace.refused.get(event.request)
        if trace.refused:
            findings.check("refused-and-begun")
        if refused is not None and refused.reason in PREFLIGHT:
            message = f"request {event.request} was refused and has an id all the same, {event.checkpoint}"
            findings.violated("refused-and-begun", message, refused, event)
        request = trace.waiting.get(event.request)
        if request is not None:
            self._judge_turn(request, event)
        trace.drawn(event)
        self._drawn[event.checkpoint] = event

    def triggered(self, event: CheckpointTriggered) -> None:
        """Ids are used in turn: what was drawn before is triggered or aborted by now."""
        self._findings.check("drawn-and-forgotten")
        self._drawn.pop(event.checkpoint, None)
        for checkpoint in [known for known in self._drawn if known < event.checkpoint]:
            message = f"id {checkpoint} was drawn, and is neither triggered nor aborted before {event.checkpoint}"
            self._findings.violated("drawn-and-forgotten", message, self._drawn.pop(checkpoint), event)

    def aborted(self, checkpoint: int) -> None:
        """A drawn id is given up."""
        self._drawn.pop(checkpoint, None)

    def failed_over(self) -> None:
        """All drawn ids are given up."""
        self._drawn.clear()

    def _judge_turn(self, request: CheckpointRequested, event: CheckpointDrawn) -> None:
        findings, trace = self._findings, self._trace
        if len(trace.waiting) > 1:
            findings.check("served-out-of-turn")
            first = min(trace.waiting.values(), key=turn)
            if first is not request:
                message = (
                    f"request {event.request} ({event.origin}) is served, "
                    f"and request {first.request} ({first.origin}) waits"
                )
                findings.violated("served-out-of-turn", message, first, request, event)
        if request.origin is CheckpointOrigin.PERIODIC and self._punctual:
            findings.check("periodic-waits")
            waited_ns = trace.waited_ns(request, event.time_ns, self._pause_ns)
            if waited_ns > TIMER_NS:
                message = f"request {event.request} (periodic) waits {waited_ns // NS_PER_MS} ms for nothing"
                findings.violated("periodic-waits", message, request, event)
        if request.origin is not CheckpointOrigin.PERIODIC and self._waits:
            findings.check("user-waits-for-pause")
            waited_ns = trace.waited_ns(request, event.time_ns)
            if waited_ns > self._longest_ns:
                message = f"request {event.request} ({event.origin}) waits {waited_ns // NS_PER_MS} ms for nothing"
                findings.violated("user-waits-for-pause", message, request, event)

    def freed(self, time_ns: int) -> None:
        """Something that can hold a request up went away."""
        self._trace.freed(time_ns)

    def close(self, ended_ns: int, held_up: bool, dead: Set[str]) -> None:
        """The run is over; `held_up` when a slot is still taken."""
        if not self._waits or held_up:
            return
        for request in self._trace.waiting.values():
            if request.origin is CheckpointOrigin.PERIODIC or request.node in dead:
                continue
            waited_ns = self._trace.waited_ns(request, ended_ns)
            if waited_ns > self._longest_ns:
                message = f"request {request.request} ({request.origin}) waits {waited_ns // NS_PER_MS} ms for nothing"
                self._findings.violated("user-waits-for-pause", message, request)

    def _judge_length(self, event: CheckpointRequested | CheckpointDrawn) -> None:
        """What exceeds the limit goes at once: before anything else happens."""
        length = len(self._trace.waiting)
        if length >= LIMIT:
            self._findings.check("queue-too-long")
        if length > LIMIT:
            message = f"{plural(length, 'request waits', 'requests wait')}, {LIMIT} may"
            self._findings.violated("queue-too-long", message, event)
