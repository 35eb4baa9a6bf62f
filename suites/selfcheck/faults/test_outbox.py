"""What a node sends where, and which of it a fault strikes: decided in one place for every driver."""

from __future__ import annotations

import pytest

from holdfast.fixtures.reference.drivers.coordinator_outbox import CoordinatorOutbox
from holdfast.fixtures.reference.drivers.message_faults import MessageFaults
from holdfast.fixtures.reference.drivers.outbox import Message
from holdfast.fixtures.reference.drivers.worker_outbox import WorkerOutbox
from holdfast.fixtures.reference.parts import REFERENCE
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
from holdfast.harness.model.checkpoint import FailureReason
from holdfast.harness.model.events import Event, FaultStruck, MessageDisturbed
from holdfast.harness.model.message_contract import Disturbance, MessageKind, Way
from holdfast.harness.sim.streams import Stream
from holdfast.suites.conformance.plans import plan

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
