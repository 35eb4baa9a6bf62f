"""What is missing from committed output, and whether it may be called lost.

A record without effect is lost, in flight or blocked. At the expected end nothing is under way any more, so what is
missing then is lost; before, the oracles of output only say what is missing, and LIVE says why the run did not end.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from holdfast.harness.model.history import History
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.records import FoldRow
from holdfast.harness.oracles.culprit import Culprit, explain, named, with_remainder
from holdfast.harness.oracles.delivery import Delivery
from holdfast.harness.oracles.findings import ANOMALIES_PER_CLAUSE, Findings
from holdfast.harness.oracles.fold_model import FoldModel
from holdfast.harness.oracles.fold_rows import Scan
from holdfast.harness.oracles.identity_rows import listed


def owes_everything(history: History) -> bool:
    """Whether the plan must end with the effect of every input in the committed output."""
    return history.plan.expected_end is ExpectedEnd.RUNNING


def judge_lost_identities(history: History, found: Delivery, findings: Findings, clause: str) -> None:
    """Decide loss under contract RECORDS."""
    if history.end.reached:
        firsts = history.inputs.first_offsets or (0,) * len(history.inputs.partitions)
        findings.check(clause, history.inputs.total_records - sum(firsts))
    if found.lost:
        _file(
            history,
            findings,
            clause,
            [(f"{found.lost} records have no row: {listed(found.first_lost, found.lost)}", ())],
        )


def judge_lost_folds(history: History, model: FoldModel, found: Scan, findings: Findings, clause: str) -> None:
    """Decide loss under contract FOLD, by the last row of each key."""
    if history.end.reached:
        findings.check(clause, sum(map(any, model.totals)))
    short = (
        (_missing_from(model, key, found), () if position is None else (found.line(position),))
        for key, position in found.unfinished.items()
        if position is None or is_short(found.row(position).counts, model.totals[model.codes[key]])
    )
    _file(history, findings, clause, short)


def _file(history: History, findings: Findings, clause: str, missing: Iterable[tuple[str, tuple[str, ...]]]) -> None:
    for what, witness in islice(missing, ANOMALIES_PER_CLAUSE):
        if history.end.reached:
            findings.violated(clause, f"lost: {what}", *witness)
        else:
            reason = history.end.problem or history.end.reason or "no reason given"
            findings.inform(f"in flight or blocked, because the run did not reach its end ({reason}): {what}")


def is_short(counts: tuple[int, ...], totals: tuple[int, ...]) -> bool:
    """Whether counts do not cover all records."""
    return len(counts) != len(totals) or any(count < total for count, total in zip(counts, totals, strict=True))


def _missing_from(model: FoldModel, key: str, found: Scan) -> str:
    """What the last row of a short key lacks."""
    position, totals = found.unfinished[key], model.totals[model.codes[key]]
    if position is None:
        nothing = FoldRow(key, 0, (0,) * len(totals), 0)
        return f"key {key!r} has no row: {with_remainder(model, nothing, Culprit())}"
    row = found.row(position)
    culprit = explain(model, key, row.counts, row.digest)
    missing = with_remainder(model, row, culprit) if culprit else None
    return f"the last row of key {key!r} counts {row.counts} of {totals} records: {named(missing)}"
