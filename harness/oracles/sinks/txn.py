"""TXN: a transaction becomes visible if, and only if, a completed checkpoint promises it (RULES TPC)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.model.job import VertexKind
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.shared.exemptions import exemptions
from holdfast.harness.oracles.sinks.transaction import Transaction
from holdfast.harness.oracles.sinks.transaction_trace import TransactionTrace
from holdfast.harness.oracles.sinks.visible_transactions import CLAUSES, judge_visible


class TxnOracle:
    """Follows the transactions of two-phase-commit sinks."""

    name = "TXN"
    title = "sink transactions"
    invariant = "A transaction in a completed checkpoint is committed exactly once; one in none is never committed."
    clauses: Mapping[str, str] = {
        "acked-before-precommit": "a sink acknowledges a checkpoint before the rows that it closes are pre-committed",
        "committed-before-completion": "a commit is tried before a checkpoint that promises it is durable",
        "committed-above-notice": "a commit is tried by a sink that was only notified of earlier checkpoints",
        "not-committed": "a transaction that a completed checkpoint promises is never committed",
        "recovered-not-committed": "a transaction that a restored sink found in its state is never committed",
        "open-not-aborted": "a transaction of an older attempt that no completed checkpoint promises is left behind",
        "committed-without-checkpoint": "a transaction that no completed checkpoint promises is committed",
        **CLAUSES,
        "aborted-data-lost": "a transaction closed by an aborted checkpoint is not in the next snapshot of its sink",
        "error-swallowed": "a failed commit is followed neither by another try nor by a failure",
        "failed-untried": "a commit is reported as failed that its sink did not try in this attempt",
        "commit-not-idempotent": "committing again what is committed fails",
    }
    evidence: tuple[type[events.Event], ...] = (
        events.SnapshotTaken, events.AckSent, events.TransactionPrecommitted, events.CommitTried,
        events.TransactionCommitted, events.TransactionAborted, events.CheckpointCompleted, events.NotificationReceived,
        events.TaskStarted,
    )  # fmt: skip
    observed = frozenset(CLAUSES)

    def applies(self, history: History) -> bool:
        return bool(history.plan.job.of_kind(VertexKind.SINK))

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        trace = TransactionTrace(history)
        _judge_acks(trace, findings)
        _judge_notices(trace, findings)
        _judge_errors(trace, findings)
        # A run that ended well left time for every commit; in any other run only what is overdue had it
        settled = history.end.reached and history.plan.expected_end in (ExpectedEnd.RUNNING, ExpectedEnd.FINISHED)
        _judge_promises(trace, findings, settled)
        judge_visible(history, trace, findings)
        refused = any("commit" in failure.operation for failure in history.of(events.StorageFailed))
        for transaction in trace.transactions.values():
            _judge_commit(trace, transaction, findings)
            _judge_failures(transaction, findings, settled, refused)
            if transaction.carried is not None and not trace.aborted.isdisjoint(transaction.checkpoints):
                _judge_carried(trace, transaction, findings)
        if settled:
            _judge_leftovers(history, trace, findings)
        return findings.verdict(history)


def _judge_acks(trace: TransactionTrace, findings: Findings) -> None:
    findings.check("acked-before-precommit", trace.precommits)
    for ack, late in trace.early_acks:
        message = f"{late.subtask} acknowledges checkpoint {late.checkpoint} before {late.transaction} is pre-committed"
        findings.violated("acked-before-precommit", message, ack, late)


def _judge_notices(trace: TransactionTrace, findings: Findings) -> None:
    findings.check("committed-above-notice", trace.notices_below + len(trace.above_notice))
    for precommitted, tried, notified in trace.above_notice:
        message = (
            f"{tried.subtask} commits {tried.transaction}, closed by checkpoint {precommitted.checkpoint}, "
            f"after the notice of {f'checkpoint {notified}' if notified >= 0 else 'none'}"
        )
        findings.violated("committed-above-notice", message, precommitted, tried)


def _judge_errors(trace: TransactionTrace, findings: Findings) -> None:
    findings.check("error-swallowed", len(trace.failures))
    findings.check("failed-untried", len(trace.failures))
    for failed, tried in trace.failures:
        if not tried:
            message = f"{failed.subtask} reports that the commit of {failed.transaction} failed, which it did not try"
            findings.violated("failed-untried", message, failed)
    for failed, committed in trace.swallowed:
        message = f"{committed.transaction} counts as committed after its commit failed and was not tried again"
        findings.violated("error-swallowed", message, failed, committed)


def _judge_promises(trace: TransactionTrace, findings: Findings, settled: bool) -> None:
    """What completed checkpoints promise, but for the last of the run: its notice may be on the way."""
    for checkpoint in sorted(trace.completed)[:-1]:
        for transaction in trace.promised.get(checkpoint, ()):
            closed = transaction.precommitted
            if transaction.recovered is not None or (closed is not None and closed.attempt <= trace.abandoned):
                continue
            if transaction.committed is not None:
                findings.check("not-committed")
            elif settled or (transaction.overdue and transaction.failed is None):
                message = f"{transaction.name} is promised by completed checkpoint {checkpoint[1]} and never committed"
                findings.violated("not-committed", message, *_first(transaction.precommitted))
    for transaction in trace.transactions.values():
        started = transaction.recovered
        if started is None or started.attempt <= trace.abandoned:
            continue
        if transaction.committed is not None:
            findings.check("recovered-not-committed")
        elif settled or transaction.overdue:
            message = (
                f"{started.subtask} finds {transaction.name} in checkpoint {started.restored_checkpoint} and never "
                "commits it"
            )
            findings.violated("recovered-not-committed", message, started)


def _first(event: events.Event | None) -> tuple[events.Event, ...]:
    return () if event is None else (event,)


def _judge_commit(trace: TransactionTrace, transaction: Transaction, findings: Findings) -> None:
    """Whether a commit was due, and whether it was in time."""
    committed, promised = transaction.committed, not transaction.checkpoints.isdisjoint(trace.durable)
    if committed is not None:
        findings.check("committed-without-checkpoint")
        findings.check("committed-twice")
        if not promised:
            message = f"{transaction.name} is committed, no completed checkpoint promises it"
            findings.violated("committed-without-checkpoint", message, *_first(transaction.precommitted), committed)
    published = committed or transaction.shown
    if transaction.aborted is not None and published is not None:
        message = f"{transaction.name} is both {'committed' if committed else 'visible'} and aborted"
        findings.violated("committed-twice", message, transaction.aborted, published)
    if promised and (committed is not None or transaction.early is not None):
        findings.check("committed-before-completion")
        if transaction.early is not None:
            message = f"{transaction.name} is committed before checkpoint {min(transaction.checkpoints)[1]} is durable"
            findings.violated("committed-before-completion", message, transaction.early)


def _judge_failures(transaction: Transaction, findings: Findings, settled: bool, refused: bool) -> None:
    """What came of failed commits. With a sink system that refuses commits, a repeated one may be refused too."""
    if transaction.failed is not None and (settled or transaction.overdue):
        message = f"the commit of {transaction.name} fails, is not tried again and fails nothing"
        findings.violated("error-swallowed", message, transaction.failed)
    if transaction.committed is not None and not refused:
        findings.check("commit-not-idempotent", transaction.again)
        if transaction.repeated is not None:
            message = f"{transaction.name} was committed in attempt {transaction.committed.attempt}, and again it fails"
            findings.violated("commit-not-idempotent", message, transaction.committed, transaction.repeated)


def _judge_carried(trace: TransactionTrace, transaction: Transaction, findings: Findings) -> None:
    """Data whose checkpoint was aborted is published with the next that completes."""
    precommitted = transaction.precommitted
    if precommitted is None or trace.checkpoint(precommitted) not in trace.aborted - trace.durable:
        return
    findings.check("aborted-data-lost")
    if not transaction.carried:
        message = f"{transaction.name} was closed by aborted checkpoint {precommitted.checkpoint}, the next lacks it"
        findings.violated("aborted-data-lost", message, precommitted)


def _judge_leftovers(history: History, trace: TransactionTrace, findings: Findings) -> None:
    """Transactions that a restore must throw away, unless it died over it."""
    dead = exemptions(history).dead
    for transaction in trace.transactions.values():
        precommitted = transaction.precommitted
        if precommitted is None or transaction.committed or not transaction.checkpoints.isdisjoint(trace.durable):
            continue
        later = [start for start in _heirs(trace, precommitted) if start.attempt > precommitted.attempt]
        if not later or any(start.node in dead for start in later):
            continue
        findings.check("open-not-aborted")
        if transaction.aborted is None:
            message = f"{transaction.name} of attempt {precommitted.attempt} is neither committed nor aborted"
            findings.violated("open-not-aborted", message, precommitted, later[0])


def _heirs(trace: TransactionTrace, left: events.TransactionPrecommitted) -> list[events.TaskStarted]:
    """Starts that throw away what a subtask left: its own, or, where a narrower job goes on without such a subtask,
    those of all that the operator has there."""
    own = trace.starts.get(left.subtask, [])
    if left.attempt <= trace.abandoned:
        return own
    vertex = left.subtask.partition("[")[0]
    others = (start for name, starts in trace.starts.items() if name.startswith(f"{vertex}[") for start in starts)
    return own + [start for start in others if left.subtask not in trace.layouts.of(start).sinks]
