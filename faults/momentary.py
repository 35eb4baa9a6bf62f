"""Faults of one moment."""

from __future__ import annotations

from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.spi.controls import Controls


class Momentary:
    """What acts once and is over, so that there is nothing to undo."""

    lasting = False

    def undo(self, controls: Controls, spec: FaultSpec) -> None:
        pass

    def healed(self, controls: Controls, spec: FaultSpec) -> bool:
        return True
