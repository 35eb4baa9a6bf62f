"""What the state of event-time windows holds: of every window that is not over, its records, and of others nothing
(RULES BAR-05, REC-07).

A window is over when the watermark of the checkpoint has passed its end. That decides alone: records that were dropped
because they came late belong to windows that are over, whichever batch they came in. Where no watermark was reported,
nothing is decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holdfast.harness.model.capability import Guarantee
from holdfast.harness.model.events import CheckpointCompleted, Event, StateSummary
from holdfast.harness.model.history import History
from holdfast.harness.oracles.barriers.held_state import judge_held, judge_places
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.shared.state_fold import MODULUS, StateFold, held_by
from holdfast.harness.oracles.shared.windows import (
    Sums,
    Window,
    describe_window,
    first_open_offsets,
    latest_watermark_ms,
    window_sums,
    windows_over,
)

CLAUSES: Mapping[str, str] = {
    "watermark-ahead": "the watermark of a checkpoint is ahead of the records before its source positions",
    "window-outlives": "the state of a checkpoint holds a window that its watermark has passed",
}


def judge_open_windows(
    history: History,
    fold: StateFold,
    done: CheckpointCompleted,
    states: Sequence[StateSummary],
    where: str,
    witness: Sequence[Event],
    findings: Findings,
) -> None:
    """Decide the state of one checkpoint.

    Args:
        fold: of the input; covers the positions of the checkpoint.
        done: the checkpoint.
        states: of all subtasks.
        where: the checkpoint, as the beginning of a sentence.
    """
    watermark_ms = done.watermark_ms
    if watermark_ms is None:
        return
    _judge_watermark(history, done, watermark_ms, findings)
    where = f"{where} at watermark {watermark_ms} ms"
    held = _held(states)
    if held is not None and _outlived(history, held, watermark_ms, where, witness, findings):
        return  # Its sums would say the same once more.
    since = first_open_offsets(history.inputs, watermark_ms)
    below = fold.below(dict(enumerate(done.positions)), since=since)
    place = "before its source positions in windows that are not over"
    if judge_held(history, fold, below, held_by(states), where, witness, findings, place=place) and held is not None:
        wanted = window_sums(history.inputs, history.plan.digest_key, done.positions, since)
        if not any(digest for _, digest in held.values()):  # A system that cannot carry a digest leaves it at zero
            wanted = {window: (value, 0) for window, (value, _) in wanted.items()}
        judge_places(held, wanted, describe_window, where, witness, findings)


def _judge_watermark(history: History, done: CheckpointCompleted, watermark_ms: int, findings: Findings) -> None:
    if Guarantee.NO_LOSS not in history.claims.state:
        return
    findings.check("watermark-ahead")
    latest_ms = latest_watermark_ms(history.inputs, done.positions)
    if watermark_ms > latest_ms:
        message = f"checkpoint {done.checkpoint} has watermark {watermark_ms} ms, its records have reached {latest_ms}"
        findings.violated("watermark-ahead", message, done)


def _outlived(
    history: History,
    held: Mapping[Window, Sums],
    watermark_ms: int,
    where: str,
    witness: Sequence[Event],
    findings: Findings,
) -> bool:
    """Whether the state holds windows that are over: a job that may repeat output may hold them, to emit them again."""
    over = sorted(window for window in held if window[1] < windows_over(watermark_ms))
    if Guarantee.NO_DUPLICATE in history.claims.state:
        findings.check("window-outlives")
        if over:
            findings.violated(
                "window-outlives", f"{where} still holds {describe_window(over[0])}, which is over", *witness
            )
    return bool(over)


def _held(states: Sequence[StateSummary]) -> dict[Window, Sums] | None:
    """What all subtasks hold together, by window; None if one of them has too many to show."""
    held: dict[Window, Sums] = {}
    for state in states:
        if state.windows is None:
            return None
        for row in state.windows:
            value, digest = held.get((row.key, row.window), (0, 0))
            held[row.key, row.window] = (value + row.value) % MODULUS, (digest + row.digest) % MODULUS
    return held
