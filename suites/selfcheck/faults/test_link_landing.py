"""Faults of links, services, channels and messages: what proves them, and what does not."""

from __future__ import annotations

import pytest

from holdfast.harness.model.capability import Capability
from holdfast.harness.model.checkpoint import CheckpointOrigin
from holdfast.harness.model.events import (
    AckOutcome,
    AckReceived,
    BarrierReceived,
    BarrierSent,
    BatchProcessed,
    BatchSent,
    CheckpointCompleted,
    CheckpointDrawn,
    CheckpointTriggered,
    CommitTried,
    Event,
    FailureCounted,
    MessageDisturbed,
    NodeDied,
    NotificationReceived,
    SnapshotTaken,
    SourceEmitted,
    SplitsAssigned,
    SplitsReceived,
    TransactionCommitted,
    TriggerReceived,
)
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import COORDINATOR, SOURCE_SYSTEM, Role, Target
from holdfast.suites.selfcheck.faults.scene import BY_KIND, WORKER, at, emitted, landed

STORAGE, BROKER, CHANNEL = Target(Role.STORAGE), Target(Role.BROKER), Target(Role.CHANNEL)


def checkpoint(number: int, triggered_ms: float, completed_ms: float | None) -> list[Event]:
    events = [at(triggered_ms, "coordinator.0", CheckpointTriggered(checkpoint=number, participants=()))]
    if completed_ms is not None:
        events.append(at(completed_ms, "coordinator.0", CheckpointCompleted(checkpoint=number)))
    return events


def drawn(number: int, drawn_ms: float) -> list[Event]:
    event = CheckpointDrawn(checkpoint=number, request=number, origin=CheckpointOrigin.PERIODIC)
    return [at(drawn_ms, "coordinator.0", event)]


def commit(name: str, tried_ms: float, committed_ms: float | None) -> list[Event]:
    events = [at(tried_ms, "worker-0.0", CommitTried(subtask="sink[0]", transaction=name))]
    if committed_ms is not None:
        events.append(at(committed_ms, "worker-0.0", TransactionCommitted(subtask="sink[0]", transaction=name)))
    return events


def read(time_ms: float, offset: int) -> Event:
    event = SourceEmitted(subtask="source[0]", partition=0, first_offset=offset, next_offset=offset + 1)
    return at(time_ms, "worker-0.0", event)


def died(node: str, time_ms: float = 101) -> list[Event]:
    return [at(time_ms, "harness.0", NodeDied(dead_node=node, cause="kill"))]


@pytest.mark.parametrize("kind", ["cut", "black-hole"])
class TestHeldBack:
    def test_a_checkpoint_that_hung_until_the_heal_proves_it(self, kind: str) -> None:
        assert landed(FaultSpec(kind, STORAGE), [*checkpoint(1, 90, 210), *checkpoint(2, 215, 220)])

    def test_one_that_never_ended_does_too(self, kind: str) -> None:
        assert landed(FaultSpec(kind, STORAGE), checkpoint(1, 110, None))

    def test_one_that_went_through_meanwhile_refutes_it(self, kind: str) -> None:
        assert not landed(FaultSpec(kind, STORAGE), [*checkpoint(1, 110, 150), *checkpoint(2, 155, 210)])

    def test_where_nothing_was_asked_nothing_is_proved(self, kind: str) -> None:
        assert not landed(FaultSpec(kind, STORAGE), [*checkpoint(1, 10, 50), *checkpoint(2, 205, 210)])

    def test_what_was_asked_at_the_very_end_proves_nothing(self, kind: str) -> None:
        assert not landed(FaultSpec(kind, STORAGE), checkpoint(1, 190, 210))

    def test_an_id_that_was_durable_only_after_the_heal_proves_it(self, kind: str) -> None:
        """The checkpoint itself was not asked for before."""
        late = checkpoint(1, 205, 210)
        assert landed(FaultSpec(kind, STORAGE), [*drawn(1, 110), *late])
        assert not landed(FaultSpec(kind, STORAGE), late)
        assert not landed(FaultSpec(kind, STORAGE), [*drawn(1, 190), *late])
        assert not landed(FaultSpec(kind, BROKER), [*drawn(1, 110), *late])

    def test_an_id_that_was_durable_meanwhile_refutes_it(self, kind: str) -> None:
        assert landed(FaultSpec(kind, STORAGE), checkpoint(1, 150, 210))
        assert not landed(FaultSpec(kind, STORAGE), [*drawn(1, 110), *checkpoint(1, 150, 210)])

    def test_of_a_broker_the_commits_count(self, kind: str) -> None:
        assert landed(FaultSpec(kind, BROKER), [*commit("a", 110, 205), *checkpoint(1, 120, 140)])
        assert not landed(FaultSpec(kind, BROKER), [*commit("a", 110, 150), *checkpoint(1, 120, None)])


