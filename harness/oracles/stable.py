"""STABLE: what a committed reader saw stays as it saw it (RULES E2E-02, E2E-03)."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import structs

from holdfast.harness.model.events import Event, ReaderPolled, RowsChanged, RowsVisible
from holdfast.harness.model.history import History
from holdfast.harness.model.verdict import Outcome, Verdict
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.models.options import interval_ms

POLLS_PER_INTERVAL = 10
"""A reader that looks more rarely may miss what was visible between two checkpoints only."""


class StableOracle:
    """Follows the committed reader, which looks during the faults and once more after the settle window."""

    name = "STABLE"
    invariant = (
        "A row once visible never changes or vanishes, and the second read sees what was seen during the faults."
    )
    clauses: Mapping[str, str] = {
        "row-changed": "a unit of output that was visible changes its content",
        "row-vanished": "a unit of output that was visible is not there any more",
        "second-read-differs": "the read after the settle window sees something else than the reads before it",
        "reader-too-slow": "the reader looks less than ten times per checkpoint interval (inconclusive)",
    }
    evidence: tuple[type[Event], ...] = (RowsVisible, RowsChanged, ReaderPolled)

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
        too_slow = _too_slow(history, findings)
        verdict = findings.verdict(history)
        if too_slow and verdict.outcome is Outcome.PASS:
            return structs.replace(verdict, outcome=Outcome.INCONCLUSIVE, reason=too_slow)
        return verdict


def _judge_second_read(history: History, findings: Findings) -> None:
    # Before the expected end a job may still commit between the last poll and the second read.
    if not history.end.reached:
        return
    findings.check("second-read-differs", len(history.of(RowsVisible)))
    for event in history.of(RowsVisible):
        if event.final and event.records:
            findings.violated("second-read-differs", f"{event.name} was not there before the second read", event)


def _too_slow(history: History, findings: Findings) -> str:
    between_ms = interval_ms(history.plan)
    if not between_ms:
        return ""
    reports = history.of(ReaderPolled)
    findings.check("reader-too-slow", len(reports))
    slowest_ms = max((report.interval_ms for report in reports), default=None)
    if slowest_ms is None:
        return "reader-too-slow: the reader did not report how often it looked"
    if slowest_ms * POLLS_PER_INTERVAL > between_ms:
        return f"reader-too-slow: it looked every {slowest_ms} ms at checkpoints every {between_ms} ms"
    return ""
