"""The checkpoints of a run as the system reported them: counts, figures over all of them, a plot, and where the time of
each went, subtask by subtask.

The time of a checkpoint is that of the subtask that held it up; from the last acknowledgement on it is published.
Colours come from `templates/checkpoints.css` by class.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from holdfast.harness.model.run_details import (
    CheckpointHistory,
    ReportedCheckpoint,
    ReportedStatus,
    SubtaskPart,
)
from holdfast.harness.model.units import duration
from holdfast.reports.svg import Value, element, finite, group, number, text_at
from holdfast.reports.text import count, one_line, plural, size

WIDTH, LEFT, RIGHT = 1120.0, 112.0, 20.0
DURATION_HEIGHT, IDLE_HEIGHT, SIZE_HEIGHT, GAP = 104.0, 34.0, 58.0, 22.0
WIDEST_BAR, BAR_SHARE = 26.0, 0.62
CHARACTER = 6.4
"""Mean width of a digit of a label."""
MOST_DETAILED = 10
"""As many as Flink's page remembers: one subtask of one checkpoint is half a kilobyte of page."""
PHASES = (
    ("delay", "start delay"),
    ("alignment", "alignment"),
    ("sync", "synchronous part"),
    ("async", "asynchronous part"),
    ("answer", "acknowledgement"),
    ("publish", "publishing"),
)
"""Class and name of each part of the time, in order."""
_STATUS_CLASS = {
    ReportedStatus.COMPLETED: "chip-pass",
    ReportedStatus.FAILED: "chip-fail",
    ReportedStatus.IN_PROGRESS: "chip-inconclusive",
    ReportedStatus.LOST: "chip-untested",
}
_MARKS = {
    ReportedStatus.COMPLETED: "✓",
    ReportedStatus.FAILED: "✕",
    ReportedStatus.IN_PROGRESS: "…",
    ReportedStatus.LOST: "·",
}


@dataclass(frozen=True, slots=True)
class Figure:
    """One quantity over all completed checkpoints, each value in words."""

    name: str
    least: str
    median: str
    p95: str
    most: str


def status_class(checkpoint: ReportedCheckpoint) -> str:
    """Of the chip that shows it."""
    return _STATUS_CLASS[checkpoint.status]


def status_mark(checkpoint: ReportedCheckpoint) -> str:
    """One character for how it stands."""
    return _MARKS[checkpoint.status]


def acknowledged(checkpoint: ReportedCheckpoint) -> int:
    """How many subtasks did."""
    return sum(part.acknowledged for part in checkpoint.parts)


def in_words(history: CheckpointHistory) -> str:
    """How many there were and how they ended."""
    ended = [f"{number} {status}" for status in ReportedStatus if (number := history.counts.get(status, 0))]
    restores = f", {plural(len(history.restores), 'restore')}" if history.restores else ""
    return f"{plural(sum(history.counts.values()), 'checkpoint')}: {', '.join(ended)}{restores}"


def rows(history: CheckpointHistory) -> list[tuple[ReportedCheckpoint, bool]]:
    """The checkpoints, the newest first, each with whether its subtasks are listed: those that failed, the slowest and
    the newest are."""
    order = sorted(
        history.checkpoints,
        key=lambda each: (
            each.status is ReportedStatus.COMPLETED,
            -(each.duration_ms or 0.0) if each in _slowest_three(history) else 0.0,
            -each.triggered_ms,
        ),
    )
    detailed = {id(each) for each in order[:MOST_DETAILED]}
    return [(each, id(each) in detailed) for each in reversed(history.checkpoints)]


def _slowest_three(history: CheckpointHistory) -> list[ReportedCheckpoint]:
    return sorted(history.checkpoints, key=lambda each: each.duration_ms or 0.0)[-3:]


def latest(history: CheckpointHistory) -> list[tuple[str, str, str]]:
    """The overview: what, in words, and where it is stored or why it failed."""
    found = []
    for status in (ReportedStatus.COMPLETED, ReportedStatus.FAILED, ReportedStatus.LOST):
        last = next((each for each in reversed(history.checkpoints) if each.status is status), None)
        if last is not None:
            took = f" after {duration(last.duration_ms)}" if last.duration_ms is not None else ""
            stored = f", {size(last.full_bytes)}" if status is ReportedStatus.COMPLETED else ""
            found.append((f"Latest {status}", f"{last.checkpoint}{took}{stored}", last.path or last.reason))
    if history.restores:
        restore = history.restores[-1]
        took = f", in {duration(restore.duration_ms)}" if restore.duration_ms is not None else ""
        found.append(("Latest restore", f"{restore.checkpoint} at {duration(restore.at_ms)}{took}", restore.path))
    return found


