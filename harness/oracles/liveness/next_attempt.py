"""From a failure to a running job: what was cancelled stops, an attempt starts, its subtasks start, the job runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from holdfast.harness.model import events
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.liveness.last_state import LastState
from holdfast.harness.oracles.shared.options import NS_PER_MS

CLAUSES: Mapping[str, str] = {
    "task-not-stopped": "a subtask that goes down with a failure runs on although its worker lives",
    "stop-not-noticed": "a subtask of the present attempt stops, and the job runs on without it",
    "attempt-not-started": "no attempt starts although every process lives and no restart is delayed",
    "task-not-started": "a subtask of the present attempt does not start although every process lives",
    "job-not-running": "every subtask has started, and the job is not reported as running",
    "job-not-finished": "the coordinator knows that every subtask has ended, and the job does not finish",
}


def judge(state: LastState, findings: Findings) -> None:
    """The first step that is missing; those behind it cannot have been taken."""
    history = state.history
    findings.check("attempt-not-started", len(history.of(events.AttemptStarted)))
    findings.check("task-not-started", len(history.of(events.TaskStarted)))
    findings.check("task-not-stopped", len(state.stopped))
    findings.check("stop-not-noticed", len(history.of(events.TaskStopped)))
    findings.check(
        "job-not-finished", sum(each.status is events.JobStatus.FINISHED for each in history.of(events.JobSwitched))
    )
    findings.check(
        "job-not-running", sum(each.status is events.JobStatus.RUNNING for each in history.of(events.JobSwitched))
    )
    if not state.coordinator or state.over:
        return
    if _runs_on(state, findings) or _goes_on_without(state, findings):
        return
    without = [subtask for subtask in state.layout.subtasks if state.present(subtask) is None]
    if not state.everybody:
        return
    if without:
        _judge_start(state, without, findings)
    elif history.supplies(events.TaskStarted):
        _judge_tasks(state, findings)


def _runs_on(state: LastState, findings: Findings) -> bool:
    """Whether something is left of an attempt that has failed."""
    for subtask, failure in state.failures.items():
        attempt = state.attempts.get(subtask)
        task = state.started.get((attempt.attempt, subtask)) if attempt else None
        if task is None or failure.node != state.coordinator or not state.lives(task.node):
            continue
        if (task.attempt, subtask) in state.stopped or not state.is_due(failure.time_ns):
            continue
        message = f"{subtask} runs on in attempt {task.attempt}, which has failed"
        findings.violated("task-not-stopped", message, task, failure)
        return True
    return False


def _goes_on_without(state: LastState, findings: Findings) -> bool:
    """Whether a subtask has stopped, and that was not counted as a failure."""
    for subtask in state.layout.subtasks:
        attempt = state.present(subtask)
        stopped = state.stopped.get((attempt.attempt, subtask)) if attempt else None
        if attempt is None or stopped is None or isinstance(stopped, events.SubtaskFinished):
            continue
        if state.lives(stopped.node) and state.is_due(stopped.time_ns):
            message = f"{subtask} has stopped, and attempt {attempt.attempt} runs on without it"
            findings.violated("stop-not-noticed", message, attempt, stopped)
            return True
    return False


def _judge_start(state: LastState, without: list[str], findings: Findings) -> None:
    """Some subtasks are in no attempt: one is due when the delay of their restart is over."""
    last = max(_before_start(state), key=lambda found: found[0], default=None)
    if last is not None and state.is_due(last[0]):
        message = f"no attempt of {', '.join(without[:3])} starts although every process lives"
        findings.violated("attempt-not-started", message, last[1])


def _before_start(state: LastState) -> Iterator[tuple[int, events.Event]]:
    """What a coordinator waits for, with the time when it is there."""
    history = state.history
    for kind in (events.NodeStarted, events.JobConfigured):
        for event in history.of(kind):
            if event.node == state.coordinator:
                yield event.time_ns, event
    for scheduled in history.of(events.RestartScheduled):
        if scheduled.node == state.coordinator:
            yield scheduled.time_ns + scheduled.delay_ms * NS_PER_MS, scheduled
    for stopped in state.stopped.values():
        yield stopped.time_ns, stopped


def _judge_tasks(state: LastState, findings: Findings) -> None:
    """Every subtask is in an attempt: each must start, and then the job runs."""
    last: events.Event | None = None
    for subtask in state.layout.subtasks:
        attempt = state.present(subtask)
        if attempt is None:
            return
        task = state.started.get((attempt.attempt, subtask))
        if task is None:
            if state.is_due(attempt.time_ns):
                message = f"{subtask} does not start in attempt {attempt.attempt}"
                findings.violated("task-not-started", message, attempt)
            return
        if last is None or task.time_ns > last.time_ns:
            last = task
    if state.all_finished:
        ended = state.history.of(events.FinishReceived)[-1]
        if state.is_due(ended.time_ns):
            findings.violated("job-not-finished", "every subtask has ended, and the job does not finish", ended)
    elif last is not None and not state.runs and state.is_due(last.time_ns):
        message = f"every subtask has started by attempt {last.attempt}, and the job is not reported as running"
        findings.violated("job-not-running", message, last)
