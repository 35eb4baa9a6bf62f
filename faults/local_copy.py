"""Faults of local copies of state: gone, cut, changed, or in truth the copy of something else (RULES LOC-03)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.faults.landing import before_next, since
from holdfast.faults.momentary import Momentary
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import LocalCopySpoilt
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import Role, Target
from holdfast.harness.spi.controls.local_disk import LocalDiskControl


class SpoilLocalCopy(Momentary):
    """The newest local copies of a worker are spoilt. Nothing may come of it but that state is read remotely."""

    kind = "spoil-local-copy"
    roles = frozenset({Role.WORKER})
    parameters: Mapping[str, tuple[type, str]] = {
        "way": (
            str,
            "`remove`, `truncate`, `flip` (one bit), `foreign` (another worker's), `stale` (what was there at the last "
            "`remember`, which changes nothing itself); `flip` if not given",
        ),
    }
    colour = "#b15928"
    control = LocalDiskControl
    leaves = "nothing: the checkpoint storage has all of it"
    may_cause: frozenset[Consequence] = frozenset()

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.LOCAL_RECOVERY

    def inject(self, control: LocalDiskControl, spec: FaultSpec) -> None:
        control.spoil(spec.target.index, str(spec.parameters.get("way", "flip")))

    def landed(self, history: History, fault: int) -> bool:
        """Copies of this worker were changed, or remembered."""
        worker = history.plan.faults[fault].target.index
        way = str(history.plan.faults[fault].parameters.get("way", "flip"))

        def same(spec: FaultSpec) -> bool:
            return (spec.kind, spec.target.index) == (self.kind, worker)

        until_ns = before_next(history, fault, same)
        spoilt = [
            each
            for each in since(history, fault, LocalCopySpoilt)
            if (each.worker, each.way) == (worker, way) and each.time_ns <= until_ns
        ][:1]
        return any(each.paths or way == "remember" for each in spoilt)


def spoil_local_copy(worker: int, way: str, **when: Any) -> FaultSpec:
    """The newest local copies of a worker are spoilt."""
    return FaultSpec("spoil-local-copy", Target(Role.WORKER, worker), Schedule(**when), parameters={"way": way})
