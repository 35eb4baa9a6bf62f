"""The faults of a drawn plan: which attacks are drawn for it, and in which order.

Progress only goes forward, so a fault later in the plan waits for at least as many checkpoints as the one before it.
Beyond that nothing keeps two faults apart: one may hide another, or hit what is gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from holdfast.harness.engine.swarm.scene import Scene
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.sim.streams import Stream
from holdfast.harness.spi.attack import PLAN_STREAM, Attack, Occasion

_ALWAYS = 100
_TRIES = 8
_STARTS = (0, 1, 1, 1)
"""How many checkpoints the first fault waits for."""
_STEPS = (0, 0, 1, 1, 2)
"""How many checkpoints further a fault waits than the one before it."""


def draw_faults(scene: Scene) -> tuple[FaultSpec, ...]:
    """The mixed faults of a plan, one after the other."""
    if scene.mix.acknowledges:
        return tuple(_all(scene, Occasion.LIVES))
    mixed = _possible(scene, Occasion.MIXED)
    if not mixed:
        return ()
    if scene.single:
        return _one(scene, mixed)
    wanted = scene.stream.weighted(scene.mix.fault_count)
    faults = list(_all(scene, Occasion.BACKLOG)) if scene.backlog else []
    progress = max(scene.stream.choice(_STARTS), scene.starts)
    while len(faults) < wanted:
        faults.extend(scene.stream.weighted(mixed).draw(replace(scene, progress=progress)))
        progress += max(scene.stream.choice(_STEPS), scene.mix.apart)
    return tuple(faults)


def only(attacks: Mapping[Occasion, Mapping[Attack, int]], *left: Occasion) -> dict[Occasion, Mapping[Attack, int]]:
    """The attacks of some occasions alone."""
    return {occasion: some if occasion in left else {} for occasion, some in attacks.items()}


def _one(scene: Scene, mixed: dict[Attack, int]) -> tuple[FaultSpec, ...]:
    """One fault, if an attack comes up soon that makes do with that; else those of one attack."""
    progress = max(scene.stream.choice(_STARTS), scene.starts)
    faults: tuple[FaultSpec, ...] = ()
    for _ in range(_TRIES):
        faults = tuple(scene.stream.weighted(mixed).draw(replace(scene, progress=progress)))
        if len(faults) == 1:
            break
    return faults


def draw_later_faults(scene: Scene, progress: int) -> tuple[FaultSpec, ...]:
    """One or two mixed faults more, from so many checkpoints on."""
    mixed = _possible(scene, Occasion.MIXED)
    faults: list[FaultSpec] = []
    for step in range(scene.stream.between(1, 2) if mixed else 0):
        faults.extend(scene.stream.weighted(mixed).draw(replace(scene, progress=progress + step)))
    return tuple(faults)


def draw_disturbance(scene: Scene) -> tuple[FaultSpec, ...]:
    """One attack more on messages or input, with what makes it act."""
    stream, disturbances = scene.stream, scene.attacks[Occasion.DISTURBANCE]
    if not disturbances or not stream.chance(scene.mix.disturbed_percent / 100):
        return ()
    progress = _start(stream, scene)
    return tuple(stream.weighted(disturbances).draw(replace(scene, progress=progress)))


def draw_shares(scene: Scene, occasion: Occasion, seed: int) -> tuple[FaultSpec, ...]:
    """Of the attacks on FIRST or LAST those whose turn it is, each from a stream of its own."""
    faults: list[FaultSpec] = []
    for attack, percent in _possible(scene, occasion).items():
        stream = scene.stream if attack.stream == PLAN_STREAM else Stream(seed, attack.stream or attack.name)
        if percent >= _ALWAYS or stream.chance(percent / 100):
            # The progress is drawn beside it: an attack that has its own draws nothing that it does not use.
            progress = _start(stream.fork("progress"), scene)
            faults.extend(attack.draw(replace(scene, stream=stream, progress=progress)))
    return tuple(faults)


def draw_boundary_faults(scene: Scene, failures: int) -> tuple[FaultSpec, ...]:
    """Exactly so many failures."""
    return tuple(_all(replace(scene, failures=failures), Occasion.BOUNDARY))


def _start(stream: Stream, scene: Scene) -> int:
    return max(stream.choice(_STARTS) + stream.choice(_STEPS), scene.starts)


def _all(scene: Scene, occasion: Occasion) -> Iterator[FaultSpec]:
    for attack in _possible(scene, occasion):
        yield from attack.draw(scene)


def _possible(scene: Scene, occasion: Occasion) -> dict[Attack, int]:
    return {attack: share for attack, share in scene.attacks[occasion].items() if attack.possible(scene)}
