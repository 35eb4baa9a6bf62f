"""Loss under the contracts RECORDS and FOLD: what is missing from committed output, by the classification of `missing`.

Each function decides the clause for everything that can be decided, informs of the rest, and returns why that is open.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from holdfast.harness.model.history import History
from holdfast.harness.model.records import FoldRow
from holdfast.harness.model.sentence import plural
from holdfast.harness.oracles.findings import ANOMALIES_PER_CLAUSE, Findings
from holdfast.harness.oracles.output.culprit import Culprit, describe_culprit, explain_row, with_remainder
from holdfast.harness.oracles.output.delivery import Delivery
from holdfast.harness.oracles.output.fold_rows import EXAMINED, Scan, in_order
from holdfast.harness.oracles.output.identity_rows import describe_identities
from holdfast.harness.oracles.output.markers import (
    counted_before_markers,
    lacks_marked_records,
    marked_lanes,
    marked_partitions,
)
from holdfast.harness.oracles.output.missing import Fate, Ruling, rule_for_missing
from holdfast.harness.oracles.shared.fold_model import FoldModel

Witnessed = tuple[FoldRow, tuple[str, ...]]
"""The last row of a key, and its line."""


def judge_lost_identities(history: History, found: Delivery, due: int, findings: Findings, clause: str) -> str:
    """Decide loss under contract RECORDS, where so many rows are due."""
    everywhere = rule_for_missing(history, marked=False)
    if not found.lost or everywhere.fate is Fate.LOST:
        findings.check(clause, due)
        if found.lost:
            findings.violated(clause, _without_rows(history, found))
        return ""
    behind = rule_for_missing(history, marked=True)
    marked = marked_partitions(history) if behind.fate is Fate.LOST else []
    if any(marked):
        before, due_before = counted_before_markers(history, marked)
        findings.check(clause, due_before)
        if before.lost:
            findings.violated(clause, f"{_without_rows(history, before)}; {behind.because}")
        if all(marked):
            return ""
    findings.inform(f"{_open(everywhere if marked else behind)}: {_without_rows(history, found)}")
    return _open(everywhere if marked else behind)


def judge_lost_folds(history: History, model: FoldModel, found: Scan, findings: Findings, clause: str) -> str:
    """Decide loss under contract FOLD, by the last row of each key. What a later record of its key and lane has
    overtaken is lost in any case."""
    everywhere, behind = rule_for_missing(history, marked=False), rule_for_missing(history, marked=True)
    short = _short_rows(model, found)
    if everywhere.fate is Fate.LOST:
        findings.check(clause, sum(model.must_show))
        for row, witness in islice(short, ANOMALIES_PER_CLAUSE):
            findings.violated(clause, _missing(model, row, explain_row(model, row)), *witness)
        return ""
    rows = list(islice(short, EXAMINED))
    marked = marked_lanes(model, found) if rows and behind.fate is Fate.LOST else []
    decided = all(marked) if rows and marked else not rows
    findings.check(clause, sum(model.must_show) if decided else 0)
    waiting = []
    for row, witness in rows:
        culprit = explain_row(model, row)
        if marked and lacks_marked_records(model, row, marked):
            findings.check(clause, not decided)
            findings.violated(clause, f"{_missing(model, row, culprit)}; {behind.because}", *witness)
        elif culprit and culprit.lost and in_order(history):
            findings.check(clause, not decided)
            findings.violated(
                clause, f"{_missing(model, row, culprit)}; later records of its key have an effect", *witness
            )
        else:
            waiting.append(_missing(model, row, culprit))
    open_for = everywhere if marked else behind
    for missing in waiting[:ANOMALIES_PER_CLAUSE]:
        findings.inform(f"{_open(open_for)}: {missing}")
    return "" if decided else _open(open_for)


def is_short(counts: tuple[int, ...], totals: tuple[int, ...]) -> bool:
    """Whether counts do not cover all records."""
    return len(counts) != len(totals) or any(count < total for count, total in zip(counts, totals, strict=True))


def _open(why: Ruling) -> str:
    """Why loss is not decided."""
    return f"missing records are {why.fate}: {why.because}"


def _without_rows(history: History, found: Delivery) -> str:
    missing = describe_identities(history.inputs, found.first_lost, found.lost)
    if history.inputs.described:
        return f"{plural(found.lost, 'expected row is', 'expected rows are')} missing: {missing}"
    return f"{plural(found.lost, 'record has', 'records have')} no row: {missing}"


def _short_rows(model: FoldModel, found: Scan) -> Iterator[Witnessed]:
    """The last row of each key that does not count the whole input."""
    for key, position in found.unfinished.items():
        row = _last_row(model, found, key)
        if is_short(row.counts, model.totals[model.codes[key]]):
            yield row, () if position is None else (found.line(position),)


def _last_row(model: FoldModel, found: Scan, key: str) -> FoldRow:
    """The last row of a key, or the one that it would have before its first record."""
    position = found.unfinished[key]
    return FoldRow(key, 0, (0,) * len(model.partitions), 0) if position is None else found.row(position)


def _missing(model: FoldModel, row: FoldRow, culprit: Culprit | None) -> str:
    """What the last row of a key lacks."""
    totals = model.totals[model.codes[row.key]]
    what = describe_culprit(with_remainder(model, row, culprit) if culprit else None)
    if not any(row.counts):
        return f"key {row.key!r} has no row: {what}"
    return f"the last row of key {row.key!r} counts {row.counts} of {totals} records: {what}"
