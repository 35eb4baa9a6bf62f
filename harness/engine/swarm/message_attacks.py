"""Attacks on control messages: late, doubled and lost ones as the contract of the system allows, and forged ones."""

from __future__ import annotations

from holdfast.harness.engine.swarm.moments import lasting_ms, unaimed
from holdfast.harness.engine.swarm.scene import Scene
from holdfast.harness.model.job import VertexKind
from holdfast.harness.model.message_contract import Delivery, MessageKind, Way
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.topology import subtasks

_COORDINATOR = Target(Role.COORDINATOR)
_ALWAYS = {MessageKind.ACKNOWLEDGE: 4, MessageKind.TRIGGER: 4, MessageKind.COMPLETE: 4, MessageKind.HEARTBEAT_ANSWER: 1}
"""Kinds that every checkpoint, or every while, has."""
_OF_FAILED_CHECKPOINTS = {MessageKind.ABORT: 2, MessageKind.DECLINE: 1}
_OF_RESTARTS = dict.fromkeys(
    (
        MessageKind.DEPLOY, MessageKind.START_SOURCE, MessageKind.CANCEL, MessageKind.TASK_RUNNING,
        MessageKind.CANCELLED, MessageKind.REGISTER,
    ),
    1,
)  # fmt: skip
_FORGED: tuple[tuple[str, int, int], ...] = (
    ("acknowledge", 0, 0),
    ("acknowledge", -1, 0),
    ("acknowledge", -1, 1),
    ("acknowledge", 0, -1),
    ("trigger", 0, 0),
    ("trigger", 0, -1),
    ("abort", 0, -1),
    ("decline", 0, 0),
)
"""Messages with the shift of their attempt and checkpoint: what is repeated, or over, or within the right of a task."""
_FORGED_AT = (
    "", "checkpoint_completed", "checkpoint_aborted", "failure_counted", "transaction_committed", "job_switched",
)  # fmt: skip


def delay_messages(scene: Scene, progress: int) -> list[FaultSpec]:
    """They are late in their order, or some kinds overtake them."""
    stream = scene.stream
    kind = _kind(scene, Way.DELAY)
    parameters = _parameters(kind, stream.choice((1, 1, 2, 0)))
    longest = 4 if stream.chance(scene.mix.long_percent / 100) else 1
    parameters["delay_ms"] = stream.between(1, longest * scene.interval_ms)
    overtaking = [each for each in sorted(_delivery(scene, kind).overtaken_by) if stream.chance(0.7)]
    if overtaking and stream.chance(0.6):
        parameters["overtaken_by"] = " ".join(overtaking)
    return _with_cause(scene, progress, kind, Way.DELAY, parameters)


def double_messages(scene: Scene, progress: int) -> list[FaultSpec]:
    """Copies of them come at once or later, when their attempt may be over."""
    kind = _kind(scene, Way.DOUBLE)
    parameters = _parameters(kind, scene.stream.choice((1, 2, 0, 0)))
    parameters["delay_ms"] = scene.stream.below(3 * scene.interval_ms)
    return _with_cause(scene, progress, kind, Way.DOUBLE, parameters)


def lose_messages(scene: Scene, progress: int) -> list[FaultSpec]:
    """They are lost, one of them with its connection where it may not be lost alone."""
    kind = _kind(scene, Way.LOSE)
    occurrences = scene.stream.choice((1, 2, 3)) if _delivery(scene, kind).lost_alone else 1
    return _with_cause(scene, progress, kind, Way.LOSE, _parameters(kind, occurrences))


def forge(scene: Scene, progress: int) -> list[FaultSpec]:
    """At any time, and after the end of what it is about; not before something was acknowledged."""
    stream = scene.stream
    message, attempt, checkpoint = stream.choice(_FORGED)
    parameters: dict[str, int | str] = {
        "message": message,
        "subtask": stream.choice(_receivers(scene, message)),
        "attempt": attempt,
        "checkpoint": checkpoint,
    }
    event = "checkpoint_triggered" if message == "decline" else stream.choice(_FORGED_AT)
    schedule = Schedule(after_checkpoint=max(1, progress), at_event=event)
    return [FaultSpec("forge", _COORDINATOR, schedule, parameters=parameters)]


def _receivers(scene: Scene, message: str) -> tuple[str, ...]:
    """Subtasks that such a message may come from, or be for."""
    every = subtasks(scene.job, scene.topology)
    sources = tuple(f"{source.name}[" for source in scene.job.of_kind(VertexKind.SOURCE))
    return tuple(subtask for subtask in every if subtask.startswith(sources)) if message == "trigger" else every


def _kind(scene: Scene, way: Way) -> MessageKind:
    """A kind of message that this may be done to, in a plan that has such messages."""
    weights = dict(_ALWAYS)
    if "forge" in scene.mix.disturbances:
        weights |= _OF_FAILED_CHECKPOINTS
    if "kill-worker" in scene.mix.attacks:
        weights |= _OF_RESTARTS
    if way is Way.DOUBLE:
        weights = {kind: weight for kind, weight in weights.items() if _delivery(scene, kind).doubled}
    return scene.stream.weighted(weights)


def _delivery(scene: Scene, kind: MessageKind) -> Delivery:
    return scene.mix.message_contract[kind]


def _parameters(kind: MessageKind, occurrences: int) -> dict[str, int | str]:
    return {"message": kind.value, "occurrences": occurrences}


def _with_cause(
    scene: Scene, progress: int, kind: MessageKind, way: Way, parameters: dict[str, int | str]
) -> list[FaultSpec]:
    """The fault, and what makes messages of this kind be sent: a worker that dies, or a task that declines."""
    stream = scene.stream
    target = scene.worker() if stream.chance(0.3) else _COORDINATOR
    disturbed = FaultSpec(
        f"{way}-messages", target, Schedule(after_checkpoint=progress), 2 * lasting_ms(scene), parameters
    )
    if kind in _OF_RESTARTS:
        return [disturbed, FaultSpec("kill", scene.worker(), unaimed(scene, progress))]
    if kind in _OF_FAILED_CHECKPOINTS:
        subtask = stream.choice(subtasks(scene.job, scene.topology))
        declined = Schedule(after_checkpoint=progress, at_event="checkpoint_triggered")
        return [
            disturbed,
            FaultSpec("forge", _COORDINATOR, declined, parameters={"message": "decline", "subtask": subtask}),
        ]
    return [disturbed]
