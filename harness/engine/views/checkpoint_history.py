"""From what a system reported of its checkpoints to the history that a report shows."""

from __future__ import annotations

from collections import Counter

from holdfast.harness.model.checkpoint_history import (
    CheckpointHistory,
    ReportedCheckpoint,
    ReportedRestore,
    ReportedStatus,
    SubtaskPart,
)
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

MOST_CHECKPOINTS = 100
"""A report is read by people; the stored history has them all."""
Key = tuple[str, int]
"""Node of the coordinator, checkpoint."""
_MILLISECOND_NS = 1_000_000


def checkpoint_history(history: History) -> CheckpointHistory | None:
    """What the system says of its checkpoints; None if it says nothing."""
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
