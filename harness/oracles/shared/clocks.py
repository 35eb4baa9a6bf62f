"""When a step read its clock, as far as the history shows, and how much time lay between two of them.

On the simulator a step takes no time, and an event carries the very reading. Elsewhere, and where a gate may stop a
step half way, a step read its clock somewhere between what its node recorded before and what it records now. So a
duration is not a number but a range, and only what lies outside of it is wrong, however busy the machine was.
"""

from __future__ import annotations

from typing import NamedTuple

from holdfast.harness.model.events import Event
from holdfast.harness.model.history import History
from holdfast.harness.oracles.shared.exemptions import Exemptions
from holdfast.harness.oracles.shared.options import NS_PER_MS

ROUNDING_MS = 0.001
SLACK_MS = 50.0
"""Of a step that a gate or the machine stopped before it recorded anything, besides the stalls that were measured."""
SKEW_NS = 100 * NS_PER_MS
"""By so much at most are the clocks of two processes apart."""


class Range(NamedTuple):
    """Milliseconds, both ends included."""

    low: float
    high: float

    def __str__(self) -> str:
        if self.high - self.low < 5 * ROUNDING_MS:
            return f"{(self.low + self.high) / 2:.3f} ms"
        return f"{self.low:.3f} to {self.high:.3f} ms"

    def holds(self, reported_ms: float) -> bool:
        """Whether a reported duration may be true."""
        return self.low <= reported_ms <= self.high


class Clocks:
    def __init__(self, history: History, exempt: Exemptions) -> None:
        exact = self._exact = exempt.exact_clocks
        self._history = history
        self._slack_ms = ROUNDING_MS if exact else SLACK_MS
        self._before_ns: dict[int, int] | None = {} if exact else None
        self._stalls = exempt.stalls

    def agrees(self, reported_ms: float, event: Event) -> bool:
        """Whether a reported time may be that of an event."""
        plain_ms = event.time_ns / NS_PER_MS
        return -ROUNDING_MS < plain_ms - reported_ms < ROUNDING_MS or self.at(event).holds(reported_ms)

    def agree(self, reported_ms: float, start: Event, end: Event) -> bool:
        """Whether a reported duration may be that between two readings."""
        plain_ms = (end.time_ns - start.time_ns) / NS_PER_MS
        return -ROUNDING_MS < plain_ms - reported_ms < ROUNDING_MS or self.between(start, end).holds(reported_ms)

    def at(self, event: Event) -> Range:
        """When the step that recorded an event read its clock."""
        low_ns = self._low_ns(event)
        slack_ms = self._slack_ms
        if self._stalls:
            slack_ns = int(slack_ms * NS_PER_MS)
            slack_ms += self._stalls.within_ns(low_ns - slack_ns, event.time_ns + slack_ns) / NS_PER_MS
        return Range(low_ns / NS_PER_MS - slack_ms, event.time_ns / NS_PER_MS + slack_ms)

    def running_ms(self, start: Event, end: Event) -> float:
        """How long at least after one reading the other was, less the time in which anything waited for a processor.

        The stalls between the two readings are taken off, and none of them twice, as where those near each reading are
        taken off beside those in between.
        """
        slack_ns = int(self._slack_ms * NS_PER_MS)
        first_ns, last_ns = start.time_ns + slack_ns, self._low_ns(end) - slack_ns
        stalled_ns = self._stalls.within_ns(start.time_ns - slack_ns, end.time_ns + slack_ns)
        return max(last_ns - first_ns - stalled_ns, 0) / NS_PER_MS

    def between(self, start: Event, end: Event) -> Range:
        """How long after one reading the other was; never less than nothing."""
        if self._exact and not self._stalls:  # As `at` has it.
            slack_ms, first_ms, last_ms = self._slack_ms, start.time_ns / NS_PER_MS, end.time_ns / NS_PER_MS
            return Range(
                max((last_ms - slack_ms) - (first_ms + slack_ms), -ROUNDING_MS),
                max((last_ms + slack_ms) - (first_ms - slack_ms), ROUNDING_MS),
            )
        first, last = self.at(start), self.at(end)
        return Range(max(last.low - first.high, -ROUNDING_MS), max(last.high - first.low, ROUNDING_MS))

    def _low_ns(self, event: Event) -> int:
        """When the step that recorded an event read its clock at the earliest, without slack."""
        if self._before_ns is None:  # Seldom asked for: most reports agree at first sight
            self._before_ns = _times_before(self._history)
        return self._before_ns.get(id(event), event.time_ns)


def _times_before(history: History) -> dict[int, int]:
    """By identity of each event, when its node last recorded something at an earlier time."""
    before: dict[int, int] = {}
    nodes: dict[str, tuple[int, int]] = {}
    for event in history.events:
        earlier_ns, last_ns = nodes.get(event.node, (0, 0))
        if event.time_ns > last_ns:
            earlier_ns, last_ns = last_ns, event.time_ns
            nodes[event.node] = earlier_ns, last_ns
        before[id(event)] = min(earlier_ns, event.time_ns)  # Some are recorded late, under a time of their own
    return before
