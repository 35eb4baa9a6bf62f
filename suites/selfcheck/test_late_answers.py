"""What was asked for before something failed or ended is answered behind that: nobody takes up again what is over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from holdfast.faults.process import kill
from holdfast.faults.storage import storage_error
from holdfast.faults.user import command
from holdfast.fixtures.reference.parts import REFERENCE
from holdfast.fixtures.reference.protocol.effects import (
    CancelJob,
    Effects,
    FailedExternally,
    JobRecordPersisted,
    PartitionEnded,
    PersistJobRecord,
    Recover,
    Recovered,
    Started,
    StateRead,
    StateReadFailed,
    StoredCheckpoint,
)
from holdfast.fixtures.reference.protocol.effects.event import WorkerEvent
from holdfast.fixtures.reference.protocol.messages import TaskFailed
from holdfast.fixtures.reference.protocol.tasks.worker import Worker
from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.events import Event, JobStatus, JobSwitched, OperatorFinished, RecoveryFailed, TaskStopped
from holdfast.harness.model.jobs import FORWARD, bounded
from holdfast.harness.model.plan import ExpectedEnd, Plan
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.conformance.finishing import CHAINED, ending
from holdfast.suites.conformance.plans import RESTART, STATE_IN_FILES, WORKERS, plan


def run_with(worker: type[Worker], chosen: Plan) -> Run:
    """A run of the reference runtime with other workers."""
    system = ReferenceSystem("")
    system.parts = replace(REFERENCE, worker=worker)
    return run_plan(chosen, system, registry.toolbox())


@pytest.mark.parametrize("options", [{}, {f"{RESTART}.type": "none"}], ids=["restarts", "fails"])
def test_a_job_that_a_user_ends_does_not_restart_because_its_store_cannot_be_read(options: Mapping[str, str]) -> None:
    """The user comes between the question what is stored and the answer that this cannot be read."""
    run = run_plan(
        plan(
            kill(COORDINATOR, after_checkpoint=2),
            storage_error("read-metadata", 2_000, {"occurrences": 2}, after_checkpoint=2),
            command("cancel", after_checkpoint=2, at_time_ms=143),
            options=options,
            expected_end=ExpectedEnd.CANCELED,
        ),
        registry.system("reference"),
        registry.toolbox(),
    )
    switched = run.history.of(JobSwitched)
    cancelling = next(event for event in switched if event.status is JobStatus.CANCELLING)
    (failed,) = run.history.of(RecoveryFailed)
    assert run.history.position(cancelling) < run.history.position(failed)
    assert [event.status for event in switched[switched.index(cancelling) :]] == ["cancelling", "canceled"]
    assert run.outcome is Outcome.PASS


def test_a_job_that_a_user_ends_does_not_read_again_what_will_not_be_there() -> None:
    """The checkpoint that it was to restore is gone, which the answer says behind the wish of the user."""
    chosen = plan()
    configuration = REFERENCE.configure(chosen)
    graph = REFERENCE.graph(chosen, configuration)
    master = REFERENCE.job_master(graph, configuration, lambda: 0.5, REFERENCE.job_parts)
    master.step(Started(), 0.0)
    master.step(CancelJob(), 1.0)
    gone = StoredCheckpoint(0, "gone", b"", "there is nothing")
    effects = master.step(Recovered(None, (0, 0), (), (), restored=gone, epoch=1), 2.0)
    (persist,) = [effect for effect in effects if isinstance(effect, PersistJobRecord | Recover)]
    assert isinstance(persist, PersistJobRecord)
    effects = master.step(JobRecordPersisted(persist.record), 3.0)
    assert [event.status for event in effects if isinstance(event, JobSwitched)] == ["canceled"]


@pytest.mark.parametrize("found", [True, False])
def test_a_subtask_that_has_failed_does_not_run_when_its_state_is_read(found: bool) -> None:
    """A channel of sum[1] breaks while its state is read; what is read comes, or that it cannot be."""
    reported: Effects = []

    class BreaksBefore(Worker):
        def step(self, event: WorkerEvent, now: float) -> Effects:
            if type(event) is not StateRead or event.subtask != "sum[1]" or reported:
                return super().step(event, now)
            broken = FailedExternally(event.attempt, event.subtask, "the peer closed the connection")
            late = event if found else StateReadFailed(event.attempt, event.subtask, "no answer")
            effects = [*super().step(broken, now), *super().step(late, now)]
            reported.extend(effects)
            return effects

    run = run_with(BreaksBefore, plan(kill(WORKERS[1], after_checkpoint=2), options=STATE_IN_FILES))
    assert [type(each) for each in reported] == [TaskStopped, TaskFailed]
    assert run.outcome is Outcome.PASS


def test_an_operator_that_has_failed_does_not_finish_with_its_chain() -> None:
    """map[0] fails, and before it is cancelled, what calls it comes to its end."""
    behind: list[str] = []

    class FailsBefore(Worker):
        def step(self, event: WorkerEvent, now: float) -> Effects:
            if type(event) is not PartitionEnded or event.subtask != "source[0]" or behind:
                return super().step(event, now)
            effects = self.tasks["map[0]"].fail("it failed")
            late = super().step(event, now)
            behind.extend(
                f"{type(each).__name__} {getattr(each, 'subtask', '')}" for each in late if isinstance(each, Event)
            )
            return [*effects, *late]

    run = run_with(FailsBefore, ending(job=bounded(FORWARD), options=CHAINED))
    assert f"{OperatorFinished.__name__} source[0]" in behind
    assert f"{OperatorFinished.__name__} map[0]" not in behind
    accusing = {anomaly.clause for verdict in run.verdicts for anomaly in verdict.anomalies}
    assert accusing == {"failure-without-cause"}  # The operator failed without one
