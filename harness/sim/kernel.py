"""The event loop of the simulator: a clock that jumps from event to event.

Two events of the same instant are dispatched in the order in which they were scheduled, so that a run depends on its
seed alone. Every dispatched event goes into the trace hash with its virtual time, node, kind and one number that the
scheduler of the event makes from its logical fields.
"""

from __future__ import annotations

from hashlib import blake2b
from heapq import heappop, heappush
from struct import Struct
from typing import Any, Protocol

from holdfast.harness.sim.streams import Stream

TRACE_VERSION = 4
MILLISECOND_NS = 1_000_000
_ENTRY = Struct("=4q")
"""Of the trace: one for each event."""


class Node(Protocol):
    """Something that events are delivered to. `number` is its place in the system, equal for all its lives."""

    number: int

    def deliver(self, kind: int, event: Any) -> None:
        """Take an event of a kind that the node's driver knows."""


class Kernel:
    """Virtual clock and event queue.

    Attributes:
        now_ns: the virtual time.
        stopped: set by a node to end `run` after the event in hand.
    """

    __slots__ = ("_queue", "_sequence", "_trace", "now_ns", "stopped")

    def __init__(self) -> None:
        self.now_ns = 0
        self.stopped = False
        self._queue: list[tuple[int, int, Node, int, int, Any]] = []
        self._sequence = 0
        self._trace = bytearray()

    def schedule(self, at_ns: int, node: Node, kind: int, event: Any, logical: int = 0) -> None:
        """Deliver an event.

        Args:
            at_ns: when; never before now.
            node: to whom.
            kind: of the event, for the node and the trace.
            event: the event itself.
            logical: a number made of its fields, for the trace.
        """
        self._sequence += 1
        heappush(self._queue, (at_ns, self._sequence, node, kind, logical, event))

    def run(self, until_ns: int) -> None:
        """Dispatch events up to and including a time, or until `stopped`; without events the clock jumps there."""
        queue = self._queue
        trace, pack = self._trace, _ENTRY.pack
        self.stopped = False
        while queue and queue[0][0] <= until_ns:
            at_ns, _, node, kind, logical, event = heappop(queue)
            self.now_ns = at_ns
            trace += pack(at_ns, node.number, kind, logical)
            node.deliver(kind, event)
            if self.stopped:
                return
        if until_ns > self.now_ns:
            self.now_ns = until_ns

    @property
    def dispatched(self) -> int:
        """How many events were delivered so far."""
        return len(self._trace) // _ENTRY.size

    @property
    def idle(self) -> bool:
        """Whether nothing is left to happen."""
        return not self._queue

    def trace_hash(self, streams: tuple[Stream, ...]) -> str:
        """Hash of everything dispatched so far and of how many numbers each stream gave."""
        hasher = blake2b(f"holdfast trace {TRACE_VERSION}".encode(), digest_size=16)
        hasher.update(self._trace)
        for stream in streams:
            hasher.update(f"{stream.label}={stream.draws}".encode())
        return hasher.hexdigest()
