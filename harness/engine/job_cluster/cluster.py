"""A cluster: a deployment, and the job in it."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec

from holdfast.harness.engine.job_cluster.jobs import Job, SavepointOperation
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.foreign import foreign
from holdfast.harness.model import profile
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import JobSubmitted
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.submitted_jobs import SUBMIT
from holdfast.harness.spi.controls.job import JobControl
from holdfast.harness.spi.system import Deployment

CANCEL_WITH_SAVEPOINT = "cancel-with-savepoint"
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
        ended: it was told to end.
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
        self._present = self._begin(plan.job.name)

    # --- its own thread ---

    def serve(self) -> None:
        """Run until it is told to end."""
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

    def _begin(self, name: str) -> Job:
        job = Job(uuid4().hex, name, time.time_ns() // 1_000_000)
        self.jobs[job.job] = job
        return job

    def _submit(self, parameters: Mapping[str, int | str]) -> None:
        self._deployment.controls[JobControl].command(SUBMIT, dict(parameters))

    # --- requests, from any thread ---

    def ask(self, request: Callable[[], Answer]) -> Answer:
        """Have the cluster do something between two steps.

        Raises:
            Unknown, Refused, OSError: as what was asked for.
        """
        answers: queue.Queue[Answer | Exception] = queue.Queue()
        self._requests.put((request, answers))
        answer = answers.get()
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
        slots = self.plan.topology.parallelism
        if int(parameters.get("parallelism", 0)) > slots:
            raise Refused(f"parallelism {parameters['parallelism']} is too large: the cluster has {slots} slots.")
        self._submit({"restore": 0, **parameters})
        self._present = self._begin(self.plan.job.name)
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
        """What became of a savepoint that was asked for, as Flink says it.

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
        """All jobs."""
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
        }  # fmt: skip

    def end(self) -> Answer:
        """End, with whatever runs."""
        self.ended = True
        return {}


class ClusterSettings(msgspec.Struct, frozen=True):
    """What a cluster process is started with: the plan of its first job."""

    plan: Plan
