"""Windows: where a process stood when it died in front of an effect that a gate held.

A gate says when to fire; that the fault hit its window is read from the dead. A process that is held stands still, so
the last thing that its node recorded is the step that leads to the effect.
"""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import Gate

LAST_STEPS: dict[str, type[events.Event] | tuple[type[events.Event], ...]] = {
    "send-trigger": events.TriggerSent,
    "send-barrier": events.BarrierSent,
    "write-state": (events.SnapshotTaken, events.ChannelStateTaken),
    "pre-commit": events.SnapshotTaken,
    "acknowledge": (events.AckSent, events.AcknowledgementHeld),
    "publish-metadata": (events.AckReceived, events.SharedStateRegistered, events.SplitsLeft),
    "notify": events.NotificationSent,
    "commit": events.CommitTried,
    "deploy": (events.AttemptStarted, events.FinishReceived),
    "restored": events.TaskStarted,
    "cancelled": events.TaskStopped,
}
"""By effect, the step, or one of those, that comes right before it. An intent is recorded before it is tried: an ack as
sent before the message leaves. Of an effect that is not named here nothing more can be proved than that the process
died, unless a program said that it stood there."""


def died_in_window(history: History, node: str, gate: Gate) -> bool:
    """Whether the last step of a dead node is the one that leads to the effect of a gate."""
    expected = LAST_STEPS.get(gate.effect)
    last = next((event for event in reversed(history.events) if event.node == node), None)
    if expected is None:
        named = history.of(events.ProgramHeld)
        return not named or (isinstance(last, events.ProgramHeld) and last.gate == gate.effect)
    return last is not None and isinstance(last, expected) and _of_vertex(last, gate.vertex)


def _of_vertex(step: events.Event, vertex: str) -> bool:
    """Whether a step is one of a vertex; of any if it is not said, or if the step names none."""
    place = getattr(step, "channel", None) or getattr(step, "subtask", None)
    return not vertex or place is None or place.startswith(f"{vertex}[")
