"""The power of the machine fails, and what is not durable is lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.faults.landing import Momentary, effects, of_kinds
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import NodeDied
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import STORAGE, Role
from holdfast.harness.model.topology import process_of
from holdfast.harness.spi.attack import Attack, Occasion, Scene
from holdfast.harness.spi.controls.storage import PowerControl

_KILL = "kill"
"""The kind of fault that ends processes as well."""


def _draw_power(scene: Scene) -> list[FaultSpec]:
    return [FaultSpec("lose-power", STORAGE, scene.unaimed())]


class LosePower(Momentary):
    """Every process ends at once, and contents and names that were not synced are gone."""

    kind = "lose-power"
    roles = frozenset({Role.STORAGE})
    parameters: Mapping[str, tuple[type, str]] = {}
    colour = "#4a1486"
    control = PowerControl
    leaves = "what was under way, and what was stored without being made durable"
    may_cause = frozenset(
        {Consequence.LOSES_PROCESS, Consequence.FAILS_TASK, Consequence.DISTURBS_MESSAGES, Consequence.FAILS_STORAGE}
    )
    attacks: Sequence[Attack] = (
        Attack(
            "lose-power", _draw_power, (Capability.LOSE_POWER, Capability.KILL_COORDINATOR), Occasion.MIXED, 1, place=19
        ),
    )

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.LOSE_POWER

    def inject(self, control: PowerControl, spec: FaultSpec) -> None:
        control.lose_power()

    def landed(self, history: History, fault: int) -> bool:
        """Several processes died behind the injection, the coordinator among them."""
        deaths = effects(
            history, fault, NodeDied, of_kinds(self.kind, _KILL), lasting=False, about=lambda died: died.dead_node
        )
        died = {process_of(event.dead_node) for event in deaths}
        return len(died) > 1 and any(each.startswith(Role.COORDINATOR) for each in died)


def lose_power(**when: Any) -> FaultSpec:
    """The machine loses its power, and is up again."""
    return FaultSpec("lose-power", STORAGE, Schedule(**when))