def figures(history: CheckpointHistory) -> list[Figure]:
    """What Flink's summary tells, of the completed checkpoints."""
    completed = [each for each in history.checkpoints if each.status is ReportedStatus.COMPLETED]
    if not completed:
        return []

    def longest(of: Callable[[SubtaskPart], float]) -> list[float]:
        return [max((of(part) for part in each.parts), default=0.0) for each in completed]

    return [
        _figure("end-to-end duration", [each.duration_ms or 0.0 for each in completed], duration),
        _figure("idle before it", [each.idle_ms for each in completed if each.idle_ms is not None], duration),
        _figure("longest start delay", longest(lambda part: part.start_delay_ms), duration),
        _figure("longest alignment", longest(lambda part: part.alignment_ms), duration),
        _figure("held while aligning", [sum(part.held_bytes for part in each.parts) for each in completed], size),
        _figure("new state", [each.delta_bytes for each in completed], size),
        _figure("full state", [each.full_bytes for each in completed], size),
    ]


def _figure(name: str, values: Sequence[float], words: Callable[[float], str]) -> Figure:
    found = sorted(finite(value) for value in values)
    if not found:
        return Figure(name, "–", "–", "–", "–")
    p95 = found[math.ceil(len(found) * 0.95) - 1]
    return Figure(name, words(found[0]), words(statistics.median(found)), words(p95), words(found[-1]))


def slowest(checkpoint: ReportedCheckpoint) -> SubtaskPart | None:
    """The subtask that held a checkpoint up: of those that answered last, give or take a tenth, the one that began
    first, because a delay of what comes after it is only its own delay handed on."""
    last_ms = max((part.end_to_end_ms for part in checkpoint.parts), default=0.0)
    late = [part for part in checkpoint.parts if part.acknowledged and part.end_to_end_ms >= last_ms * 0.9]
    return min(late, key=lambda part: part.start_delay_ms, default=None)


def phases(part: SubtaskPart) -> list[tuple[str, str, float]]:
    """Where the time of a subtask went: class, name and milliseconds, up to the arrival of its acknowledgement."""
    durations_ms = [part.start_delay_ms, part.alignment_ms, part.sync_ms, part.async_ms]
    durations_ms.append(max(part.end_to_end_ms - sum(durations_ms), 0.0))
    return [(class_, name, finite(value)) for (class_, name), value in zip(PHASES, durations_ms, strict=False)]


def strip(part: SubtaskPart, checkpoint: ReportedCheckpoint) -> Markup:
    """The time of a subtask on the scale of its checkpoint; the figures stand beside it."""
    whole = max(checkpoint.duration_ms or 0.0, *(each.end_to_end_ms for each in checkpoint.parts), 1e-9)
    drawn, left = [], 0.0
    for class_, _, milliseconds in phases(part):
        share = min(milliseconds / whole * 100, 100 - left)
        if share > 0:
            shape: dict[str, Value] = {"x": f"{left:.3g}%", "width": f"{share:.3g}%"}
            drawn.append(element("rect", class_=f"phase-{class_}", **shape))
            left += share
    return element("svg", Markup("").join(drawn), class_="phases", aria_hidden="true")


# --- the plot ---


def plot(history: CheckpointHistory, run: str) -> Markup:
    """Duration, idle gap and size over the ids of the checkpoints."""
    checkpoints = history.checkpoints
    slot = (WIDTH - LEFT - RIGHT) / max(len(checkpoints), 1)
    width = min(WIDEST_BAR, slot * BAR_SHARE)
    places = [LEFT + (index + 0.5) * slot - width / 2 for index in range(len(checkpoints))]
    bars = _Bars(list(zip(checkpoints, places, strict=True)), width)
    y = 10.0
    drawn = [element("title", f"Duration, idle gap and size of the checkpoints of run {run}")]
    drawn.append(element("desc", in_words(history)))
    for name, height, panel in (
        ("duration", DURATION_HEIGHT, bars.durations),
        ("idle before", IDLE_HEIGHT, bars.idle),
        ("state", SIZE_HEIGHT, bars.sizes),
    ):
        drawn.append(text_at(LEFT - 12, y + 14, name, "lane-label", "end"))
        drawn += panel(y, height)
        y += height + GAP
    y -= GAP
    drawn += _ids(bars, slot, y + 15)
    return element(
        "svg",
        *drawn,
        class_="checkpoint-plot",
        viewBox=f"0 0 {number(WIDTH)} {number(y + 22)}",
        role="img",
    )