@pytest.mark.parametrize("kind", ["cut", "black-hole"])
class TestSourceSystem:
    """Of what a source reads, records that come prove that somebody waited for them."""

    def test_records_that_came_only_behind_the_heal_prove_it(self, kind: str) -> None:
        assert landed(FaultSpec(kind, SOURCE_SYSTEM), [read(90, 0), read(210, 1)], records=2)

    def test_records_that_came_meanwhile_refute_it(self, kind: str) -> None:
        assert not landed(FaultSpec(kind, SOURCE_SYSTEM), [read(90, 0), read(150, 1), read(210, 2)], records=3)

    def test_whoever_has_read_everything_misses_nothing(self, kind: str) -> None:
        assert not landed(FaultSpec(kind, SOURCE_SYSTEM), [read(90, 0)], records=1)

    def test_whoever_never_reads_again_proves_it_too(self, kind: str) -> None:
        assert landed(FaultSpec(kind, SOURCE_SYSTEM), [read(90, 0)], records=2)


class TestSlow:
    spec = FaultSpec("slow", STORAGE, parameters={"delay_ms": 30})

    @pytest.mark.parametrize(("completed_ms", "expected"), [(140, True), (139.9, False)])
    def test_a_checkpoint_takes_the_delay_or_longer(self, completed_ms: float, expected: bool) -> None:
        assert landed(self.spec, checkpoint(1, 110, completed_ms)) is expected


class TestLimit:
    spec = FaultSpec("limit", STORAGE)

    def test_checkpoints_usually_take_longer_under_it(self) -> None:
        assert landed(self.spec, [*checkpoint(1, 10, 20), *checkpoint(2, 110, 150), *checkpoint(3, 210, 219)])

    def test_as_long_as_otherwise_proves_nothing(self) -> None:
        assert not landed(self.spec, [*checkpoint(1, 10, 20), *checkpoint(2, 110, 120)])

    def test_nothing_to_compare_with_proves_nothing(self) -> None:
        assert not landed(self.spec, checkpoint(2, 110, 190))


class TestReset:
    spec = FaultSpec("reset", CHANNEL)

    @pytest.mark.parametrize(("time_ms", "expected"), [(101, True), (99, False)])
    def test_somebody_complains_afterwards(self, time_ms: float, expected: bool) -> None:
        failure = at(time_ms, "coordinator.0", FailureCounted(cause="channel lost"))
        assert landed(self.spec, [failure], end_ms=None) is expected

    def test_nothing_of_it_stays_on_a_link_to_a_service(self) -> None:
        assert BY_KIND["reset"].healed(object(), FaultSpec("reset", BROKER))


class TestOutage:
    def test_queues_died_while_records_of_them_were_unread(self) -> None:
        outage, dead = FaultSpec("outage", SOURCE_SYSTEM), died("source-system.0")
        assert landed(outage, [*dead, read(90, 0), read(210, 1)], records=2)
        assert not landed(outage, [*dead, read(90, 0)], records=1)
        assert not landed(outage, [*died("broker.0"), read(90, 0), read(210, 1)], records=2)

    @pytest.mark.parametrize(("target", "node"), [(STORAGE, "storage.0"), (BROKER, "broker.0")])
    def test_the_service_died_while_it_was_wanted(self, target: Target, node: str) -> None:
        assert landed(FaultSpec("outage", target), [*died(node), *checkpoint(1, 90, 210)])

    def test_another_death_is_no_proof(self) -> None:
        assert not landed(FaultSpec("outage", STORAGE), [*died("broker.0"), *checkpoint(1, 90, 210)])

    def test_a_service_that_nobody_wanted_was_not_missed(self) -> None:
        assert not landed(FaultSpec("outage", STORAGE), [*died("storage.0"), *checkpoint(1, 10, 50)])


@pytest.mark.parametrize(
    ("spec", "needed"),
    [
        (FaultSpec("cut", CHANNEL), Capability.CUT_CHANNEL),
        (FaultSpec("cut", CHANNEL, parameters={"direction": "forward"}), Capability.IMPAIR_CHANNEL),
        (FaultSpec("cut", STORAGE), Capability.IMPAIR_STORAGE),
        (FaultSpec("slow", CHANNEL), Capability.SLOW_CHANNEL),
        (FaultSpec("slow", BROKER), Capability.IMPAIR_BROKER),
        (FaultSpec("limit", CHANNEL), Capability.IMPAIR_CHANNEL),
        (FaultSpec("outage", BROKER), Capability.STOP_BROKER),
        (FaultSpec("outage", STORAGE), Capability.STOP_STORAGE),
        (FaultSpec("cut", SOURCE_SYSTEM), Capability.IMPAIR_SOURCE),
        (FaultSpec("outage", SOURCE_SYSTEM), Capability.STOP_SOURCE),
        (FaultSpec("cut", Target(Role.SINK_SYSTEM)), Capability.IMPAIR_SINK),
        (FaultSpec("outage", Target(Role.SINK_SYSTEM)), Capability.STOP_SINK),
        (FaultSpec("kill", Target(Role.WORKER), parameters={"part": "executor"}), Capability.KILL_PART),
    ],
)
def test_what_a_fault_needs_depends_on_its_target(spec: FaultSpec, needed: Capability) -> None:
    assert BY_KIND[spec.kind].needs(spec) is needed


