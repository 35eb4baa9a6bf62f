"""The faults of a drawn plan: which attacks there are, and in which order.

Progress only goes forward, so a fault later in the plan waits for at least as many checkpoints as the one before it.
"""

from __future__ import annotations

import msgspec

from holdfast.harness.engine.swarm.attacks import ATTACKS, COORDINATOR, STORAGE
from holdfast.harness.engine.swarm.moments import EARLY, lasting_ms, unaimed
from holdfast.harness.engine.swarm.scene import Scene
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import Role
from holdfast.harness.model.topology import network_channels

_STARTS = (0, 1, 1, 1)
"""How many checkpoints the first fault waits for."""
_STEPS = (0, 1, 1)
"""How many checkpoints further a fault waits than the one before it."""
_OF_STORAGE = frozenset({"storage-error", "slow-storage"})
"""The heal of one of them ends all."""
_OF_CHANNELS = frozenset({"cut", "slow", "slow-task"})
_STOPS = frozenset({"kill", "pause"})
_RECOVERY_INTERVALS = 2


def draw_faults(scene: Scene) -> tuple[FaultSpec, ...]:
    """Faults that may fall together in any way."""
    attacks = _possible_attacks(scene)
    if not attacks:
        return ()
    late = {name: weight for name, weight in attacks.items() if name != "slow-task"} or attacks
    wanted = scene.stream.weighted(scene.mix.fault_count)
    faults: list[FaultSpec] = []
    progress = max(scene.stream.choice(_STARTS), int(scene.settled_start))
    while len(faults) < wanted:
        possible = attacks if progress <= EARLY else late
        if any(spec.target == STORAGE for spec in faults):
            possible = {name: weight for name, weight in possible.items() if name not in _OF_STORAGE} or possible
        faults.extend(ATTACKS[scene.stream.weighted(possible)](scene, progress))
        progress += max(scene.stream.choice(_STEPS), _rest_after(faults[-1]))
    return _told_apart(scene, faults)


def _rest_after(spec: FaultSpec) -> int:
    """How many checkpoints later the next fault may come: a process must be gone, and another be there, before."""
    if spec.kind not in ("kill", "supersede"):
        return 0
    return 1 + bool(spec.schedule.gate or spec.schedule.at_event)


def _told_apart(scene: Scene, faults: list[FaultSpec]) -> tuple[FaultSpec, ...]:
    """The same faults, but what acts on one target does not hide the other, and what acts on a channel outlasts the
    recovery from a kill that falls together with it."""
    kills = [spec for spec in faults if spec.kind == "kill"]
    apart: list[FaultSpec] = []
    for spec in faults:
        schedule = spec.schedule
        others = [kill for kill in kills if kill is not spec and kill.target == spec.target]
        if schedule.at_time_ms is not None and others:
            schedule = unaimed(scene, max(each.schedule.after_checkpoint for each in others) + 2)
            spec = msgspec.structs.replace(spec, schedule=schedule)
        elif (
            spec.kind == "pause"
            and spec.target.role is Role.WORKER
            and any(_falls_together(spec, each) for each in others)
        ):
            index = (spec.target.index + 1) % scene.topology.parallelism
            spec = msgspec.structs.replace(spec, target=msgspec.structs.replace(spec.target, index=index))
        elif spec.kind in _OF_CHANNELS and any(_falls_together(spec, each) for each in faults if each.kind in _STOPS):
            duration_ms = spec.duration_ms + _RECOVERY_INTERVALS * scene.interval_ms
            spec = msgspec.structs.replace(spec, duration_ms=duration_ms)
        apart.append(spec)
    return tuple(apart)


def _falls_together(one: FaultSpec, other: FaultSpec) -> bool:
    return abs(one.schedule.after_checkpoint - other.schedule.after_checkpoint) <= 1


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
