"""The faults of a drawn plan: which attacks there are, and in which order.

Progress only goes forward, so a fault later in the plan waits for at least as many checkpoints as the one before it.
Beyond that nothing keeps two faults apart.
"""

from __future__ import annotations

from collections.abc import Container

import msgspec

from holdfast.harness.engine.swarm.attacks import ATTACKS, COORDINATOR
from holdfast.harness.engine.swarm.lives import draw_faults_of_lives
from holdfast.harness.engine.swarm.moments import lasting_ms, unaimed
from holdfast.harness.engine.swarm.scene import Scene
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.topology import network_channels

_STARTS = (0, 1, 1, 1)
"""How many checkpoints the first fault waits for."""
_STEPS = (0, 0, 1, 1, 2)
"""How many checkpoints further a fault waits than the one before it."""
_BACKLOG_INTERVALS = 8


def draw_faults(scene: Scene) -> tuple[FaultSpec, ...]:
    """Faults that fall together in any way: one may hide another, or hit what is gone."""
    if scene.mix.acknowledges:
        return draw_faults_of_lives(scene)
    attacks = _possible_attacks(scene)
    if not attacks:
        return ()
    wanted = scene.stream.weighted(scene.mix.fault_count)
    faults = _backlogged(scene, attacks) if scene.backlog else []
    progress = max(scene.stream.choice(_STARTS), int(scene.settled_start))
    while len(faults) < wanted:
        faults.extend(ATTACKS[scene.stream.weighted(attacks)](scene, progress))
        progress += scene.stream.choice(_STEPS)
    return tuple(faults)


def draw_disturbance(scene: Scene) -> tuple[FaultSpec, ...]:
    """One attack more on messages or input, with what makes it act."""
    stream, disturbances = scene.stream, scene.mix.disturbances
    if not disturbances or not stream.chance(scene.mix.disturbed_percent / 100):
        return ()
    progress = max(stream.choice(_STARTS) + stream.choice(_STEPS), int(scene.settled_start))
    return tuple(ATTACKS[stream.weighted(disturbances)](scene, progress))


def draw_later_faults(scene: Scene, progress: int) -> tuple[FaultSpec, ...]:
    """One or two faults more, from so many checkpoints on."""
    attacks = _possible_attacks(scene)
    faults: list[FaultSpec] = []
    for step in range(scene.stream.between(1, 2) if attacks else 0):
        faults.extend(ATTACKS[scene.stream.weighted(attacks)](scene, progress + step))
    return tuple(faults)


def _backlogged(scene: Scene, attacks: Container[str]) -> list[FaultSpec]:
    """A slow subtask behind a full channel, and a worker that dies twice: the second time what was in flight at the
    first checkpoint, and was restored, is in flight again."""
    faults = []
    if "slow-task" in attacks:
        slow = ATTACKS["slow-task"](scene, 0)
        faults += [msgspec.structs.replace(each, duration_ms=_BACKLOG_INTERVALS * scene.interval_ms) for each in slow]
    if "kill-worker" in attacks:
        first = 1 + scene.stream.below(2)
        for progress in (first, first + 1 + scene.stream.below(2)):
            faults.append(FaultSpec("kill", scene.worker(), unaimed(scene, progress)))
    return faults


def _possible_attacks(scene: Scene) -> dict[str, int]:
    impossible: tuple[str, ...] = ()
    if not network_channels(scene.job, scene.topology):
        impossible = ("cut", "slow", "slow-task")
    if scene.settled_start:
        impossible += ("poison", "surge")
    return {name: weight for name, weight in scene.mix.attacks.items() if name not in impossible}


def draw_lost_splits(scene: Scene) -> tuple[FaultSpec, ...]:
    """Some of the messages by which an enumerator assigns splits at the start do not arrive, or arrive late."""
    stream = scene.stream
    if not stream.chance(scene.mix.lost_splits_percent / 100):
        return ()
    parameters: dict[str, int | str] = {
        "occurrences": stream.between(1, 2),
        "delay_ms": stream.choice((0, scene.interval_ms)),
    }
    return (FaultSpec("lose-splits", COORDINATOR, Schedule(), lasting_ms(scene), parameters),)


def draw_countable_failures(scene: Scene, failures: int) -> tuple[FaultSpec, ...]:
    """Kills that are far enough apart to be so many failures, and behind a slow channel that makes no failure.

    What was acknowledged before a kill may still complete, before anybody has noticed it.
    """
    faults = []
    if network_channels(scene.job, scene.topology) and "slow" in scene.mix.attacks:
        faults += ATTACKS["slow"](scene, 0)
    progress = 0
    for _ in range(failures):
        progress += scene.stream.between(1, 2) + scene.overlapping
        faults.append(FaultSpec("kill", scene.worker(), Schedule(after_checkpoint=progress)))
    return tuple(faults)
