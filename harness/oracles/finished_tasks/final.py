"""FINAL: a bounded job ends with everything committed, every operator finished once, and checkpoints on the way to that
which say who had finished (RULES FIN)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model.capability import Guarantee
from holdfast.harness.model.events import (
    AttemptStarted,
    CheckpointTriggered,
    Event,
    FinishReceived,
    JobStatus,
    JobSubmitted,
    JobSwitched,
    OperatorFinished,
    RowsVisible,
    SubtaskFinished,
    TaskStarted,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.job import Contract, VertexKind
from holdfast.harness.model.submitted_jobs import ADDED, edited_edges
from holdfast.harness.model.topology import subtasks
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.finished_tasks.way_to_the_end import judge_way_to_the_end
from holdfast.harness.oracles.ledger.checkpoints import by_checkpoint
from holdfast.harness.oracles.ledger.submissions import Submissions
from holdfast.harness.oracles.output.fold_rows import judged
from holdfast.harness.oracles.output.identity_rows import counted
from holdfast.harness.oracles.output.loss import judge_lost_folds, judge_lost_identities


def judge_edited_graph(history: History, findings: Findings, clause: str) -> None:
    """A new operator in front of one that has finished in the restored checkpoint: no attempt may start."""
    plan, number = history.plan, history.derived(Submissions).of
    edges = edited_edges(plan)
    triggered = by_checkpoint(history, CheckpointTriggered).first
    attempts = history.of(AttemptStarted)
    for submitted in history.of(JobSubmitted):
        job = number(submitted)
        edge = edges[job - 1] if 1 <= job <= len(edges) else ""
        taken = triggered.get((job - 1, submitted.checkpoint or 0))
        if not edge or taken is None:
            continue
        behind = edge.partition("->")[2]
        finished = sorted(
            name
            for name in subtasks(plan.job, plan.topology)
            if name.startswith(f"{behind}[") and name not in taken.participants
        )
        findings.check(clause)
        started = [event for event in attempts if number(event) == job]
        if finished and started:
            message = (
                f"attempt {started[0].attempt} runs {ADDED} in front of {', '.join(finished)}, which had finished in "
                f"checkpoint {submitted.checkpoint}"
            )
            findings.violated(clause, message, taken, submitted, started[0])


class FinalOracle:
    """Follows tasks to their end, and the checkpoints that they take part in until then."""

    name = "FINAL"
    title = "finished tasks"
    invariant = "A job whose input ends commits all of it, calls finish() once, and takes checkpoints until then."
    clauses: Mapping[str, str] = {
        "record-not-committed": "the job finished, and a record has no effect in the committed output",
        "finish-not-once": "finish() of a subtask is called twice in an attempt, or never in the one that finishes",
        "finished-early": "finish() is called before the end of the data came on every input, or was read",
        "channel-ends-early": "the end of a sender leaves a channel, and the end of its data has not",
        "emitted-after-end": "a batch enters a channel after the end of its data",
        "held-after-finish": "the state of a subtask holds rows back after its finish()",
        "exit-before-final": "a subtask ends before the notice of a completed checkpoint that it took after finish()",
        "exit-uncommitted": "a sink ends with a transaction that is not committed",
        "refused-after-finish": "checkpoints are to continue after tasks have finished, and one is refused",
        "triggered-after-finish": "checkpoints are to stop when tasks have finished, and one is triggered",
        "wrong-participants": "a checkpoint waits for a subtask known to have finished, or not for a running one",
        "triggered-not-first": "the trigger goes to a subtask that something that runs is in front of",
        "partial-union": "a checkpoint completes that part of the subtasks with union state took after finish()",
        "running-before-finished": "a subtask starts as finished behind one that starts as running",
    }
    evidence: tuple[type[Event], ...] = (OperatorFinished, SubtaskFinished, FinishReceived, TaskStarted, RowsVisible)
    observed = frozenset({"record-not-committed"})

    def applies(self, history: History) -> bool:
        return any(source.bounded for source in history.plan.job.of_kind(VertexKind.SOURCE))

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        judge_way_to_the_end(history, findings)
        judge_edited_graph(history, findings, "running-before-finished")
        finished = any(event.status is JobStatus.FINISHED for event in history.of(JobSwitched))
        if finished and Guarantee.NO_LOSS in history.claims.output:
            if history.plan.job.contract is Contract.FOLD:
                model, found = judged(history)
                judge_lost_folds(history, model, found, findings, "record-not-committed")
            elif history.plan.job.contract is Contract.RECORDS:
                delivery, expected = counted(history)
                judge_lost_identities(history, delivery, expected, findings, "record-not-committed")
        return findings.verdict(history)
