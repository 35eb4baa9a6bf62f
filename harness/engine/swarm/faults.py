"""The faults of a drawn plan: what is hit, and when.

Progress only goes forward, so a fault later in the plan waits for at least as many checkpoints as the one before it.
Lasting faults last a few checkpoint intervals: long enough that something was under way, so that they land.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from holdfast.harness.engine.swarm.mix import Mix, Weights
from holdfast.harness.model.job import STATEFUL, Job, VertexKind
from holdfast.harness.model.plan import FaultSpec, Gate, Schedule, Topology
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.topology import channel_ends, network_channels, subtasks
from holdfast.harness.sim.streams import Stream

_COORDINATOR = Target(Role.COORDINATOR)
_STORAGE = Target(Role.STORAGE)
_SOURCE_SYSTEM = Target(Role.SOURCE_SYSTEM)
_STARTS = (0, 1, 1, 1)
"""How many checkpoints the first fault waits for."""
_STEPS = (0, 1, 1)
"""How many checkpoints further a fault waits than the one before it."""
_EARLY = 1
"""Up to this many checkpoints input still arrives, so that sinks have rows to commit."""
_SINK_EFFECTS = frozenset({"pre-commit", "commit"})
_SINK_EVENTS = frozenset({"transaction_precommitted", "transaction_committed", "rows_visible"})
_FILE_EFFECTS = frozenset({"write-state", "read-state"})
_CHANNEL_EFFECTS = frozenset({"send-barrier"})
_PUBLICATION = "publish-metadata"
_STATE_EFFECTS = frozenset({"fix-state"})
_READS = frozenset({"read-metadata", "read-state"})
_POISON_INTERVALS = 6
_POISON_INTERVALS_OF_BOUNDED = 12
"""Longer than records arrive."""
_DELETES = frozenset({"delete"})
_OF_STORAGE = frozenset({"storage-error", "slow-storage"})
"""The heal of one of them ends all."""
_OF_CHANNELS = frozenset({"cut", "slow", "slow-task"})
_STOPS = frozenset({"kill", "pause"})
_RECOVERY_INTERVALS = 2
_STORAGE_ERROR_INTERVALS = 4
"""Long, because what fails is over with its occurrences, and a restart may come in between."""
_REQUESTS = ("user", "forced", "user user", "user forced user")
_FAILED_READ_HITS = {"read-metadata": "kill-coordinator", "read-state": "kill-worker"}
"""Only a recovery reads: the failing read comes with the kill that leads to it."""


class Scene(msgspec.Struct, frozen=True):
    """What the faults of one plan are drawn for.

    Attributes:
        state_files: state is stored in files, so storage takes part.
        has_channels: not all operators are in one chain.
        drops: each completion drops an older checkpoint from the second on.
        overlapping: a checkpoint may complete soon after another one.
        settled_start: faults wait for the first checkpoint, because before it the right answer is not determined.
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
    has_channels: bool

    @property
    def late_rows(self) -> bool:
        """Rows are held back until the input ends."""
        return bool(self.job.of_kind(VertexKind.REDUCE))

    def worker(self) -> Target:
        return Target(Role.WORKER, self.stream.below(self.topology.parallelism))


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
        possible = attacks if progress <= _EARLY else late
        if any(spec.target == _STORAGE for spec in faults):
            possible = {name: weight for name, weight in possible.items() if name not in _OF_STORAGE} or possible
        faults.extend(_ATTACKS[scene.stream.weighted(possible)](scene, progress))
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
            schedule = _unaimed(scene, max(each.schedule.after_checkpoint for each in others) + 2)
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


def draw_lost_splits(scene: Scene) -> tuple[FaultSpec, ...]:
    """Some of the messages by which an enumerator assigns splits at the start do not arrive, or arrive late."""
    stream = scene.stream
    if not stream.chance(scene.mix.lost_splits_percent / 100):
        return ()
    parameters: dict[str, int | str] = {
        "occurrences": stream.between(1, 2),
        "delay_ms": stream.choice((0, scene.interval_ms)),
    }
    return (FaultSpec("lose-splits", _COORDINATOR, Schedule(), _lasting_ms(scene), parameters),)


def draw_countable_failures(scene: Scene, failures: int) -> tuple[FaultSpec, ...]:
    """Kills that are far enough apart to be so many failures, and behind a slow channel that makes no failure.

    What was acknowledged before a kill may still complete, before anybody has noticed it.
    """
    faults = []
    if network_channels(scene.job, scene.topology) and "slow" in scene.mix.attacks:
        faults += _slow(scene, 0)
    progress = 0
    for _ in range(failures):
        progress += scene.stream.between(1, 2) + scene.overlapping
        faults.append(FaultSpec("kill", scene.worker(), Schedule(after_checkpoint=progress)))
    return tuple(faults)


def _possible_attacks(scene: Scene) -> dict[str, int]:
    impossible: tuple[str, ...] = ()
    if not network_channels(scene.job, scene.topology):
        impossible = ("cut", "slow", "slow-task")
    if scene.settled_start:
        impossible += ("poison", "surge")
    return {name: weight for name, weight in scene.mix.attacks.items() if name not in impossible}


