"""STABLE: what a committed reader saw stays as it saw it (RULES E2E-02, E2E-03)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from holdfast.harness.model.events import CheckpointCompleted, Event, ReaderPolled, RowsChanged, RowsVisible
from holdfast.harness.model.history import History
from holdfast.harness.model.plural import plural
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings, left_open
from holdfast.harness.oracles.shared.exemptions import exemptions
from holdfast.harness.oracles.shared.options import interval_ms
from holdfast.harness.oracles.shared.stalls import TOO_BUSY

POLLS_PER_INTERVAL = 10
"""A reader that looks more rarely may miss what was visible between two checkpoints only."""

_CLAUSES: Mapping[str, str] = {
    "row-changed": "a unit of output that was visible changes its content",
    "row-vanished": "a unit of output that was visible is not there any more",
    "second-read-differs": "the read after the settle window sees something else than the reads before it",
    "reader-too-slow": "the reader looks too rarely to see what is visible between two checkpoints (inconclusive)",
}


class StableOracle:
    """Follows the committed reader, which looks during the faults and once more after the settle window."""

    name = "STABLE"
    title = "stable output"
    invariant = (
        "A row once visible never changes or vanishes, and the second read sees what was seen during the faults."
    )
    clauses = _CLAUSES
    evidence: tuple[type[Event], ...] = (RowsVisible, RowsChanged, ReaderPolled)
    observed = frozenset(_CLAUSES)

    def applies(self, history: History) -> bool:
        return bool(history.claims.output and history.of(RowsVisible))

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        seen = {event.name: event for event in history.of(RowsVisible)}
        for clause in ("row-changed", "row-vanished"):
            findings.check(clause, sum(not event.final for event in seen.values()))
        for change in history.of(RowsChanged):
            what = "vanished" if change.vanished else "changed"
            clause = "second-read-differs" if change.final else f"row-{what}"
            when = "before the second read" if change.final else f"at poll {change.poll}"
            witness = (seen[change.name], change) if change.name in seen else (change,)
            findings.violated(clause, f"{change.name} {what} {when}", *witness)
        _judge_second_read(history, findings)
        looks = _Looks(history, findings)
        if looks.note:
            findings.inform(looks.note)
        return left_open(findings.verdict(history), looks.open)


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

    The rule: a reader that looks ten times in each checkpoint interval sees everything. Where the machine kept the run
    waiting, intervals are those between two completed checkpoints, and one in which the reader did not look for more
    than half of the time is undecided. A run is decided if no more than half of its intervals are undecided.

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
        if not exemptions(history).stalls:
            self.open = f"reader-too-slow: {pace}"
            return
        intervals, undecided = _intervals(history, [gap for report in reports for gap in report.gaps])
        if intervals and 2 * undecided <= intervals and any(report.gaps for report in reports):
            self.note = f"{TOO_BUSY}: {pace}; {undecided} of {plural(intervals, 'interval')} are undecided"
        else:
            self.open = f"reader-too-slow: {TOO_BUSY}: {pace}. Repeat on an idle machine."


def _intervals(history: History, gaps: list[tuple[int, int]]) -> tuple[int, int]:
    """How many intervals between two completed checkpoints there are, and in how many the reader did not look for more
    than half of the time."""
    times = sorted(event.time_ns for event in history.of(CheckpointCompleted))
    pairs = [(start, end) for start, end in pairwise(times) if start < end]
    undecided = sum(
        any(2 * (min(end, gap_end) - max(start, gap_start)) > end - start for gap_start, gap_end in gaps)
        for start, end in pairs
    )
    return len(pairs), undecided
