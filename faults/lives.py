"""How a system is struck that has no checkpoints and acknowledges its input: each fault is placed in one of its lives.

A life ends when the system is killed. What it persists, and when, is its own affair, so a fault counts acknowledgements
since the life began, and lives that began from persisted state: a kill before anything is persisted, kills after
something is, and a kill while an acknowledgement is on its way, so that what is persisted already is sent again.
"""

from __future__ import annotations

from holdfast.harness.model.capability import Capability
from holdfast.harness.model.plan import FaultSpec, Gate, Schedule
from holdfast.harness.spi.attack import Scene

_ACKNOWLEDGE = "acknowledge"
_MOST_ACKNOWLEDGEMENTS = 2
_BEGINS = "program_ready"


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
            faults.append(FaultSpec("kill", target, _in_life(scene, restored, gate)))
    if Capability.PAUSE_WORKER in scene.able and stream.chance(0.5):
        # Behind the last kill, so that none of them finds the other's victim dead.
        faults.append(FaultSpec("pause", target, _in_life(scene, kills), scene.lasting_ms()))
    return faults


def _in_life(scene: Scene, restored: int, gate: Gate | None = None) -> Schedule:
    acknowledged = scene.stream.between(1, _MOST_ACKNOWLEDGEMENTS)
    return Schedule(after_acknowledged=acknowledged, after_restored=restored, gate=gate)
