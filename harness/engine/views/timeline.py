"""From a history to a timeline that a report can draw. Times are milliseconds since the start of the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holdfast.harness.engine.plans.words import target_in_words
from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.model.journal import Band, Lane, Span, Timeline
from holdfast.harness.model.target import Role
from holdfast.harness.model.topology import process_of
from holdfast.harness.spi.fault import AnyFault

POINTS = 200
"""How many points a curve has at most."""
SERVICES = tuple(role.value for role in (Role.BROKER, Role.STORAGE, Role.SOURCE_SYSTEM, Role.SINK_SYSTEM))
"""What the system under test depends on and a fault can end; each is a process of that name."""
_NANOSECONDS = 1_000_000


class _Clock:
    """Milliseconds since the first event."""

    def __init__(self, history: History) -> None:
        self.start_ns = min((event.time_ns for event in history.events), default=0)
        last_ns = max((event.time_ns for event in history.events), default=0)
        self.end_ms = max(self.of(last_ns), history.end.ended_ns / _NANOSECONDS)

    def of(self, time_ns: int) -> float:
        return (time_ns - self.start_ns) / _NANOSECONDS


def timeline(history: History, faults: Mapping[str, AnyFault], precisions: Mapping[int, str]) -> Timeline:
    """Lanes, spans, bands and curves of one run."""
    clock = _Clock(history)
    return Timeline(
        duration_ms=clock.end_ms,
        lanes=_lanes(history, clock),
        checkpoints=_spans(history, clock),
        faults=_bands(history, clock, faults, precisions),
        restarts_ms=tuple(clock.of(event.time_ns) for event in history.of(events.AttemptStarted)[1:]),
        healed_ms=history.end.healed_ns / _NANOSECONDS,
        visible_rows=_visible_rows(history.of(events.RowsVisible), clock),
        records=_records_per_second(history.of(events.SourceEmitted), clock),
    )


def _lanes(history: History, clock: _Clock) -> tuple[Lane, ...]:
    starts = {event.node: clock.of(event.time_ns) for event in history.of(events.NodeStarted)}
    ends = {event.dead_node: clock.of(event.time_ns) for event in history.of(events.NodeDied)}
    lives: dict[str, list[tuple[float, float]]] = {}
    for node in dict.fromkeys([*(each for each in ends if process_of(each) in SERVICES), *starts]):
        # A service may have stood before the run began.
        lives.setdefault(process_of(node), []).append((starts.get(node, 0.0), ends.get(node, clock.end_ms)))
    lanes = sorted((order, name) for name in lives if (order := _lane_order(name)) is not None)
    return tuple(Lane(name.replace("-", " "), tuple(sorted(lives[name]))) for _, name in lanes)


def _lane_order(process: str) -> tuple[int, int] | None:
    """Where the lane of a process is; None for one that has none."""
    if process == "coordinator":
        return 0, 0
    if process in SERVICES:
        return 2, SERVICES.index(process)
    kind, _, number = process.partition("-")
    return (1, int(number)) if kind == "worker" and number.isdigit() else None


def _spans(history: History, clock: _Clock) -> tuple[Span, ...]:
    ends: list[events.CheckpointAborted | events.CheckpointCompleted] = [
        *history.of(events.CheckpointAborted),
        *history.of(events.CheckpointCompleted),
    ]
    ended = {event.checkpoint: event for event in ends}
    spans = []
    for triggered in history.of(events.CheckpointTriggered):
        start_ms, end = clock.of(triggered.time_ns), ended.get(triggered.checkpoint)
        if end is None:
            spans.append(Span(triggered.checkpoint, start_ms, clock.end_ms, "pending"))
        elif isinstance(end, events.CheckpointAborted):
            spans.append(Span(triggered.checkpoint, start_ms, clock.of(end.time_ns), "aborted", end.reason))
        else:
            spans.append(Span(triggered.checkpoint, start_ms, clock.of(end.time_ns), "completed"))
    return tuple(spans)


def _bands(
    history: History, clock: _Clock, faults: Mapping[str, AnyFault], precisions: Mapping[int, str]
) -> tuple[Band, ...]:
    healed = {event.fault: clock.of(event.time_ns) for event in history.of(events.FaultHealed)}
    bands = []
    for injected in history.of(events.FaultInjected):
        spec, index = history.plan.faults[injected.fault], injected.fault
        fault = faults[spec.kind]
        start_ms = clock.of(injected.time_ns)
        bands.append(
            Band(
                fault=index,
                kind=spec.kind,
                target=target_in_words(spec.target),
                start_ms=start_ms,
                end_ms=healed.get(index, clock.end_ms) if fault.lasting else start_ms,
                fate=history.end.fault_fates[index],
                precision=precisions.get(index, "boundary" if injected.stamped else "by-time"),
                colour=fault.colour,
                leaves=fault.leaves,
            )
        )
    return tuple(bands)


def _visible_rows(seen: Sequence[events.RowsVisible], clock: _Clock) -> tuple[tuple[float, int], ...]:
    points, total = [], 0
    for event in seen:
        total += event.records
        points.append((clock.of(event.time_ns), total))
    step = -(-len(points) // POINTS) or 1
    return tuple(points[::-1][::step][::-1])  # Thinned from the end, so that the total stays.


def _records_per_second(emitted: Sequence[events.SourceEmitted], clock: _Clock) -> tuple[tuple[float, float], ...]:
    if not emitted or not clock.end_ms:
        return ()
    bins = min(POINTS, max(10, len(emitted) // 3))
    width_ms = clock.end_ms / bins
    counts = [0] * bins
    for event in emitted:
        place = min(bins - 1, int(clock.of(event.time_ns) / width_ms))
        counts[place] += event.next_offset - event.first_offset
    return tuple((index * width_ms, count * 1_000 / width_ms) for index, count in enumerate(counts))
