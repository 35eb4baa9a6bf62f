"""Faults of membership: a worker leaves those that it shares its work with, and comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.faults.landing import injection
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import LEFT, InputAcknowledged, NodeDied
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.topology import process_name, process_of
from holdfast.harness.spi.attack import Attack, Occasion, Scene
from holdfast.harness.spi.controls.process import MembershipControl


def _draw(scene: Scene) -> list[FaultSpec]:
    if not scene.stream.chance(0.5):
        return []
    acknowledged = scene.stream.between(1, 2)
    return [FaultSpec("leave", scene.worker(), Schedule(after_acknowledged=acknowledged), scene.lasting_ms())]


class Leave:
    """A worker ends in good order, and its work moves to the others; it joins again, and takes its share back."""

    kind = "leave"
    roles = frozenset({Role.WORKER})
    parameters: Mapping[str, tuple[type, str]] = {}
    colour = "#b8860b"
    control = MembershipControl
    leaves = "nothing: the worker finishes what it has under way"
    may_cause = frozenset(
        {Consequence.ENDS_PROCESS, Consequence.LOSES_PROCESS, Consequence.FAILS_TASK, Consequence.HOLDS_UP_RECORDS}
    )
    lasting = True
    attacks: Sequence[Attack] = (Attack("leave", _draw, (Capability.MEMBERSHIP,), Occasion.LIVES, place=2),)

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.MEMBERSHIP

    def inject(self, control: MembershipControl, spec: FaultSpec) -> None:
        control.leave(spec.target)

    def undo(self, control: MembershipControl, spec: FaultSpec) -> None:
        control.come_back(spec.target)

    def healed(self, control: MembershipControl, spec: FaultSpec) -> bool:
        return control.alive(spec.target)

    def landed(self, history: History, fault: int) -> bool:
        """A life of the worker ended in good order, and input went on being acknowledged."""
        injected = injection(history, fault)
        if injected is None:
            return False
        process = process_name(history.plan.faults[fault].target)
        left = (
            died
            for died in history.of(NodeDied)
            if process_of(died.dead_node) == process and died.cause == LEFT and died.time_ns >= injected.time_ns
        )
        gone = next(left, None)
        acknowledged = history.of(InputAcknowledged)
        return gone is not None and any(event.time_ns > gone.time_ns for event in acknowledged)


def leave(target: Target, duration_ms: int, **when: Any) -> FaultSpec:
    """A worker leaves, and joins again after a while."""
    return FaultSpec("leave", target, Schedule(**when), duration_ms)
