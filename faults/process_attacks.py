"""How several faults are placed: in a restart that is under way, and in the lives of a program without checkpoints.

A strike of a restart is placed by the progress of the restart itself: at its failure, while tasks are cancelled,
deployed or restored, at the start of its attempt, or in front of the first acknowledgement behind that.

The life of a program ends when it is killed. What it persists, and when, is its own affair, so a fault counts
acknowledgements since the life began, and lives that began from persisted state: a kill before anything is persisted,
kills after something is, and a kill while an acknowledgement is on its way, so that what is persisted already is sent
again. What a program offers beside that is struck, too: at gates of its own, behind a checkpoint that it has reported,
and, when its kills are over, by a stop with a savepoint, another number of processes, or damage of its store."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from holdfast.faults.damage import damage
from holdfast.faults.user import command, stop
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.plan import FaultSpec, Gate, Schedule
from holdfast.harness.model.submitted_jobs import PARALLELISM, SUBMIT
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


_ACKNOWLEDGE = "acknowledge"
_MOST_ACKNOWLEDGEMENTS = 2
_MOST_CHECKPOINTS = 3
_READY = "program_ready"
_WIDTHS = (1, 2, 3)
_SAVED = "savepoint_completed"


def draw_lives(scene: Scene) -> list[FaultSpec]:
    """Kills in one life after the other, each in one that began from what the last has persisted, and pauses."""
    stream, target = scene.stream, scene.worker()
    faults: list[FaultSpec] = []
    kills = 0
    if Capability.KILL_WORKER in scene.able:
        if stream.chance(0.5):
            faults.append(FaultSpec("kill", target, Schedule(at_event=_READY)))
        held = bool(scene.aimable({_ACKNOWLEDGE: 1}))
        kills = stream.between(1, 2) + held
        at_gate = stream.between(1, kills - 1) if held else -1
        for restored in range(kills):
            gate = Gate(_ACKNOWLEDGE, target) if restored == at_gate else None
            faults.append(_offered(scene, FaultSpec("kill", target, _in_life(scene, restored, gate))))
    if Capability.PAUSE_WORKER in scene.able and stream.chance(0.5):
        # Behind the last kill, so that none of them finds the other's victim dead.
        faults.append(FaultSpec("pause", target, _in_life(scene, kills), scene.lasting_ms()))
    # One whose input ends may have finished by then.
    return faults if scene.job.bounded else [*faults, *_draw_offered(scene, kills)]


def _in_life(scene: Scene, restored: int, gate: Gate | None = None) -> Schedule:
    acknowledged = scene.stream.between(1, _MOST_ACKNOWLEDGEMENTS)
    return Schedule(after_acknowledged=acknowledged, after_restored=restored, gate=gate)


def _offered(scene: Scene, kill: FaultSpec) -> FaultSpec:
    """The kill, as exactly as a program lets it be placed that offers gates of its own, or reports checkpoints."""
    stream = scene.stream
    own = sorted(set(scene.gates or ()) - {_ACKNOWLEDGE})
    if kill.schedule.gate is None and own and stream.chance(0.6):
        gate = Gate(stream.choice(own), kill.target, stream.between(1, _MOST_ACKNOWLEDGEMENTS))
        return replace(kill, schedule=replace(kill.schedule, gate=gate))
    if Capability.REPORTS_CHECKPOINTS in scene.able and stream.chance(0.3):
        return replace(kill, schedule=replace(kill.schedule, after_checkpoint=stream.between(1, _MOST_CHECKPOINTS)))
    return kill


def _draw_offered(scene: Scene, restored: int) -> list[FaultSpec]:
    """One of the other things that a program offers, once so many of its lives began from what it has persisted."""
    stream = scene.stream
    when: dict[str, Any] = {"after_restored": restored, "after_acknowledged": 1}
    drawn: list[list[FaultSpec]] = []
    if Capability.JOB_CONTROL in scene.able:
        drawn.append([stop(**when), command(SUBMIT, at_event=_SAVED, after_restored=restored)])
    if Capability.RESCALE in scene.able:
        width = stream.choice(_WIDTHS)
        drawn.append([command(SUBMIT, {PARALLELISM: width}, **when)])
    if Capability.DAMAGE_CHECKPOINT in scene.able:
        part, way = stream.choice(("state", "metadata")), stream.choice(("truncate", "flip"))
        drawn.append([damage(part, way, scene.lasting_ms(), **when)])
    return stream.choice(drawn) if drawn else []
