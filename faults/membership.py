"""Faults of membership and leadership: a worker leaves those that it shares its work with and comes back, and a
coordinator is taken for dead, is followed by another, and comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from holdfast.faults.landing import injection, time_of_next
from holdfast.faults.process import checkpoint_unfinished, draw_pause_of_coordinator
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import LEFT, AttemptStarted, Event, InputAcknowledged, NodeDied, NodeStarted
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import COORDINATOR, Role, Target
from holdfast.harness.model.topology import process_name, process_of
from holdfast.harness.spi.attack import Attack, Occasion, Scene
from holdfast.harness.spi.controls.process import MembershipControl, SuccessionControl


def _draw_membership(scene: Scene) -> list[FaultSpec]:
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
    attacks: Sequence[Attack] = (Attack("leave", _draw_membership, (Capability.MEMBERSHIP,), Occasion.LIVES, place=2),)

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


def _draw_succession(scene: Scene) -> list[FaultSpec]:
    """Once a checkpoint is complete: before, it may not have taken over itself."""
    if not scene.progress:
        return draw_pause_of_coordinator(scene)
    return [FaultSpec("supersede", COORDINATOR, scene.schedule(COORDINATOR), scene.lasting_ms())]


class Supersede:
    """The coordinator stands still, a successor takes over, and then the former goes on where it stood."""

    kind = "supersede"
    roles = frozenset({Role.COORDINATOR})
    parameters: Mapping[str, tuple[type, str]] = {
        "unfinished": (
            int,
            "1: it lands only where a checkpoint was triggered, and not complete as its successor began",
        ),
    }
    colour = "#a6761d"
    control = SuccessionControl
    leaves = "what the coordinator had under way when it stopped"
    may_cause = frozenset(
        {Consequence.DISTURBS_MESSAGES, Consequence.LOSES_PROCESS, Consequence.FAILS_TASK, Consequence.FAILS_STORAGE}
    )
    lasting = True
    attacks: Sequence[Attack] = (
        Attack(
            "supersede-coordinator", _draw_succession, (Capability.SUPERSEDE_COORDINATOR,), Occasion.MIXED, 1, place=5
        ),
    )

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.SUPERSEDE_COORDINATOR

    def inject(self, control: SuccessionControl, spec: FaultSpec) -> None:
        control.supersede()

    def undo(self, control: SuccessionControl, spec: FaultSpec) -> None:
        control.resume_superseded()

    def healed(self, control: SuccessionControl, spec: FaultSpec) -> bool:
        return control.coordinates()

    def landed(self, history: History, fault: int) -> bool:
        """A life of the coordinator that began before the fault went on after its successor had begun."""
        injected = injection(history, fault)
        if injected is None:
            return False
        process = process_name(history.plan.faults[fault].target)
        unfinished = history.plan.faults[fault].parameters.get("unfinished")
        lives = [started for started in history.of(NodeStarted) if started.node.startswith(f"{process}.")]
        next_ns = time_of_next(history, fault)
        died_ns = {died.dead_node: died.time_ns for died in history.of(NodeDied)}
        for former, successor in pairwise(lives):
            if successor.time_ns >= next_ns:
                return False
            if successor.time_ns < injected.time_ns or died_ns.get(former.node, successor.time_ns) < successor.time_ns:
                continue
            stages = (successor, _taking_over(history, successor))
            if unfinished and not all(checkpoint_unfinished(history, stage) for stage in stages):
                return False
            return any(event.node == former.node and event.time_ns > successor.time_ns for event in history.events)
        return False


def _taking_over(history: History, successor: NodeStarted) -> Event:
    """The first attempt of a successor; its own beginning where it has none. Before that it does no work again."""
    attempts = history.of(AttemptStarted)
    return next((each for each in attempts if each.node == successor.node), successor)


def supersede(duration_ms: int, **when: Any) -> FaultSpec:
    """The coordinator stands still for so long, and a successor takes over at once."""
    return FaultSpec("supersede", COORDINATOR, Schedule(**when), duration_ms)
