"""A savepoint's life: a job stops with it, and another goes on from it at the same offsets."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.model.picture import RecoveryPicture

_MILLISECOND_NS = 1_000_000
MARGIN = 1.6
"""How much is shown, as a multiple of the time until the next job runs."""


def savepoint_picture(history: History, offsets: Callable[[History], RecoveryPicture | None]) -> RecoveryPicture | None:
    """The offsets of both jobs, with the savepoint between them.

    Args:
        history: of a run.
        offsets: draws those of all attempts.
    """
    whole = offsets(history)
    saved = history.of(events.SavepointCompleted)
    if whole is None or not saved:
        return None
    start_ns = min(event.time_ns for event in history.events)
    savepoint = saved[0]
    at_ms = (savepoint.time_ns - start_ns) / _MILLISECOND_NS
    resumed = [time for time, checkpoint in whole.restores if checkpoint == savepoint.checkpoint and time > at_ms]
    if not resumed:
        return None
    shown_ms = min(resumed[0] * MARGIN, whole.duration_ms)
    lines = (
        replace(line, points=tuple(point for point in line.points if point[0] <= shown_ms)) for line in whole.lines
    )
    others = [each for each in whole.checkpoints if each[1] <= shown_ms and each[0] != savepoint.checkpoint]
    return replace(
        whole,
        name="savepoint",
        title=f"A savepoint: one job stops with savepoint {savepoint.checkpoint}, the next goes on from it",
        duration_ms=shown_ms,
        lines=tuple(line for line in lines if line.points),
        phases=tuple((begin, min(end, shown_ms), words) for begin, end, words in whole.phases if begin < shown_ms),
        checkpoints=(*others, (savepoint.checkpoint, at_ms, savepoint.positions)),
        restores=((resumed[0], savepoint.checkpoint),),
    )