@pytest.mark.parametrize("kind", ["cut", "black-hole"])
class TestCoordinator:
    """Of the messages between coordinator and workers, triggers and acknowledgements prove it."""

    def test_an_acknowledgement_that_came_only_behind_the_heal_proves_it(self, kind: str) -> None:
        assert landed(FaultSpec(kind, COORDINATOR), message(110, 205))
        assert not landed(FaultSpec(kind, COORDINATOR), message(110, 150))

    def test_a_trigger_that_no_source_had_before_the_heal_does_too(self, kind: str) -> None:
        late = at(205, "worker-0.0", TriggerReceived(subtask="source[0]", checkpoint=1))
        assert landed(FaultSpec(kind, COORDINATOR), [*checkpoint(1, 110, None), late])
        assert not landed(FaultSpec(kind, COORDINATOR), checkpoint(1, 190, None))


def message(taken_ms: float, acknowledged_ms: float) -> list[Event]:
    taken = SnapshotTaken(subtask="sum[0]", checkpoint=1)
    acknowledged = AckReceived(checkpoint=1, subtask="sum[0]", outcome=AckOutcome.SUCCESS)
    return [at(taken_ms, "worker-0.0", taken), at(acknowledged_ms, "coordinator.0", acknowledged)]


DATA_CHANNEL = Target(Role.CHANNEL, 1)
NAME = "source[0]->sum[1]"


def batch(position: int, sent_ms: float, received_ms: float | None, channel: str = NAME) -> list[Event]:
    events = [at(sent_ms, "worker-0.0", BatchSent(channel=channel, position=position, records=1))]
    if received_ms is not None:
        events.append(at(received_ms, "worker-1.0", BatchProcessed(channel=channel, position=position, records=1)))
    return events


def barrier(checkpoint: int, sent_ms: float, received_ms: float) -> list[Event]:
    return [
        at(sent_ms, "worker-0.0", BarrierSent(channel=NAME, checkpoint=checkpoint)),
        at(received_ms, "worker-1.0", BarrierReceived(channel=NAME, checkpoint=checkpoint)),
    ]


class TestCut:
    spec = FaultSpec("cut", DATA_CHANNEL, duration_ms=100)

    def test_what_was_sent_arrives_after_the_heal(self) -> None:
        assert landed(self.spec, [*batch(0, 90, 91), *batch(1, 120, 201), *barrier(1, 130, 202)])

    def test_what_was_sent_never_arrives(self) -> None:
        assert landed(self.spec, batch(0, 120, None), end_ms=None) is False, "nothing tells how long it lasted"
        assert landed(self.spec, [*batch(0, 120, None), emitted(250, "worker-0.0")], end_ms=None)

    def test_a_channel_that_passes_everything_was_not_cut(self) -> None:
        assert not landed(
            self.spec,
            [event for position in range(10) for event in batch(position, 100 + 10 * position, 101 + 10 * position)],
        )

    def test_a_barrier_that_passes_is_progress_too(self) -> None:
        assert not landed(self.spec, [*batch(0, 120, 201), *barrier(1, 140, 141), *barrier(2, 160, 161)], end_ms=180)

    def test_an_idle_channel_proves_nothing(self) -> None:
        assert not landed(self.spec, [*batch(0, 90, 91), *batch(1, 120, None, "source[0]->sum[0]")])

    def test_a_message_on_its_way_at_the_very_end_proves_nothing(self) -> None:
        assert not landed(self.spec, batch(0, 199.5, 200.5))


class TestSlowChannel:
    spec = FaultSpec("slow", DATA_CHANNEL, duration_ms=100, parameters={"delay_ms": 40})

    def test_messages_that_take_the_delay(self) -> None:
        assert landed(self.spec, [*batch(0, 90, 91), *batch(1, 110, 150), *barrier(1, 120, 161)])

    def test_messages_that_take_less(self) -> None:
        assert not landed(self.spec, [*batch(0, 110, 149), *batch(1, 120, 130)])

    def test_one_late_message_among_many_proves_nothing(self) -> None:
        assert not landed(self.spec, [*batch(0, 110, 190), *batch(1, 120, 121), *batch(2, 130, 131)])

    def test_what_the_heal_lets_pass_early_is_no_objection(self) -> None:
        assert landed(self.spec, [*batch(0, 110, 150), *batch(1, 180, 201), *batch(2, 190, 201)])

    def test_a_message_that_is_still_late_after_the_heal_counts(self) -> None:
        assert landed(self.spec, batch(0, 190, 230))

    def test_an_idle_channel_proves_nothing(self) -> None:
        assert not landed(self.spec, batch(0, 90, 140))


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
