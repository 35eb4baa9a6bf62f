"""Rows that an author expects, and that have other values than expected, under the contract RECORDS: a total of a
customer that is too high is a wrong value, and neither a loss of the right row nor a row of nobody."""

from __future__ import annotations

from holdfast.harness.model.history import History
from holdfast.harness.model.records import NO_PARTITION
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.verdict import Damage
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.output.identity_rows import describe_identities, sightings, units_with
from holdfast.harness.oracles.output.missing import wrong_values
from holdfast.harness.oracles.output.two_bit_counters import NAMED
from holdfast.harness.oracles.output.visibility import first_seen

VALUE_WRONG = "a row has other values than its author expects of its key"
"""The meaning of the clause, for all oracles that have it."""


def judge_values(history: History, findings: Findings, clause: str) -> None:
    """Decide wrong values, where the author of a pipeline says which rows there must be."""
    if not history.inputs.described:
        return
    findings.check(clause, sum(len(unit.rows) for unit in history.output.units))
    wrong = [(NO_PARTITION, row) for row in wrong_values(history)]
    if not wrong:
        return
    units = [unit for unit, _ in units_with(history.output, wrong[0])]
    findings.violated(
        clause,
        f"{plural(len(wrong), 'row has', 'rows have')} other values than expected of the key: "
        f"{describe_identities(history.inputs, wrong[:NAMED], len(wrong))}",
        *sightings(history, wrong[0]),
        seen=first_seen(history, units[-1]) if units else None,
        damage=Damage.TOO_MUCH if {row for _, row in wrong} <= set(history.inputs.too_high) else None,
    )
