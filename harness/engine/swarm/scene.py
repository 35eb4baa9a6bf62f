"""What the faults of one plan are drawn for, when they may act (spi.attack.Scene), which attacks are drawn, and in
which order.

Lasting faults last a few checkpoint intervals: long enough that something was under way, so that they take effect. Some
last longer than checkpoints, heartbeats and transactions wait. Progress only goes forward, so a fault later in the plan
waits for at least as many checkpoints as the one before it. Beyond that nothing keeps two faults apart: one may hide
another, or hit what is gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from holdfast.harness.engine.swarm.mix import Mix
from holdfast.harness.model.job import STATEFUL, Job, VertexKind
from holdfast.harness.model.message_contract import MessageContract
from holdfast.harness.model.plan import FaultSpec, Gate, Schedule, Topology
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.topology import network_channels
from holdfast.harness.sim.streams import Stream
from holdfast.harness.spi.attack import PLAN_STREAM, Attack, Occasion, Weights

EARLY = 1
"""Up to this many checkpoints input still arrives, so that sinks have rows to commit."""
_SINK_EFFECTS = frozenset({"pre-commit", "commit"})
_SINK_EVENTS = frozenset({"transaction_precommitted", "transaction_committed", "rows_visible"})
FILE_EFFECTS = frozenset({"write-state", "read-state"})
_CHANNEL_EFFECTS = frozenset({"send-barrier"})
_STATE_EFFECTS = frozenset({"fix-state"})
_READS = frozenset({"read-metadata", "read-state"})
DELETES = frozenset({"delete"})


class Scene(msgspec.Struct, frozen=True):
    """See spi.attack.Scene; beside that what only the swarm asks.

    Attributes:
        state_files: state is stored in files, so storage takes part.
        aligns: some barrier is sent over a channel.
        drops: each completion drops an older checkpoint from the second on.
        backlog: input has piled up before the job starts, more than its buffers hold.
        attacks: that are drawn, with their shares.
        single: one attack is drawn, or a user ends the job, and nothing else happens.
    """

    stream: Stream
    mix: Mix
    job: Job
    topology: Topology
    interval_ms: int
    state_files: bool
    drops: bool
    overlapping: bool
    settled_start: bool
    aligns: bool
    attacks: Mapping[Occasion, Mapping[Attack, int]]
    backlog: bool = False
    enumerated: bool = False
    regional: bool = False
    user_ends: bool = False
    single: bool = False
    progress: int = 0
    failures: int = 0

    @property
    def able(self) -> frozenset[str]:
        return self.mix.able

    @property
    def gates(self) -> frozenset[str] | None:
        return self.mix.gates

    @property
    def starts(self) -> int:
        """How many checkpoints every fault waits for at least."""
        return max(int(self.settled_start), self.mix.starts)

    @property
    def message_contract(self) -> MessageContract:
        return self.mix.message_contract

    @property
    def input_arrives(self) -> bool:
        return self.progress <= EARLY

    @property
    def late_rows(self) -> bool:
        """Rows are held back until the input ends."""
        return bool(self.job.of_kind(VertexKind.REDUCE))

    def worker(self) -> Target:
        return Target(Role.WORKER, self.stream.below(self.topology.parallelism))

    def channels(self) -> Sequence[str]:
        return network_channels(self.job, self.topology)

    def schedule(self, target: Target, *, timed: bool = False) -> Schedule:
        stream, mix, progress = self.stream, self.mix, self.progress
        gates = mix.coordinator_gates if target.role is Role.COORDINATOR else mix.worker_gates
        gates = self.possible(self.aimable(gates))
        lot = stream.below(100)
        if gates and lot < mix.aimed_percent:
            effect = stream.weighted(gates)
            of_sink = effect in _SINK_EFFECTS
            vertex = self.job.of_kind(VertexKind.SINK)[0].name if of_sink else ""
            occurrence = 1 if of_sink and progress else stream.between(1, 2)
            return Schedule(after_checkpoint=progress, gate=Gate(effect, target, occurrence, vertex))
        if timed and not self.settled_start and lot >= 100 - mix.timed_percent:
            return Schedule(at_time_ms=self.interval_ms + stream.below((progress + 2) * self.interval_ms))
        return self.unaimed()

    def unaimed(self, progress: int | None = None) -> Schedule:
        stream, mix = self.stream, self.mix
        after = self.progress if progress is None else progress
        if not mix.checkpoints:
            return Schedule(after_rows=after * stream.between(4, 16))
        event = stream.choice(mix.events) if stream.chance(mix.eventful_percent / 100) and mix.events else ""
        if event in _SINK_EVENTS and (after > EARLY or self.late_rows):
            event = ""
        return Schedule(after_checkpoint=after, at_event=event)

    def lasting_ms(self) -> int:
        halves = self.stream.between(8, 16) if self.is_long() else self.stream.between(4, 6)
        return self.interval_ms * halves // 2

    def is_long(self) -> bool:
        return self.stream.chance(self.mix.long_percent / 100)

    def possible(self, effects: Weights) -> Weights:
        absent = frozenset[str]() if self.state_files else FILE_EFFECTS
        if not self.input_arrives or self.late_rows:
            absent |= _SINK_EFFECTS
        if not self.progress:
            absent |= _READS
        if not self.job.of_kind(*STATEFUL):
            absent |= _STATE_EFFECTS
        if not self.aligns:
            absent |= _CHANNEL_EFFECTS
        if not self.drops:
            absent |= DELETES
        return {name: weight for name, weight in effects.items() if name not in absent} if absent else effects

    def aimable(self, effects: Weights) -> Weights:
        gates = self.mix.gates
        if gates is None:
            return effects
        return {name: weight for name, weight in effects.items() if name in gates}


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


def only_occasions(
    attacks: Mapping[Occasion, Mapping[Attack, int]], *left: Occasion
) -> dict[Occasion, Mapping[Attack, int]]:
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
    """Draw the attacks of occasion FIRST or LAST by their shares, each from a stream of its own."""
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
