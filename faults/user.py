"""What a user may ask for in the middle of everything. No failure of anything: a fault in that a plan schedules it like
one."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.faults.landing import injection
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.checkpoint import CheckpointOrigin
from holdfast.harness.model.events import CheckpointRequested
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role
from holdfast.harness.spi.controls import Controls


class RequestCheckpoint:
    """Checkpoints are asked for, besides those of the interval."""

    kind = "request-checkpoint"
    roles = frozenset({Role.COORDINATOR})
    parameters: Mapping[str, tuple[type, str]] = {
        "origins": (str, "who asks, one after the other: words out of `user`, `forced`; `user` if not given"),
        "times": (int, "how often all of them ask; 1 if not given"),
    }
    colour = "#ddcc77"
    leaves = "nothing: a checkpoint more changes no result"
    lasting = False

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.COMMANDS

    def inject(self, controls: Controls, spec: FaultSpec) -> None:
        controls.command("checkpoint", dict(spec.parameters))

    def undo(self, controls: Controls, spec: FaultSpec) -> None:
        pass

    def healed(self, controls: Controls, spec: FaultSpec) -> bool:
        return True

    def landed(self, history: History, fault: int) -> bool:
        """A request that is not the interval's arrived after the injection."""
        injected = injection(history, fault)
        return injected is not None and any(
            request.origin is not CheckpointOrigin.PERIODIC and request.time_ns >= injected.time_ns
            for request in history.of(CheckpointRequested)
        )
