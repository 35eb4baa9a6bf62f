"""NOREPEAT: where loss is allowed, nothing is in the committed output that should not be there (RULES E2E-04)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model.capability import Claims, Guarantee
from holdfast.harness.model.events import Event, RowsVisible
from holdfast.harness.model.history import History
from holdfast.harness.model.job import Contract
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.output.identity_rows import counted, describe_identities, sightings
from holdfast.harness.oracles.output.missing import everything_is_due
from holdfast.harness.oracles.output.values import VALUE_WRONG, judge_values

_CLAUSES: Mapping[str, str] = {
    "record-repeated": "a record has more than one row",
    "value-wrong": VALUE_WRONG,
    "record-unknown": "a row stands for no record that the job hands on",
}


class NoRepeatOracle:
    """Decides what at-most-once output promises; where exactly-once is claimed, EXACT decides all of it. Sums that
    lack records have no rows to compare with: CUT judges the state that they are made of."""

    name = "NOREPEAT"
    title = "at-most-once output"
    invariant = "No row of the committed output is there twice, and each stands for a record of the input."
    clauses = _CLAUSES
    evidence: tuple[type[Event], ...] = (RowsVisible,)
    observed = frozenset(_CLAUSES)

    def claimed(self, clause: str, claims: Claims) -> bool:
        """See spi.oracle.Oracle."""
        return Guarantee.NO_DUPLICATE in claims.output and Guarantee.NO_LOSS not in claims.output

    def applies(self, history: History) -> bool:
        return history.plan.job.contract is Contract.RECORDS and self.claimed("", history.claims)

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        if history.plan.job.contract is not Contract.RECORDS:
            return findings.verdict()
        found, _ = counted(history)
        judge_values(history, findings, "value-wrong")
        rows = sum(len(unit.rows) for unit in history.output.units)
        for clause, count, first, what in (
            ("record-repeated", found.duplicated, found.first_duplicated, "records have more than one row"),
            ("record-unknown", found.unknown, found.first_unknown, "rows stand for no record that the job hands on"),
        ):
            findings.check(clause, rows)
            if count:
                message = f"{count} {what}: {describe_identities(history.inputs, first, count)}"
                findings.violated(clause, message, *sightings(history, first[0]))
        if found.lost and history.end.reached and everything_is_due(history):
            lost = describe_identities(history.inputs, found.first_lost, found.lost)
            findings.inform(
                f"{plural(found.lost, 'record is lost', 'records are lost')}, and at-least-once was not claimed: {lost}"
            )
        return findings.verdict()