@dataclass(frozen=True, slots=True)
class _Bars:
    """The checkpoints with the left edge of the bar of each."""

    placed: list[tuple[ReportedCheckpoint, float]]
    width: float

    def durations(self, top: float, height: float) -> list[Markup]:
        """Where the time went."""
        highest = max((finite(each.duration_ms or 0.0) for each, _ in self.placed), default=0.0)
        drawn = _scale(highest, top, height, duration)
        bottom = top + height
        for checkpoint, x in self.placed:
            parts = [element("title", _words(checkpoint))]
            y = bottom
            for class_, _, milliseconds in _times(checkpoint):
                tall = milliseconds / highest * height if highest else 0.0
                if tall > 0:
                    y -= tall
                    parts.append(self._bar(x, y, tall, f"phase-{class_}"))
            if checkpoint.status is not ReportedStatus.COMPLETED:
                tall = max(bottom - y, 4)
                parts.append(self._bar(x, bottom - tall, tall, f"ended {checkpoint.status.replace(' ', '-')}"))
            drawn.append(group(parts))
        return drawn

    def idle(self, top: float, height: float) -> list[Markup]:
        """How long nothing was in progress."""
        gaps = [(each, x, finite(each.idle_ms)) for each, x in self.placed if each.idle_ms is not None]
        highest = max((gap for _, _, gap in gaps), default=0.0)
        drawn = _scale(highest, top, height, duration)
        for checkpoint, x, gap in gaps:
            tall = gap / highest * height if highest else 0.0
            title = element("title", f"idle for {duration(gap)} before checkpoint {checkpoint.checkpoint}")
            drawn.append(group([title, self._bar(x, top + height - tall, tall, "gap")]))
        return drawn

    def sizes(self, top: float, height: float) -> list[Markup]:
        """All state, and the new part of it."""
        highest = max((each.full_bytes for each, _ in self.placed), default=0)
        drawn = _scale(highest, top, height, size)
        for checkpoint, x in self.placed:
            full, new = (
                each / highest * height if highest else 0.0 for each in (checkpoint.full_bytes, checkpoint.delta_bytes)
            )
            words = f"checkpoint {checkpoint.checkpoint}: {size(checkpoint.delta_bytes)} new of "
            title = element("title", words + size(checkpoint.full_bytes))
            bottom = top + height
            bars = [self._bar(x, bottom - full, full, "full"), self._bar(x, bottom - new, new, "new")]
            drawn.append(group([title, *bars]))
        return drawn

    def _bar(self, x: float, y: float, height: float, class_: str) -> Markup:
        return element("rect", class_=class_, x=x, y=y, width=self.width, height=max(height, 0.4))


def _times(checkpoint: ReportedCheckpoint) -> list[tuple[str, str, float]]:
    """Where the time of a checkpoint went, as far as its slowest subtask and its end tell."""
    part = slowest(checkpoint)
    lasted = finite(checkpoint.duration_ms or 0.0)
    if part is None:
        return [(*PHASES[0], lasted)] if lasted else []
    spent = phases(part)
    rest = max(lasted - sum(value for _, _, value in spent), 0.0)
    return [*spent, (*PHASES[5], rest)]


def _words(checkpoint: ReportedCheckpoint) -> str:
    lasted = f" after {duration(checkpoint.duration_ms)}" if checkpoint.duration_ms is not None else ""
    words = [f"checkpoint {checkpoint.checkpoint}: {checkpoint.status}{lasted}"]
    if checkpoint.reason:
        words.append(one_line(checkpoint.reason))
    part = slowest(checkpoint)
    if part is not None:
        words.append(f"held up by {part.subtask}")
        words += [f"{name} {duration(value)}" for _, name, value in _times(checkpoint) if value]
    return "; ".join(words)


def _scale(highest: float, top: float, height: float, words: Callable[[float], str]) -> list[Markup]:
    """A floor, and a line at a round value with its label."""
    bottom = top + height
    drawn = [_line(bottom, "floor")]
    value = _round_below(highest)
    if value > 0:
        y = bottom - value / highest * height
        drawn += [_line(y, "grid"), text_at(LEFT - 12, max(y + 4, top + 28), words(value), "scale-label", "end")]
    return drawn


def _round_below(value: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is not above a value."""
    if not value > 0 or not math.isfinite(value):
        return 0.0
    power = 10.0 ** math.floor(math.log10(value))
    return max(step * power for step in (1, 2, 5) if step * power <= value)


def _ids(bars: _Bars, slot: float, y: float) -> list[Markup]:
    """The id below each bar, as far as they keep apart."""
    widest = max((len(str(each.checkpoint)) for each, _ in bars.placed), default=1) * CHARACTER + 8
    every = max(1, math.ceil(widest / slot))
    return [
        text_at(x + bars.width / 2, y, count(each.checkpoint), "tick", "middle")
        for index, (each, x) in enumerate(bars.placed)
        if index % every == 0
    ]


def _line(y: float, class_: str) -> Markup:
    return element("path", class_=class_, d=f"M{number(LEFT)} {number(y)}H{number(WIDTH - RIGHT)}")
