"""EXACT: committed output is the answer of the oracle's own model of the job, once (RULES E2E-02, E2E-06)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model.capability import Claims, Guarantee
from holdfast.harness.model.events import Event, RowsVisible
from holdfast.harness.model.history import History
from holdfast.harness.model.job import Contract
from holdfast.harness.model.records import FoldRow
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.verdict import Damage, Verdict
from holdfast.harness.oracles.findings import Findings, left_open
from holdfast.harness.oracles.output.culprit import Culprit, describe_culprit, explain
from holdfast.harness.oracles.output.fold_rows import in_order, judged, wrong_in_any_order
from holdfast.harness.oracles.output.identity_rows import counted, describe_identities, sightings, units_with
from holdfast.harness.oracles.output.loss import judge_lost_folds, judge_lost_identities
from holdfast.harness.oracles.output.missing import everything_is_due
from holdfast.harness.oracles.output.values import VALUE_WRONG, judge_values
from holdfast.harness.oracles.output.visibility import first_seen
from holdfast.harness.oracles.output.wrong_digest import wrong_digest
from holdfast.harness.oracles.shared.fold_model import MASK, FoldModel

_CLAUSES: Mapping[str, str] = {
    "row-wrong": "a row is not what the model holds for its key at the counts that it names",
    "digest-wrong": "a row has the value and the counts of the model, and a digest that no records have",
    "row-unknown": "a row stands for no record, or for no key, of the input",
    "value-wrong": VALUE_WRONG,
    "row-repeated": "a row has the counts, or the identity, of an earlier one",
    "counts-stepped-back": "a row lacks records that the row of its key before it holds",
    "beyond-input": "a row counts more records than the input has",
    "order-broken": "in a job without exchange, the row of an offset follows that of a later one",
    "input-missing": "a record has no effect in the committed output although the run ended, or its marker has one",
    "late-change": "output became visible only after the settle window",
}


class ExactOracle:
    """Decides what exactly-once output promises."""

    name = "EXACT"
    title = "exactly-once output"
    invariant = "Every input has its effect in the committed output exactly once, and in order where that is promised."
    clauses = _CLAUSES
    evidence: tuple[type[Event], ...] = (RowsVisible,)
    observed = frozenset(_CLAUSES)

    def claimed(self, clause: str, claims: Claims) -> bool:
        """See spi.oracle.Oracle."""
        return _claimed(claims)

    def applies(self, history: History) -> bool:
        if history.plan.job.contract is Contract.WINDOW or not _claimed(history.claims):
            return False
        return everything_is_due(history) or bool(history.output.units)

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        if history.plan.job.contract is Contract.FOLD:
            open_for = _judge_folds(history, findings)
        else:
            open_for = _judge_identities(history, findings)
        if history.end.reached:
            findings.check("late-change", len(history.output.units))
            for unit in history.output.units:
                if unit.final and len(unit.rows):
                    message = f"{unit.name} with {plural(len(unit.rows), 'row')} was not there before the second read"
                    findings.violated("late-change", message)
        return left_open(findings.verdict(), open_for)


def _claimed(claims: Claims) -> bool:
    return claims.output >= {Guarantee.NO_LOSS, Guarantee.NO_DUPLICATE}


def _judge_folds(history: History, findings: Findings) -> str:
    model, found = judged(history)
    ordered = in_order(history)
    wrong = found.wrong if ordered else wrong_in_any_order(model, found)
    decided = found.rows if ordered else len(model.keys) - len(found.unfinished) + len(wrong)
    for clause, rows in (
        ("row-wrong", decided), ("digest-wrong", decided), ("row-unknown", found.rows), ("beyond-input", found.rows)
    ):  # fmt: skip
        findings.check(clause, rows)
    for clause in ("row-repeated", "counts-stepped-back"):
        findings.check(clause, found.successors)
    for position in found.unknown:
        message = f"the input has no key {found.row(position).key!r}"
        findings.violated("row-unknown", message, found.line(position), seen=first_seen(history, found.unit(position)))
    for position in wrong:
        clause, message, damage = _wrong(model, found.row(position))
        seen = first_seen(history, found.unit(position))
        findings.violated(clause, message, found.line(position), damage=damage, seen=seen)
    for earlier, later in found.repeated:
        row = found.row(later)
        message = f"key {row.key!r} shows counts {row.counts} again"
        seen = first_seen(history, found.unit(later))
        findings.violated("row-repeated", message, found.line(earlier), found.line(later), seen=seen)
    for earlier, later in found.stepped_back:
        before, after = found.row(earlier), found.row(later)
        message = f"key {after.key!r} steps back from counts {before.counts} to {after.counts}"
        seen = first_seen(history, found.unit(later))
        findings.violated("counts-stepped-back", message, found.line(earlier), found.line(later), seen=seen)
    if not everything_is_due(history):
        return ""
    return judge_lost_folds(history, model, found, findings, "input-missing")


def _wrong(model: FoldModel, row: FoldRow) -> tuple[str, str, Damage | None]:
    """Clause, message and damage of a row that the model does not expect."""
    totals = model.totals[model.codes[row.key]]
    if len(row.counts) != len(totals):
        return (
            "row-wrong",
            f"key {row.key!r} counts {plural(len(row.counts), 'partition')}, the input has {len(totals)}",
            None,
        )
    culprit = explain(model, row.key, row.counts, row.digest)
    if any(count > total for count, total in zip(row.counts, totals, strict=True)):
        return (
            "beyond-input",
            f"key {row.key!r} counts {row.counts} of {totals} records: {describe_culprit(culprit)}",
            None,
        )
    expected = model.expected(row.key, row.counts)
    where = f"key {row.key!r} at counts {row.counts}"
    if expected is not None and expected[1] == row.digest & MASK:
        return (
            "row-wrong",
            f"{where} has the value {row.value} instead of {expected[0]} although its digest is right",
            None,
        )
    if culprit is None and (mistake := wrong_digest(model, row)):
        return "digest-wrong", mistake, None
    if culprit and culprit.damage is not None:
        return "row-wrong", f"{_miscounted(culprit)} of {where}: {culprit}", culprit.damage
    return "row-wrong", f"{where} holds other records: {describe_culprit(culprit)}", None


def _miscounted(culprit: Culprit) -> str:
    """How many records a sum lacks or holds twice."""
    shares, how = (culprit.lost, "missing from") if culprit.lost else (culprit.repeated, "twice in")
    records = sum(share.records for share in shares)
    return f"{plural(records, 'record is', 'records are')} {how} the sum"


def _judge_identities(history: History, findings: Findings) -> str:
    ordered = history.plan.job.never_aligns() and Guarantee.KEY_ORDER in history.claims.output
    found, expected = counted(history, ordered=ordered)
    judge_values(history, findings, "value-wrong")
    rows = sum(len(unit.rows) for unit in history.output.units)
    for clause, count, first, what in (
        ("row-unknown", found.unknown, found.first_unknown, "rows stand for no record of the input"),
        ("row-repeated", found.duplicated, found.first_duplicated, "records have more than one row"),
        ("order-broken", found.disordered, found.first_disordered, "rows follow a later offset of their partition"),
    ):
        findings.check(clause, rows if clause != "order-broken" or ordered else 0)
        if count:
            message = f"{count} {what}: {describe_identities(history.inputs, first, count)}"
            *_, (unit, _) = units_with(history.output, first[0])
            findings.violated(clause, message, *sightings(history, first[0]), seen=first_seen(history, unit))
    if not everything_is_due(history):
        return ""
    return judge_lost_identities(history, found, expected, findings, "input-missing")
