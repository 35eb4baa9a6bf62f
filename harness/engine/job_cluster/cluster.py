"""A cluster: a deployment, and the job in it."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec

from holdfast.harness.engine.job_cluster.jobs import PENDING, Job, Requirements, SavepointOperation, required
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.foreign import foreign
from holdfast.harness.model import profile
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import JobSubmitted
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.submitted_jobs import PARALLELISM, RESCALE, SUBMIT
from holdfast.harness.spi.controls.job import JobControl
from holdfast.harness.spi.system import Deployment

CANCEL_WITH_SAVEPOINT = "cancel-with-savepoint"
ANSWER_LIMIT_S = 60.0
STEP_MS = 20.0
"""How long a request waits at most until the cluster takes it."""
Answer = dict[str, Any]


class Unknown(LookupError):
    """There is no such job, or no such savepoint request."""


class Refused(ValueError):
    """The cluster cannot do that now."""


class Cluster:
    """One deployment on real processes.

    Args:
        plan: its first job, and what that is fed.
        folder: its own, empty; savepoints that name no other directory go below it.

    Attributes:
        jobs: by id, in the order of their submission.
        ended: its end was requested.
    """

    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan = plan
        self.folder = folder
        self.jobs: dict[str, Job] = {}
        self.ended = False
        self._requests: queue.Queue[tuple[Callable[[], Answer], queue.Queue[Answer | Exception]]] = queue.Queue()
        system = registry.system(plan.system)
        tools = registry.toolbox()
        inputs = tools.workloads[plan.workload.name].generate(plan.workload.parameters, plan.run_seed)
        with foreign(f"system {plan.system!r}"):
            self._deployment: Deployment = system.deploy(plan, inputs, Tier.PROCESS, folder)
        self._present = self._begin(plan.job.name, self.slots)

    @property
    def slots(self) -> int:
        """How many subtasks of a vertex there is room for."""
        return self.plan.topology.parallelism

    # --- its own thread ---

    def serve(self) -> None:
        """Run until its end is requested."""
        try:
            while not self.ended:
                self._take_requests()
                for event in self._deployment.advance(self._deployment.now_ms + STEP_MS):
                    if not isinstance(event, JobSubmitted):
                        self._present.observe(event)
        finally:
            self._deployment.close()

    def _take_requests(self) -> None:
        while True:
            try:
                request, answers = self._requests.get_nowait()
            except queue.Empty:
                return
            try:
                answers.put(request())
            except (LookupError, ValueError, OSError) as error:
                answers.put(error)

    def _begin(self, name: str, parallelism: int) -> Job:
        now_ms, requirements = time.time_ns() // 1_000_000, Requirements(1, parallelism)
        job = Job(uuid4().hex, name, now_ms, parallelism, requirements)
        self.jobs[job.job] = job
        return job

    def _submit(self, parameters: Mapping[str, int | str]) -> None:
        self._deployment.controls[JobControl].command(SUBMIT, dict(parameters))

    # --- requests, from any thread ---

    def ask(self, request: Callable[[], Answer]) -> Answer:
        """Have the cluster do something between two steps.

        Raises:
            Unknown, Refused, OSError: as the command raises them.
        """
        answers: queue.Queue[Answer | Exception] = queue.Queue()
        self._requests.put((request, answers))
        try:
            answer = answers.get(timeout=ANSWER_LIMIT_S)
        except queue.Empty:
            raise Refused(f"the cluster has not answered for {ANSWER_LIMIT_S:.0f} s: look into its folder.") from None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def job(self, identity: str) -> Job:
        """A job by its id.

        Raises:
            Unknown: there is none.
        """
        if identity not in self.jobs:
            raise Unknown(f"Could not find a job with ID {identity}: list the jobs of the cluster.")
        return self.jobs[identity]

    def run(self, parameters: Mapping[str, int | str]) -> Answer:
        """Submit another job of the same program.

        Raises:
            Refused: the last one still runs.
        """
        if not self._present.over:
            raise Refused(f"job {self._present.job} is {self._present.state}: stop or cancel it first.")
        parallelism = int(parameters.get("parallelism", 0)) or self._present.parallelism
        if parallelism > self.slots:
            raise Refused(f"parallelism {parallelism} is too large: the cluster has {self.slots} slots.")
        self._submit({"restore": 0, **parameters, "parallelism": parallelism})
        self._present = self._begin(self.plan.job.name, parallelism)
        return {"jobid": self._present.job}

    def savepoint(self, identity: str, directory: str, words: Mapping[str, int | str], command: str) -> Answer:
        """Ask a job for a savepoint.

        Args:
            identity: of the job.
            directory: below which it goes; empty: what is configured, else below the folder of the cluster.
            words: other parameters of the command, such as `format` and `drain`.
            command: `savepoint`, or `stop` or `cancel-with-savepoint`, with which the job ends.

        Raises:
            Unknown: there is no such job.
            Refused: it has ended, or its version does not end so.
        """
        job = self.job(identity)
        if job.over:
            raise Refused(f"job {identity} is {job.state}: only a running job has savepoints taken.")
        if command == CANCEL_WITH_SAVEPOINT and self.plan.options.get(profile.PROFILE) != profile.FLINK_1_14:
            raise Refused(
                f"job {identity} runs as {profile.FLINK_2}, which does not cancel with a savepoint: stop it with one, "
                f"or run it with {profile.PROFILE}={profile.FLINK_1_14}."
            )
        name, ends = f"savepoint-{identity[:6]}-{uuid4().hex[:12]}", command != "savepoint"
        operation = SavepointOperation(uuid4().hex, name, ends)
        job.savepoints[operation.trigger] = operation
        parameters = {"target": directory, "name": operation.name, **words}
        self._deployment.controls[JobControl].command(command, parameters)
        return {"request-id": operation.trigger}

    def savepoint_status(self, identity: str, trigger: str) -> Answer:
        """The status of a requested savepoint, as Flink reports it.

        Raises:
            Unknown: there is no such job or request.
        """
        job = self.job(identity)
        operation = job.savepoints.get(trigger)
        if operation is None:
            raise Unknown(f"Could not find a savepoint request {trigger} of job {identity}.")
        status = operation.status
        if stopping := operation.stops and bool(operation.location) and not job.over:
            status = "IN_PROGRESS"
        answer: Answer = {"status": {"id": status}}
        if operation.failure:
            answer["operation"] = {"failure-cause": {"class": "savepoint", "stack-trace": operation.failure}}
        elif operation.location and not stopping:
            answer["operation"] = {"location": operation.location}
        return answer

    def require(self, identity: str, body: Mapping[str, Any]) -> Answer:
        """Let a job go on at another parallelism, while it runs; `requirements` shows what becomes of that.

        Args:
            identity: of the job.
            body: of the request, see jobs.required.

        Raises:
            Unknown: there is no such job.
            Refused: it has ended, its version has no such thing, another request is under way, or there are too few
                slots.
            ValueError: the request is none.
        """
        job = self.job(identity)
        if job.over:
            raise Refused(f"job {identity} is {job.state}: only a running job is rescaled.")
        if self.plan.options.get(profile.PROFILE) == profile.FLINK_1_14:
            raise Refused(
                f"job {identity} runs as {profile.FLINK_1_14}, which knows no resource requirements: stop it with a "
                f"savepoint and submit it again, or run it with {profile.PROFILE}={profile.FLINK_2}."
            )
        if job.requirements.state == PENDING:
            raise Refused(f"job {identity} has not answered the last requirements yet: send these again.")
        wanted = required(body, [vertex.name for vertex in self.plan.job.vertices])
        if wanted.lower > self.slots:
            raise Refused(f"{wanted.lower} subtasks at least are too many: the cluster has {self.slots} slots.")
        parallelism = min(wanted.upper, self.slots)
        self._deployment.controls[JobControl].command(RESCALE, {PARALLELISM: parallelism})
        job.requirements = wanted
        return {}

    def requirements(self, identity: str) -> Answer:
        """By vertex, the bounds that a job has.

        Raises:
            Unknown: there is no such job.
            Refused: it has refused the last ones.
        """
        job = self.job(identity)
        known = job.requirements
        if known.refusal:
            refusal, job.requirements = known.refusal, Requirements(1, job.parallelism)
            raise Refused(refusal)
        bounds = {"parallelism": {"lowerBound": known.lower, "upperBound": known.upper}}
        return {vertex.name: bounds for vertex in self.plan.job.vertices}

    def answered(self, identity: str) -> Answer:
        """Whether a job that is to go on at another parallelism has answered, or has ended meanwhile."""
        job = self.job(identity)
        return {"answered": job.over or job.requirements.state != PENDING}

    def cancel(self, identity: str) -> Answer:
        """End a job.

        Raises:
            Unknown: there is no such job.
            Refused: it has ended.
        """
        job = self.job(identity)
        if job.over:
            raise Refused(f"job {identity} is {job.state} already.")
        self._deployment.controls[JobControl].command("cancel", {})
        return {}

    def overview(self) -> Answer:
        return {
            "jobs": [
                {"jid": job.job, "name": job.name, "state": job.state, "start-time": job.started_ms}
                for job in self.jobs.values()
            ]
        }

    def details(self, identity: str) -> Answer:
        """One job.

        Raises:
            Unknown: there is no such job.
        """
        job = self.job(identity)
        return {
            "jid": job.job, "name": job.name, "state": job.state, "reason": job.reason,
            "start-time": job.started_ms, "checkpoints": job.completed,
            "vertices": [
                {"id": vertex.name, "name": vertex.name, "parallelism": job.parallelism}
                for vertex in self.plan.job.vertices
            ],
        }  # fmt: skip

    def end(self) -> Answer:
        """End, with whatever runs."""
        self.ended = True
        return {}


class ClusterSettings(msgspec.Struct, frozen=True):
    """What a cluster process is started with.

    Attributes:
        plan: of its first job.
        root: below which all paths of requests must lead.
    """

    plan: Plan
    root: str
