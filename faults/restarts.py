"""How restarts are struck: something fails, and a second fault strikes while that restarts, or before the first
checkpoint after it.

Each strike is placed by the progress of the restart itself: at its failure, while tasks are cancelled, deployed or
restored, at the start of its attempt, or in front of the first acknowledgement behind that.
"""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.harness.model.capability import Capability
from holdfast.harness.model.plan import FaultSpec, Gate, Schedule
from holdfast.harness.model.target import COORDINATOR, SOURCE_SYSTEM, Role, Target
from holdfast.harness.spi.attack import Scene, Weights

_FAILS, _BEGINS = "failure_counted", "attempt_started"
_GATES: Weights = {"cancelled": 2, "deploy": 1, "restored": 2}
"""Effects of a restart that a strike waits for."""
_BY_COORDINATOR = frozenset({"deploy"})
"""Of these the ones of the coordinator; the others are those of workers."""
_FIRST_STEPS = {Role.WORKER: "acknowledge", Role.COORDINATOR: "send-trigger"}
"""Of the next checkpoint."""
_STARTS = (1, 1, 2, 3)
"""How many checkpoints the failure waits for: without one there is nothing to restore."""
_STRIKES = {
    ("kill", Role.WORKER): (4, Capability.KILL_WORKER),
    ("kill", Role.COORDINATOR): (2, Capability.KILL_COORDINATOR),
    ("pause", Role.WORKER): (1, Capability.PAUSE_WORKER),
    ("pause", Role.COORDINATOR): (1, Capability.PAUSE_COORDINATOR),
}
"""By kind and role of the strike, its weight and what it needs."""
_POISON_INTERVALS = 8
"""Longer than records arrive."""


def draw_struck_restart(scene: Scene) -> list[FaultSpec]:
    """A worker dies, and the restart from that is struck."""
    stream = scene.stream
    progress, victim = stream.choice(_STARTS), scene.worker()
    failure = FaultSpec("kill", victim, scene.unaimed(progress))
    gates = scene.aimable(_GATES)
    if not scene.channels():
        # Other workers may be no part of the restart.
        gates = {effect: weight for effect, weight in gates.items() if effect in _BY_COORDINATOR}
    if Capability.KILL_COORDINATOR not in scene.able:
        gates = {effect: weight for effect, weight in gates.items() if effect not in _BY_COORDINATOR}
    if gates and stream.chance(0.4):
        effect = stream.weighted(gates)
        target = COORDINATOR if effect in _BY_COORDINATOR else _other(scene, victim)
        return [failure, FaultSpec("kill", target, Schedule(after_checkpoint=progress, gate=Gate(effect, target)))]
    return [failure, _at_event(scene, progress, victim)]


def draw_struck_region(scene: Scene) -> list[FaultSpec]:
    """One of several regions fails and restarts alone; then another one fails, or the same one before its first
    checkpoint."""
    stream = scene.stream
    if scene.topology.parallelism < 2:
        return []
    victim = scene.worker()
    if scene.channels():
        # Each worker hosts a part of every region: only a record fails one of them alone.
        if Capability.POISON_RECORD not in scene.able:
            return []
        return [_poison(scene), FaultSpec("kill", victim, Schedule(at_event=_FAILS))]
    progress = stream.choice(_STARTS)
    struck = victim if stream.chance(0.5) else _other(scene, victim)
    event = _BEGINS if struck == victim else stream.choice((_FAILS, _BEGINS))
    schedule = Schedule(after_checkpoint=progress, at_event=event)
    if event == _BEGINS and stream.chance(0.7):
        schedule = _before_checkpoint(scene, schedule, struck)
    return [FaultSpec("kill", victim, Schedule(after_checkpoint=progress)), FaultSpec("kill", struck, schedule)]


def _at_event(scene: Scene, progress: int, victim: Target) -> FaultSpec:
    """A strike in the delay of the restart, at the start of its attempt, or before the first checkpoint after it."""
    stream = scene.stream
    strikes = {strike: weight for strike, (weight, needed) in _STRIKES.items() if needed in scene.able}
    kind, role = stream.weighted(strikes)
    event = stream.choice((_FAILS, _BEGINS))
    # Who has just died can be struck again only when it is back, as it is when the next attempt starts.
    struck = victim if event == _BEGINS and stream.chance(0.5) else _other(scene, victim)
    target = COORDINATOR if role is Role.COORDINATOR else struck
    schedule = Schedule(after_checkpoint=progress, at_event=event)
    if kind == "pause":
        return FaultSpec(kind, target, schedule, scene.lasting_ms())
    if event == _BEGINS and stream.chance(0.5):
        schedule = _before_checkpoint(scene, schedule, target)
    return FaultSpec(kind, target, schedule)


def _before_checkpoint(scene: Scene, schedule: Schedule, target: Target) -> Schedule:
    """In front of the target's first step in the next checkpoint, where that can be held."""
    effect = _FIRST_STEPS[target.role]
    return replace(schedule, gate=Gate(effect, target)) if scene.aimable({effect: 1}) else schedule


def _poison(scene: Scene) -> FaultSpec:
    """The last record of a partition, from before it arrives: its source fails until it can be read."""
    parameters: dict[str, int | str] = {"partition": scene.stream.below(scene.topology.parallelism), "offset": -1}
    return FaultSpec("poison", SOURCE_SYSTEM, Schedule(), _POISON_INTERVALS * scene.interval_ms, parameters)


def _other(scene: Scene, worker: Target) -> Target:
    """The next worker; the same where there is no other."""
    return Target(Role.WORKER, (worker.index + 1) % scene.topology.parallelism)
