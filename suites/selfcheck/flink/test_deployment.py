"""Jobs on a scripted cluster: what is given back whatever fails, what ends a run, and what users may ask for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import pytest
from msgspec.structs import replace

from holdfast.faults.storage import full_storage
from holdfast.faults.user import command, stop
from holdfast.fixtures.systems.flink import deployment, running_job, system
from holdfast.fixtures.systems.flink.deployment import FlinkDeployment
from holdfast.fixtures.systems.flink.jar_deployment import JarDeployment
from holdfast.fixtures.systems.flink.log import Line
from holdfast.fixtures.systems.flink.master_log import MasterLog
from holdfast.fixtures.systems.flink.rest import Refused
from holdfast.fixtures.systems.flink.running_job import RunningJob
from holdfast.fixtures.systems.flink.system import Flink
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import (
    CheckpointAborted,
    Event,
    JobSubmitted,
    JobSwitched,
    RescaleAccepted,
    RescaleRefused,
    RescaleRequested,
    StorageFailed,
    StorageListed,
)
from holdfast.harness.model.plan import Bounds, FaultSpec
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.controls.job import JobControl
from holdfast.harness.spi.controls.process import TargetAbsent
from holdfast.suites.conformance.flink import CASES
from holdfast.suites.selfcheck.flink.scripted import NO_RECORDS, NoOutput, ScriptedLog, ScriptedRest, cluster, plan

JOB = f"{1:032x}"
"""The first one that a scripted cluster takes."""
NO_ROOM = "java.io.IOException: No space left on device"
Make = Callable[..., FlinkDeployment]
E = TypeVar("E", bound=Event)


class NoDisk:
    """In the place of a small disk, which only root can mount."""

    def __init__(self, folder: Path) -> None:
        self.filled = self.closed = False

    def fill(self) -> None:
        self.filled = True

    def close(self) -> None:
        self.closed = True


class Ends:
    """What a deployment took of others, and whether its cluster was ended."""

    def __init__(self) -> None:
        self.clusters = 0
        self.outputs: list[NoOutput] = []
        self.disks: list[NoDisk] = []

    def output(self, *words: object) -> NoOutput:
        self.outputs.append(NoOutput())
        return self.outputs[-1]

    def disk(self, folder: Path) -> NoDisk:
        self.disks.append(NoDisk(folder))
        return self.disks[-1]

    def of_cluster(self) -> None:
        self.clusters += 1


@pytest.fixture
def rest() -> ScriptedRest:
    return ScriptedRest()


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch, rest: ScriptedRest) -> Ends:
    ends = Ends()
    monkeypatch.setattr(deployment, "CommittedOutput", ends.output)
    monkeypatch.setattr(deployment, "SmallDisk", ends.disk)
    monkeypatch.setattr(running_job, "end_warm_cluster", ends.of_cluster)
    monkeypatch.setattr(running_job, "_LIMIT_S", 0.05)
    monkeypatch.setattr(MasterLog, "closed", property(lambda self: rest.state == "CANCELED"))
    return ends


@pytest.fixture
def log() -> ScriptedLog:
    """Of the JobManager."""
    return ScriptedLog()


@pytest.fixture
def make(tmp_path: Path, rest: ScriptedRest, log: ScriptedLog, ends: Ends) -> Make:
    def made(*faults: FaultSpec) -> FlinkDeployment:
        return FlinkDeployment(plan(*faults), NO_RECORDS, tmp_path, cluster(rest, log), "", None)

    return made


def line(logger: str, message: str, trace: str = "") -> Line:
    return Line(t=0.0, c=f"org.apache.flink.runtime.checkpoint.{logger}", m=message, e=trace)


LEFT = line("StandaloneCompletedCheckpointStore", "Checkpoint with ID 3 at '/run/chk-3' not discarded.")


def raising(error: Exception) -> Callable[..., Any]:
    def raises(*words: object) -> None:
        raise error

    return raises


def test_a_job_that_goes_on_ends_its_cluster_and_its_run_says_nothing(
    make: Make, rest: ScriptedRest, ends: Ends
) -> None:
    job = make()
    rest.ends = False
    assert "did not end within" in job.stop(audit=False).problem
    job.close()
    assert ends.clusters == 1
    assert ends.outputs[0].closed


def test_a_job_that_ends_keeps_its_cluster(make: Make, ends: Ends) -> None:
    job = make()
    assert job.stop(audit=False).problem == ""
    job.close()
    job.close()
    assert ends.clusters == 0


def test_a_job_of_somebody_else_that_goes_on_says_nothing_either(
    make: Make, rest: ScriptedRest, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = make()
    rest.ends = False
    jar = JarDeployment.__new__(JarDeployment)
    jar.__dict__.update(running.__dict__, _committed=SimpleNamespace(output=None, nothing=""), _expected=None)
    jar._completed_behind = 0
    assert "did not end within" in jar.stop(audit=False).problem


def test_a_cancellation_that_comes_too_late_is_no_trouble(make: Make, rest: ScriptedRest, ends: Ends) -> None:
    job = make()

    def late(job: str) -> None:
        rest.state = "CANCELED"
        raise Refused("it is over")

    rest.cancel = late  # type: ignore[method-assign]
    assert job.stop(audit=False).problem == ""
    job.close()
    assert ends.clusters == 0


def test_a_job_is_cancelled_as_soon_as_somebody_answers(
    make: Make, rest: ScriptedRest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running_job, "_LIMIT_S", 20.0)
    job = make()
    cancel, answers = rest.cancel, iter(("", "RUNNING", "RUNNING"))
    refusals = iter((OSError("no leader"),))

    def cancelled(job: str) -> None:
        for error in refusals:
            raise error
        cancel(job)

    rest.status = lambda job: next(answers, rest.state)  # type: ignore[method-assign]
    rest.cancel = cancelled  # type: ignore[method-assign]
    assert job.stop(audit=False).problem == ""
    assert rest.state == "CANCELED"


@pytest.mark.parametrize("error", [OSError("the relay is dead"), RuntimeError("no such link")])
def test_what_was_taken_is_given_back_though_the_job_cannot_be_ended(make: Make, ends: Ends, error: Exception) -> None:
    job = make(full_storage(100))
    job._links = cast("Any", SimpleNamespace(heal=raising(error)))
    if isinstance(error, OSError):
        job.close()
    else:
        with pytest.raises(RuntimeError):
            job.close()
    assert ends.clusters == 1
    assert ends.outputs[0].closed
    assert ends.disks[0].closed


def test_one_step_that_fails_does_not_keep_the_others_back(
    make: Make, ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NoOutput, "close", raising(OSError("it hangs")))
    job = make(full_storage(100))
    with pytest.raises(OSError, match="it hangs"):
        job.close()
    assert ends.disks[0].closed


def test_a_jobs_output_is_closed_though_the_job_cannot_be_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    jar, output = JarDeployment.__new__(JarDeployment), NoOutput()
    jar.__dict__["_committed"] = output
    monkeypatch.setattr(RunningJob, "close", raising(RuntimeError("no")))
    with pytest.raises(RuntimeError):
        jar.close()
    assert output.closed


@pytest.mark.parametrize("broken", ["CommittedOutput", "LogFeeder"])
def test_what_was_taken_is_given_back_where_the_run_cannot_begin(
    make: Make, ends: Ends, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    monkeypatch.setattr(deployment, broken, raising(OSError("no room")))
    with pytest.raises(OSError, match="no room"):
        make(full_storage(100))
    assert ends.disks[0].closed
    assert all(output.closed for output in ends.outputs)


@pytest.mark.parametrize(("error", "clusters"), [(Refused("no"), 0), (OSError("no answer"), 1)])
def test_a_job_that_cannot_be_submitted_leaves_nothing(
    make: Make, rest: ScriptedRest, ends: Ends, error: OSError, clusters: int
) -> None:
    """Where no answer came it may run all the same: it ran beside the next one, whose history held both."""
    rest.refuses = error
    with pytest.raises(OSError, match="no"):
        make(full_storage(100))
    assert ends.clusters == clusters
    assert ends.outputs[0].closed
    assert ends.disks[0].closed


def recorded(job: FlinkDeployment, kind: type[E]) -> list[E]:
    """Events of a kind; the job ends."""
    return [event for node in job.stop(audit=False).nodes for event in node if isinstance(event, kind)]


def of_coordinator(job: FlinkDeployment) -> list[type[Event]]:
    """What the node shows that users ask; the job ends."""
    nodes = ([type(event) for event in node] for node in job.stop(audit=False).nodes)
    [asked] = (node for node in nodes if JobSubmitted in node)
    return asked


def submit(job: FlinkDeployment, **parameters: int | str) -> None:
    job.controls[JobControl].command("submit", dict(parameters))


def test_nothing_goes_on_from_nothing(make: Make, rest: ScriptedRest, log: ScriptedLog) -> None:
    job = make()
    rest.state = "CANCELED"
    with pytest.raises(OSError, match="no job has left a checkpoint: set restore to 0"):
        submit(job)
    assert rest.submitted == [""]
    submit(job, restore=0)
    assert rest.submitted == ["", ""]
    rest.state = "CANCELED"
    log.written.append(LEFT)
    submit(job)
    assert rest.submitted[-1].endswith("/chk-3/_metadata")


def test_a_job_that_ends_by_itself_is_not_cancelled_by_the_next_one(
    make: Make, rest: ScriptedRest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is stopped with a savepoint, and its tasks still end."""
    monkeypatch.setattr(running_job, "_LIMIT_S", 20.0)
    job = make()
    answers = iter(("RUNNING", "RUNNING"))

    def status(job: str) -> str:
        rest.state = next(answers, "CANCELED")
        return rest.state

    rest.status = status  # type: ignore[method-assign]
    rest.cancel = raising(AssertionError("it is cancelled"))  # type: ignore[method-assign]
    submit(job, restore=0)
    assert rest.submitted == ["", ""]


