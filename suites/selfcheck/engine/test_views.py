"""What is read from a history: lanes of processes, recoveries from faults, and the checkpoints that were reported."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from holdfast.faults.process import kill
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.views.recovery import recoveries
from holdfast.harness.engine.views.timeline import MOST_CHECKPOINTS, checkpoint_history, timeline
from holdfast.harness.model.capability import EXACTLY_ONCE, Claims
from holdfast.harness.model.events import (
    CheckpointCompleted,
    CheckpointTriggered,
    Event,
    FaultHealed,
    FaultInjected,
    InputAcknowledged,
    JobStatus,
    JobSwitched,
    NodeDied,
    NodeStarted,
    NotificationReceived,
    RowsVisible,
    SourceEmitted,
    TransactionPrecommitted,
)
from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.journal import Recovery
from holdfast.harness.model.plan import FaultSpec, Plan, WorkloadSpec
from holdfast.harness.model.records import InputLog, Output
from holdfast.harness.model.run_details import CheckpointHistory, ReportedStatus
from holdfast.harness.model.target import COORDINATOR, Role, Target
from holdfast.suites.conformance.coordinator import TROUBLED
from holdfast.suites.conformance.plans import WORKERS, gate, plan
from holdfast.suites.selfcheck.faults.scene import BY_KIND, history_of
from holdfast.suites.selfcheck.oracles.legal import legal_run

MS = 1_000_000
Lanes = list[tuple[str, tuple[tuple[float, float], ...]]]


def lanes(*events: Event) -> Lanes:
    plan = Plan(job=KEYED_SUM, workload=WorkloadSpec("synthetic"))
    end = RunEnd(reached=True, ended_ns=1_000 * MS)
    history = History(plan, Claims(), InputLog((), ()), Output(), events, end)
    return [(lane.name, lane.lives) for lane in timeline(history, {}, {}).lanes]


def started(time_ms: int, node: str) -> Event:
    return NodeStarted(node=node, time_ns=time_ms * MS)


def died(time_ms: int, node: str) -> Event:
    return NodeDied(node="harness.0", time_ns=time_ms * MS, dead_node=node, cause="kill")


def test_coordinator_then_workers_then_services() -> None:
    names = ["storage.0", "worker-10.0", "broker.0", "worker-2.0", "coordinator.0", "reader.0", "source.0"]
    found = lanes(*(started(0, name) for name in names))
    assert [name for name, _ in found] == ["coordinator", "worker 2", "worker 10", "broker", "storage"]


def test_a_service_that_was_killed_and_started_again_has_two_lives() -> None:
    found = lanes(started(0, "broker.0"), died(300, "broker.0"), started(450, "broker.1"))
    assert found == [("broker", ((0.0, 300.0), (450.0, 1_000.0)))]


def test_a_service_may_have_stood_before_the_run() -> None:
    found = lanes(started(0, "coordinator.0"), died(300, "storage.0"), started(450, "storage.1"))
    assert found[1:] == [("storage", ((0.0, 300.0), (450.0, 1_000.0)))]


def test_a_worker_that_was_never_seen_has_no_lane() -> None:
    assert lanes(started(0, "coordinator.0"), died(300, "worker-1.0")) == [("coordinator", ((0.0, 1_000.0),))]


@pytest.mark.parametrize(("stamped", "precision"), [(True, "boundary"), (False, "by-time")])
def test_a_fault_whose_effects_do_not_name_it_says_so(*, stamped: bool, precision: str) -> None:
    injected = FaultInjected(fault=0, fault_kind="kill", target="coordinator[0]", stamped=stamped)
    history = history_of(FaultSpec("kill", COORDINATOR), [injected])
    history.end = RunEnd(reached=True, faults_acted=(True,), faults_landed=(True,))
    [band] = timeline(history, BY_KIND, {}).faults
    assert band.precision == precision


KILL = FaultSpec("kill", Target(Role.WORKER, 1))
CUT = FaultSpec("cut", Target(Role.STORAGE), duration_ms=100)


def at(time_ms: float, event: Event) -> Event:
    event.time_ns = int(time_ms * MS)
    return event


def injected(time_ms: float, fault: int = 0, spec: FaultSpec = KILL) -> Event:
    return at(time_ms, FaultInjected(fault=fault, fault_kind=spec.kind, target=str(spec.target)))


def healed(time_ms: float, fault: int = 0, spec: FaultSpec = CUT) -> Event:
    return at(time_ms, FaultHealed(fault=fault, fault_kind=spec.kind, target=str(spec.target)))


def switched(time_ms: float, status: JobStatus = JobStatus.RUNNING) -> Event:
    return at(time_ms, JobSwitched(status=status))


def triggered(time_ms: float, checkpoint: int) -> Event:
    return at(time_ms, CheckpointTriggered(checkpoint=checkpoint, participants=()))


def precommitted(time_ms: float, checkpoint: int) -> Event:
    name = f"part-{checkpoint}"
    return at(time_ms, TransactionPrecommitted(subtask="s[0]", transaction=name, checkpoint=checkpoint, records=1))


def visible(time_ms: float, name: str, records: int = 1, *, final: bool = False) -> Event:
    return at(time_ms, RowsVisible(name=name, poll=0, records=records, checksum=0, final=final))


def found(
    *events: Event, faults: Sequence[FaultSpec] = (KILL,), landed: Sequence[bool | None] = (True,)
) -> tuple[Recovery, ...]:
    plan = Plan(job=KEYED_SUM, workload=WorkloadSpec("synthetic"), faults=tuple(faults))
    end = RunEnd(reached=True, faults_landed=tuple(landed))
    ordered = sorted(events, key=lambda event: event.time_ns)
    return recoveries(History(plan, Claims(output=EXACTLY_ONCE), InputLog((), ()), Output(), ordered, end), BY_KIND)


def times(*events: Event) -> tuple[float | None, float | None]:
    """To running, to committed, of a kill at 100 ms."""
    (recovery,) = found(injected(100), *events)
    return recovery.to_running_ms, recovery.to_committed_ms


def test_a_kill_counts_from_the_kill_and_is_named_in_words() -> None:
    promised = precommitted(90, 1), visible(140, "part-1")
    new = triggered(160, 2), precommitted(165, 2), visible(180, "part-2")
    assert found(injected(100), *promised, switched(150), *new) == (Recovery(0, "kill worker", "worker 1", 50.0, 80.0),)


def test_without_transactions_the_output_of_a_checkpoint_that_was_under_way_does_not_count() -> None:
    under_way = triggered(90, 1), visible(120, "batch-1")
    assert times(*under_way, triggered(200, 2), visible(240, "batch-2")) == (None, 140.0)


def test_output_that_follows_notices_begins_when_its_checkpoint_is_complete() -> None:
    """A checkpoint is triggered just after the fault, and what the one before it commits becomes visible."""
    begun = triggered(90, 1), triggered(101, 2), visible(113, "part-1"), switched(150)
    noticed = at(80, NotificationReceived(subtask="s[0]", checkpoint=0, completed=True))
    new = triggered(200, 3), at(220, CheckpointCompleted(checkpoint=3)), visible(240, "part-3")
    assert times(noticed, *begun, *new) == (50.0, 140.0)
    assert times(*begun, *new) == (None, 13.0)  # Micro-batches have no notices: their output is there before they end.
    assert times(noticed, *begun) == (50.0, None)
    afresh = at(30, CheckpointCompleted(checkpoint=1)), visible(60, "part-0"), switched(150), triggered(200, 1)
    assert times(noticed, *afresh) == (50.0, None)  # Its number was that of another, before the fault.


@pytest.mark.parametrize(
    "event",
    [visible(150, "part-2", records=0), visible(150, "part-2", final=True), visible(90, "part-2")],
    ids=["empty", "seen by the last read alone", "before the fault"],
)
def test_what_shows_nothing_new_is_no_output(event: Event) -> None:
    assert times(triggered(110, 2), event) == (None, None)


def sent(time_ms: float, first_offset: int, partition: int = 0) -> Event:
    last = first_offset + 5
    return at(time_ms, SourceEmitted(subtask="s[0]", partition=partition, first_offset=first_offset, next_offset=last))


def answered(time_ms: float, next_offset: int, partition: int = 0) -> Event:
    return at(time_ms, InputAcknowledged(partition=partition, next_offset=next_offset))


def test_without_checkpoints_new_output_is_what_is_answered_for_of_what_was_sent_afterwards() -> None:
    before = sent(80, 0), sent(90, 5), answered(130, 5)
    assert times(visible(150, "rows")) == (None, None)
    assert times(*before) == (None, None)
    assert times(*before, sent(140, 5), answered(150, 5), answered(170, 6), answered(180, 10)) == (None, 70.0)
    assert times(*before, sent(140, 5, partition=1), answered(150, 10)) == (None, None)
    assert times(*before, answered(120, 10), sent(140, 5)) == (None, None)


def test_running_again_for_a_moment_is_no_recovery() -> None:
    events = switched(110), switched(120, JobStatus.RESTARTING), switched(150), triggered(155, 2), visible(170, "b-2")
    assert times(*events) == (50.0, 70.0)
    assert times(*events, switched(400)) == (50.0, 70.0)


def test_no_output_afterwards() -> None:
    assert times(switched(150)) == (50.0, None)
    assert times() == (None, None)


@pytest.mark.parametrize("landed", [False, None])
def test_a_fault_that_did_not_land_leads_to_nothing(landed: bool | None) -> None:
    after = switched(150), triggered(160, 2), visible(180, "b-2")
    assert found(injected(100), *after, landed=[True])
    assert found(injected(100), *after, landed=[landed]) == ()
    assert found(*after, landed=[None]) == ()


def test_a_fault_that_lasts_counts_from_its_heal() -> None:
    events = injected(100, spec=CUT), triggered(150, 1), visible(210, "b-1"), triggered(230, 2), visible(260, "b-2")
    assert found(*events, healed(200), faults=[CUT]) == (Recovery(0, "cut storage", "storage", None, 60.0),)
    assert found(*events, faults=[CUT]) == (Recovery(0, "cut storage", "storage", None, None),)


def test_a_recovery_ends_where_the_next_fault_begins() -> None:
    first = injected(100), triggered(160, 2), visible(180, "b-2")
    second = injected(200, 1), switched(230), triggered(300, 3), visible(330, "b-3")
    both = found(*first, *second, faults=[KILL, KILL], landed=[True, True])
    assert [(each.fault, each.to_running_ms, each.to_committed_ms) for each in both] == [(0, None, 80), (1, 30, 130)]
    early = found(*first, injected(170, 1), *second[1:], faults=[KILL, KILL], landed=[True, True])
    assert [each.to_committed_ms for each in early] == [None, 160]
    missed = found(*first, *second, faults=[KILL, KILL], landed=[True, False])
    assert [each.fault for each in missed] == [0]


def test_a_fault_under_another_that_lasts_cannot_be_told() -> None:
    events = injected(100, 0, CUT), injected(120, 1), healed(150, 0), triggered(160, 1), visible(190, "b-1")
    cut, kill = found(*events, faults=[CUT, KILL], landed=[True, True])
    assert (cut.to_committed_ms, kill.to_committed_ms) == (40.0, None)


def test_the_part_of_a_worker_is_named() -> None:
    of_executor = FaultSpec("kill", Target(Role.WORKER, 0), parameters={"part": "executor"})
    (recovery,) = found(injected(100, spec=of_executor), faults=[of_executor])
    assert (recovery.attack, recovery.target) == ("kill executor", "worker 0")


def history_of_plan(chosen: Plan) -> History:
    return run_plan(chosen, registry.system("reference"), registry.toolbox()).history


def recorded(chosen: Plan) -> CheckpointHistory:
    found = checkpoint_history(history_of_plan(chosen))
    assert found is not None
    return found


def test_every_checkpoint_is_told_with_its_subtasks() -> None:
    found = recorded(TROUBLED)
    failed = [each for each in found.checkpoints if each.status is ReportedStatus.FAILED]
    assert [each.reason for each in failed][:1] == ["declined"]
    for each in found.checkpoints:
        assert len(each.parts) == 6
        if each.status is ReportedStatus.COMPLETED:
            assert all(part.acknowledged for part in each.parts)
            assert each.full_bytes == sum(part.full_bytes for part in each.parts)
    assert sum(found.counts.values()) == len(found.checkpoints)
    assert [restore.path for restore in found.restores] == ["checkpoints/job-0/chk-3/_metadata"]


def test_what_was_in_progress_when_its_coordinator_died_is_lost() -> None:
    died = plan(kill(COORDINATOR, after_checkpoint=1, gate=gate("acknowledge", WORKERS[0])))
    assert recorded(died).counts[ReportedStatus.LOST] == 1


def test_of_many_the_first_are_left_out() -> None:
    options = {"execution.checkpointing.interval": "10 ms"}
    found = recorded(plan(options=options, records={"records": 2_000, "records_per_second": 400}))
    assert len(found.checkpoints) == MOST_CHECKPOINTS
    assert found.left_out == sum(found.counts.values()) - MOST_CHECKPOINTS > 0


def test_a_system_that_reports_nothing_has_no_history() -> None:
    assert checkpoint_history(legal_run()) is None
