"""What restarts and checkpoints of a run cost: records that are read again, and how long checkpoints take."""

from __future__ import annotations

from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import (
    AttemptStarted,
    CheckpointCompleted,
    CheckpointTriggered,
    FaultHealed,
    FaultInjected,
    SourceEmitted,
)
from holdfast.harness.model.history import History


def read_again(history: History) -> tuple[int, ...]:
    """By restart from a checkpoint, how many records had been fed before the fault that the checkpoint does not cover.

    Of a system whose tasks tell what they read, fed is what was read; of others, what the harness appended to the log.
    """
    covered = {event.checkpoint: event.positions for event in history.of(CheckpointCompleted)}
    fed: dict[int, int] = {}
    struck: dict[int, int] | None = None
    found = []
    events: list[SourceEmitted | FaultInjected | AttemptStarted]
    events = [*history.of(SourceEmitted), *history.of(FaultInjected), *history.of(AttemptStarted)]
    for event in sorted(events, key=lambda each: each.time_ns):
        if isinstance(event, SourceEmitted):
            fed[event.partition] = event.next_offset
        elif isinstance(event, FaultInjected):
            struck = struck or dict(fed)
        else:
            restored = event.restored_checkpoint
            positions = covered.get(restored, ()) if restored is not None else ()
            if positions and struck is not None:
                found.append(sum(max(0, reached - positions[partition]) for partition, reached in struck.items()))
            struck = None
    return tuple(found)


def checkpoints_ms(history: History) -> tuple[float, ...]:
    """By completed checkpoint, milliseconds since its trigger, in the order in which they completed. Where tasks were
    made slow, of those alone that were triggered meanwhile: what is measured then is back-pressure."""
    slow = [event for event in history.of(FaultInjected) if Consequence.SLOWS_TASK in (event.may_cause or ())]
    healed_ns = {event.fault: event.time_ns for event in history.of(FaultHealed)}
    stretches = [(event.time_ns, healed_ns.get(event.fault, history.end.ended_ns)) for event in slow]
    triggered = {
        event.checkpoint: event.time_ns
        for event in history.of(CheckpointTriggered)
        if not stretches or any(begin_ns <= event.time_ns < end_ns for begin_ns, end_ns in stretches)
    }
    return tuple(
        (event.time_ns - triggered[event.checkpoint]) / 1e6
        for event in history.of(CheckpointCompleted)
        if event.checkpoint in triggered
    )
