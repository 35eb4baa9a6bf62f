"""Faults of control messages: late, doubled, lost, as far as the contract of the system allows each kind of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import inf
from typing import Any

from holdfast.faults.landing import effects, of_kinds
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import (
    AckReceived,
    DeclineReceived,
    Event,
    FinishReceived,
    MessageDisturbed,
    NotificationReceived,
    SplitsAssigned,
    SplitsReceived,
    TriggerReceived,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.message_contract import Disturbance, MessageContract, MessageKind, Way
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.sentence import known_names
from holdfast.harness.model.target import COORDINATOR, Role, Target
from holdfast.harness.model.topology import subtasks
from holdfast.harness.spi.attack import Attack, Feature, Occasion, Scene
from holdfast.harness.spi.controls.network import MessageControl

RECEPTIONS: Mapping[str, type[Event]] = {
    MessageKind.TRIGGER: TriggerReceived,
    MessageKind.COMPLETE: NotificationReceived,
    MessageKind.ABORT: NotificationReceived,
    MessageKind.ASSIGN_SPLITS: SplitsReceived,
    MessageKind.TASK_FINISHED: FinishReceived,
    MessageKind.ACKNOWLEDGE: AckReceived,
    MessageKind.DECLINE: DeclineReceived,
}
"""By message, the event that its receiver records; of others it records none."""
SENDINGS: Mapping[str, type[Event]] = {MessageKind.ASSIGN_SPLITS: SplitsAssigned}
"""By message that is sent again under the same name until it is confirmed, the event that its sender records."""
_DEFAULT_MESSAGE = MessageKind.COMPLETE
_DEFAULT_DELAY_MS = 50
_MILLISECOND_NS = 1_000_000
_OF_ALL = {
    "message": (str, f"{' or '.join(MessageKind)}; {_DEFAULT_MESSAGE} if not given"),
    "occurrences": (int, "how many on each connection; 0: all until the heal; 1 if not given"),
    "subtask": (str, "only messages of this subtask, or to it; of any if not given"),
}

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


def _draw_delay(scene: Scene) -> list[FaultSpec]:
    """They are late in their order, or some kinds overtake them."""
    stream = scene.stream
    kind = _draw_kind(scene, Way.DELAY)
    parameters = _parameters(kind, stream.choice((1, 1, 2, 0)))
    parameters["delay_ms"] = stream.between(1, (4 if scene.is_long() else 1) * scene.interval_ms)
    overtaking = [each for each in sorted(scene.message_contract[kind].overtaken_by) if stream.chance(0.7)]
    if overtaking and stream.chance(0.6):
        parameters["overtaken_by"] = " ".join(overtaking)
    return _with_cause(scene, kind, Way.DELAY, parameters)


def _draw_double(scene: Scene) -> list[FaultSpec]:
    """Copies of them come at once or later, when their attempt may be over."""
    kind = _draw_kind(scene, Way.DOUBLE)
    parameters = _parameters(kind, scene.stream.choice((1, 2, 0, 0)))
    parameters["delay_ms"] = scene.stream.below(3 * scene.interval_ms)
    return _with_cause(scene, kind, Way.DOUBLE, parameters)


def _draw_loss(scene: Scene) -> list[FaultSpec]:
    """They are lost, one of them with its connection where it may not be lost alone."""
    kind = _draw_kind(scene, Way.LOSE)
    occurrences = scene.stream.choice((1, 2, 3)) if scene.message_contract[kind].lost_alone else 1
    return _with_cause(scene, kind, Way.LOSE, _parameters(kind, occurrences))


def _draw_kind(scene: Scene, way: Way) -> MessageKind:
    """A kind of message that this may be done to, in a plan that has such messages."""
    weights = dict(_ALWAYS)
    if Capability.FORGE_MESSAGE in scene.able:
        weights |= _OF_FAILED_CHECKPOINTS
    if Capability.KILL_WORKER in scene.able:
        weights |= _OF_RESTARTS
    if way is Way.DOUBLE:
        weights = {kind: weight for kind, weight in weights.items() if scene.message_contract[kind].doubled}
    return scene.stream.weighted(weights)


def _parameters(kind: MessageKind, occurrences: int) -> dict[str, int | str]:
    return {"message": kind.value, "occurrences": occurrences}


def _with_cause(scene: Scene, kind: MessageKind, way: Way, parameters: dict[str, int | str]) -> list[FaultSpec]:
    """The fault, and what makes messages of this kind be sent: a worker that dies, or a task that declines."""
    stream, after = scene.stream, Schedule(after_checkpoint=scene.progress)
    target = scene.worker() if stream.chance(0.3) else COORDINATOR
    disturbed = FaultSpec(f"{way}-messages", target, after, 2 * scene.lasting_ms(), parameters)
    if kind in _OF_RESTARTS:
        return [disturbed, FaultSpec("kill", scene.worker(), scene.unaimed())]
    if kind in _OF_FAILED_CHECKPOINTS:
        subtask = stream.choice(subtasks(scene.job, scene.topology))
        declined = Schedule(after_checkpoint=scene.progress, at_event="checkpoint_triggered")
        decline: dict[str, int | str] = {"message": "decline", "subtask": subtask}
        return [disturbed, FaultSpec("forge", COORDINATOR, declined, parameters=decline)]
    return [disturbed]


class MessageFault:
    """What the faults of messages have in common. The coordinator as target: on all its connections; a worker: on its
    own one."""

    kind: str
    way: Way
    roles = frozenset({Role.COORDINATOR, Role.WORKER})
    parameters: Mapping[str, tuple[type, str]] = _OF_ALL
    lasting = True
    may_cause = frozenset({Consequence.DISTURBS_MESSAGES, Consequence.LOSES_PROCESS, Consequence.FAILS_TASK})
    control = MessageControl

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.DISTURB_MESSAGES

    def beyond(self, spec: FaultSpec, contract: MessageContract) -> str:
        """See spi.fault.ContractBound."""
        return self.disturbance(spec).beyond(contract)

    def inject(self, control: MessageControl, spec: FaultSpec) -> None:
        control.disturb(self.disturbance(spec))

    def undo(self, control: MessageControl, spec: FaultSpec) -> None:
        control.restore(self.disturbance(spec))

    def healed(self, control: MessageControl, spec: FaultSpec) -> bool:
        return control.whole(self.disturbance(spec))

    def landed(self, history: History, fault: int) -> bool:
        """Whoever sent such a message recorded that the fault acted on it, and what was received agrees with that."""
        wanted = self.disturbance(history.plan.faults[fault])
        return any(self.agrees(history, event) for event in _acted(history, fault, wanted))

    def agrees(self, history: History, event: MessageDisturbed) -> bool:
        """Whether what was received shows what was done, as far as receptions of this kind are recorded."""
        raise NotImplementedError

    def disturbance(self, spec: FaultSpec) -> Disturbance:
        """The disturbance that a plan states.

        Raises:
            ValueError: there is no such message, or so small a number says nothing.
        """
        parameters = spec.parameters
        return Disturbance(
            message=_kind("message", str(parameters.get("message", _DEFAULT_MESSAGE))),
            way=self.way,
            occurrences=_at_least(0, "occurrences", int(parameters.get("occurrences", 1))),
            delay_ms=_at_least(self.least_delay_ms, "delay_ms", int(parameters.get("delay_ms", self.default_delay_ms))),
            overtaken_by=frozenset(
                _kind("overtaken_by", word) for word in str(parameters.get("overtaken_by", "")).split()
            ),
            worker=spec.target.index if spec.target.role is Role.WORKER else -1,
            subtask=str(parameters.get("subtask", "")),
        )

    default_delay_ms = least_delay_ms = 0


class DelayMessages(MessageFault):
    """The next messages of a kind are late. What is sent behind them waits too, but for kinds that may overtake."""

    kind = "delay-messages"
    way = Way.DELAY
    parameters: Mapping[str, tuple[type, str]] = {
        **_OF_ALL,
        "delay_ms": (int, f"how late; {_DEFAULT_DELAY_MS} if not given"),
        "overtaken_by": (str, "kinds that go in front of it: words as for `message`; none if not given"),
    }
    colour = "#8c510a"
    attacks: Sequence[Attack] = (
        Attack("delay-messages", _draw_delay, (Capability.DISTURB_MESSAGES,), Occasion.DISTURBANCE, 2, place=1),
    )
    leaves = "nothing: every message arrives, or its connection is lost before"
    default_delay_ms = _DEFAULT_DELAY_MS
    least_delay_ms = 1

    def agrees(self, history: History, event: MessageDisturbed) -> bool:
        """Whether it was not received before the delay was over."""
        due_ns = event.time_ns + event.delay_ms * _MILLISECOND_NS
        return _received(history, event, due_ns) <= _sent_again(history, event, due_ns)


class DoubleMessages(MessageFault):
    """The next messages of a kind arrive twice."""

    kind = "double-messages"
    way = Way.DOUBLE
    parameters: Mapping[str, tuple[type, str]] = {
        **_OF_ALL,
        "delay_ms": (int, "how much later than the first the copy arrives; 0 if not given"),
    }
    colour = "#bf812d"
    attacks: Sequence[Attack] = (
        Attack("double-messages", _draw_double, (Capability.DISTURB_MESSAGES,), Occasion.DISTURBANCE, 2, place=2),
    )
    leaves = "nothing: a copy changes nothing"

    def agrees(self, history: History, event: MessageDisturbed) -> bool:
        """Whether it was received at least twice, and after it was sent."""
        copies = _received(history, event) - _sent_again(history, event)
        return event.message not in RECEPTIONS or copies > 1


class LoseMessages(MessageFault):
    """The next messages of a kind are lost: alone where the contract allows that, else with their connection."""

    kind = "lose-messages"
    way = Way.LOSE
    colour = "#dfc27d"
    leaves = "nothing: what may be lost alone is covered by a timeout or by the next message"
    attacks: Sequence[Attack] = (
        Attack("lose-messages", _draw_loss, (Capability.DISTURB_MESSAGES,), Occasion.DISTURBANCE, 2, place=3),
    )

    def precludes(self, spec: FaultSpec) -> Collection[Feature]:
        """See spi.attack.Precluding. A sink whose last notice is lost never learns again what it must commit."""
        notice = self.disturbance(spec).message is MessageKind.COMPLETE
        return (Feature.NO_FINAL_CHECKPOINT,) if notice else ()

    def agrees(self, history: History, event: MessageDisturbed) -> bool:
        """Whether it was not received since; one of the same name before, or sent again later, is another one."""
        return event.with_connection or _received(history, event) <= _sent_again(history, event)


def _acted(history: History, fault: int, wanted: Disturbance) -> Iterator[MessageDisturbed]:
    """What was done to messages by a fault, from its injection on."""

    def alike(event: MessageDisturbed) -> bool:
        same = (event.message, event.way, event.delay_ms) == (wanted.message, wanted.way, wanted.delay_ms)
        return same and wanted.worker in (-1, event.worker)

    yield from effects(
        history, fault, MessageDisturbed, of_kinds(history.plan.faults[fault].kind), lasting=True, counts=alike
    )


def _received(history: History, event: MessageDisturbed, until_ns: float = inf) -> int:
    """How often a message with the name of a disturbed one was received since, and before a time."""
    return sum(event.time_ns <= each.time_ns < until_ns for each in _receptions(history, event))


def _sent_again(history: History, event: MessageDisturbed, until_ns: float = inf) -> int:
    """How often a message with the name of a disturbed one was sent after it, and before a time."""
    kind = SENDINGS.get(event.message)
    return sum(
        (sent.attempt, getattr(sent, "subtask", "")) == (event.attempt, event.subtask)
        and event.time_ns < sent.time_ns < until_ns
        for sent in (() if kind is None else history.of(kind))
    )


def _receptions(history: History, event: MessageDisturbed) -> Iterator[Event]:
    """Receptions of messages that bear the name of a disturbed one."""
    kind = RECEPTIONS.get(event.message)
    if kind is None:
        return
    completed = event.message == MessageKind.COMPLETE
    for received in history.of(kind):
        same = (received.attempt, getattr(received, "subtask", "")) == (event.attempt, event.subtask)
        if (
            same
            and getattr(received, "checkpoint", event.checkpoint) == event.checkpoint
            and getattr(received, "completed", completed) == completed
        ):
            yield received


def _at_least(least: int, parameter: str, value: int) -> int:
    if value < least:
        raise ValueError(f"{parameter} is {value}; allowed is {least} or more: change it.")
    return value


def _kind(parameter: str, word: str) -> MessageKind:
    try:
        return MessageKind(word)
    except ValueError:
        raise ValueError(
            f"{parameter} is {word!r}; {known_names(word, sorted(MessageKind), 'allowed are')}: use one of these."
        ) from None


def disturb(
    kind: str,
    message: str,
    target: Target = COORDINATOR,
    how: Mapping[str, int | str] = {},
    duration_ms: int = 400,
    **when: Any,
) -> FaultSpec:
    """The next messages of a kind are delayed, doubled or lost."""
    return FaultSpec(f"{kind}-messages", target, Schedule(**when), duration_ms, {"message": message, **how})
