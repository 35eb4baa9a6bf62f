"""STABLE: what a committed reader saw changes only as the output mode allows (RULES E2E-02, E2E-03).

Rules of this file:
- Rows that are appended stay as they were seen.
- Under UPSERT a row may be replaced by a newer one of its key. Only a version decides which is newer: a value that
  comes back may be right.
- Under OVERWRITE a unit may be replaced by anything, or be away while that is written: the last content is judged by
  EXACT and NOLOSS, and here only that the second read sees it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from holdfast.harness.model.capability import Claims, OutputMode
from holdfast.harness.model.events import (
    CheckpointAborted,
    CheckpointCompleted,
    Event,
    ReaderPolled,
    RowsChanged,
    RowsVisible,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import ANOMALIES_PER_CLAUSE, Findings, left_open
from holdfast.harness.oracles.shared.exemptions import exemptions
from holdfast.harness.oracles.shared.options import NS_PER_MS, interval_ms
from holdfast.harness.oracles.shared.stalls import TOO_BUSY

POLLS_PER_INTERVAL = 10
"""A reader that looks more rarely may miss what was visible between two checkpoints only."""

_CLAUSES: Mapping[str, str] = {
    "row-changed": "a unit of output that was visible changes its content",
    "row-vanished": "a unit of output that was visible, or a row of it, is not there any more",
    "row-rolled-back": "a row has an older version than one of its key that was visible before",
    "second-read-differs": "the read after the settle window sees something else than the reads before it",
    "reader-too-slow": "the reader looks too rarely to see what is visible between two checkpoints (inconclusive)",
}
_DECIDED: Mapping[OutputMode, tuple[str, ...]] = {
    OutputMode.APPEND: ("row-changed", "row-vanished"),
    OutputMode.UPSERT: ("row-vanished",),
    OutputMode.OVERWRITE: (),
}
_OF_A_MODE = frozenset(clause for clauses in _DECIDED.values() for clause in clauses)
"""What is decided of each unit that was seen during the faults."""


class StableOracle:
    """Follows the committed reader, which looks during the faults and once more after the settle window."""

    name = "STABLE"
    title = "stable output"
    invariant = (
        "A row once visible never changes or vanishes, save as the output mode allows, and the second read sees what "
        "was seen during the faults."
    )
    clauses = _CLAUSES
    evidence: tuple[type[Event], ...] = (RowsVisible, RowsChanged, ReaderPolled)
    observed = frozenset(_CLAUSES)

    def claimed(self, clause: str, claims: Claims) -> bool:
        """See spi.oracle.Oracle."""
        return bool(claims.output) and (clause not in _OF_A_MODE or clause in _DECIDED[claims.mode])

    def applies(self, history: History) -> bool:
        return bool(history.claims.output and history.of(RowsVisible))

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        _judge_changes(history, findings)
        _judge_second_read(history, findings)
        looks = _Looks(history, findings)
        if looks.note:
            findings.inform(looks.note)
        return left_open(findings.verdict(history), looks.open)


def _judge_changes(history: History, findings: Findings) -> None:
    mode = history.claims.mode
    seen = {event.name: event for event in history.of(RowsVisible)}
    for clause in _DECIDED[mode]:
        findings.check(clause, sum(not event.final for event in seen.values()))
    findings.check("row-rolled-back", sum(change.compared for change in history.of(RowsChanged)))
    for change in history.of(RowsChanged):
        when = "before the second read" if change.final else f"at poll {change.poll}"
        for clause, what in _broken(change, mode, ended=history.end.reached):
            witness = (seen[change.name], change) if change.name in seen else (change,)
            findings.violated("second-read-differs" if change.final else clause, f"{what} {when}", *witness)


def _broken(change: RowsChanged, mode: OutputMode, *, ended: bool) -> Iterator[tuple[str, str]]:
    """Which clauses a change breaks, and what happened, in words.

    Before the expected end a job may still commit what takes the place of something, behind the last poll.
    """
    replaceable = mode is not OutputMode.APPEND and not (change.final and ended)
    if change.gone and mode is not OutputMode.OVERWRITE:
        yield "row-vanished", f"{_some(change.gone)} of {change.name} vanished"
    if change.older and mode is OutputMode.UPSERT:
        yield "row-rolled-back", f"{_some(change.older)} of {change.name} went back to an older version"
    if change.vanished:
        if mode is OutputMode.UPSERT or not replaceable:
            yield "row-vanished", f"{change.name} vanished"
    elif not (replaceable or change.gone or change.older):
        yield "row-changed", f"{change.name} changed"


def _some(rows: tuple[str, ...]) -> str:
    return ", ".join(rows[:ANOMALIES_PER_CLAUSE])


def _judge_second_read(history: History, findings: Findings) -> None:
    # Before the expected end a job may still commit between the last poll and the second read.
    if not history.end.reached:
        return
    findings.check("second-read-differs", len(history.of(RowsVisible)))
    for event in history.of(RowsVisible):
        if event.final and event.records:
            findings.violated("second-read-differs", f"{event.name} was not there before the second read", event)


class _Looks:
    """How often the reader looked, against the checkpoints between which it was to look.

    The rule: a reader that looks ten times in each checkpoint interval sees everything. Where it looks more rarely than
    the configured interval wants, intervals are those between two ends of checkpoints. One in which it did not look for
    more than half of the time is undecided. So is one that is too short for ten looks, unless the machine kept the
    run waiting and the reader reports its gaps. A run is decided if no more than half of its intervals are undecided.

    Attributes:
        open: why nothing is decided; empty if something is.
        note: which part of the run is undecided; empty if none is.
    """

    def __init__(self, history: History, findings: Findings) -> None:
        self.open = self.note = ""
        between_ms = interval_ms(history.plan)
        if not between_ms:
            return
        reports = history.of(ReaderPolled)
        findings.check("reader-too-slow", len(reports))
        if not reports:
            self.open = "reader-too-slow: the reader did not report how often it looked"
            return
        slowest_ms = max(report.interval_ms for report in reports)
        if slowest_ms * POLLS_PER_INTERVAL <= between_ms:
            return
        pace = (
            f"the output was polled every {slowest_ms} ms, "
            f"a {between_ms} ms interval needs {between_ms / POLLS_PER_INTERVAL:g} ms"
        )
        busy = f"{TOO_BUSY}: " if exemptions(history).stalls else ""
        gaps = [gap for report in reports for gap in report.gaps]
        looks_ns = 0 if busy and gaps else slowest_ms * POLLS_PER_INTERVAL * NS_PER_MS
        intervals, undecided = _intervals(history, gaps, looks_ns)
        if not intervals or 2 * undecided > intervals:
            self.open = f"reader-too-slow: {busy}{pace}{'. Repeat on an idle machine.' if busy else ''}"
        elif undecided:
            self.note = f"{busy}{pace}; {undecided} of {plural(intervals, 'interval')} are undecided"


def _intervals(history: History, gaps: list[tuple[int, int]], shortest_ns: int) -> tuple[int, int]:
    """How many intervals between two ends of checkpoints there are, and how many are undecided: shorter than this, or
    the reader did not look for more than half of the time. What is shown too early may be withdrawn at an abort."""
    times = sorted(event.time_ns for event in history.of_kinds((CheckpointCompleted, CheckpointAborted)))
    pairs = [(start, end) for start, end in pairwise(times) if start < end]
    undecided = sum(
        end - start < shortest_ns
        or any(2 * (min(end, gap_end) - max(start, gap_start)) > end - start for gap_start, gap_end in gaps)
        for start, end in pairs
    )
    return len(pairs), undecided
