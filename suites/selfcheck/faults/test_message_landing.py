"""A message was late, doubled or lost: what the sender recorded of it, and what was received, with near misses."""

from __future__ import annotations

import pytest

from holdfast.harness.model.events import (
    AckOutcome,
    AckReceived,
    Event,
    MessageDisturbed,
    NotificationReceived,
    SplitsAssigned,
    SplitsReceived,
)
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.selfcheck.faults.scene import WORKER, at, landed

ACKS: dict[str, int | str] = {"message": "acknowledge"}


def disturbed(way: str, *, time_ms: float = 110, delay_ms: int = 0, worker: int = 1, alone: bool = True) -> Event:
    event = MessageDisturbed(
        attempt=1,
        message="acknowledge",
        way=way,
        worker=worker,
        subtask="sum[1]",
        checkpoint=3,
        delay_ms=delay_ms,
        with_connection=not alone,
    )
    return at(time_ms, "worker-1.0", event)


def received(time_ms: float, *, checkpoint: int = 3, attempt: int = 1) -> Event:
    outcome = AckOutcome.SUCCESS
    return at(
        time_ms,
        "coordinator.0",
        AckReceived(attempt=attempt, checkpoint=checkpoint, subtask="sum[1]", outcome=outcome),
    )


class TestDelayMessages:
    spec = FaultSpec("delay-messages", COORDINATOR, parameters={**ACKS, "delay_ms": 20})

    def test_it_came_when_the_delay_was_over_or_not_at_all(self) -> None:
        assert landed(self.spec, [disturbed("delay", delay_ms=20), received(130)])
        assert landed(self.spec, [disturbed("delay", delay_ms=20)])

    def test_a_message_that_came_at_once_is_no_proof(self) -> None:
        assert not landed(self.spec, [disturbed("delay", delay_ms=20), received(129)])

    def test_what_was_done_before_or_by_another_fault_is_none(self) -> None:
        assert not landed(self.spec, [disturbed("delay", delay_ms=20, time_ms=99)])
        assert not landed(self.spec, [disturbed("delay", delay_ms=30)])
        assert not landed(self.spec, [disturbed("lose")])


class TestDoubleMessages:
    spec = FaultSpec("double-messages", WORKER, parameters=ACKS)

    def test_it_came_twice(self) -> None:
        assert landed(self.spec, [disturbed("double"), received(111), received(112)])

    def test_once_or_another_message_is_no_proof(self) -> None:
        assert not landed(self.spec, [disturbed("double"), received(111)])
        assert not landed(self.spec, [disturbed("double"), received(111), received(112, checkpoint=4)])
        assert not landed(self.spec, [disturbed("double"), received(111), received(112, attempt=2)])

    def test_the_connection_of_another_worker_is_another_one(self) -> None:
        assert not landed(self.spec, [disturbed("double", worker=0), received(111), received(112)])


class TestLoseMessages:
    spec = FaultSpec("lose-messages", COORDINATOR, parameters=ACKS)

    def test_it_never_came(self) -> None:
        assert landed(self.spec, [disturbed("lose"), received(111, checkpoint=4)])

    def test_a_message_that_came_all_the_same_is_no_proof(self) -> None:
        assert not landed(self.spec, [disturbed("lose"), received(111)])

    def test_what_went_with_its_connection_is_proved_by_whoever_broke_it(self) -> None:
        assert landed(self.spec, [disturbed("lose", alone=False)])

    def test_a_notice_of_abort_is_not_the_notice_of_completion(self) -> None:
        spec = FaultSpec("lose-messages", COORDINATOR, parameters={"message": "complete"})
        lost = at(
            110,
            "coordinator.0",
            MessageDisturbed(attempt=1, message="complete", way="lose", worker=0, subtask="sink[0]", checkpoint=2),
        )

        def heard(completed: bool) -> Event:
            notice = NotificationReceived(attempt=1, subtask="sink[0]", checkpoint=2, completed=completed)
            return at(111, "worker-0.0", notice)

        assert landed(spec, [lost, heard(completed=False)])
        assert not landed(spec, [lost, heard(completed=True)])


def assignment(way: str, delay_ms: int = 0) -> list[Event]:
    """Splits are assigned at 109 ms, which a fault acts on; and again at 115 ms."""
    sent = [SplitsAssigned(attempt=1, subtask="source[0]", splits=(0,)) for _ in range(2)]
    event = MessageDisturbed(
        attempt=1, message="assign-splits", way=way, worker=0, subtask="source[0]", delay_ms=delay_ms
    )
    return [at(109, "coordinator.0", sent[0]), at(110, "coordinator.0", event), at(115, "coordinator.0", sent[1])]


def assigned(time_ms: float) -> Event:
    return at(time_ms, "worker-0.0", SplitsReceived(attempt=1, subtask="source[0]", splits=(0,)))


class TestMessagesThatAreSentAgain:
    """What is sent again is another message: it hides no loss, and is no copy."""

    def spec(self, kind: str) -> FaultSpec:
        delay = {"delay_ms": 20} if kind == "delay-messages" else {}
        return FaultSpec(kind, COORDINATOR, parameters={"message": "assign-splits", **delay})

    def test_of_two_one_was_lost(self) -> None:
        assert landed(self.spec("lose-messages"), [*assignment("lose"), assigned(116)])
        assert not landed(self.spec("lose-messages"), [*assignment("lose"), assigned(111), assigned(116)])

    def test_the_first_was_late_and_the_second_was_not(self) -> None:
        late = assignment("delay", 20)
        assert landed(self.spec("delay-messages"), [*late, assigned(116), assigned(130)])
        assert not landed(self.spec("delay-messages"), [*late, assigned(111), assigned(116)])

    def test_the_second_is_no_copy_of_the_first(self) -> None:
        assert not landed(self.spec("double-messages"), [*assignment("double"), assigned(111), assigned(116)])
        assert landed(self.spec("double-messages"), [*assignment("double"), *map(assigned, (111, 112, 116))])


@pytest.mark.parametrize("kind", ["delay-messages", "double-messages", "lose-messages"])
def test_without_a_record_of_the_sender_nothing_landed(kind: str) -> None:
    assert not landed(FaultSpec(kind, COORDINATOR, parameters=ACKS), [received(111), received(112)])
