"""Faults of one moment."""

from __future__ import annotations

from typing import Any

from holdfast.harness.model.plan import FaultSpec


class Momentary:
    """What acts once and is over, so that there is nothing to undo."""

    lasting = False

    def undo(self, control: Any, spec: FaultSpec) -> None:
        pass

    def healed(self, control: Any, spec: FaultSpec) -> bool:
        return True
