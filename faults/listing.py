"""Faults of discovery: the source system lists a part of its partitions, and the rest later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holdfast.faults.input import InputFault
from holdfast.faults.landing import window_of
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import SplitsListed
from holdfast.harness.model.history import History
from holdfast.harness.model.job import VertexKind
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import SOURCE_SYSTEM
from holdfast.harness.spi.attack import Attack, Occasion, Scene
from holdfast.harness.spi.controls.input import InputControl


def _draw(scene: Scene) -> list[FaultSpec]:
    """Listings of the input leave one or two partitions out for a while: the first one, or a later one."""
    stream = scene.stream
    sources = len(scene.job.of_kind(VertexKind.SOURCE))
    first = stream.below(max(scene.topology.parallelism, sources))
    partitions = {first, stream.below(max(scene.topology.parallelism, sources))}
    schedule = Schedule(after_checkpoint=stream.choice((0, 0, 1, 2)))
    duration_ms = 2 * scene.lasting_ms()
    return [
        FaultSpec("list-part", SOURCE_SYSTEM, schedule, duration_ms, {"partition": partition})
        for partition in sorted(partitions)
    ]


class ListPart(InputFault):
    """Listings leave a partition out, as metadata of a broker and listings of an object store may."""

    kind = "list-part"
    parameters: Mapping[str, tuple[type, str]] = {
        "partition": (int, "that is left out; 0 if not given"),
    }
    colour = "#0e7c7b"
    leaves = "nothing: a later listing holds every partition"
    may_cause = frozenset({Consequence.FAILS_PROCESS, Consequence.FAILS_TASK})
    attacks: Sequence[Attack] = (
        Attack(
            "list-part",
            _draw,
            (Capability.LIST_PART,),
            Occasion.FIRST,
            50,
            possible=lambda scene: scene.enumerated,
            stream="listings",
            place=2,
        ),
    )

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.LIST_PART

    def inject(self, control: InputControl, spec: FaultSpec) -> None:
        control.hide_partition(self._detail(spec))

    def landed(self, history: History, fault: int) -> bool:
        """While it acted, a listing was made that lacks the partition."""
        window = window_of(history, fault)
        partition = self._detail(history.plan.faults[fault])
        return window is not None and any(
            window.holds(event.time_ns) and partition not in event.splits for event in history.of(SplitsListed)
        )

    def _detail(self, spec: FaultSpec) -> int:
        return int(spec.parameters.get("partition", 0))


def list_part(partition: int, after_checkpoint: int = 0) -> FaultSpec:
    """Listings leave a partition out until every other fault has acted."""
    schedule = Schedule(after_checkpoint=after_checkpoint)
    return FaultSpec("list-part", SOURCE_SYSTEM, schedule, parameters={"partition": partition})
