"""Faults of a channel between two subtasks: nothing passes, or everything passes late."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.faults.landing import crossings, silence_in, window_of
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role
from holdfast.harness.model.topology import network_channels
from holdfast.harness.spi.controls import Controls

_MILLISECOND_NS = 1_000_000
_ROUNDING_NS = 1_000
"""Virtual times are fractions of milliseconds, and cut to whole nanoseconds."""
_DEFAULT_DELAY_MS = 100


def _channel(history: History, fault: int) -> str:
    plan = history.plan
    return network_channels(plan.job, plan.topology)[plan.faults[fault].target.index]


class Cut:
    """Everything on a channel is swallowed and delivered after the heal; the connection stays open."""

    kind = "cut"
    roles = frozenset({Role.CHANNEL})
    parameters: Mapping[str, tuple[type, str]] = {}
    colour = "#cc79a7"
    leaves = "nothing: what was held back arrives in order"
    lasting = True

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.CUT_CHANNEL

    def inject(self, controls: Controls, spec: FaultSpec) -> None:
        controls.cut(spec.target)

    def undo(self, controls: Controls, spec: FaultSpec) -> None:
        controls.restore_channel(spec.target)

    def healed(self, controls: Controls, spec: FaultSpec) -> bool:
        return True  # The undo returns when the channel is whole again.

    def landed(self, history: History, fault: int) -> bool:
        """Nothing arrived for most of the cut, although something was sent well before the end of that silence."""
        window = window_of(history, fault)
        if window is None:
            return False
        sent = list(crossings(history, _channel(history, fault)))
        silence = silence_in(window, (each.received_ns for each in sent if each.received_ns is not None))
        if silence is None:
            return False
        before_its_end = silence._replace(end_ns=silence.end_ns - silence.length_ns // 4)
        return any(before_its_end.holds(each.sent_ns) for each in sent)


class Slow:
    """Everything on a channel is delayed, in order."""

    kind = "slow"
    roles = frozenset({Role.CHANNEL})
    parameters: Mapping[str, tuple[type, str]] = {
        "delay_ms": (int, f"milliseconds added to every message; {_DEFAULT_DELAY_MS} if not given"),
    }
    colour = "#56b4e9"
    leaves = "nothing: everything arrives in order"
    lasting = True

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.SLOW_CHANNEL

    def inject(self, controls: Controls, spec: FaultSpec) -> None:
        controls.slow(spec.target, self._delay_ms(spec))

    def undo(self, controls: Controls, spec: FaultSpec) -> None:
        controls.restore_channel(spec.target)

    def healed(self, controls: Controls, spec: FaultSpec) -> bool:
        return True  # The undo returns when the delay is gone.

    def landed(self, history: History, fault: int) -> bool:
        """Of what was sent while it was slow, at least half took the delay or longer.

        What the heal let pass early is no objection.
        """
        window = window_of(history, fault)
        if window is None:
            return False
        delay_ns = self._delay_ms(history.plan.faults[fault]) * _MILLISECOND_NS
        delayed = undelayed = 0
        for each in crossings(history, _channel(history, fault)):
            if each.received_ns is not None and window.holds(each.sent_ns):
                if each.received_ns - each.sent_ns + _ROUNDING_NS >= delay_ns:
                    delayed += 1
                elif each.sent_ns + delay_ns <= window.end_ns:
                    undelayed += 1
        return delayed > 0 and delayed >= undelayed

    @staticmethod
    def _delay_ms(spec: FaultSpec) -> int:
        return int(spec.parameters.get("delay_ms", _DEFAULT_DELAY_MS))
