"""Faults of leadership: a coordinator is taken for dead and followed by another, and comes back."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from holdfast.faults.landing import injection
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.events import NodeDied, NodeStarted
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role
from holdfast.harness.model.topology import process_name
from holdfast.harness.spi.controls import Controls


class Supersede:
    """The coordinator stands still, a successor takes over, and then the former goes on where it stood."""

    kind = "supersede"
    roles = frozenset({Role.COORDINATOR})
    parameters: Mapping[str, tuple[type, str]] = {}
    colour = "#a6761d"
    leaves = "what the coordinator had under way when it stopped"
    lasting = True

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.SUPERSEDE_COORDINATOR

    def inject(self, controls: Controls, spec: FaultSpec) -> None:
        controls.supersede()

    def undo(self, controls: Controls, spec: FaultSpec) -> None:
        controls.resume_superseded()

    def healed(self, controls: Controls, spec: FaultSpec) -> bool:
        return controls.alive(spec.target)

    def landed(self, history: History, fault: int) -> bool:
        """A life of the coordinator that began before the fault went on after its successor had begun."""
        injected = injection(history, fault)
        if injected is None:
            return False
        process = process_name(history.plan.faults[fault].target)
        lives = [started for started in history.of(NodeStarted) if started.node.startswith(f"{process}.")]
        died_ns = {died.dead_node: died.time_ns for died in history.of(NodeDied)}
        for former, successor in pairwise(lives):
            if successor.time_ns < injected.time_ns or died_ns.get(former.node, successor.time_ns) < successor.time_ns:
                continue
            return any(event.node == former.node and event.time_ns > successor.time_ns for event in history.events)
        return False
