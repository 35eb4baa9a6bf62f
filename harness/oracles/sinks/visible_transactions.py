"""Transactions against the committed reader: what a sink reports as committed, and what the reader saw (RULES TPC).

A unit of output names its transaction: a path, a suffix or the number of an appearance around that do not matter.
Where units have names of their own, they cannot be compared, and what a sink reports stays on its word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holdfast.harness.model.events import ReaderPolled, RowsChanged
from holdfast.harness.model.history import History
from holdfast.harness.model.records import CommittedRows
from holdfast.harness.model.sentence import plural
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.sinks.transaction import AGAIN, Transaction, of_unit
from holdfast.harness.oracles.sinks.transaction_trace import TransactionTrace

CLAUSES: Mapping[str, str] = {
    "committed-twice": "a transaction is visible under two names, or both committed and aborted",
    "committed-not-visible": "a sink reports a commit, and the committed reader never sees the rows",
    "visible-without-commit": "rows are visible of a transaction that no sink reported to commit",
    "rows-differ": "a committed transaction shows another number of rows than were pre-committed",
}
Seen = Mapping[str, Sequence[CommittedRows]]
"""By transaction, the units that carry its name."""


def judge_visible(history: History, trace: TransactionTrace, findings: Findings) -> None:
    """Compare what sinks report with what the reader saw, in both directions."""
    seen: dict[str, list[CommittedRows]] = {}
    unnamed = []
    for unit in history.output.units:
        transaction = of_unit(trace.transactions, unit.name)
        if transaction is None:
            unnamed.append(unit)
            continue
        seen.setdefault(transaction.name, []).append(unit)
        _judge_unit(trace, transaction, seen[transaction.name], findings)
    if seen:
        findings.check("visible-without-commit", len(unnamed))
        for unit in unnamed:
            message = f"{unit.name} is visible, no sink reported a transaction of this name"
            findings.violated("visible-without-commit", message, _line(unit))
    if history.of(ReaderPolled) and (seen or not any(len(unit.rows) for unit in history.output.units)):
        _judge_committed(history, trace, seen, findings)


def _judge_unit(
    trace: TransactionTrace, transaction: Transaction, units: Sequence[CommittedRows], findings: Findings
) -> None:
    unit = units[-1]
    findings.check("committed-twice")
    if units[0].name != unit.name and not unit.name.startswith(units[0].name + AGAIN):
        message = f"{transaction.name} is visible as {units[0].name} and as {unit.name}"
        findings.violated("committed-twice", message, _line(unit))
    findings.check("visible-without-commit")
    if transaction.committed is not None:
        return
    findings.check("committed-without-checkpoint")
    if transaction.checkpoints.isdisjoint(trace.durable):
        message = f"{transaction.name} is visible, no completed checkpoint promises it"
        findings.violated("committed-without-checkpoint", message, _line(unit))
    elif not transaction.tried:
        message = f"{transaction.name} is visible, and no sink reported that it commits it"
        findings.violated("visible-without-commit", message, _line(unit))


def _judge_committed(history: History, trace: TransactionTrace, seen: Seen, findings: Findings) -> None:
    """The reader looked once more after the last commit: what was committed by then is visible, and whole."""
    changed = {change.name for change in history.of(RowsChanged)}
    for transaction in trace.transactions.values():
        committed, precommitted = transaction.committed, transaction.precommitted
        if committed is None or precommitted is None or not precommitted.records:
            continue
        findings.check("committed-not-visible")
        units = seen.get(transaction.name, ())
        if not units:
            rows = plural(precommitted.records, "row")
            message = f"{committed.subtask} reports {transaction.name} as committed, the reader sees none of its {rows}"
            findings.violated("committed-not-visible", message, precommitted, committed)
        elif len(units) == 1 and units[0].name not in changed:
            findings.check("rows-differ")
            if len(units[0].rows) != precommitted.records:
                message = (
                    f"{transaction.name} was pre-committed with {plural(precommitted.records, 'row')} and shows "
                    f"{len(units[0].rows)}"
                )
                findings.violated("rows-differ", message, precommitted, committed, _line(units[0]))


def _line(unit: CommittedRows) -> str:
    return f"{unit.name} visible at poll {unit.poll}"
