"""The attacks that are drawn: what is hit and how, each as one fault or as several that belong together."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from holdfast.harness.engine.swarm.message_attacks import delay_messages, double_messages, forge, lose_messages
from holdfast.harness.engine.swarm.moments import EARLY, drawn_schedule, lasting_ms, possible_effects, unaimed
from holdfast.harness.engine.swarm.scene import Scene
from holdfast.harness.model.plan import FaultSpec, Gate, Schedule
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.topology import channel_ends, network_channels, subtasks

COORDINATOR = Target(Role.COORDINATOR)
STORAGE = Target(Role.STORAGE)
_SOURCE_SYSTEM = Target(Role.SOURCE_SYSTEM)
_PUBLICATION = "publish-metadata"
_POISON_INTERVALS = 6
_POISON_INTERVALS_OF_BOUNDED = 12
"""Longer than records arrive."""
_STORAGE_ERROR_INTERVALS = 4
"""Long, because what fails is over with its occurrences, and a restart may come in between."""
_LONG_DELAY_INTERVALS = 4
"""More than heartbeats and short checkpoint timeouts wait."""
_REQUESTS = ("user", "forced", "user user", "user forced user")
_FAILED_READ_HITS = {"read-metadata": "kill-coordinator", "read-state": "kill-worker"}
"""Only a recovery reads: the failing read comes with the kill that leads to it."""


def _kill_worker(scene: Scene, progress: int) -> list[FaultSpec]:
    target = scene.worker()
    kill = FaultSpec("kill", target, drawn_schedule(scene, progress, target, timed=True))
    return [kill, *_second_strike(scene, kill)]


def _kill_coordinator(scene: Scene, progress: int) -> list[FaultSpec]:
    return [FaultSpec("kill", COORDINATOR, drawn_schedule(scene, progress, COORDINATOR, timed=True))]


def _pause_worker(scene: Scene, progress: int) -> list[FaultSpec]:
    target = scene.worker()
    return [FaultSpec("pause", target, drawn_schedule(scene, progress, target), lasting_ms(scene))]


def _pause_coordinator(scene: Scene, progress: int) -> list[FaultSpec]:
    return [FaultSpec("pause", COORDINATOR, drawn_schedule(scene, progress, COORDINATOR), lasting_ms(scene))]


def _supersede_coordinator(scene: Scene, progress: int) -> list[FaultSpec]:
    """Once a checkpoint is complete: before, it may not have taken over itself."""
    if not progress:
        return _pause_coordinator(scene, progress)
    return [FaultSpec("supersede", COORDINATOR, drawn_schedule(scene, progress, COORDINATOR), lasting_ms(scene))]


def _cut(scene: Scene, progress: int) -> list[FaultSpec]:
    return [FaultSpec("cut", _channel(scene), unaimed(scene, progress), lasting_ms(scene))]


def _slow(scene: Scene, progress: int) -> list[FaultSpec]:
    longest = _LONG_DELAY_INTERVALS if scene.stream.chance(scene.mix.long_percent / 100) else 1
    delay_ms = scene.stream.between(2, longest * scene.interval_ms)
    return [
        FaultSpec(
            "slow", _channel(scene), unaimed(scene, progress), lasting_ms(scene) + delay_ms, {"delay_ms": delay_ms}
        )
    ]


def _slow_task(scene: Scene, progress: int) -> list[FaultSpec]:
    """The receiver of a channel, so that something comes there whatever is chained."""
    receiver = channel_ends(scene.stream.choice(network_channels(scene.job, scene.topology)))[1]
    target = Target(Role.TASK, subtasks(scene.job, scene.topology).index(receiver))
    delay_ms = scene.stream.between(1, max(2, scene.interval_ms // 6))
    schedule = Schedule(after_checkpoint=progress)
    return [FaultSpec("slow-task", target, schedule, 2 * lasting_ms(scene), {"delay_ms": delay_ms})]


def _storage_error(scene: Scene, progress: int) -> list[FaultSpec]:
    operation = scene.stream.weighted(possible_effects(scene, scene.mix.failing_operations, progress))
    cause = _FAILED_READ_HITS.get(operation)
    if cause is not None and cause not in scene.mix.attacks:
        operation, cause = _PUBLICATION, None
    parameters: dict[str, int | str] = {
        "operation": operation,
        "occurrences": scene.stream.between(1, 2),
        "after_effect": int(scene.stream.chance(0.3)),
        "answer_lost": int(scene.stream.chance(0.3)),
    }
    schedule = unaimed(scene, progress)
    duration_ms = _STORAGE_ERROR_INTERVALS * scene.interval_ms
    fault = FaultSpec("storage-error", STORAGE, schedule, duration_ms, parameters)
    if cause is None:
        lost = parameters["after_effect"] or parameters["answer_lost"]
        return [fault, *(_kill_before_next(scene, schedule) if operation == _PUBLICATION and lost else ())]
    return [fault, FaultSpec("kill", COORDINATOR if cause == "kill-coordinator" else scene.worker(), schedule)]


def _kill_before_next(scene: Scene, schedule: Schedule) -> list[FaultSpec]:
    """The coordinator dies in front of the next publication, while the outcome of the last is still unknown."""
    mix = scene.mix
    if "kill-coordinator" not in mix.attacks or _PUBLICATION not in mix.coordinator_gates:
        return []
    if not scene.stream.chance(0.5):
        return []
    again = Gate(_PUBLICATION, COORDINATOR, occurrence=2)
    return [FaultSpec("kill", COORDINATOR, Schedule(after_checkpoint=schedule.after_checkpoint, gate=again))]


def _poison(scene: Scene, progress: int) -> list[FaultSpec]:
    """The last record of a partition, from before it arrives."""
    if progress > EARLY:
        return _kill_worker(scene, progress)
    parameters: dict[str, int | str] = {"partition": scene.stream.below(scene.topology.parallelism), "offset": -1}
    intervals = _POISON_INTERVALS_OF_BOUNDED if scene.job.bounded else _POISON_INTERVALS
    duration_ms = intervals * scene.interval_ms
    return [FaultSpec("poison", _SOURCE_SYSTEM, Schedule(after_checkpoint=progress), duration_ms, parameters)]


def _surge(scene: Scene, progress: int) -> list[FaultSpec]:
    if progress > EARLY:
        return _kill_worker(scene, progress)
    parameters: dict[str, int | str] = {"percent": 100 * scene.stream.between(3, 6)}
    return [FaultSpec("surge", _SOURCE_SYSTEM, unaimed(scene, progress), lasting_ms(scene), parameters)]


def _slow_storage(scene: Scene, progress: int) -> list[FaultSpec]:
    stream = scene.stream
    parameters: dict[str, int | str] = {
        "operation": stream.weighted(possible_effects(scene, scene.mix.slow_operations, progress)),
        "delay_ms": stream.between(2, 2 * scene.interval_ms),
        "occurrences": stream.below(3),
    }
    duration_ms = _STORAGE_ERROR_INTERVALS * scene.interval_ms
    return [FaultSpec("slow-storage", STORAGE, unaimed(scene, progress), duration_ms, parameters)]


def _lose_notices(scene: Scene, progress: int) -> list[FaultSpec]:
    parameters: dict[str, int | str] = {"percent": scene.stream.choice((60, 90))}
    duration_ms = _STORAGE_ERROR_INTERVALS * scene.interval_ms
    return [FaultSpec("lose-notices", COORDINATOR, unaimed(scene, progress), duration_ms, parameters)]


def _truncate(scene: Scene, progress: int) -> list[FaultSpec]:
    """Up to what a completed checkpoint covers, or a little less; a worker dies, so that input is read again."""
    beyond = -scene.stream.choice((0, 0, 1, 10))
    progress = max(1, progress)
    truncated = FaultSpec(
        "truncate", _SOURCE_SYSTEM, Schedule(after_checkpoint=progress), 2 * lasting_ms(scene), {"beyond": beyond}
    )
    if "kill-worker" not in scene.mix.attacks:
        return [truncated]
    return [truncated, FaultSpec("kill", scene.worker(), unaimed(scene, progress))]


def _request_checkpoint(scene: Scene, progress: int) -> list[FaultSpec]:
    parameters: dict[str, int | str] = {"origins": scene.stream.choice(_REQUESTS)}
    return [FaultSpec("request-checkpoint", COORDINATOR, unaimed(scene, progress), parameters=parameters)]


def _second_strike(scene: Scene, kill: FaultSpec) -> list[FaultSpec]:
    """While the job recovers from a kill, the recovery is struck: the gate is armed when the kill acts."""
    stream, gates = scene.stream, scene.mix.recovery_gates
    schedule = kill.schedule
    plain = not schedule.gate and schedule.at_time_ms is None
    if not (plain and gates and stream.chance(scene.mix.second_strike_percent / 100)):
        return []
    effect = stream.weighted(gates)
    target = COORDINATOR if effect == "deploy" else scene.worker()
    if effect != "deploy" and not network_channels(scene.job, scene.topology):
        target = kill.target  # the others may be no part of the recovery
    if effect == "deploy" and "kill-coordinator" not in scene.mix.attacks:
        return []
    return [FaultSpec("kill", target, msgspec.structs.replace(schedule, gate=Gate(effect, target)))]


def _channel(scene: Scene) -> Target:
    return Target(Role.CHANNEL, scene.stream.below(len(network_channels(scene.job, scene.topology))))


ATTACKS: dict[str, Callable[[Scene, int], list[FaultSpec]]] = {
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
    "delay-messages": delay_messages,
    "double-messages": double_messages,
    "lose-messages": lose_messages,
    "forge": forge,
    "truncate": _truncate,
}
"""By name: the faults of an attack, after so many checkpoints."""
