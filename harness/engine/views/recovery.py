"""From a landed fault back to work: when the job ran again, when output that no one had promised before was seen, which
records are read again, and how long checkpoints take.

A recovery counts from the fault, or from its heal where it lasts. It ends where the next fault begins: what another
fault disturbed is left out. New output is that of a checkpoint that was triggered afterwards, so that nothing counts
which was on its way already. Where output follows notices and no transaction is shown, it begins when such a checkpoint
is complete. Of a system that has no checkpoints to show, it is that of records that were sent to it afterwards, and
that it answers for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from holdfast.harness.engine.plans.words import attack, target_in_words
from holdfast.harness.model.capability import EXACTLY_ONCE
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import (
    AttemptStarted,
    CheckpointCompleted,
    CheckpointTriggered,
    FaultHealed,
    FaultInjected,
    InputAcknowledged,
    JobStatus,
    JobSwitched,
    NotificationReceived,
    RowsVisible,
    SourceEmitted,
    TransactionPrecommitted,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.journal import Recovery
from holdfast.harness.spi.fault import AnyFault

_NEVER_NS = 1 << 63
_MILLISECOND_NS = 1_000_000


class _Stretch(NamedTuple):
    """Time between two moments, both excluded."""

    start_ns: int
    end_ns: int

    def holds(self, time_ns: int) -> bool:
        return self.start_ns < time_ns < self.end_ns


def recoveries(history: History, faults: Mapping[str, AnyFault]) -> tuple[Recovery, ...]:
    """What each landed fault led to, in the order of the plan.

    Args:
        history: of one run.
        faults: registered faults by kind.
    """
    healed = {event.fault: event.time_ns for event in history.of(FaultHealed)}
    acted: dict[int, _Stretch] = {}
    for event in history.of(FaultInjected):
        lasting = faults[event.fault_kind].lasting
        acted[event.fault] = _Stretch(event.time_ns, healed.get(event.fault, _NEVER_NS) if lasting else event.time_ns)
    return tuple(
        _recovery(history, fault, _undisturbed(fault, acted))
        for fault in sorted(acted)
        if history.end.faults_landed[fault]
    )


def _undisturbed(fault: int, acted: Mapping[int, _Stretch]) -> _Stretch | None:
    """The stretch from the end of a fault to the beginning of the next; None where another one still acted."""
    since_ns = acted[fault].end_ns
    others = [each for number, each in acted.items() if number != fault]
    if since_ns == _NEVER_NS or any(each.holds(since_ns) for each in others):
        return None
    return _Stretch(since_ns, min((each.start_ns for each in others if each.start_ns > since_ns), default=_NEVER_NS))


def _recovery(history: History, fault: int, stretch: _Stretch | None) -> Recovery:
    spec = history.plan.faults[fault]
    committed_ns = stretch and _new_output_ns(history, stretch)
    running_ns = stretch and _running_ns(history, stretch._replace(end_ns=committed_ns or stretch.end_ns))

    def since_ms(time_ns: int | None) -> float | None:
        return (time_ns - stretch.start_ns) / _MILLISECOND_NS if stretch and time_ns else None

    return Recovery(fault, attack(spec), target_in_words(spec.target), since_ms(running_ns), since_ms(committed_ns))


def _running_ns(history: History, stretch: _Stretch) -> int | None:
    """When the job went to RUNNING for good, if it did: an attempt that failed again was no recovery."""
    times = (event.time_ns for event in history.of(JobSwitched) if event.status is JobStatus.RUNNING)
    return max(filter(stretch.holds, times), default=None)


def _new_output_ns(history: History, stretch: _Stretch) -> int | None:
    if not history.of(CheckpointTriggered):
        return _answered_ns(history, stretch)
    begun = [event for event in history.of(CheckpointTriggered) if stretch.holds(event.time_ns)]
    if not begun:
        return None
    checkpoints = {event.checkpoint for event in begun}
    promised = {each.transaction for each in history.of(TransactionPrecommitted) if each.checkpoint not in checkpoints}
    since_ns = min(event.time_ns for event in begun)
    if _at_notices(history):
        completed = (each for each in history.of(CheckpointCompleted) if each.checkpoint in checkpoints)
        since_ns = min((each.time_ns for each in completed if stretch.holds(each.time_ns)), default=_NEVER_NS)
    rest = stretch._replace(start_ns=since_ns)
    return min(
        (
            event.time_ns
            for event in history.of(RowsVisible)
            if rest.holds(event.time_ns) and event.records and not event.final and event.name not in promised
        ),
        default=None,
    )


def _at_notices(history: History) -> bool:
    """Whether output becomes visible as tasks hear that their checkpoint is complete, and no transaction shows when."""
    once = history.claims.output == EXACTLY_ONCE
    return once and bool(history.of(NotificationReceived)) and not history.of(TransactionPrecommitted)


def _answered_ns(history: History, stretch: _Stretch) -> int | None:
    """When the system first answers for a record that was sent within a stretch."""
    first: dict[int, int] = {}
    events: list[InputAcknowledged | SourceEmitted] = [*history.of(InputAcknowledged), *history.of(SourceEmitted)]
    for event in sorted(events, key=lambda event: event.time_ns):  # Of two at a time the answer comes first.
        if not stretch.holds(event.time_ns):
            continue
        known = first.get(event.partition, _NEVER_NS)
        if isinstance(event, SourceEmitted):
            first[event.partition] = min(event.first_offset, known)
        elif known < event.next_offset:
            return event.time_ns
    return None


def read_again(history: History) -> tuple[int, ...]:
    """By restart from a checkpoint, how many records had been fed before the fault that the checkpoint does not cover.

    Of a system whose tasks report what they read, fed is what was read; of others, what the harness appended to the
    log.
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
