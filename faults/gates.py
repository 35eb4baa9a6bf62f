"""Windows: where a process stood when it died in front of an effect that a gate held.

A gate says when to fire. That the fault hit its window is read from what the dead node had recorded: the step that
leads to the effect, and not the one that follows it.
"""

from __future__ import annotations

from typing import NamedTuple

from holdfast.harness.model.events import (
    AckReceived,
    AckSent,
    CheckpointCompleted,
    CheckpointTriggered,
    Event,
    MetadataPublished,
    NotificationReceived,
    NotificationSent,
    SnapshotTaken,
    TransactionCommitted,
    TransactionPrecommitted,
    TriggerSent,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import Gate


class EffectWindow(NamedTuple):
    """The steps on both sides of an effect, and the fields that pair them."""

    before: type[Event]
    after: type[Event]
    fields: tuple[str, ...]


WINDOWS = {
    "trigger": EffectWindow(CheckpointTriggered, TriggerSent, ("checkpoint",)),
    "pre-commit": EffectWindow(SnapshotTaken, TransactionPrecommitted, ("subtask", "checkpoint")),
    "write-state": EffectWindow(SnapshotTaken, AckSent, ("subtask", "checkpoint")),
    "acknowledge": EffectWindow(SnapshotTaken, AckSent, ("subtask", "checkpoint")),
    "publish-metadata": EffectWindow(AckReceived, MetadataPublished, ("checkpoint",)),
    "complete": EffectWindow(MetadataPublished, CheckpointCompleted, ("checkpoint",)),
    "notify": EffectWindow(CheckpointCompleted, NotificationSent, ("checkpoint",)),
    "commit": EffectWindow(NotificationReceived, TransactionCommitted, ("subtask",)),
}
"""By effect. Of an effect that is not named here nothing more can be proved than that the process died."""


def died_in_window(history: History, node: str, gate: Gate) -> bool:
    """Whether the dead node's last step that leads to the effect was not followed by the one behind it."""
    window = WINDOWS.get(gate.effect)
    if window is None:
        return True
    pending: object = None
    for event in history.events:
        if event.node != node or not getattr(event, "subtask", gate.vertex).startswith(gate.vertex):
            continue
        if type(event) is window.before:
            pending = _pairing(event, window)
        elif type(event) is window.after and _pairing(event, window) == pending:
            pending = None
    return pending is not None


def _pairing(event: Event, window: EffectWindow) -> tuple[object, ...]:
    return tuple(getattr(event, field) for field in window.fields)
