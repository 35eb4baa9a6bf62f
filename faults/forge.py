"""Faults of the wire: a protocol message that nobody sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from holdfast.faults.landing import since
from holdfast.faults.momentary import Momentary
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.events import (
    MESSAGE_EDGES,
    AckReceived,
    DeclineReceived,
    Event,
    NotificationReceived,
    TriggerReceived,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role
from holdfast.harness.spi.controls import Controls

RECEPTIONS: Mapping[str, type[Event]] = {
    "acknowledge": AckReceived,
    "decline": DeclineReceived,
    "trigger": TriggerReceived,
    "abort": NotificationReceived,
}
"""By message, the event that its receiver records."""
_DEFAULT_MESSAGE = "acknowledge"


class Forge(Momentary):
    """A message of the protocol reaches its receiver once more, or from an attempt that is over."""

    kind = "forge"
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
    leaves = "nothing: a system must ignore what it did not ask for"

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.FORGE_MESSAGE

    def inject(self, controls: Controls, spec: FaultSpec) -> None:
        parameters = dict(spec.parameters)
        controls.forge(str(parameters.pop("message", _DEFAULT_MESSAGE)), parameters)

    def landed(self, history: History, fault: int) -> bool:
        """After the injection such a message was received more often than it was sent."""
        received = RECEPTIONS.get(str(history.plan.faults[fault].parameters.get("message", _DEFAULT_MESSAGE)))
        if received is None:
            return False
        sent, fields = next((sent, fields) for sent, kind, fields in MESSAGE_EDGES if kind is received)
        surplus = Counter(_pairing(event, fields) for event in history.of(received))
        surplus.subtract(_pairing(event, fields) for event in history.of(sent))
        return any(surplus[_pairing(event, fields)] > 0 for event in since(history, fault, received))


def _pairing(event: Event, fields: tuple[str, ...]) -> tuple[object, ...]:
    return tuple(getattr(event, field) for field in fields)
