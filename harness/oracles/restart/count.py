"""COUNT: failures and restarts follow the configured restart strategy (RULES RST).

The model is fed the failures that the coordinator counted and decides whether each must be followed by a restart. A
coordinator that died starts its strategy afresh.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import events, profile
from holdfast.harness.model.events import (
    OVER,
    FailureCounted,
    JobStatus,
    JobSwitched,
    RecoveryFailed,
    RestartScheduled,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.topology import process_of
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings, replay
from holdfast.harness.oracles.ledger.submissions import Submissions
from holdfast.harness.oracles.restart.failed_checkpoints import FailedCheckpoints
from holdfast.harness.oracles.restart.failing_record import FailingRecords, judge_records
from holdfast.harness.oracles.restart.restart_model import Exponential, Objection, RestartModel, Unknown, restart_model
from holdfast.harness.oracles.restart.statuses import CLAUSES as OF_STATUSES
from holdfast.harness.oracles.restart.statuses import judge_statuses
from holdfast.harness.oracles.restart.unexplained_error import CLAUSES as OF_ERRORS
from holdfast.harness.oracles.restart.unexplained_error import judge_errors
from holdfast.harness.oracles.shared.coordinator_lives import followed_lives
from holdfast.harness.oracles.shared.exemptions import Exemptions, exemptions
from holdfast.harness.oracles.shared.layout import Layouts, members
from holdfast.harness.oracles.shared.options import NS_PER_MS, milliseconds

_OF_SILENCE: Mapping[str, str] = {
    "silence-not-noticed": "a worker of a running job is paused beyond the heartbeat timeout and is not declared dead"
}
INTERVAL_MS = 10_000
TIMEOUT_MS = 50_000
"""The defaults of heartbeats."""
SLACK_MS = 100


def judge_silence(history: History, exempt: Exemptions, findings: Findings) -> None:
    """Each pause of a worker that outlasts the heartbeat timeout must be counted as a failure, if no process dies
    meanwhile and the coordinator lives that reported that the job runs.

    On the simulator only, whose harness and coordinator have one clock.
    """
    if not exempt.punctual or exempt.superseded:
        return
    interval_ms = milliseconds(history.plan, profile.HEARTBEAT_INTERVAL, INTERVAL_MS)
    timeout_ms = milliseconds(history.plan, profile.HEARTBEAT_TIMEOUT, TIMEOUT_MS)
    allowed_ns = (timeout_ms + 2 * interval_ms + SLACK_MS) * NS_PER_MS
    for pause, until_ns in exempt.paused_workers():
        before = [event for event in history.of(JobSwitched) if event.time_ns <= pause.time_ns]
        if until_ns - pause.time_ns <= allowed_ns or not before or before[-1].status is not JobStatus.RUNNING:
            continue
        deaths_ns = exempt.deaths_ns({before[-1].node})
        deaths_ns += [each for each in exempt.deaths_ns(exempt.dead) if each >= pause.time_ns]
        if any(each <= until_ns for each in deaths_ns):
            continue
        findings.check("silence-not-noticed")
        counted = any(pause.time_ns < event.time_ns <= until_ns for event in history.of(FailureCounted))
        if not counted and not any(pause.time_ns < event.time_ns <= until_ns for event in history.of(JobSwitched)):
            silent_ms = (until_ns - pause.time_ns) // NS_PER_MS
            message = f"{pause.target} is paused for {silent_ms} ms, and no failure is counted"
            findings.violated("silence-not-noticed", message, pause)


OF_RECOVERIES: Mapping[str, str] = {
    "recovery-fails-twice": "a recovery that has failed fails once more before the restart that it leads to is due"
}


def judge_recoveries(history: History, findings: Findings) -> None:
    """Each failed recovery of one life of a coordinator, by its own clock: it is one failure, and the next begins when
    its restart is due (RULES REC, RST). A job that is over is cleaned up at once."""
    failed: RecoveryFailed | None = None
    scheduled: RestartScheduled | None = None
    for event in history.of_kinds((RecoveryFailed, RestartScheduled, JobSwitched)):
        if failed is not None and event.node != failed.node:
            failed = scheduled = None
        if isinstance(event, RestartScheduled):
            scheduled = event if failed is not None else None
        elif isinstance(event, JobSwitched) and event.status in OVER:
            failed = scheduled = None
        elif isinstance(event, RecoveryFailed):
            findings.check("recovery-fails-twice")
            waited_ns = 0 if scheduled is None else event.time_ns - scheduled.time_ns
            if failed is not None and scheduled is not None and waited_ns < scheduled.delay_ms * NS_PER_MS * 9 // 10:
                message = f"the recovery fails again {waited_ns // NS_PER_MS} ms after a restart was scheduled"
                findings.violated("recovery-fails-twice", message, failed, scheduled, event)
            failed, scheduled = event, None


_BY_USERS = frozenset({events.JobStatus.CANCELLING, events.JobStatus.CANCELED, events.JobStatus.SUSPENDED})


class CountOracle:
    """Compares restarts with a model of the strategy."""

    name = "COUNT"
    title = "restarts allowed"
    invariant = "A job restarts as often, and after such delays, as its restart strategy allows, and fails after that."
    clauses: Mapping[str, str] = {
        "restarted-beyond-policy": "a job restarts after more failures than its strategy allows",
        "failed-too-early": "a job is failed although its strategy allows another restart",
        "restart-missing": "a counted failure is followed neither by a restart nor by its refusal",
        "restarted-without-strategy": "a job without checkpointing and without a strategy restarts",
        "restarted-after-none": "a job whose strategy is none restarts",
        "delay-too-short": "an attempt starts sooner after its failure than the delay of the strategy",
        "delay-wrong": "a restart is scheduled with another delay than that of the strategy",
        "backoff-not-reset": "after a quiet period a restart waits as if earlier failures still counted",
        "simultaneous-counted": "a failure while a restart is awaited lengthens the delay",
        "restarted-after-unrecoverable": "a job restarts after a failure that no restart can help",
        "cause-not-reported": "the causes of most failures in a row by a record lack its subtask, partition or offset",
        "wrong-record-named": "a record is reported to fail an operator, and it is not one that the plan poisons",
        "failed-below-tolerable": "a job fails over because of checkpoints, though too few failed in a row",
        "tolerable-exceeded": "more checkpoints in a row fail than tolerable, and the job does not fail",
        "without-jitter": "delays that must be spread are all the same number",
        "failure-not-counted": "a worker that runs tasks dies and no failure of that attempt is counted",
        **OF_RECOVERIES,
        **_OF_SILENCE,
        **OF_ERRORS,
        **OF_STATUSES,
    }
    evidence: tuple[type[events.Event], ...] = (
        events.AttemptStarted,
        events.FailureCounted,
        events.RestartRefused,
    )
    clause_evidence: Mapping[str, tuple[type[events.Event], ...]] = {
        **dict.fromkeys(
            ("delay-wrong", "backoff-not-reset", "simultaneous-counted", "without-jitter", "restart-unannounced"),
            (events.RestartScheduled,),
        ),
        **dict.fromkeys(("cause-not-reported", "wrong-record-named"), (events.RecordFailed,)),
        **dict.fromkeys(
            ("failed-below-tolerable", "tolerable-exceeded"), (events.CheckpointAborted, events.CheckpointCompleted)
        ),
        "failure-not-counted": (events.TaskStarted, events.NodeDied),
    }

    def applies(self, history: History) -> bool:
        return True

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        FailedCheckpoints(history, findings)
        exempt = exemptions(history)
        accounts = _Accounts(history, exempt, findings)
        accounts.records.end_streak()
        if not history.end.problem:
            accounts.close()
            _judge_deaths(history, exempt, findings)
            judge_silence(history, exempt, findings)
        judge_errors(history, exempt, findings)
        judge_records(history, exempt, findings)
        judge_recoveries(history, findings)
        judge_statuses(history, exempt, findings)
        return findings.verdict(history)


class _Accounts:
    """Follows failures and what came of them.

    Attributes:
        failure: counted and not answered yet, with whether the strategy allows a restart.
        excess: the clause that a restart after it breaks, if it must not be.
        records: that make operators fail.
        restarting: failures whose restart is awaited, each with its delay.
    """

    def __init__(self, history: History, exempt: Exemptions, findings: Findings) -> None:
        self.plan = history.plan
        self.findings = findings
        self.node = ""
        self.paused = exempt.coordinator_paused
        self.strategy = self._fresh()
        self.failure: events.FailureCounted | None = None
        self.allowed: bool | None = None
        self.history = history
        self.restarting: list[tuple[events.FailureCounted, int | None]] = []
        self.excess = self.strategy.excess
        self.records = FailingRecords(history, findings)
        self.dead = exempt.dead
        if not history.of(events.FailureCounted):
            return
        replay(
            history,
            {
                events.FailureCounted: self._counted,
                events.RestartScheduled: self._scheduled,
                events.RestartRefused: self._refused,
                events.AttemptStarted: self._started,
            },
        )

    def _fresh(self) -> RestartModel:
        """The strategy of a life. What a coordinator that was stopped half way through a step writes down afterwards
        bears a later time than that it was decided at, and delays that grow with failures in a row depend on it."""
        strategy = restart_model(self.plan)
        return Unknown() if self.paused and isinstance(strategy, Exponential) else strategy

    def close(self) -> None:
        """The run is over: a coordinator that lives has decided what follows a failure."""
        self._judge_jitter()
        self.records.finish()
        failure = self.failure
        if failure is None or not self.allowed or failure.node in self.dead:
            return
        message = f"the strategy allows a restart after {failure.cause}, and the coordinator decides nothing"
        self.findings.violated("restart-missing", message, failure)

    def _same_life(self, event: events.Event) -> bool:
        """Whether the coordinator that wrote the last event still lives; a new one begins with a fresh strategy."""
        if event.node == self.node:
            return True
        self._judge_jitter()
        self.node = event.node
        self.strategy = self._fresh()
        self.failure = None
        self.restarting.clear()
        return False

    def _judge_jitter(self) -> None:
        """A strategy is over: whether it ever moved a delay."""
        if not isinstance(self.strategy, Exponential):
            return
        spread = self.strategy.is_spread()
        if spread is not None:
            self.findings.check("without-jitter")
        if spread is False:
            message = f"{len(self.strategy.drawn)} delays are exactly those of the row, and none is drawn"
            self.findings.violated("without-jitter", message)

    def _counted(self, event: events.FailureCounted) -> None:
        self._same_life(event)
        self.failure = event
        self._ends(event)
        self.excess = self.strategy.excess
        recoverable = self.records.counted(event, endless=self.strategy.endless)
        if event.recoverable and recoverable:
            self.allowed = self.strategy.allows(event.time_ns)
        else:
            self.allowed = False
            self.excess = "restarted-after-unrecoverable"

    def _scheduled(self, event: events.RestartScheduled) -> None:
        if not self._same_life(event) or self.failure is None:
            return
        self._restarts(self.failure, event)
        clause: str = ""
        objection: Objection | None = None
        if self.excess == self.strategy.excess:  # Otherwise the strategy knows nothing of this failure.
            clause, objection = self.strategy.schedules(event.delay_ms, event.time_ns)
        if clause:
            self.findings.check(clause)
        if objection is not None:
            message = f"a restart is scheduled in {event.delay_ms} ms, {objection.expected}"
            self.findings.violated(objection.clause, message, self.failure, event)
        delay_ms = event.delay_ms if self.strategy.delay_ms is None and clause else self.strategy.delay_ms
        self.restarting.append((self.failure, delay_ms))
        self.failure = None

    def _ends(
        self, event: events.FailureCounted | events.AttemptStarted
    ) -> list[tuple[events.FailureCounted, int | None]]:
        """Failures that are awaited no longer: their subtasks were started again, or failed once more."""
        touched = set(members(self.history, event))
        over = [each for each in self.restarting if touched.intersection(members(self.history, each[0]))]
        self.restarting = [each for each in self.restarting if each not in over]
        return over

    def _restarts(self, failure: events.FailureCounted, event: events.Event) -> None:
        """A restart answers a failure."""
        if self.allowed:
            self.findings.check("restart-missing")
            self.findings.check("failed-too-early")
        elif self.allowed is False:
            message = f"the job restarts, which its strategy does not allow; what failed: {failure.cause}"
            self.findings.violated(self.excess, message, failure, event)

    def _refused(self, event: events.RestartRefused) -> None:
        if not self._same_life(event) or self.failure is None:
            return
        if self.allowed:
            self.findings.check("failed-too-early")
            message = f"the job fails, though its strategy allows a restart; what failed: {self.failure.cause}"
            self.findings.violated("failed-too-early", message, self.failure, event)
        elif self.allowed is False:
            self.findings.check(self.excess)
        self.failure = None

    def _started(self, event: events.AttemptStarted) -> None:
        if not self._same_life(event):
            return
        if self.failure is not None:
            self._restarts(self.failure, event)
            self.restarting.append((self.failure, self.strategy.delay_ms))
            self.failure = None
        for failure, delay_ms in self._ends(event):
            if delay_ms is None or self.paused:
                continue
            self.findings.check("delay-too-short")
            waited_ns = event.time_ns - failure.time_ns
            # The timer may have been set before the failure's event got its time
            if waited_ns < delay_ms * NS_PER_MS - min(delay_ms * NS_PER_MS // 10, 10 * NS_PER_MS):
                waited = f"{waited_ns / NS_PER_MS:.0f} ms after its failure, not {delay_ms}"
                self.findings.violated("delay-too-short", f"attempt {event.attempt} starts {waited}", failure, event)


def _judge_deaths(history: History, exempt: Exemptions, findings: Findings) -> None:
    """A worker's death ends the attempts that it runs tasks of: somebody must have counted a failure of each.
    No later one will do: a coordinator starts the next attempt only after it counted."""
    deaths = history.of(events.NodeDied)
    if not deaths:
        return
    stopped = {(event.attempt, event.subtask) for event in history.of(events.TaskStopped)}
    stopped.update((event.attempt, event.subtask) for event in history.of(events.SubtaskFinished))
    for death in deaths:
        latest: dict[str, events.TaskStarted] = {}
        for event in history.of(events.TaskStarted):
            if event.node == death.dead_node and not event.finished:
                latest[event.subtask] = event
        running = {task.attempt: task for task in latest.values() if (task.attempt, task.subtask) not in stopped}
        for attempt, task in running.items():  # Regions that restart alone are in attempts of their own.
            if _counted(history, task):
                findings.check("failure-not-counted")
            elif not (_coordinator_lost(history, exempt, task) or _over(history, death) or _rescaled(history, task)):
                message = f"{death.dead_node} dies running attempt {attempt}, and no failure of it is counted"
                findings.violated("failure-not-counted", message, task, death)


def _over(history: History, death: events.NodeDied) -> bool:
    """Whether the job was ending when a worker died, or before that was noticed: then it is no failure."""
    place = history.position(death)
    before = [switched for switched in history.of(events.JobSwitched) if history.position(switched) < place]
    after = [switched for switched in history.of(events.JobSwitched) if history.position(switched) > place]
    return any(switched.status in events.OVER for switched in before[-1:]) or any(
        switched.status in _BY_USERS for switched in after[:1]
    )


def _rescaled(history: History, task: events.TaskStarted) -> bool:
    """Whether what followed the attempt of a task was a rescale: that had cancelled its tasks already, or was to."""
    following = next((event for event in history.of(events.AttemptStarted) if event.attempt > task.attempt), None)
    layouts, job_of = history.derived(Layouts), history.derived(Submissions).of
    if following is None or job_of(following) != job_of(task):
        return False
    return layouts.of(following) is not layouts.of(task)


def _counted(history: History, task: events.TaskStarted) -> bool:
    """Whether a failure was counted that took a task down: before its next attempt. A job that fails takes all down."""
    later = [
        event.attempt
        for event in history.of(events.AttemptStarted)
        if event.attempt > task.attempt and task.subtask in members(history, event)
    ]
    end = min(later, default=profile.UNLIMITED)
    return any(
        task.attempt <= failure.attempt < end and task.subtask in members(history, failure)
        for failure in history.of(events.FailureCounted)
    ) or (not later and any(refusal.time_ns >= task.time_ns for refusal in history.of(events.RestartRefused)))


def _coordinator_lost(history: History, exempt: Exemptions, task: events.TaskStarted) -> bool:
    """Whether the coordinator of a task's attempt died, or was superseded, before it went on: it could not count, and a
    new one starts a new attempt by itself. A coordinator that started a later attempt of the task has seen this one
    end."""
    attempt = task.attempt
    dead = exempt.dead | followed_lives(history)
    starts = history.of(events.AttemptStarted)
    own = {event.node for event in starts if event.attempt == attempt}
    if not own:  # The dead may not have got to write it down
        processes = {process_of(event.node) for event in starts}
        return any(process_of(node) in processes for node in dead)
    later = [event for event in starts if event.attempt > attempt and task.subtask in members(history, event)]
    return own <= dead and not any(event.node in own for event in later)
