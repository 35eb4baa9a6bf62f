"""Faults of messages: what the contract of a system allows, what is forged, and which messages a fault strikes."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from holdfast.faults.messages import disturb
from holdfast.fixtures.reference.drivers.forged_messages import (
    ForgedMessages,
    Parameters,
    acknowledged_again,
    declined,
    for_subtask,
    what_to_decline,
    what_was_acknowledged,
)
from holdfast.fixtures.reference.drivers.message_faults import MessageFaults
from holdfast.fixtures.reference.drivers.outbox import CoordinatorOutbox, Message, WorkerOutbox
from holdfast.fixtures.reference.drivers.targets import Targets
from holdfast.fixtures.reference.parts import REFERENCE
from holdfast.fixtures.reference.protocol.checkpoints.completed_checkpoint_store import CompletedCheckpoint
from holdfast.fixtures.reference.protocol.job.job_master import JobMaster
from holdfast.fixtures.reference.protocol.messages import (
    AcknowledgeCheckpoint,
    AddSplits,
    CancelTasks,
    DeclineCheckpoint,
    NotifyCheckpoint,
    Ping,
    SubtaskState,
    TriggerCheckpoint,
)
from holdfast.harness.engine.errors import NotApplicable, UsageError
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.plans.validate import check_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.checkpoint import FailureReason
from holdfast.harness.model.events import (
    AckReceived,
    CheckpointTriggered,
    Event,
    FailureCounted,
    FaultStruck,
    FileReference,
    MessageDisturbed,
    NotificationReceived,
    TriggerReceived,
)
from holdfast.harness.model.message_contract import ORDERED_CONNECTION, Disturbance, MessageKind, Way
from holdfast.harness.model.plan import FaultSpec, Schedule, Topology
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.sim.streams import Stream
from holdfast.suites.conformance.failed_checkpoints import LONGER, SHORT_TIMEOUT
from holdfast.suites.conformance.plans import WORKERS, plan

REFERENCE_SYSTEM = registry.system("reference")


def refused(kind: str, parameters: Mapping[str, int | str]) -> str:
    """Why a plan with one fault of messages is refused; empty if it is not."""
    asked = plan(FaultSpec(kind, COORDINATOR, Schedule(), 100, dict(parameters)))
    try:
        check_plan(asked, REFERENCE_SYSTEM, Tier.SIM, registry.toolbox())
    except UsageError as error:
        return str(error)
    return ""


def test_what_the_contract_allows_is_accepted() -> None:
    assert not refused("double-messages", {"message": "acknowledge"})
    assert not refused("delay-messages", {"message": "deploy", "delay_ms": 20})
    assert not refused("delay-messages", {"message": "complete", "overtaken_by": "abort trigger"})
    assert not any(refused("lose-messages", {"message": kind.value}) for kind in MessageKind)


@pytest.mark.parametrize(
    ("kind", "parameters", "sentence"),
    [
        ("delay-messages", {"delay_ms": 0}, "delay_ms is 0; allowed is 1 or more: change it."),
        ("delay-messages", {"delay_ms": -50}, "delay_ms is -50; allowed is 1 or more: change it."),
        ("double-messages", {"delay_ms": -1}, "delay_ms is -1; allowed is 0 or more: change it."),
        ("lose-messages", {"occurrences": -2}, "occurrences is -2; allowed is 0 or more: change it."),
    ],
)
def test_a_disturbance_that_would_do_nothing_is_refused(
    kind: str, parameters: Mapping[str, int | str], sentence: str
) -> None:
    """A delay of nothing counted as one that had landed."""
    assert refused(kind, {"message": "complete", **parameters}) == f"faults[0].parameters: {sentence}"


def test_what_goes_beyond_it_is_refused_in_one_sentence() -> None:
    assert refused("double-messages", {"message": "deploy"}) == (
        "faults[0] (double-messages) goes beyond the message contract of system 'reference': a deploy message is "
        "never doubled; allowed are abort, acknowledge, assign-splits, cancel, cancelled, complete, confirm-splits, "
        "decline, heartbeat, heartbeat-answer, task-failed, trigger: choose one of these."
    )
    assert "a deploy message is not overtaken by trigger; allowed are none" in refused(
        "delay-messages", {"message": "deploy", "overtaken_by": "trigger"}
    )
    assert "a trigger message is not overtaken by deploy" in refused(
        "delay-messages", {"message": "trigger", "overtaken_by": "complete deploy"}
    )


def test_a_message_that_does_not_exist_is_refused() -> None:
    assert "message is 'gossip'; none of 17 is near, some are abort," in refused("lose-messages", {"message": "gossip"})


def test_a_system_without_the_capability_is_not_asked() -> None:
    asked = plan(FaultSpec("lose-messages", COORDINATOR, Schedule(), 100, {"message": "trigger"}))
    with pytest.raises(NotApplicable, match="disturb-messages"):
        check_plan(replace(asked, system="spark"), REFERENCE_SYSTEM, Tier.SPARK, registry.toolbox())


def test_on_an_ordered_connection_a_split_assignment_is_lost_with_it() -> None:
    losses = {kind for kind in MessageKind if ORDERED_CONNECTION[kind].lost_alone}
    assert MessageKind.ASSIGN_SPLITS not in losses
    assert losses >= {MessageKind.TRIGGER, MessageKind.COMPLETE, MessageKind.ABORT, MessageKind.HEARTBEAT}
    assert not Disturbance(MessageKind.ASSIGN_SPLITS, Way.LOSE).beyond(ORDERED_CONNECTION)
    for kind in ("lose-splits", "lose-notices"):
        spec = FaultSpec(kind, COORDINATOR)
        beyond = registry.toolbox().faults[kind].beyond(spec, ORDERED_CONNECTION)  # type: ignore[attr-defined]
        assert bool(beyond) is (kind == "lose-splits")


def test_a_late_message_holds_back_what_may_not_overtake_it() -> None:
    """The notice of a completion is late: the next trigger waits behind it, unless it may overtake."""
    for overtaken_by in ("", "trigger complete"):
        late = disturb("delay", "complete", WORKERS[0], {"delay_ms": 90, "overtaken_by": overtaken_by})
        run = run_plan(plan(late, options=SHORT_TIMEOUT, records=LONGER), REFERENCE_SYSTEM, registry.toolbox())
        assert run.outcome is Outcome.PASS
        notices = [each for each in run.history.of(NotificationReceived) if each.subtask == "source[0]"]
        heard = next(each for each in notices if each.checkpoint == 1)
        triggered = next(
            each for each in run.history.of(TriggerReceived) if each.subtask == "source[0]" and each.checkpoint == 2
        )
        assert (triggered.time_ns < heard.time_ns) is bool(overtaken_by)


def test_a_lost_trigger_leaves_the_connection_and_a_lost_ack_does_not() -> None:
    for message, survives in (("trigger", True), ("acknowledge", False)):
        lost = disturb("lose", message, WORKERS[0], after_checkpoint=1)
        run = run_plan(plan(lost, options=SHORT_TIMEOUT, records=LONGER), REFERENCE_SYSTEM, registry.toolbox())
        assert run.outcome is Outcome.PASS
        assert run.history.of(MessageDisturbed)[0].with_connection is not survives
        assert bool(run.history.of(FailureCounted)) is not survives


def test_occurrences_are_counted_by_connection() -> None:
    doubled = disturb("double", "trigger", how={"occurrences": 2}, after_checkpoint=1)
    run = run_plan(plan(doubled, options=SHORT_TIMEOUT, records=LONGER), REFERENCE_SYSTEM, registry.toolbox())
    acted = [(each.worker, each.checkpoint) for each in run.history.of(MessageDisturbed)]
    triggered = [each.checkpoint for each in run.history.of(CheckpointTriggered)][1:3]
    assert sorted(acted) == [(worker, checkpoint) for worker in (0, 1) for checkpoint in triggered]


def test_the_operators_of_a_chain_share_the_fate_of_a_message() -> None:
    chained = {**SHORT_TIMEOUT, "pipeline.operator-chaining.enabled": "true"}
    lost = disturb("lose", "complete", WORKERS[0], {"occurrences": 1}, after_checkpoint=1)
    run = run_plan(plan(lost, options=chained, records=LONGER), REFERENCE_SYSTEM, registry.toolbox())
    acted = run.history.of(MessageDisturbed)
    assert {each.checkpoint for each in acted} == {2}
    heads = {("sum[0]", "sink[0]"), ("source[0]",)}
    assert tuple(each.subtask for each in acted) in heads


def test_the_same_seed_gives_the_same_run() -> None:
    faults = (
        disturb("double", "acknowledge", how={"occurrences": 0, "delay_ms": 30}, after_checkpoint=1),
        disturb("delay", "complete", how={"delay_ms": 40, "overtaken_by": "trigger complete"}),
        disturb("lose", "acknowledge", WORKERS[0], after_checkpoint=2),
    )
    chosen = plan(*faults, options=SHORT_TIMEOUT, records=LONGER)
    runs = [run_plan(chosen, REFERENCE_SYSTEM, registry.toolbox()) for _ in range(2)]
    assert runs[0].trace_hash == runs[1].trace_hash
    assert runs[0].outcome is Outcome.PASS
    assert len(runs[0].history.of(AckReceived)) > len(
        {(a.attempt, a.checkpoint, a.subtask) for a in runs[0].history.of(AckReceived)}
    )


FILE = FileReference("checkpoints/job-0/chk-4/sum[0]-2", 3, 7)
LAST = AcknowledgeCheckpoint(2, "sum[0]", 4, SubtaskState("sum[0]", files=(FILE,), positions=((0, 9),)))


def test_a_repeated_ack_is_the_last_one() -> None:
    assert acknowledged_again(LAST, {}) == LAST


@pytest.mark.parametrize("shift", [{"attempt": -1}, {"checkpoint": 1}])
def test_a_shifted_ack_names_no_file_of_another_checkpoint(shift: dict[str, int | str]) -> None:
    forged = acknowledged_again(LAST, shift)
    assert (forged.state.files, forged.state.positions) == ((), ((0, 9),))


def test_the_other_messages_are_about_the_checkpoint_that_was_acked() -> None:
    subtask: dict[str, int | str] = {"subtask": "sum[0]"}
    shifted = what_was_acknowledged(LAST, {**subtask, "checkpoint": -1})
    assert for_subtask("trigger", shifted, 1.0) == TriggerCheckpoint(2, "sum[0]", 3, 1.0)
    abort = for_subtask("abort", what_was_acknowledged(LAST, subtask), 1.0)
    assert abort == NotifyCheckpoint(2, "sum[0]", 4, completed=False)


def test_nothing_else_is_forged() -> None:
    with pytest.raises(ValueError, match="'ping' cannot be forged; there are acknowledge, decline, trigger, abort"):
        for_subtask("ping", what_was_acknowledged(LAST, {"subtask": "sum[0]"}), 1.0)


def test_a_subtask_is_reached_that_only_a_later_width_has() -> None:
    made, orders = plan(), []

    def order(process: str, message: str, parameters: Parameters) -> Parameters:
        orders.append((process, message))
        return parameters

    messages = ForgedMessages(Targets(made.job, Topology(2), workers=3), order)
    messages.forge("trigger", {"subtask": "sum[2]"})
    assert orders == [("worker-2", "trigger"), ("coordinator", "trigger")]
    with pytest.raises(ValueError, match=r"subtask 'sum\[3\]' is unknown; there are: .*sum\[2\]"):
        messages.forge("trigger", {"subtask": "sum[3]"})


def master(*pending: int) -> JobMaster:
    """One with these checkpoints on their way, and regions of which none runs yet."""
    made = plan()
    configuration = REFERENCE.configure(made)
    graph = REFERENCE.graph(made, configuration)
    master = REFERENCE.job_master(graph, configuration, Stream(1, "coordination").random, REFERENCE.job_parts)
    master.coordinator.pending.update(dict.fromkeys(pending))  # type: ignore[arg-type]  # only their ids count
    return master


@pytest.mark.parametrize(("pending", "newest"), [((4, 5), 5), ((), 3)])
def test_a_decline_is_of_the_newest_checkpoint_that_can_be_declined(pending: tuple[int, ...], newest: int) -> None:
    has_completed = master(*pending)
    has_completed.coordinator.store.add(CompletedCheckpoint(3, (), ()))
    expected = DeclineCheckpoint(0, "sum[0]", newest, "forged", FailureReason.EXPIRED)
    about = what_to_decline(has_completed, {"subtask": "sum[0]", "cause": "expired"})
    assert declined(about) == expected


@pytest.mark.parametrize(
    ("pending", "subtask", "reason"),
    [((), "sum[0]", "no checkpoint is pending or complete"), ((4,), "nothing[0]", r"no subtask nothing\[0\]")],
)
def test_nothing_is_declined_that_no_task_could_decline(pending: tuple[int, ...], subtask: str, reason: str) -> None:
    with pytest.raises(OSError, match=reason):
        what_to_decline(master(*pending), {"subtask": subtask})


PLAN = plan()
GRAPH = REFERENCE.graph(PLAN, REFERENCE.configure(PLAN))
PING = Ping(1, 0)
NOTICE = NotifyCheckpoint(1, "sum[1]", 1, completed=True)
SPLITS = AddSplits(1, "source[0]", ((0, 0),))
ACK = AcknowledgeCheckpoint(2, "sum[0]", 4, SubtaskState("sum[0]"))


class Wire:
    """A driver that notes the steps which it is to take; its lines are names."""

    def __init__(self) -> None:
        self.steps: list[tuple[object, ...]] = []
        self.recorded: list[Event] = []
        self.broken = False
        self.faults = MessageFaults(GRAPH, Stream(1, "notices"))
        self.unreachable: set[int] = set()
        self.coordinator: CoordinatorOutbox[str] = CoordinatorOutbox(
            self.faults, self, self.recorded.append, GRAPH, self._line_to
        )
        self.worker: WorkerOutbox[str] = WorkerOutbox(self.faults, self, self.recorded.append, 0, "worker-0.0")

    def _line_to(self, worker: int) -> str | None:
        return None if worker in self.unreachable else f"to-{worker}"

    def stands(self, line: str) -> bool:
        return not self.broken

    def carry(self, line: str, message: Message) -> None:
        self.steps.append(("carry", line, message))

    def delay(self, line: str, message: Message, disturbance: Disturbance) -> None:
        self.steps.append(("delay", line, message, disturbance.delay_ms))

    def double(self, line: str, message: Message, disturbance: Disturbance) -> None:
        self.steps.append(("double", line, message, disturbance.delay_ms))

    def lose(self, line: str, *, alone: bool) -> None:
        self.steps.append(("lose", line, alone))

    def defer(self, line: str, message: Message, delay_ms: int) -> None:
        self.steps.append(("defer", line, message, delay_ms))


@pytest.fixture
def wire() -> Wire:
    return Wire()


def test_each_message_goes_to_the_worker_that_it_is_for(wire: Wire) -> None:
    wire.coordinator.send_to_worker(PING)
    wire.coordinator.send_to_subtask(TriggerCheckpoint(1, "source[1]", 2))
    wire.coordinator.send_notice(NOTICE)
    wire.coordinator.send_splits(SPLITS)
    assert [line for _, line, *_ in wire.steps] == ["to-0", "to-1", "to-1", "to-0"]
    assert {step for step, *_ in wire.steps} == {"carry"}


def test_nothing_is_sent_to_a_worker_without_a_connection(wire: Wire) -> None:
    wire.unreachable = {0}
    wire.faults.splits.lose(1, 5)
    wire.coordinator.send_to_worker(PING)
    wire.coordinator.send_splits(SPLITS)
    wire.coordinator.send_notice(NOTICE)
    assert wire.steps == [("carry", "to-1", NOTICE)]


@pytest.mark.parametrize(
    ("disturbance", "step"),
    [
        (Disturbance(MessageKind.HEARTBEAT, Way.DELAY, delay_ms=7), ("delay", "to-0", PING, 7)),
        (Disturbance(MessageKind.HEARTBEAT, Way.DOUBLE, delay_ms=7), ("double", "to-0", PING, 7)),
        (Disturbance(MessageKind.HEARTBEAT, Way.LOSE), ("lose", "to-0", True)),
    ],
)
def test_a_disturbed_message_is_recorded_and_the_others_go_out(
    wire: Wire, disturbance: Disturbance, step: tuple[object, ...]
) -> None:
    wire.faults.disturbed.begin(disturbance)
    wire.coordinator.send_to_worker(PING)
    cancellation = CancelTasks(1, 0, 0)
    wire.coordinator.send_to_worker(cancellation)
    assert wire.steps == [step, ("carry", "to-0", cancellation)]
    (recorded,) = wire.recorded
    assert isinstance(recorded, MessageDisturbed)
    assert (recorded.message, recorded.way) == (MessageKind.HEARTBEAT, disturbance.way)


def test_a_message_that_cannot_be_lost_alone_is_lost_with_its_connection(wire: Wire) -> None:
    wire.faults.disturbed.begin(Disturbance(MessageKind.CANCEL, Way.LOSE))
    wire.coordinator.send_to_worker(CancelTasks(1, 0, 0))
    assert wire.steps == [("lose", "to-0", False)]


def test_what_is_sent_on_a_broken_line_uses_up_no_fault(wire: Wire) -> None:
    wire.faults.disturbed.begin(Disturbance(MessageKind.HEARTBEAT, Way.LOSE, occurrences=1))
    wire.broken = True
    wire.coordinator.send_to_worker(PING)
    wire.broken = False
    wire.coordinator.send_to_worker(PING)
    assert [step for step, *_ in wire.steps] == ["carry", "lose"]
    assert len(wire.recorded) == 1


def test_lost_notices_and_splits_are_not_sent(wire: Wire) -> None:
    wire.faults.notices.lose(100)
    wire.faults.splits.lose(1, 0)
    for _ in range(2):
        wire.coordinator.send_notice(NOTICE)
        wire.coordinator.send_splits(SPLITS)
    assert wire.steps == [("carry", "to-0", SPLITS)]


def test_late_splits_come_after_all(wire: Wire) -> None:
    wire.faults.splits.lose(1, 5)
    wire.coordinator.send_splits(SPLITS)
    assert wire.steps == [("defer", "to-0", SPLITS, 5)]


def test_the_faults_work_for_the_job_that_runs(wire: Wire) -> None:
    job = REFERENCE.graph(PLAN, REFERENCE.configure(PLAN))
    wire.faults.work_for(job)
    assert wire.faults.disturbed.graph is wire.faults.notices.graph is job


def test_a_worker_sends_only_to_a_coordinator_that_it_has(wire: Wire) -> None:
    wire.worker.send(ACK)
    with pytest.raises(OSError, match=r"worker-0\.0 has no connection"):
        wire.worker.forge("acknowledge", {"subtask": "sum[0]"})
    wire.worker.line = "up"
    with pytest.raises(OSError, match="has not acknowledged anything yet"):
        wire.worker.forge("acknowledge", {"subtask": "sum[0]"})
    wire.worker.send(ACK)
    assert wire.steps == [("carry", "up", ACK)]


def test_a_forged_acknowledgement_is_sent_and_is_not_the_last_one(wire: Wire) -> None:
    wire.worker.line = "up"
    wire.worker.send(ACK)
    for _ in range(2):
        assert wire.worker.forge("acknowledge", {"subtask": "sum[0]", "checkpoint": -1}) == {}
    sent = [message for _, _, message in wire.steps]
    assert [each.checkpoint for each in sent if isinstance(each, AcknowledgeCheckpoint)] == [4, 3, 3]


def test_what_is_forged_for_a_worker_is_not_sent_by_it(wire: Wire) -> None:
    wire.worker.line = "up"
    wire.worker.send(ACK)
    found = wire.worker.forge("trigger", {"subtask": "sum[0]", "checkpoint": -1})
    assert found == {"subtask": "sum[0]", "attempt": 2, "checkpoint": 3}
    assert len(wire.steps) == 1


def test_a_forged_decline_is_sent_by_the_worker_of_its_subtask(wire: Wire) -> None:
    wire.worker.line = "up"
    about: dict[str, int | str] = {"subtask": "sum[0]", "attempt": 2, "checkpoint": 4, "cause": "expired"}
    assert wire.worker.forge("decline", about, 6) == {}
    declined = DeclineCheckpoint(2, "sum[0]", 4, "forged", FailureReason.EXPIRED)
    assert wire.steps == [("carry", "up", declined)]
    assert [each.fault for each in wire.recorded if isinstance(each, FaultStruck)] == [6]


def test_a_forged_trigger_goes_to_the_worker_of_its_subtask(wire: Wire) -> None:
    forged = TriggerCheckpoint(2, "sum[0]", 4, 1.0)
    wire.coordinator.send_forged(forged, 6)
    assert wire.steps == [("carry", "to-0", forged)]
    assert [each.fault for each in wire.recorded if isinstance(each, FaultStruck)] == [6]
