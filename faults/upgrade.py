"""Faults of batches and releases: work that was done and reported is done again, and the code of the job changes while
its checkpoints stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.faults.landing import Momentary, effects, injection, of_kinds, time_of_next
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.consequence import ANY_FAILURE, Consequence
from holdfast.harness.model.events import (
    AttemptStarted,
    CheckpointCompleted,
    JobStatus,
    JobSwitched,
    RowsChanged,
    RowsVisible,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.job import WINDOW_MS
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import COORDINATOR, Role
from holdfast.harness.spi.attack import Attack, Occasion, Scene
from holdfast.harness.spi.controls.job import UPGRADES, ReplayControl, UpgradeControl

Completed = Mapping[int, list[CheckpointCompleted]]
"""By checkpoint, each time that it completed."""


def _draw_replay(scene: Scene) -> list[FaultSpec]:
    """Of the checkpoint that is under way while input still arrives: later ones may hold nothing. There is one before
    it, to go on from."""
    if not scene.input_arrives:
        return []
    return [FaultSpec("replay", COORDINATOR, Schedule(after_checkpoint=1, at_event="checkpoint_triggered"))]


class Replay(Momentary):
    """What a crash right before the completion of a checkpoint leaves behind, made without a crash."""

    kind = "replay"
    roles = frozenset({Role.COORDINATOR})
    parameters: Mapping[str, tuple[type, str]] = {
        "windows": (int, "1: it lands only where the watermark has passed the end of a window in the checkpoint"),
    }
    colour = "#117733"
    control = ReplayControl
    leaves = "the work of the last checkpoint, which is done twice"
    attacks: Sequence[Attack] = (
        Attack("replay", _draw_replay, (Capability.MICRO_BATCHES,), Occasion.MIXED, 6, place=17),
    )
    may_cause = ANY_FAILURE | {Consequence.FORGES_MESSAGES}

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.MICRO_BATCHES

    def inject(self, control: ReplayControl, spec: FaultSpec) -> None:
        control.replay()

    def healed(self, control: ReplayControl, spec: FaultSpec) -> bool:
        return control.running()

    def landed(self, history: History, fault: int) -> bool:
        """A checkpoint completed twice, the second time after the injection, and there had been work in it: where the
        plan asks for windows, the end of one, because a job emits rows of windows in no other checkpoint."""
        return done_again(history, fault)


def done_again(history: History, fault: int) -> bool:
    """Whether a checkpoint with work in it completed twice, the second time after the injection of a fault. Its
    parameter `windows` asks for the end of a window."""
    injected = injection(history, fault)
    if injected is None:
        return False
    windows = history.plan.faults[fault].parameters.get("windows")
    completed: dict[int, list[CheckpointCompleted]] = {}
    for event in history.of(CheckpointCompleted):
        completed.setdefault(event.checkpoint, []).append(event)
    return any(
        len(times) > 1
        and history.position(times[-1]) > history.position(injected)
        and times[-1].time_ns < time_of_next(history, fault)
        and (_passed_a_window(completed, checkpoint) if windows else _worked(history, completed, checkpoint))
        for checkpoint, times in completed.items()
    )


def _passed_a_window(completed: Completed, checkpoint: int) -> bool:
    """Whether the watermark of a checkpoint is behind the end of a window that the one before it had not reached."""
    older = max((each for each in completed if each < checkpoint), default=None)
    if older is None:
        return False
    before_ms, behind_ms = (completed[each][0].watermark_ms for each in (older, checkpoint))
    if before_ms is None or behind_ms is None:
        return False
    return behind_ms // WINDOW_MS > before_ms // WINDOW_MS


def _worked(history: History, completed: Completed, checkpoint: int) -> bool:
    """Whether rows changed in a checkpoint, so that doing it again may show. Where none had been seen by then, it is
    enough that it covers more than the one before it: what it leaves in the state may show later."""
    older = max((each for each in completed if each < checkpoint), default=None)
    since = -1 if older is None else history.position(completed[older][0])
    until = history.position(completed[checkpoint][-1])
    seen = [history.position(event) for kind in (RowsVisible, RowsChanged) for event in history.of(kind)]
    if any(since < position < until for position in seen):
        return True
    moved = older is None or completed[older][0].positions != completed[checkpoint][0].positions
    return moved and not any(position <= since for position in seen)


STOP, KILL, REPLAY = UPGRADES


def _draw_upgrade(scene: Scene) -> list[FaultSpec]:
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
        Attack("upgrade", _draw_upgrade, (Capability.UPGRADE, Capability.MICRO_BATCHES), Occasion.MIXED, 6, place=18),
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
