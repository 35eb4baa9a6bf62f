"""What is missing from committed output, and whether it may be called lost.

A record without effect is lost, in flight or blocked. At the expected end nothing is under way any more, so what is
missing then is lost. Before, it is lost if it was overtaken: a sum holds a later record of its key and partition. Of
the rest the oracles of output only tell; LIVE says why the run did not end.
"""

from __future__ import annotations

from itertools import islice

from holdfast.harness.model.history import History
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.plural import plural
from holdfast.harness.model.records import FoldRow
from holdfast.harness.oracles.findings import ANOMALIES_PER_CLAUSE, Findings
from holdfast.harness.oracles.models.fold_model import FoldModel
from holdfast.harness.oracles.output.culprit import Culprit, explain_row, named, with_remainder
from holdfast.harness.oracles.output.delivery import Delivery
from holdfast.harness.oracles.output.fold_rows import EXAMINED, Scan
from holdfast.harness.oracles.output.identity_rows import listed


def owes_everything(history: History) -> bool:
    """Whether the plan must end with the effect of every input in the committed output."""
    return history.plan.expected_end in (ExpectedEnd.RUNNING, ExpectedEnd.FINISHED)


def judge_lost_identities(history: History, found: Delivery, owed: int, findings: Findings, clause: str) -> None:
    """Decide loss under contract RECORDS, where so many rows are owed."""
    if history.end.reached:
        findings.check(clause, owed)
    if found.lost:
        missing = f"{plural(found.lost, 'record has', 'records have')} no row: {listed(found.first_lost, found.lost)}"
        if history.end.reached:
            findings.violated(clause, f"lost: {missing}")
        else:
            findings.inform(f"{_under_way(history)}: {missing}")


def judge_lost_folds(history: History, model: FoldModel, found: Scan, findings: Findings, clause: str) -> None:
    """Decide loss under contract FOLD, by the last row of each key."""
    unfinished = (
        (_last_row(model, found, key), () if position is None else (found.line(position),))
        for key, position in found.unfinished.items()
    )
    short = (each for each in unfinished if is_short(each[0].counts, model.totals[model.codes[each[0].key]]))
    if history.end.reached:
        findings.check(clause, sum(model.owed))
        for row, witness in islice(short, ANOMALIES_PER_CLAUSE):
            findings.violated(clause, f"lost: {_missing(model, row, explain_row(model, row))}", *witness)
        return
    waiting = []
    for row, witness in islice(short, EXAMINED):
        culprit = explain_row(model, row)
        if culprit and culprit.lost:
            findings.check(clause)
            findings.violated(clause, f"lost, because it was overtaken: {_missing(model, row, culprit)}", *witness)
        else:
            waiting.append(_missing(model, row, culprit))
    for missing in waiting[:ANOMALIES_PER_CLAUSE]:
        findings.inform(f"{_under_way(history)}: {missing}")


def is_short(counts: tuple[int, ...], totals: tuple[int, ...]) -> bool:
    """Whether counts do not cover all records."""
    return len(counts) != len(totals) or any(count < total for count, total in zip(counts, totals, strict=True))


def _under_way(history: History) -> str:
    reason = history.end.problem or history.end.reason or "no reason given"
    return f"in flight or blocked, because the run did not reach its end ({reason})"


def _last_row(model: FoldModel, found: Scan, key: str) -> FoldRow:
    """The last row of a key, or the one that it would have before its first record."""
    position = found.unfinished[key]
    return FoldRow(key, 0, (0,) * len(model.partitions), 0) if position is None else found.row(position)


def _missing(model: FoldModel, row: FoldRow, culprit: Culprit | None) -> str:
    """What the last row of a key lacks."""
    totals = model.totals[model.codes[row.key]]
    what = named(with_remainder(model, row, culprit) if culprit else None)
    if not any(row.counts):
        return f"key {row.key!r} has no row: {what}"
    return f"the last row of key {row.key!r} counts {row.counts} of {totals} records: {what}"