def test_a_job_that_may_run_unknown_ends_its_cluster_and_its_run_says_nothing(
    make: Make, rest: ScriptedRest, ends: Ends
) -> None:
    job = make()
    rest.state, rest.refuses = "CANCELED", OSError("no leader")
    with pytest.raises(OSError, match="no leader"):
        submit(job, restore=0)
    with pytest.raises(OSError, match="nobody knows whether Flink runs a job"):
        job.advance(job.now_ms)
    job.close()
    assert ends.clusters == 1


def test_an_outage_at_a_restore_is_not_the_end_of_the_job(make: Make, rest: ScriptedRest, log: ScriptedLog) -> None:
    job = make()
    rest.state = "CANCELED"
    log.written.append(LEFT)
    job.hear()
    job.happened()
    rest.refuses = OSError("no leader")
    with pytest.raises(OSError, match="no leader"):
        submit(job)
    assert job.happened() == []
    rest.refuses = Refused("the state does not fit")
    submit(job)
    assert [type(each) for each in job.happened()] == [JobSubmitted, JobSwitched]


def test_a_savepoint_is_listed_wherever_it_was_requested(make: Make, rest: ScriptedRest, tmp_path: Path) -> None:
    job = make()
    for name in ("elsewhere", "savepoints"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "_metadata").write_bytes(b"m")
        job.controls[JobControl].command("savepoint", {"target": name})
        assert job._stored.savepoints == f"{tmp_path / name}/"
    rest.state = "CANCELED"
    submit(job, restore=0)
    rest.state = "CANCELED"
    [listed] = recorded(job, StorageListed)
    assert sorted(file.path for file in listed.files) == [
        str(tmp_path / name / "_metadata") for name in ("elsewhere", "savepoints")
    ]


