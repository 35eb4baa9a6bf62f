"""The fault of a new release: the code of the job changes, and its checkpoints stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.faults.landing import effects, of_kinds
from holdfast.faults.momentary import Momentary
from holdfast.faults.replay import done_again
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.consequence import ANY_FAILURE, Consequence
from holdfast.harness.model.events import AttemptStarted, CheckpointCompleted, JobStatus, JobSwitched
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import COORDINATOR, Role
from holdfast.harness.spi.attack import Attack, Occasion, Scene
from holdfast.harness.spi.controls.job import UPGRADES, UpgradeControl

STOP, KILL, REPLAY = UPGRADES


def _draw(scene: Scene) -> list[FaultSpec]:
    """A checkpoint is done again only while input arrives: later ones may hold nothing. A job that waits at a gate does
    not end in good order."""
    way = scene.stream.choice(UPGRADES if scene.input_arrives else (STOP, KILL))
    if way == REPLAY:
        schedule = Schedule(after_checkpoint=scene.progress, at_event="checkpoint_triggered")
    else:
        schedule = scene.schedule(COORDINATOR) if way == KILL else scene.unaimed()
    return [FaultSpec("upgrade", COORDINATOR, schedule, parameters={"way": way})]


class Upgrade(Momentary):
    """The job ends, and its next version goes on from its checkpoints."""

    kind = "upgrade"
    roles = frozenset({Role.COORDINATOR})
    parameters: Mapping[str, tuple[type, str]] = {
        "way": (
            str,
            "`stop`: in good order; `kill`: the coordinator dies; `replay`: in good order, and the last checkpoint is "
            "done again; `stop` if not given",
        ),
    }
    colour = "#1b9e77"
    control = UpgradeControl
    leaves = "what was under way where the coordinator is killed, and the work of a checkpoint that is done again"
    may_cause = ANY_FAILURE | {Consequence.ENDS_PROCESS, Consequence.FORGES_MESSAGES}
    attacks: Sequence[Attack] = (
        Attack("upgrade", _draw, (Capability.UPGRADE, Capability.MICRO_BATCHES), Occasion.MIXED, 6, place=18),
    )

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.UPGRADE

    def inject(self, control: UpgradeControl, spec: FaultSpec) -> None:
        control.upgrade(_way(spec))

    def healed(self, control: UpgradeControl, spec: FaultSpec) -> bool:
        return control.running()

    def landed(self, history: History, fault: int) -> bool:
        """A checkpoint completed in an attempt that began since, again where that is the way; or the job failed."""
        same = of_kinds(self.kind)
        if any(each.status is JobStatus.FAILED for each in effects(history, fault, JobSwitched, same, lasting=False)):
            return True
        begun = [each.attempt for each in effects(history, fault, AttemptStarted, same, lasting=False)]
        completed = [each.attempt for each in effects(history, fault, CheckpointCompleted, same, lasting=False)]
        if not begun or max(completed, default=0) < min(begun):
            return False
        return _way(history.plan.faults[fault]) != REPLAY or done_again(history, fault)


def _way(spec: FaultSpec) -> str:
    return str(spec.parameters.get("way", STOP))


def upgrade(way: str = STOP, **when: Any) -> FaultSpec:
    """The next version takes the place of the job that ends in this way."""
    return FaultSpec("upgrade", COORDINATOR, Schedule(**when), parameters={"way": way})
