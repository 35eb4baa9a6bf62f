"""Faults of a service that the system depends on: it goes down, and comes up again with what it had stored."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.faults.landing import effects, operations, window_of
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.consequence import ANY_FAILURE
from holdfast.harness.model.events import NodeDied
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role
from holdfast.harness.spi.controls.storage import ServiceControl

_NEEDS: Mapping[Role, Capability] = {
    Role.BROKER: Capability.STOP_BROKER,
    Role.STORAGE: Capability.STOP_STORAGE,
    Role.SOURCE_SYSTEM: Capability.STOP_SOURCE,
    Role.SINK_SYSTEM: Capability.STOP_SINK,
}


class Outage:
    """SIGKILL of a broker, of the store, of the queues of a source, or of the database of a sink; started again when it
    heals."""

    kind = "outage"
    roles = frozenset(_NEEDS)
    parameters: Mapping[str, tuple[type, str]] = {}
    colour = "#661100"
    control = ServiceControl
    leaves = "the outcome of every request without a response"
    may_cause = ANY_FAILURE
    lasting = True

    def needs(self, spec: FaultSpec) -> Capability:
        return _NEEDS[spec.target.role]

    def inject(self, control: ServiceControl, spec: FaultSpec) -> None:
        control.take_down(spec.target)

    def undo(self, control: ServiceControl, spec: FaultSpec) -> None:
        control.bring_up(spec.target)

    def healed(self, control: ServiceControl, spec: FaultSpec) -> bool:
        return control.alive(spec.target)

    def landed(self, history: History, fault: int) -> bool:
        """The service died, and something was asked of it before it was up again."""
        window = window_of(history, fault)
        if window is None:
            return False
        role = history.plan.faults[fault].target.role

        def same(spec: FaultSpec) -> bool:
            return (spec.kind, spec.target.role) == (self.kind, role)

        def counts(event: NodeDied) -> bool:
            return event.dead_node.startswith(f"{role}.")

        died = effects(history, fault, NodeDied, same, lasting=True, counts=counts)
        wanted = any(
            each.sent_ns < window.end_ns and (each.received_ns is None or each.received_ns > window.start_ns)
            for each in operations(history, role)
        )
        return bool(died) and wanted