def test_a_full_disk_is_the_faults_doing_only_once_it_is_filled(make: Make, log: ScriptedLog, ends: Ends) -> None:
    job = make(full_storage(100))
    task = f"{'a' * 32}_{'b' * 32}_0_0"
    declined = line("CheckpointCoordinator", f"Decline checkpoint 1 by task {task} of job {JOB}.", NO_ROOM)
    for filled in (False, True):
        if filled:
            ends.disks[0].fill()
        log.written.append(declined)
        job.hear()
    assert [event.injected for event in recorded(job, StorageFailed)] == [False, True]


def test_metadata_that_found_no_room_failed_as_state_does(make: Make, log: ScriptedLog, ends: Ends) -> None:
    job = make(full_storage(100))
    ends.disks[0].fill()
    unpublished = "Failure to finalize checkpoint.\nCaused by: "
    traces = unpublished + NO_ROOM, f"{unpublished}java.io.IOException: gone", "Checkpoint expired before completing."
    log.written += [
        line("CheckpointFailureManager", f"Failed to trigger or complete checkpoint {number} for job {JOB}.", trace)
        for number, trace in enumerate(traces, 1)
    ]
    job.hear()
    assert [event.checkpoint for event in job.happened() if isinstance(event, CheckpointAborted)] == [1, 2, 3]
    failed = recorded(job, StorageFailed)
    assert [(event.checkpoint, event.operation, event.injected) for event in failed] == [(1, "publish-metadata", True)]


@pytest.mark.parametrize(
    ("rescale", "answer"), [(lambda *words: None, RescaleAccepted), (raising(Refused("no room")), RescaleRefused)]
)
def test_who_requires_a_parallelism_is_answered(
    make: Make, rest: ScriptedRest, rescale: Callable[..., None], answer: type[Event]
) -> None:
    job = make()
    rest.rescale = rescale  # type: ignore[attr-defined]
    job.controls[JobControl].command("rescale", {"parallelism": 3})
    assert of_coordinator(job)[-2:] == [RescaleRequested, answer]
    assert job._master.rescales is False, "the job is cancelled"