def _possible(scene: Scene, effects: Weights, progress: int) -> Weights:
    """The effects that will happen in this plan after this progress."""
    absent = frozenset[str]() if scene.state_files else _FILE_EFFECTS
    if progress > _EARLY or scene.late_rows:
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


def _kill_worker(scene: Scene, progress: int) -> list[FaultSpec]:
    target = scene.worker()
    kill = FaultSpec("kill", target, _schedule(scene, progress, target, timed=True))
    return [kill, *_second_strike(scene, kill)]


def _kill_coordinator(scene: Scene, progress: int) -> list[FaultSpec]:
    return [FaultSpec("kill", _COORDINATOR, _schedule(scene, progress, _COORDINATOR, timed=True))]


def _pause_worker(scene: Scene, progress: int) -> list[FaultSpec]:
    target = scene.worker()
    return [FaultSpec("pause", target, _schedule(scene, progress, target), _lasting_ms(scene))]


def _pause_coordinator(scene: Scene, progress: int) -> list[FaultSpec]:
    return [FaultSpec("pause", _COORDINATOR, _schedule(scene, progress, _COORDINATOR), _lasting_ms(scene))]


def _supersede_coordinator(scene: Scene, progress: int) -> list[FaultSpec]:
    """Once a checkpoint is complete: before, it may not have taken over itself."""
    if not progress:
        return _pause_coordinator(scene, progress)
    return [FaultSpec("supersede", _COORDINATOR, _schedule(scene, progress, _COORDINATOR), _lasting_ms(scene))]


def _cut(scene: Scene, progress: int) -> list[FaultSpec]:
    return [FaultSpec("cut", _channel(scene), _unaimed(scene, progress), _lasting_ms(scene))]


def _slow(scene: Scene, progress: int) -> list[FaultSpec]:
    delay_ms = scene.stream.between(2, scene.interval_ms)
    return [
        FaultSpec(
            "slow", _channel(scene), _unaimed(scene, progress), _lasting_ms(scene) + delay_ms, {"delay_ms": delay_ms}
        )
    ]


