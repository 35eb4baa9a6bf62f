"""Splits that an enumerator assigns: each is in one part of every checkpoint (RULES E2E-05, C4 of BUGS)."""

from __future__ import annotations

from collections import Counter

from holdfast.harness.model.events import CheckpointCompleted, SnapshotTaken, SplitsLeft
from holdfast.harness.model.history import History
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.models.layout import Layouts
from holdfast.harness.oracles.traces.submissions import Submissions


def judge_splits(history: History, findings: Findings) -> None:
    """Readers' and enumerators' parts of each completed checkpoint, where there are enumerators."""
    job_of = Submissions(history).of  # The next job uses ids again that the last one drew and never completed.
    left: dict[tuple[int, int], list[SplitsLeft]] = {}
    for part in history.of(SplitsLeft):
        left.setdefault((job_of(part), part.checkpoint), []).append(part)
    if not left:
        return
    layouts = Layouts(history)
    taken: dict[tuple[int, int], list[SnapshotTaken]] = {}
    for snapshot in history.of(SnapshotTaken):
        checkpoint = job_of(snapshot), snapshot.checkpoint
        if snapshot.subtask in layouts.of(snapshot).sources and checkpoint in left:
            taken.setdefault(checkpoint, []).append(snapshot)
    for completed in history.of(CheckpointCompleted):
        checkpoint = job_of(completed), completed.checkpoint
        snapshots = taken.get(checkpoint, [])
        if checkpoint in left and {each.subtask for each in snapshots} == set(layouts.of(completed).sources):
            _judge(history, completed, left[checkpoint], snapshots, findings)


def _judge(
    history: History,
    completed: CheckpointCompleted,
    left: list[SplitsLeft],
    snapshots: list[SnapshotTaken],
    findings: Findings,
) -> None:
    held = Counter(split for snapshot in snapshots for split, _ in snapshot.positions)
    held.update(split for part in left for split in part.splits)
    lost = [split for split in range(len(history.inputs.partitions)) if not held[split]]
    twice = sorted(split for split, times in held.items() if times > 1)
    findings.check("split-lost")
    findings.check("split-twice")
    if lost:
        message = f"checkpoint {completed.checkpoint} holds splits {lost} nowhere"
        findings.violated("split-lost", message, *left, completed)
    if twice:
        message = f"checkpoint {completed.checkpoint} holds splits {twice} more than once"
        findings.violated("split-twice", message, *left, completed)