def test_a_response_that_is_lost_is_not_the_request(make: Make, rest: ScriptedRest) -> None:
    job = make()
    rest.rescale = raising(OSError("reset"))  # type: ignore[attr-defined]
    seen = iter(({2}, {2, 3}, {3}))
    rest.required = lambda job: next(seen)  # type: ignore[attr-defined]
    job.controls[JobControl].command("rescale", {"parallelism": 3})
    assert of_coordinator(job)[-2:] == [RescaleRequested, RescaleAccepted]


@pytest.mark.parametrize("required", [{2}, {2, 3}, None])
def test_an_outage_answers_nobody(
    make: Make, rest: ScriptedRest, required: set[int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deployment, "_TAKEN_LIMIT_MS", 100)
    job = make()
    rest.rescale = raising(OSError("no leader"))  # type: ignore[attr-defined]
    rest.required = raising(OSError("dead")) if required is None else lambda job: required  # type: ignore[attr-defined]
    with pytest.raises(OSError, match="no leader"):
        job.controls[JobControl].command("rescale", {"parallelism": 3})
    assert of_coordinator(job)[-1] is RescaleRequested


@pytest.fixture
def flink(monkeypatch: pytest.MonkeyPatch, rest: ScriptedRest, ends: Ends) -> Flink:
    found = Flink()
    monkeypatch.setattr(found, "_cluster", lambda *words: cluster(rest))
    return found


def test_a_good_option_that_is_refused_fails_the_run(flink: Flink, rest: ScriptedRest, tmp_path: Path) -> None:
    rest.refuses = Refused("the interval is bad")
    run = run_plan(plan(), flink, registry.toolbox(), Tier.PROCESS, tmp_path)
    assert run.outcome is Outcome.FAIL
    assert run.history.end.reason == "refused at submit: the interval is bad"
    [anomaly] = [each for verdict in run.verdicts if verdict.oracle == "LOUD" for each in verdict.anomalies]
    assert anomaly.clause == "refused-good-option"
    assert [each.key for each in flink.account(plan())] == [], "it is repeated once"


def test_a_submission_without_an_answer_is_inconclusive(flink: Flink, rest: ScriptedRest, tmp_path: Path) -> None:
    rest.refuses = OSError("no leader")
    run = run_plan(plan(), flink, registry.toolbox(), Tier.PROCESS, tmp_path)
    assert run.outcome is Outcome.INCONCLUSIVE
    assert "cannot be started: no leader" in run.reason


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (command("submit", {"restore": 2}), "restore: 2 of submit is not known"),
        (command("submit", {"state_backend": "rocksdb"}), "state_backend: rocksdb of submit is not known"),
        (command("submit", {"edit": "sum@2"}), "edit: sum@2 of submit is not known"),
        (stop(drain=True), "leave drain: 1 out of stop"),
    ],
)
def test_what_the_job_does_not_know_is_refused(flink: Flink, fault: FaultSpec, sentence: str) -> None:
    wanted = replace(plan(fault), bounds=Bounds(liveness_ms=90_000))
    assert sentence in flink.objection(wanted, Tier.PROCESS)


def test_what_it_knows_is_not(flink: Flink) -> None:
    fault = command("submit", {"restore": 1, "edit": "source=origin"})
    assert system._unsupported(plan(fault), fault) == ""


def test_the_cases_of_flink_use_nothing_that_is_refused() -> None:
    plans = [case.plan_for(number) for case in CASES for number in range(case.runs)]
    submitted = [fault for each in plans for fault in each.faults if fault.kind == "submit"]
    assert submitted
    assert not [fault for fault in submitted if system._unsubmitted(fault.parameters)]


def test_flink_is_given_time_to_go_on(flink: Flink) -> None:
    hasty = replace(plan(), bounds=Bounds(liveness_ms=100))
    assert flink.objection(hasty, Tier.PROCESS) == "bounds.liveness_ms is 100: give Flink 20000 ms to go on."


def test_a_command_that_flink_does_not_have_is_absent(make: Make) -> None:
    with pytest.raises(TargetAbsent, match="knows no command 'suspend': use cancel, savepoint, stop, move-savepoint"):
        make().controls[JobControl].command("suspend", {})


def test_a_savepoint_that_nobody_took_is_not_moved(make: Make) -> None:
    with pytest.raises(OSError, match="no savepoint to move yet: take one first"):
        make().controls[JobControl].command("move-savepoint", {})
