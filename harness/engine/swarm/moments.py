"""When a fault of a drawn plan acts, and for how long: after a progress, at an effect, at an event, at a time.

Lasting faults last a few checkpoint intervals: long enough that something was under way, so that they land. Some last
longer than checkpoints, heartbeats and transactions wait.
"""

from __future__ import annotations

from holdfast.harness.engine.swarm.mix import Weights
from holdfast.harness.engine.swarm.scene import Scene
from holdfast.harness.model.job import STATEFUL, VertexKind
from holdfast.harness.model.plan import Gate, Schedule
from holdfast.harness.model.target import Role, Target

EARLY = 1
"""Up to this many checkpoints input still arrives, so that sinks have rows to commit."""
_SINK_EFFECTS = frozenset({"pre-commit", "commit"})
_SINK_EVENTS = frozenset({"transaction_precommitted", "transaction_committed", "rows_visible"})
_FILE_EFFECTS = frozenset({"write-state", "read-state"})
_CHANNEL_EFFECTS = frozenset({"send-barrier"})
_STATE_EFFECTS = frozenset({"fix-state"})
_READS = frozenset({"read-metadata", "read-state"})
_DELETES = frozenset({"delete"})


def drawn_schedule(scene: Scene, progress: int, target: Target, *, timed: bool = False) -> Schedule:
    """Aimed at an effect of the target, at a time, or unaimed.

    Args:
        progress: after so many checkpoints, unless it is at a time.
        target: of the fault.
        timed: whether it may be at a time.
    """
    stream, mix = scene.stream, scene.mix
    gates = mix.coordinator_gates if target.role is Role.COORDINATOR else mix.worker_gates
    gates = possible_effects(scene, gates, progress)
    lot = stream.below(100)
    if gates and lot < mix.aimed_percent:
        effect = stream.weighted(gates)
        of_sink = effect in _SINK_EFFECTS
        vertex = scene.job.of_kind(VertexKind.SINK)[0].name if of_sink else ""
        occurrence = 1 if of_sink and progress else stream.between(1, 2)
        return Schedule(after_checkpoint=progress, gate=Gate(effect, target, occurrence, vertex))
    if timed and not scene.settled_start and lot >= 100 - mix.timed_percent:
        return Schedule(at_time_ms=scene.interval_ms + stream.below((progress + 2) * scene.interval_ms))
    return unaimed(scene, progress)


def unaimed(scene: Scene, progress: int) -> Schedule:
    """After so many checkpoints, at an event or at once; after rows where nothing shows what is persisted."""
    stream, mix = scene.stream, scene.mix
    if not mix.checkpoints:
        return Schedule(after_rows=progress * stream.between(4, 16))
    event = stream.choice(mix.events) if stream.chance(mix.eventful_percent / 100) else ""
    if event in _SINK_EVENTS and (progress > EARLY or scene.late_rows):
        event = ""
    return Schedule(after_checkpoint=progress, at_event=event)


def possible_effects(scene: Scene, effects: Weights, progress: int) -> Weights:
    """Of some effects those that will happen in this plan after this progress."""
    absent = frozenset[str]() if scene.state_files else _FILE_EFFECTS
    if progress > EARLY or scene.late_rows:
        absent |= _SINK_EFFECTS
    if not progress:
        absent |= _READS
    if not scene.job.of_kind(*STATEFUL):
        absent |= _STATE_EFFECTS
    if not scene.has_channels:
        absent |= _CHANNEL_EFFECTS
    if not scene.drops:
        absent |= _DELETES
    return {name: weight for name, weight in effects.items() if name not in absent} if absent else effects


def lasting_ms(scene: Scene) -> int:
    """How long a lasting fault lasts; some outlast every timeout of the plan."""
    stream = scene.stream
    halves = stream.between(8, 16) if stream.chance(scene.mix.long_percent / 100) else stream.between(4, 6)
    return scene.interval_ms * halves // 2
