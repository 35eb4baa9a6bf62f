"""What FINAL decides of a job that is submitted with another graph: whether it may go on from its checkpoint."""

from __future__ import annotations

from holdfast.harness.model.edited_job import ADDED
from holdfast.harness.model.events import AttemptStarted, CheckpointTriggered, JobSubmitted
from holdfast.harness.model.history import History
from holdfast.harness.model.submitted_jobs import edited_edges
from holdfast.harness.model.topology import subtasks
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.shared.submissions import Submissions


def judge_edited_graph(history: History, findings: Findings, clause: str) -> None:
    """A new operator in front of one that has finished in the restored checkpoint: no attempt may start."""
    plan, number = history.plan, history.derived(Submissions).of
    edges = edited_edges(plan)
    triggered = {(number(event), event.checkpoint): event for event in history.of(CheckpointTriggered)}
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
