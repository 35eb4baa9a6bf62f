"""WINDOW: every window that is over is emitted once, complete (RULES REC-07, E2E-02)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from holdfast.harness.model.capability import Claims, Guarantee
from holdfast.harness.model.events import Event, RowsVisible
from holdfast.harness.model.history import History
from holdfast.harness.model.job import Contract
from holdfast.harness.model.records import WindowRow
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import ANOMALIES_PER_CLAUSE, Findings, left_open
from holdfast.harness.oracles.output.markers import latest_window
from holdfast.harness.oracles.output.missing import Fate, everything_is_due, rule_for_missing
from holdfast.harness.oracles.output.visibility import sighting
from holdfast.harness.oracles.shared.expected_windows import Expected, expected_windows
from holdfast.harness.oracles.shared.fold_model import MASK
from holdfast.harness.oracles.shared.windows import Sums, Window, describe_window

_CLAUSES: Mapping[str, str] = {
    "window-wrong": "a row does not hold exactly the records of its key and window",
    "window-unknown": "a row is of a key or window that has no records",
    "window-repeated": "a window has a second row",
    "window-missing": "a window that the watermark has passed has no row although the run ended, or a later has",
}


class WindowOracle:
    """Compares windows with its own sums."""

    name = "WINDOW"
    title = "window results"
    invariant = (
        "Every window that the watermark has passed has one final row, which holds its records and nothing else."
    )
    clauses = _CLAUSES
    evidence: tuple[type[Event], ...] = (RowsVisible,)
    observed = frozenset(_CLAUSES)

    def claimed(self, clause: str, claims: Claims) -> bool:
        """See spi.oracle.Oracle."""
        return Guarantee.NO_LOSS in claims.output and (clause != "window-wrong" or _exact(claims))

    def applies(self, history: History) -> bool:
        return history.plan.job.contract is Contract.WINDOW and Guarantee.NO_LOSS in history.claims.output

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        expected = expected_windows(history)
        seen: dict[Window, str] = {}
        for line, row in _sightings(history):
            window = row.key, row.window
            findings.check("window-unknown")
            if window not in expected:
                findings.violated("window-unknown", f"{describe_window(window)} has no records", line)
                continue
            _judge_contents(history, findings, row, expected, line)
            findings.check("window-repeated")
            if window in seen:
                _judge_repeat(history, findings, window, seen[window], line)
            seen.setdefault(window, line)
        open_for = _judge_missing(history, findings, expected, seen)
        return left_open(findings.verdict(), open_for)


def _exact(claims: Claims) -> bool:
    """Whether a window holds each of its records once. Where state may hold records twice, windows may; where nothing
    is said of state, because nobody can read it, the claim on the output counts."""
    return Guarantee.NO_DUPLICATE in (claims.state or claims.output)


def _judge_contents(history: History, findings: Findings, row: WindowRow, expected: Expected, line: str) -> None:
    window, exact = (row.key, row.window), _exact(history.claims)
    findings.check("window-wrong", int(exact))
    if expected.fits(window, (row.value & MASK, row.digest & MASK)):
        return
    difference = _difference(row, expected.must[window])
    if exact:
        findings.violated("window-wrong", difference, line)
    else:
        findings.inform(f"{difference}, and exactly-once was not claimed")


def _judge_repeat(history: History, findings: Findings, window: Window, first: str, line: str) -> None:
    if Guarantee.NO_DUPLICATE in history.claims.output:
        findings.violated("window-repeated", f"{describe_window(window)} has a second row", first, line)
    else:
        findings.inform(f"{describe_window(window)} has a second row, and exactly-once was not claimed")


def _judge_missing(history: History, findings: Findings, expected: Expected, seen: Mapping[Window, str]) -> str:
    """Decide loss as far as it can be decided, and return why the rest is open."""
    if not everything_is_due(history):
        return ""
    due = list(expected.due())
    everywhere, behind = rule_for_missing(history, marked=False), rule_for_missing(history, marked=True)
    decided = due
    if any(window not in seen for window in due) and everywhere.fate is not Fate.LOST:
        latest = latest_window(history) if behind.fate is Fate.LOST and expected.in_order else -1
        decided = [window for window in due if window[1] < latest]
    findings.check("window-missing", len(decided))
    for window in islice((window for window in decided if window not in seen), ANOMALIES_PER_CLAUSE):
        findings.violated("window-missing", f"{describe_window(window)} has no row, and the watermark has passed it")
    waiting = [window for window in due if window not in seen and window not in set(decided)]
    if not waiting:
        return ""
    why = everywhere if behind.fate is Fate.LOST else behind
    return f"{describe_window(waiting[0])} has no row: {why.fate}, {why.because}"


def _sightings(history: History) -> Iterator[tuple[str, WindowRow]]:
    for unit in history.output.units:
        for row in unit.rows:
            if isinstance(row, WindowRow):
                yield sighting(unit, row), row


def _difference(row: WindowRow, expected: Sums) -> str:
    where = describe_window((row.key, row.window))
    if row.digest & MASK == expected[1]:
        return f"{where} has the value {row.value}, which is not the sum of its records, although its digest is right"
    return f"{where} holds other records than its own"
