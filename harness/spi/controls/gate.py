"""Gates: an effect of the system under test is held until the engine lets it happen."""

from __future__ import annotations

from typing import Protocol

from holdfast.harness.model.plan import Gate


class GateControl(Protocol):
    """Gates in front of effects."""

    def arm(self, gate: Gate) -> int:
        """Arm a gate; returns its number. When the system under test is about to execute the effect it is held in front
        of it, and `Deployment.advance` returns with `GateReached`."""

    def release(self, gate: int) -> None:
        """Let the held effect happen. A gate whose node died needs no release; releasing it does nothing."""

    def disarm(self, gate: int) -> None:
        """Forget a gate that was not reached."""
