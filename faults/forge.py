"""Faults of the wire: a protocol message that nobody sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.faults.landing import ONE_AFTER_ANOTHER, Momentary, effects
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import (
    MESSAGE_EDGES,
    AckReceived,
    DeclineReceived,
    Event,
    NotificationReceived,
    TriggerReceived,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.job import VertexKind
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import COORDINATOR, Role
from holdfast.harness.model.topology import subtasks
from holdfast.harness.spi.attack import Attack, Occasion, Scene
from holdfast.harness.spi.controls.network import ForgeryControl

RECEPTIONS: Mapping[str, type[Event]] = {
    "acknowledge": AckReceived,
    "decline": DeclineReceived,
    "trigger": TriggerReceived,
    "abort": NotificationReceived,
}
"""By message, the event that its receiver records."""
_DEFAULT_MESSAGE = "acknowledge"
_DRAWN: tuple[tuple[str, int, int], ...] = (
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
_DRAWN_AT = (
    "", "checkpoint_completed", "checkpoint_aborted", "failure_counted", "transaction_committed", "job_switched",
)  # fmt: skip


def _draw(scene: Scene) -> list[FaultSpec]:
    """At any time, and after the end of what it is about; not before something was acknowledged."""
    stream = scene.stream
    message, attempt, checkpoint = stream.choice(_DRAWN)
    parameters: dict[str, int | str] = {
        "message": message,
        "subtask": stream.choice(_receivers(scene, message)),
        "attempt": attempt,
        "checkpoint": checkpoint,
    }
    event = "checkpoint_triggered" if message == "decline" else stream.choice(_DRAWN_AT)
    schedule = Schedule(after_checkpoint=max(1, scene.progress), at_event=event)
    return [FaultSpec("forge", COORDINATOR, schedule, parameters=parameters)]


def _receivers(scene: Scene, message: str) -> tuple[str, ...]:
    """Subtasks that such a message may come from, or be for."""
    every = subtasks(scene.job, scene.topology)
    sources = tuple(f"{source.name}[" for source in scene.job.of_kind(VertexKind.SOURCE))
    return tuple(subtask for subtask in every if subtask.startswith(sources)) if message == "trigger" else every


class Forge(Momentary):
    """A message of the protocol reaches its receiver once more, or from an attempt that is over."""

    kind = "forge"
    as_request = "a forged message"
    roles = frozenset({Role.COORDINATOR, Role.TASK})
    parameters: Mapping[str, tuple[type, str]] = {
        "message": (str, f"{' or '.join(RECEPTIONS)}; {_DEFAULT_MESSAGE} if not given"),
        "subtask": (str, "whose message it pretends to be, or whom it is for"),
        "cause": (str, "of a decline: one of FailureReason; `declined` if not given"),
        "checkpoint": (int, "added to the checkpoint of the message that it copies; 0 if not given"),
        "attempt": (
            int,
            "added to the attempt of the message that it copies, so -1 is one that is over; 0 if not given",
        ),
    }
    colour = "#009e73"
    control = ForgeryControl
    leaves = "nothing: a system must ignore what it did not request"
    may_cause = frozenset({Consequence.FORGES_MESSAGES, Consequence.FAILS_TASK})
    attacks: Sequence[Attack] = (Attack("forge", _draw, (Capability.FORGE_MESSAGE,), Occasion.DISTURBANCE, 1, place=4),)

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.FORGE_MESSAGE

    def inject(self, control: ForgeryControl, spec: FaultSpec) -> None:
        parameters = dict(spec.parameters)
        control.forge(str(parameters.pop("message", _DEFAULT_MESSAGE)), parameters)

    def landed(self, history: History, fault: int) -> bool:
        """After the injection such a message was received more often than it was sent."""
        received = RECEPTIONS.get(str(history.plan.faults[fault].parameters.get("message", _DEFAULT_MESSAGE)))
        if received is None:
            return False
        sent, fields = next((sent, fields) for sent, kind, fields in MESSAGE_EDGES if kind is received)
        surplus = Counter(_pairing(event, fields) for event in history.of(received))
        surplus.subtract(_pairing(event, fields) for event in history.of(sent))
        spec = history.plan.faults[fault]

        def same(other: FaultSpec) -> bool:
            named = ("message", "subtask")
            return other.kind == self.kind and all(
                other.parameters.get(each) == spec.parameters.get(each) for each in named
            )

        seen = effects(
            history,
            fault,
            received,
            same,
            lasting=False,
            counts=lambda event: surplus[_pairing(event, fields)] > 0,
            most=lambda _: ONE_AFTER_ANOTHER,
        )
        return bool(seen)


def _pairing(event: Event, fields: tuple[str, ...]) -> tuple[object, ...]:
    return tuple(getattr(event, field) for field in fields)


def forge(message: str, subtask: str, shift: Mapping[str, int | str] = {}, **when: Any) -> FaultSpec:
    """A message of a subtask that it did not send; its attempt or checkpoint shifted."""
    parameters: dict[str, int | str] = {"message": message, "subtask": subtask, **shift}
    return FaultSpec("forge", COORDINATOR, Schedule(**when), parameters=parameters)
