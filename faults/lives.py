"""How a system is struck that has no checkpoints and acknowledges its input: each fault is placed in one of its lives.

A life ends when the system is killed. What it persists, and when, is its own affair, so a fault counts acknowledgements
since the life began, and lives that began from persisted state: a kill before anything is persisted, kills after
something is, and a kill while an acknowledgement is on its way, so that what is persisted already is sent again.

What a program offers beside that is struck, too: at gates of its own, behind a checkpoint that it has reported, and,
when its kills are over, by a stop with a savepoint, another number of processes, or damage of its store.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from holdfast.faults.damage import damage
from holdfast.faults.savepoint import stop
from holdfast.faults.user import command
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.plan import FaultSpec, Gate, Schedule
from holdfast.harness.model.submitted_jobs import PARALLELISM, SUBMIT
from holdfast.harness.spi.attack import Scene

_ACKNOWLEDGE = "acknowledge"
_MOST_ACKNOWLEDGEMENTS = 2
_MOST_CHECKPOINTS = 3
_BEGINS = "program_ready"
_WIDTHS = (1, 2, 3)
_SAVED = "savepoint_completed"


def draw_lives(scene: Scene) -> list[FaultSpec]:
    """Kills in one life after the other, each in one that began from what the last has persisted, and pauses."""
    stream, target = scene.stream, scene.worker()
    faults: list[FaultSpec] = []
    kills = 0
    if Capability.KILL_WORKER in scene.able:
        if stream.chance(0.5):
            faults.append(FaultSpec("kill", target, Schedule(at_event=_BEGINS)))
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