def _slow_task(scene: Scene, progress: int) -> list[FaultSpec]:
    """The receiver of a channel, so that something comes there whatever is chained."""
    receiver = channel_ends(scene.stream.choice(network_channels(scene.job, scene.topology)))[1]
    target = Target(Role.TASK, subtasks(scene.job, scene.topology).index(receiver))
    delay_ms = scene.stream.between(1, max(2, scene.interval_ms // 6))
    schedule = Schedule(after_checkpoint=progress)
    return [FaultSpec("slow-task", target, schedule, 2 * _lasting_ms(scene), {"delay_ms": delay_ms})]


def _storage_error(scene: Scene, progress: int) -> list[FaultSpec]:
    operation = scene.stream.weighted(_possible(scene, scene.mix.failing_operations, progress))
    cause = _FAILED_READ_HITS.get(operation)
    if cause is not None and cause not in scene.mix.attacks:
        operation, cause = _PUBLICATION, None
    parameters: dict[str, int | str] = {
        "operation": operation,
        "occurrences": scene.stream.between(1, 2),
        "after_effect": int(scene.stream.chance(0.3)),
        "answer_lost": int(scene.stream.chance(0.3)),
    }
    schedule = _unaimed(scene, progress)
    duration_ms = _STORAGE_ERROR_INTERVALS * scene.interval_ms
    fault = FaultSpec("storage-error", _STORAGE, schedule, duration_ms, parameters)
    if cause is None:
        lost = parameters["after_effect"] or parameters["answer_lost"]
        return [fault, *(_kill_before_next(scene, schedule) if operation == _PUBLICATION and lost else ())]
    return [fault, FaultSpec("kill", _COORDINATOR if cause == "kill-coordinator" else scene.worker(), schedule)]


def _kill_before_next(scene: Scene, schedule: Schedule) -> list[FaultSpec]:
    """The coordinator dies in front of the next publication, while the outcome of the last is still unknown."""
    mix = scene.mix
    if "kill-coordinator" not in mix.attacks or _PUBLICATION not in mix.coordinator_gates:
        return []
    if not scene.stream.chance(0.5):
        return []
    again = Gate(_PUBLICATION, _COORDINATOR, occurrence=2)
    return [FaultSpec("kill", _COORDINATOR, Schedule(after_checkpoint=schedule.after_checkpoint, gate=again))]


def _poison(scene: Scene, progress: int) -> list[FaultSpec]:
    """The last record of a partition, from before it arrives."""
    if progress > _EARLY:
        return _kill_worker(scene, progress)
    parameters: dict[str, int | str] = {"partition": scene.stream.below(scene.topology.parallelism), "offset": -1}
    intervals = _POISON_INTERVALS_OF_BOUNDED if scene.job.bounded else _POISON_INTERVALS
    duration_ms = intervals * scene.interval_ms
    return [FaultSpec("poison", _SOURCE_SYSTEM, Schedule(after_checkpoint=progress), duration_ms, parameters)]


def _surge(scene: Scene, progress: int) -> list[FaultSpec]:
    if progress > _EARLY:
        return _kill_worker(scene, progress)
    parameters: dict[str, int | str] = {"percent": 100 * scene.stream.between(3, 6)}
    return [FaultSpec("surge", _SOURCE_SYSTEM, _unaimed(scene, progress), _lasting_ms(scene), parameters)]


def _slow_storage(scene: Scene, progress: int) -> list[FaultSpec]:
    stream = scene.stream
    parameters: dict[str, int | str] = {
        "operation": stream.weighted(_possible(scene, scene.mix.slow_operations, progress)),
        "delay_ms": stream.between(2, 2 * scene.interval_ms),
        "occurrences": stream.below(3),
    }
    duration_ms = _STORAGE_ERROR_INTERVALS * scene.interval_ms
    return [FaultSpec("slow-storage", _STORAGE, _unaimed(scene, progress), duration_ms, parameters)]


def _lose_notices(scene: Scene, progress: int) -> list[FaultSpec]:
    parameters: dict[str, int | str] = {"percent": scene.stream.choice((60, 90))}
    duration_ms = _STORAGE_ERROR_INTERVALS * scene.interval_ms
    return [FaultSpec("lose-notices", _COORDINATOR, _unaimed(scene, progress), duration_ms, parameters)]


def _request_checkpoint(scene: Scene, progress: int) -> list[FaultSpec]:
    parameters: dict[str, int | str] = {"origins": scene.stream.choice(_REQUESTS)}
    return [FaultSpec("request-checkpoint", _COORDINATOR, _unaimed(scene, progress), parameters=parameters)]


def _second_strike(scene: Scene, kill: FaultSpec) -> list[FaultSpec]:
    """While the job recovers from a kill, the recovery is struck: the gate is armed when the kill acts."""
    stream, gates = scene.stream, scene.mix.recovery_gates
    schedule = kill.schedule
    plain = not schedule.gate and schedule.at_time_ms is None
    if not (plain and gates and stream.chance(scene.mix.second_strike_percent / 100)):
        return []
    effect = stream.weighted(gates)
    target = _COORDINATOR if effect == "deploy" else scene.worker()
    if effect != "deploy" and not network_channels(scene.job, scene.topology):
        target = kill.target  # the others may be no part of the recovery
    if effect == "deploy" and "kill-coordinator" not in scene.mix.attacks:
        return []
    return [FaultSpec("kill", target, msgspec.structs.replace(schedule, gate=Gate(effect, target)))]


def _schedule(scene: Scene, progress: int, target: Target, *, timed: bool = False) -> Schedule:
    """Aimed at an effect of the target, at a time, or unaimed."""
    stream, mix = scene.stream, scene.mix
    gates = mix.coordinator_gates if target.role is Role.COORDINATOR else mix.worker_gates
    gates = _possible(scene, gates, progress)
    lot = stream.below(100)
    if gates and lot < mix.aimed_percent:
        effect = stream.weighted(gates)
        of_sink = effect in _SINK_EFFECTS
        vertex = scene.job.of_kind(VertexKind.SINK)[0].name if of_sink else ""
        occurrence = 1 if of_sink and progress else stream.between(1, 2)
        return Schedule(after_checkpoint=progress, gate=Gate(effect, target, occurrence, vertex))
    if timed and not scene.settled_start and lot >= 100 - mix.timed_percent:
        return Schedule(at_time_ms=scene.interval_ms + stream.below((progress + 2) * scene.interval_ms))
    return _unaimed(scene, progress)


def _unaimed(scene: Scene, progress: int) -> Schedule:
    stream, mix = scene.stream, scene.mix
    if not mix.checkpoints:
        return Schedule(after_rows=progress * stream.between(4, 16))
    event = stream.choice(mix.events) if stream.chance(mix.eventful_percent / 100) else ""
    if event in _SINK_EVENTS and (progress > _EARLY or scene.late_rows):
        event = ""
    return Schedule(after_checkpoint=progress, at_event=event)


def _channel(scene: Scene) -> Target:
    return Target(Role.CHANNEL, scene.stream.below(len(network_channels(scene.job, scene.topology))))


def _lasting_ms(scene: Scene) -> int:
    return scene.interval_ms * scene.stream.between(4, 6) // 2


_ATTACKS: dict[str, Callable[[Scene, int], list[FaultSpec]]] = {
    "kill-worker": _kill_worker,
    "kill-coordinator": _kill_coordinator,
    "pause-worker": _pause_worker,
    "pause-coordinator": _pause_coordinator,
    "supersede-coordinator": _supersede_coordinator,
    "cut": _cut,
    "slow": _slow,
    "slow-task": _slow_task,
    "storage-error": _storage_error,
    "poison": _poison,
    "surge": _surge,
    "slow-storage": _slow_storage,
    "lose-notices": _lose_notices,
    "request-checkpoint": _request_checkpoint,
}
