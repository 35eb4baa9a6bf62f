"""The faults of a drawn plan for a system that acknowledges its input: each is placed in a life of the system.

A life ends when the system is killed. What it persists, and when, is its own affair, so a fault counts acknowledgements
since the life began, and lives that began from persisted state: a kill before anything is persisted, kills after
something is, and a kill while an acknowledgement is on its way, so that what is persisted already is sent again.
"""

from __future__ import annotations

from holdfast.harness.engine.swarm.moments import lasting_ms
from holdfast.harness.engine.swarm.scene import Scene
from holdfast.harness.model.plan import FaultSpec, Gate, Schedule

ACKNOWLEDGE = "acknowledge"
_MOST_ACKNOWLEDGEMENTS = 2
_BEGINS = "program_ready"


def draw_faults_of_lives(scene: Scene) -> tuple[FaultSpec, ...]:
    """Kills in one life after the other, each in one that began from what the last has persisted, and pauses."""
    stream, target = scene.stream, scene.worker()
    faults: list[FaultSpec] = []
    kills = 0
    if "kill-worker" in scene.mix.attacks:
        if stream.chance(0.5):
            faults.append(FaultSpec("kill", target, Schedule(at_event=_BEGINS)))
        held = ACKNOWLEDGE in scene.mix.worker_gates
        kills = stream.between(1, 2) + held
        at_gate = stream.between(1, kills - 1) if held else -1
        for restored in range(kills):
            gate = Gate(ACKNOWLEDGE, target) if restored == at_gate else None
            faults.append(FaultSpec("kill", target, _in_life(scene, restored, gate)))
    if "pause-worker" in scene.mix.attacks and stream.chance(0.5):
        # Behind the last kill, so that none of them finds the other's victim dead.
        faults.append(FaultSpec("pause", target, _in_life(scene, kills), lasting_ms(scene)))
    return tuple(faults)


def _in_life(scene: Scene, restored: int, gate: Gate | None = None) -> Schedule:
    acknowledged = scene.stream.between(1, _MOST_ACKNOWLEDGEMENTS)
    return Schedule(after_acknowledged=acknowledged, after_restored=restored, gate=gate)
