"""RESCALE: a running job goes on at the parallelism that was required of it, and at no other (RULES RSC).

What was required is known from the faults that acted; what a job accepts and deploys, it reports itself. What its
subtasks start with at the new parallelism RESTORE decides, and COUNT that a rescale is no failure.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import events
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.history import History
from holdfast.harness.model.submitted_jobs import PARALLELISM, topologies
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.shared.clocks import SKEW_NS
from holdfast.harness.oracles.shared.exemptions import Exemptions, exemptions
from holdfast.harness.oracles.shared.layout import Layouts

EXCUSED = frozenset({Consequence.RESCALES_JOB, Consequence.REQUESTS_CHECKPOINT, Consequence.SLOWS_TASK})
"""What a fault may cause that is no reason to refuse a parallelism."""
FOLLOWED = (
    events.FaultInjected, events.RescaleRequested, events.RescaleAccepted, events.RescaleRefused,
    events.AttemptStarted, events.FailureCounted, events.JobSwitched, events.CheckpointTriggered,
    events.CheckpointCompleted,
)  # fmt: skip
ENOUGH = 2
"""So many checkpoints of a former attempt, all of them triggered when nothing was in the way of a rescale."""


class RescaleOracle:
    """Follows what each job has accepted, from one attempt to the next."""

    name = "RESCALE"
    title = "rescale in place"
    invariant = "A running job goes on at the parallelism that it has accepted last, and accepts what it can go on at."
    clauses: Mapping[str, str] = {
        "not-required": "a job accepts a parallelism, or is deployed at one, that no user has required",
        "not-taken": "an attempt is deployed at a former parallelism, though the job has accepted another one",
        "above-max": "a parallelism is accepted that the max parallelism of the job does not allow",
        "refused-possible": "a job refuses a parallelism that it could go on at",
        "counted-as-failure": "a failure is counted for a rescale, with nothing that failed",
        "goes-on-as-before": "an accepted parallelism does not take effect, though nothing is in its way",
    }
    evidence: tuple[type[events.Event], ...] = (events.RescaleRequested, events.AttemptStarted)
    observed = frozenset[str]()

    def applies(self, history: History) -> bool:
        return bool(exemptions(history).acted(Consequence.RESCALES_JOB) or history.of(events.RescaleRequested))

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        trace = _Trace(history, findings)
        for event in history.of_kinds(FOLLOWED):
            trace.follow(event)
        return findings.verdict(history)


class _Job:
    """What is known of a job so far.

    Attributes:
        parallelism: that it has accepted last; at first, that it was submitted with.
        accepted: the event of that; None: it was submitted with it.
        requested: by parallelism, the request that this job may have made durable without saying so.
        deployed: by attempt, at which parallelism.
        behind: by checkpoint, those of former attempts that nothing excuses; `completed`: those that are complete.
        counted: the failures since a parallelism was accepted that no attempt has followed yet; None: one has.
        over: it ends.
    """

    def __init__(self, parallelism: int) -> None:
        self.parallelism = parallelism
        self.accepted: events.RescaleAccepted | None = None
        self.requested: dict[int, events.RescaleRequested] = {}
        self.deployed: dict[int, int] = {}
        self.behind: dict[int, events.CheckpointTriggered] = {}
        self.completed: list[events.CheckpointCompleted] = []
        self.counted: list[events.FailureCounted] | None = None
        self.over = False


class _Trace:
    """Follows the events of all jobs.

    Args:
        history: of the run.
        findings: what is found.
    """

    def __init__(self, history: History, findings: Findings) -> None:
        self._history, self._findings = history, findings
        self._exempt: Exemptions = exemptions(history)
        self._layouts = history.derived(Layouts)
        self._topologies = topologies(history.plan)
        self._orders = self._exempt.acted(Consequence.RESCALES_JOB)
        self._required: list[int] = []
        self._others: list[events.FaultInjected] = []
        self._jobs: dict[int, _Job] = {}
        disturbing = history.of_kinds((events.FaultInjected, events.FaultHealed, events.NodeStarted, events.NodeDied))
        self._calm_ns = max((event.time_ns + SKEW_NS for event in disturbing), default=0)

    def follow(self, event: events.Event) -> None:
        if isinstance(event, events.FaultInjected):
            self._acted(event)
            return
        number = min(max(self._exempt.job_of(event), 1), len(self._topologies)) - 1
        most = self._topologies[number].max_parallelism
        job = self._jobs.setdefault(number, _Job(self._topologies[number].parallelism))
        match event:
            case events.RescaleRequested():
                self._requested(job, event)
            case events.RescaleAccepted():
                self._accepted(job, event, most)
            case events.RescaleRefused():
                self._refused(job, event, most)
            case events.AttemptStarted():
                self._deployed(job, event)
            case events.FailureCounted():
                if job.counted is not None:
                    job.counted.append(event)
            case events.JobSwitched():
                job.over = job.over or event.status in events.OVER
            case events.CheckpointTriggered():
                if event.time_ns > self._calm_ns and self._former(job, event):
                    job.behind[event.checkpoint] = event
            case events.CheckpointCompleted():
                self._completed(job, event)

    def _acted(self, event: events.FaultInjected) -> None:
        faults = self._history.plan.faults
        if event in self._orders and event.fault < len(faults):
            self._required.append(int(faults[event.fault].parameters.get(PARALLELISM, 0)))
        if not self._exempt.is_within(event, EXCUSED):
            self._others.append(event)

    def _former(self, job: _Job, event: events.Event) -> bool:
        """Whether an event is of an attempt at another parallelism than the accepted one."""
        return job.deployed.get(event.attempt, job.parallelism) != job.parallelism

    def _requested(self, job: _Job, event: events.RescaleRequested) -> None:
        """Orders are taken up as they come; the last one may come twice."""
        self._findings.check("not-required")
        if event.parallelism in self._required:
            del self._required[: self._required.index(event.parallelism) + 1]
        elif self._required or (event.parallelism != job.parallelism and event.parallelism not in job.requested):
            message = f"parallelism {event.parallelism} is taken up, which no user has required"
            self._findings.violated("not-required", message, event)
        job.requested[event.parallelism] = event

    def _accepted(self, job: _Job, event: events.RescaleAccepted, most: int) -> None:
        self._findings.check("not-required")
        self._findings.check("refused-possible")
        if event.parallelism not in job.requested:
            message = f"parallelism {event.parallelism} is accepted, which no user has required"
            self._findings.violated("not-required", message, event)
        if most:
            self._findings.check("above-max")
            if event.parallelism > most:
                message = f"parallelism {event.parallelism} is accepted, and the max parallelism is {most}"
                self._findings.violated("above-max", message, event)
                return
        job.parallelism, job.accepted = event.parallelism, event
        job.counted = []
        job.requested.clear()
        job.behind.clear()
        job.completed.clear()

    def _refused(self, job: _Job, event: events.RescaleRefused, most: int) -> None:
        self._findings.check("above-max", event.parallelism > most)
        holds_back = bool(self._layouts.of(event).buffers)
        if self._others or job.over or holds_back:
            return
        self._findings.check("refused-possible")
        if 1 <= event.parallelism <= most:
            message = f"parallelism {event.parallelism} of at most {most} is refused: {event.reason}"
            self._findings.violated("refused-possible", message, event)

    def _deployed(self, job: _Job, event: events.AttemptStarted) -> None:
        """A later coordinator may find a requirement that the one before did not live to accept."""
        if not event.parallelism:
            return
        job.deployed[event.attempt] = event.parallelism
        self._judge_counted(job, event)
        requested = job.requested.get(event.parallelism)
        if requested is not None and requested.node != event.node:
            job.parallelism, job.accepted = event.parallelism, None
        self._findings.check("not-taken")
        if event.parallelism == job.parallelism:
            self._findings.check("goes-on-as-before", job.accepted is not None)
            return
        message = f"attempt {event.attempt} is deployed at parallelism {event.parallelism}, not {job.parallelism}"
        if job.accepted is None:
            self._findings.violated("not-required", message, event)
            return
        self._findings.violated("not-taken", message, job.accepted, event)
        job.parallelism, job.accepted = event.parallelism, None  # What comes of it is no other fault

    def _judge_counted(self, job: _Job, event: events.AttemptStarted) -> None:
        """Whatever fails at the same time is counted, of course."""
        counted, job.counted = job.counted, None
        if counted is None or (counted and (self._others or self._history.of_kinds((events.MachineStalled,)))):
            return
        self._findings.check("counted-as-failure")
        if counted:
            message = f"a failure is counted ({counted[0].cause}) for the rescale to {event.parallelism}"
            self._findings.violated("counted-as-failure", message, *counted, event)

    def _completed(self, job: _Job, event: events.CheckpointCompleted) -> None:
        if event.checkpoint not in job.behind or job.accepted is None or job.over:
            return
        self._findings.check("goes-on-as-before")
        job.completed.append(event)
        if len(job.completed) == ENOUGH:
            message = (
                f"parallelism {job.parallelism} was accepted, and checkpoints go on in attempt {event.attempt} at "
                f"{job.deployed[event.attempt]}"
            )
            self._findings.violated("goes-on-as-before", message, job.accepted, *job.completed)
