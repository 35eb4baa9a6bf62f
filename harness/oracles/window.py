"""WINDOW: every window that is over is told once, whole (RULES REC-07, E2E-02)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

import numpy as np

from holdfast.harness.model.capability import Guarantee
from holdfast.harness.model.events import Event, RowsVisible
from holdfast.harness.model.history import History
from holdfast.harness.model.job import WATERMARK_DELAY_MS, WINDOW_MS, Contract
from holdfast.harness.model.records import InputLog, WindowRow
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import ANOMALIES_PER_CLAUSE, Findings
from holdfast.harness.oracles.models.fold_model import MASK, identity_hashes
from holdfast.harness.oracles.output.visibility import sighting

Window = tuple[str, int]
"""Key and number."""
Sums = tuple[int, int]
"""Value and digest, modulo 2**64."""


class WindowOracle:
    """Compares windows with its own sums."""

    name = "WINDOW"
    invariant = (
        "Every window that the watermark has passed has one final row, which holds its records and nothing else."
    )
    clauses: Mapping[str, str] = {
        "window-wrong": "a row does not hold exactly the records of its key and window",
        "window-unknown": "a row is of a key or window that has no records",
        "window-repeated": "a window has a second row",
        "window-missing": "a window that the watermark has passed has no row although the run ended",
    }
    evidence: tuple[type[Event], ...] = (RowsVisible,)

    def applies(self, history: History) -> bool:
        return history.plan.job.contract is Contract.WINDOW and Guarantee.NO_LOSS in history.claims.output

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        expected = _windows(history.inputs, history.plan.digest_key)
        seen: dict[Window, str] = {}
        for line, row in _sightings(history):
            window = row.key, row.window
            findings.check("window-unknown")
            if window not in expected:
                findings.violated("window-unknown", f"{_named(window)} has no records", line)
                continue
            findings.check("window-wrong")
            if (row.value & MASK, row.digest & MASK) != expected[window]:
                findings.violated("window-wrong", _difference(row, expected[window]), line)
            findings.check("window-repeated")
            if window in seen:
                _judge_repeat(history, findings, window, seen[window], line)
            seen.setdefault(window, line)
        _judge_missing(history, findings, expected, seen)
        return findings.verdict()


def _judge_repeat(history: History, findings: Findings, window: Window, first: str, line: str) -> None:
    if Guarantee.NO_DUPLICATE in history.claims.output:
        findings.violated("window-repeated", f"{_named(window)} is told again", first, line)
    else:
        findings.inform(f"{_named(window)} is told again, and exactly-once was not claimed")


def _judge_missing(
    history: History, findings: Findings, expected: Mapping[Window, Sums], seen: Mapping[Window, str]
) -> None:
    if not history.end.reached:
        return
    owed = _owed_windows(history.inputs)
    due = [window for window in expected if window[1] < owed]
    findings.check("window-missing", len(due))
    for window in islice((window for window in due if window not in seen), ANOMALIES_PER_CLAUSE):
        findings.violated("window-missing", f"{_named(window)} has no row, and the watermark has passed it")


def _sightings(history: History) -> Iterator[tuple[str, WindowRow]]:
    for unit in history.output.units:
        for row in unit.rows:
            if isinstance(row, WindowRow):
                yield sighting(unit, row), row


def _windows(inputs: InputLog, digest_key: int) -> dict[Window, Sums]:
    """The sums of every window that has records."""
    sums: dict[Window, Sums] = {}
    firsts = inputs.first_offsets or (0,) * len(inputs.partitions)
    for number, (partition, first) in enumerate(zip(inputs.partitions, firsts, strict=True)):
        windows = np.arange(first, len(partition)) * partition.event_step_ms // WINDOW_MS
        hashes = identity_hashes(digest_key, number, len(partition))[first:]
        columns = (partition.key[first:], windows, partition.value[first:], hashes)
        for key, window, value, digest in zip(*(column.tolist() for column in columns), strict=True):
            place = inputs.keys[key], window
            before = sums.get(place, (0, 0))
            sums[place] = (before[0] + value) & MASK, (before[1] + digest) & MASK
    return sums


def _owed_windows(inputs: InputLog) -> int:
    """How many windows, from the first, the watermark has passed in the end."""
    latest_ms = max(((len(each) - 1) * each.event_step_ms for each in inputs.partitions if len(each)), default=0)
    return max(0, latest_ms - WATERMARK_DELAY_MS) // WINDOW_MS


def _difference(row: WindowRow, expected: Sums) -> str:
    where = _named((row.key, row.window))
    if row.digest & MASK == expected[1]:
        return f"{where} has the value {row.value}, which is not the sum of its records, although its digest is right"
    return f"{where} holds other records than its own"


def _named(window: Window) -> str:
    return f"window {window[1]} of key {window[0]!r}"
