"""From a history to what a report draws over time: a timeline, in milliseconds since the start of the run, and the
checkpoints as the system reported them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from holdfast.harness.engine.plans.words import target_in_words
from holdfast.harness.model import events
from holdfast.harness.model.events import (
    CheckpointStatistics,
    CheckpointStatus,
    CheckpointTriggered,
    NodeDied,
    RestoreCompleted,
    RestoreStatistics,
    SubtaskStatistics,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.journal import Band, Lane, Span, Timeline
from holdfast.harness.model.run_details import (
    CheckpointHistory,
    ReportedCheckpoint,
    ReportedRestore,
    ReportedStatus,
    SubtaskPart,
)
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


MOST_CHECKPOINTS = 100
"""A report is read by people; the stored history has them all."""
Key = tuple[str, int]
"""Node of the coordinator, checkpoint."""
_MILLISECOND_NS = 1_000_000


def checkpoint_history(history: History) -> CheckpointHistory | None:
    """What the system reports of its checkpoints; None if it reports none."""
    reports = {(each.node, each.checkpoint): each for each in history.of(CheckpointStatistics)}
    if not reports:
        return None
    start_ms = min(event.time_ns for event in history.events) / _MILLISECOND_NS
    dead = {death.dead_node for death in history.of(NodeDied)}
    acknowledged = {(each.node, each.checkpoint, each.subtask): each for each in history.of(SubtaskStatistics)}
    participants = {(each.node, each.checkpoint): each.participants for each in history.of(CheckpointTriggered)}
    statuses = {key: _status(report, dead) for key, report in reports.items()}
    took = {each.attempt: each.duration_ms for each in history.of(RestoreCompleted)}
    shown = list(reports.items())[-MOST_CHECKPOINTS:]
    return CheckpointHistory(
        checkpoints=tuple(
            _checkpoint(report, statuses[key], start_ms, _parts(key, participants.get(key, ()), acknowledged))
            for key, report in shown
        ),
        left_out=len(reports) - len(shown),
        counts=dict(Counter(statuses.values())),
        restores=tuple(
            ReportedRestore(
                each.checkpoint, each.path, each.time_ns / _MILLISECOND_NS - start_ms, took.get(each.attempt)
            )
            for each in history.of(RestoreStatistics)
        ),
    )


def _status(report: CheckpointStatistics, dead: set[str]) -> ReportedStatus:
    if report.status is CheckpointStatus.IN_PROGRESS:
        return ReportedStatus.LOST if report.node in dead else ReportedStatus.IN_PROGRESS
    return ReportedStatus(report.status.value)


def _checkpoint(
    report: CheckpointStatistics, status: ReportedStatus, start_ms: float, parts: tuple[SubtaskPart, ...]
) -> ReportedCheckpoint:
    ended = report.status is not CheckpointStatus.IN_PROGRESS
    return ReportedCheckpoint(
        checkpoint=report.checkpoint,
        kind=report.checkpoint_type.value,
        status=status,
        triggered_ms=report.triggered_ms - start_ms,
        duration_ms=report.duration_ms if ended else None,
        idle_ms=report.idle_ms,
        reason=report.failure_reason,
        path=report.path,
        delta_bytes=report.delta_bytes if ended else sum(part.delta_bytes for part in parts),
        full_bytes=report.full_bytes if ended else sum(part.full_bytes for part in parts),
        parts=parts,
    )


def _parts(
    key: Key, participants: tuple[str, ...], acknowledged: dict[tuple[str, int, str], SubtaskStatistics]
) -> tuple[SubtaskPart, ...]:
    found = ((subtask, acknowledged.get((*key, subtask))) for subtask in participants)
    return tuple(
        SubtaskPart(
            subtask,
            True,
            end_to_end_ms=said.end_to_end_ms,
            start_delay_ms=said.start_delay_ms,
            alignment_ms=said.alignment_ms,
            sync_ms=said.sync_ms,
            async_ms=said.async_ms,
            held_bytes=said.held_bytes,
            delta_bytes=said.delta_bytes,
            full_bytes=said.full_bytes,
        )
        if said is not None
        else SubtaskPart(subtask, False)
        for subtask, said in found
    )
