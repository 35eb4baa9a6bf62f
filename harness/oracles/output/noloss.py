"""NOLOSS: every input has its effect in the committed output at least once (RULES E2E-04)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import sub
from typing import cast

from holdfast.harness.model.capability import Claims, Guarantee
from holdfast.harness.model.events import Event, RowsVisible
from holdfast.harness.model.history import History
from holdfast.harness.model.job import Contract
from holdfast.harness.model.records import FoldRow
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import ANOMALIES_PER_CLAUSE, Findings, left_open
from holdfast.harness.oracles.output.culprit import Culprit, describe_culprit, explain, with_remainder
from holdfast.harness.oracles.output.excess import explain_excess
from holdfast.harness.oracles.output.fold_rows import Scan, judged
from holdfast.harness.oracles.output.identity_rows import counted, describe_identities, sightings
from holdfast.harness.oracles.output.loss import is_short, judge_lost_folds, judge_lost_identities
from holdfast.harness.oracles.output.missing import everything_is_due
from holdfast.harness.oracles.output.values import VALUE_WRONG, judge_values
from holdfast.harness.oracles.output.wrong_digest import wrong_digest
from holdfast.harness.oracles.shared.fold_model import MASK, FoldModel

UNCLAIMED = "exactly-once was not claimed"

_CLAUSES: Mapping[str, str] = {
    "input-lost": "a record has no effect in the committed output although the run ended, or its marker has one",
    "value-wrong": VALUE_WRONG,
    "extra-not-a-repeat": "a row, or a part of a sum, repeats no record of the input",
    "digest-wrong": "the last row of a key has value and counts of its input, and a digest that no records have",
    "excess-unexplained": "a sum is too large, and the repeated records cannot be identified (inconclusive)",
}


class NoLossOracle:
    """Decides what at-least-once output promises; where exactly-once is claimed, EXACT decides the rest."""

    name = "NOLOSS"
    title = "at-least-once output"
    invariant = "Every input has its effect in the committed output, and whatever else is there is a repeat."
    clauses = _CLAUSES
    evidence: tuple[type[Event], ...] = (RowsVisible,)
    observed = frozenset(_CLAUSES)

    def claimed(self, clause: str, claims: Claims) -> bool:
        """See spi.oracle.Oracle."""
        return Guarantee.NO_LOSS in claims.output

    def applies(self, history: History) -> bool:
        if history.plan.job.contract is Contract.WINDOW:
            return False
        return Guarantee.NO_LOSS in history.claims.output and everything_is_due(history)

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        if history.plan.job.contract is Contract.FOLD:
            open_question = _judge_folds(history, findings)
        else:
            open_question = _judge_identities(history, findings)
        return left_open(findings.verdict(), open_question)


def _judge_identities(history: History, findings: Findings) -> str:
    found, expected = counted(history)
    judge_values(history, findings, "value-wrong")
    findings.check("extra-not-a-repeat", sum(len(unit.rows) for unit in history.output.units))
    if found.unknown:
        message = (
            f"{plural(found.unknown, 'row stands', 'rows stand')} for no record of the input: "
            f"{describe_identities(history.inputs, found.first_unknown, found.unknown)}"
        )
        findings.violated("extra-not-a-repeat", message, *sightings(history, found.first_unknown[0]))
    open_question = judge_lost_identities(history, found, expected, findings, "input-lost")
    if found.duplicated and Guarantee.NO_DUPLICATE not in history.claims.output:
        repeated = describe_identities(history.inputs, found.first_duplicated, found.duplicated)
        findings.inform(
            f"{plural(found.duplicated, 'record has', 'records have')} more than one row, and {UNCLAIMED}: {repeated}"
        )
    return open_question


def _judge_folds(history: History, findings: Findings) -> str:
    model, found = judged(history)
    for clause in ("extra-not-a-repeat", "digest-wrong"):
        findings.check(clause, found.rows - found.successors)
    for stranger in found.unknown:
        message = f"the input has no key {found.row(stranger).key!r}"
        findings.violated("extra-not-a-repeat", message, found.line(stranger))
    open_question = judge_lost_folds(history, model, found, findings, "input-lost")
    if open_question:
        return open_question
    excessive: list[str] = []
    for key, position in found.unfinished.items():
        if position is None:
            continue
        row, totals = found.row(position), model.totals[model.codes[key]]
        if row.counts == totals:
            _judge_content(model, row, found.line(position), findings)
        elif not is_short(row.counts, totals):
            excessive.append(key)
    return _judge_excess(history, model, found, excessive, findings)


def _judge_content(model: FoldModel, row: FoldRow, line: str, findings: Findings) -> None:
    """The last row of a key counts as many records as the input has, but does not hold the input."""
    culprit = explain(model, row.key, row.counts, row.digest)
    counted = f"the last row of key {row.key!r} counts all {plural(sum(row.counts), 'record')}"
    if culprit is None:
        mistake = wrong_digest(model, row)
        findings.violated(
            "digest-wrong" if mistake else "extra-not-a-repeat",
            mistake or f"{counted} but {describe_culprit(None)}",
            line,
        )
    elif culprit == Culprit():
        findings.violated(
            "extra-not-a-repeat", f"{counted} once each, but the value {row.value} is not their sum", line
        )
    else:
        findings.violated("input-lost", f"{counted}: {with_remainder(model, row, culprit)}", line)


def _judge_excess(history: History, model: FoldModel, found: Scan, keys: Sequence[str], findings: Findings) -> str:
    """The last row of these keys counts more records than the input has: repeats of them, or something else."""
    findings.check("excess-unexplained", len(keys))
    rows: dict[str, list[FoldRow]] = {key: [] for key in keys}
    if keys:
        for row in cast(Iterator[FoldRow], found.output.rows()):
            if row.key in rows:
                rows[row.key].append(row)
    unexplained: list[str] = []
    repeated: list[str] = []
    for key, theirs in rows.items():
        last, totals = theirs[-1], model.totals[model.codes[key]]
        excess = explain_excess(model, theirs)
        if excess is None:
            unexplained.append(repr(key))
            continue
        repeats = Culprit(repeated=excess.shares)
        beside = tuple(map(sub, last.counts, excess.counts))
        once = model.expected(key, beside)
        if beside != totals:
            lost = with_remainder(model, last, repeats)
            findings.violated("input-lost", f"the last row of key {key!r} counts {last.counts} of {totals}: {lost}")
        elif once is None or (last.value - excess.value * model.additive - once[0]) & MASK:
            message = f"the last row of key {key!r} has a value that its records and their repeats do not add up to"
            findings.violated("extra-not-a-repeat", f"{message} ({repeats})")
        else:
            repeated.append(f"key {key!r}: {repeats}")
    if repeated and Guarantee.NO_DUPLICATE not in history.claims.output:
        first = "; ".join(repeated[:ANOMALIES_PER_CLAUSE])
        findings.inform(f"{plural(len(repeated), 'key holds', 'keys hold')} repeats, and {UNCLAIMED}: {first}")
    if not unexplained:
        return ""
    some = ", ".join(unexplained[:ANOMALIES_PER_CLAUSE])
    return f"excess-unexplained: no runs of records explain what {plural(len(unexplained), 'key')} ({some}) hold twice"
