"""What faults share: the proof that one took effect, from what the history says about the time in which it acted, and
the base of those that act once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from math import inf
from typing import Any, NamedTuple

from holdfast.harness.model import events
from holdfast.harness.model.history import EventKind, History
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role


class Window(NamedTuple):
    """A stretch of time, in nanoseconds of the one clock that all nodes of a machine share."""

    start_ns: int
    end_ns: int

    @property
    def length_ns(self) -> int:
        return self.end_ns - self.start_ns

    def holds(self, time_ns: int) -> bool:
        """Whether a time lies inside; what happened exactly on an edge belongs to the neighbour."""
        return self.start_ns < time_ns < self.end_ns


class Crossing(NamedTuple):
    """A batch or barrier on its way through a channel, or a request until its answer; `received_ns` is None if it never
    arrived."""

    sent_ns: int
    received_ns: int | None


def injection(history: History, fault: int) -> events.FaultInjected | None:
    """When a fault began to act, if it ever did."""
    return next((event for event in history.of(events.FaultInjected) if event.fault == fault), None)


ONE_AFTER_ANOTHER = 1
WITHOUT_END = 1 << 30
"""How many effects a fault may have: one, or as many as there are."""
Rivals = Callable[[FaultSpec], bool]


def of_kinds(*kinds: str) -> Rivals:
    """Faults of these kinds."""
    return lambda spec: spec.kind in kinds


def struck(history: History, fault: int) -> list[events.FaultStruck]:
    """What the mechanism of a fault recorded of its effects."""
    return [event for event in history.of(events.FaultStruck) if event.fault == fault]


def effects(
    history: History,
    fault: int,
    kind: type[EventKind],
    rivals: Rivals,
    *,
    lasting: bool,
    counts: Callable[[EventKind], bool] = lambda _: True,
    about: Callable[[EventKind], str] | None = None,
    most: Callable[[FaultSpec], int] = lambda _: WITHOUT_END,
) -> list[EventKind]:
    """The events of one kind that are the work of one fault. Each belongs to the fault whose mechanism was the last to
    record that it acted, on the same thing.

    A foreign system that cannot carry an identity records nothing. There an event belongs, of the faults that act, to
    the one that was injected last and has not had all its effects.

    Args:
        history: of the run.
        fault: whose they are.
        kind: of the events.
        rivals: which faults of the plan could have brought them about as well.
        lasting: such a fault acts until its heal, and what comes later is none of its work.
        counts: which of the events are such effects.
        about: what an event is about, in the words of FaultStruck; None: of whatever is recorded.
        most: how many of them a fault can have.
    """
    specs = history.plan.faults
    ended_ns = {event.fault: event.time_ns for event in history.of(events.FaultHealed)} if lasting else {}
    claims: list[_Claim] = []
    for injected in history.of(events.FaultInjected):
        one = injected.fault
        if one != fault and not (one < len(specs) and rivals(specs[one])):
            continue
        if injected.stamped:
            claims += [_Claim(each.time_ns, inf, one, each.what) for each in struck(history, one)]
        else:
            claims.append(_Claim(injected.time_ns, ended_ns.get(one, inf), one, None))
    claims.sort(key=lambda claim: claim.since_ns)
    left = {claim.fault: most(specs[claim.fault]) for claim in claims}
    found = []
    for effect in sorted(filter(counts, history.of(kind)), key=lambda event: event.time_ns):
        owner = None
        for claim in claims:
            same = about is None or claim.what in (None, about(effect))
            if same and claim.since_ns <= effect.time_ns <= claim.until_ns and left[claim.fault]:
                owner = claim.fault
        if owner is not None:
            left[owner] -= 1
            if owner == fault:
                found.append(effect)
    return found


class _Claim(NamedTuple):
    """From when until when effects are those of a fault, and on what; None: on whatever there is."""

    since_ns: int
    until_ns: float
    fault: int
    what: str | None


def time_of_next(history: History, fault: int, rivals: Rivals | None = None) -> float:
    """When the next of some faults acts, as `time_ns`, of those of the same kind unless stated otherwise; infinity:
    none does."""
    specs = history.plan.faults
    rivals = rivals or of_kinds(specs[fault].kind)
    injected = history.of(events.FaultInjected)
    places = [place for place, event in enumerate(injected) if event.fault == fault]
    later = injected[places[0] + 1 :] if places else []
    return next((event.time_ns for event in later if rivals(specs[event.fault])), inf)


def since(history: History, fault: int, kind: type[EventKind]) -> list[EventKind]:
    """The events of one kind that are not earlier than the injection of a fault; none if it never acted."""
    injected = injection(history, fault)
    return [] if injected is None else [event for event in history.of(kind) if event.time_ns >= injected.time_ns]


def window_of(history: History, fault: int) -> Window | None:
    """The window from the injection of a fault to its heal, or to the last event if it was never healed."""
    injected = injection(history, fault)
    if injected is None:
        return None
    healed = next((event.time_ns for event in history.of(events.FaultHealed) if event.fault == fault), None)
    if healed is None:
        healed = max(event.time_ns for event in history.events)
    return Window(injected.time_ns, healed)


def silence_in(window: Window, voices_ns: Iterable[int]) -> Window | None:
    """The silence that fills most of a window, if there is one.

    Injection and heal are recorded a moment before or after they act, so on real machines a few voices fall inside a
    window without being an objection: a proof asks for three quarters of it.
    """
    start_ns, end_ns = window
    edges = [start_ns, *sorted(time for time in voices_ns if start_ns < time < end_ns), end_ns]
    lengths_ns = [later - earlier for earlier, later in pairwise(edges)]
    place = lengths_ns.index(max(lengths_ns))
    longest = Window(edges[place], edges[place + 1])
    return longest if 4 * longest.length_ns >= 3 * window.length_ns > 0 else None


def crossings(history: History, channel: str) -> Iterator[Crossing]:
    """Everything that was sent through a channel: batches, then barriers."""
    batches = {
        (event.attempt, event.position): event.time_ns
        for event in history.of(events.BatchProcessed)
        if event.channel == channel
    }
    for batch in history.of(events.BatchSent):
        if batch.channel == channel:
            yield Crossing(batch.time_ns, batches.get((batch.attempt, batch.position)))
    barriers = {
        (event.attempt, event.checkpoint): event.time_ns
        for event in history.of(events.BarrierReceived)
        if event.channel == channel
    }
    for barrier in history.of(events.BarrierSent):
        if barrier.channel == channel:
            yield Crossing(barrier.time_ns, barriers.get((barrier.attempt, barrier.checkpoint)))


def operations(history: History, role: Role) -> list[Crossing]:
    """The requests to a service, each until it was done.

    Of a source system: records of each partition, from those that came last until the next. Of a broker: commits, where
    the sink records them. Else checkpoints, which are complete only when everything is
    stored; of a store also ids of checkpoints, until they are durable. Of a coordinator: triggers, until a source has
    them, and snapshots, until they are acknowledged.
    """
    if role is Role.SOURCE_SYSTEM:
        return _reads(history)
    if role is Role.COORDINATOR:
        return _messages(history)
    if role is Role.BROKER and history.of(events.CommitTried):
        return _spans(
            [(each.transaction, each) for each in history.of(events.CommitTried)],
            [
                *((each.transaction, each) for each in history.of(events.TransactionCommitted)),
                *((each.transaction, each) for each in history.of(events.CommitFailed)),
            ],
        )
    triggered = [(each.checkpoint, each) for each in history.of(events.CheckpointTriggered)]
    aborted = [(each.checkpoint, each) for each in history.of(events.CheckpointAborted)]
    spans = _spans(triggered, [*((each.checkpoint, each) for each in history.of(events.CheckpointCompleted)), *aborted])
    if role is Role.STORAGE:
        spans += _spans(
            [(each.checkpoint, each) for each in history.of(events.CheckpointDrawn)], [*triggered, *aborted]
        )
    return spans


def _messages(history: History) -> list[Crossing]:
    return [
        *_spans(
            [(each.checkpoint, each) for each in history.of(events.CheckpointTriggered)],
            [(each.checkpoint, each) for each in history.of(events.TriggerReceived)],
        ),
        *_spans(
            [((each.subtask, each.checkpoint), each) for each in history.of(events.SnapshotTaken)],
            [((each.subtask, each.checkpoint), each) for each in history.of(events.AckReceived)],
        ),
    ]


def _reads(history: History) -> list[Crossing]:
    """Nobody waits for more where everything was read."""
    by_partition: dict[int, list[events.SourceEmitted]] = {}
    for event in sorted(history.of(events.SourceEmitted), key=lambda event: event.time_ns):
        by_partition.setdefault(event.partition, []).append(event)
    found = []
    for partition, emitted in by_partition.items():
        found += [Crossing(earlier.time_ns, later.time_ns) for earlier, later in pairwise(emitted)]
        if max(each.next_offset for each in emitted) < history.inputs.lengths()[partition]:
            found.append(Crossing(emitted[-1].time_ns, None))
    return found


def _spans(
    begun: Iterable[tuple[object, events.Event]], ended: Iterable[tuple[object, events.Event]]
) -> list[Crossing]:
    """The spans from each beginning to the first end of the same name that is not earlier."""
    ends: dict[object, list[int]] = {}
    for name, event in ended:
        ends.setdefault(name, []).append(event.time_ns)
    return [
        Crossing(event.time_ns, min((end for end in ends.get(name, ()) if end >= event.time_ns), default=None))
        for name, event in begun
    ]


class Momentary:
    """What acts once and is over, so that there is nothing to undo."""

    lasting = False

    def undo(self, control: Any, spec: FaultSpec) -> None:
        pass

    def healed(self, control: Any, spec: FaultSpec) -> bool:
        return True
