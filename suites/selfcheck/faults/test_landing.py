"""A fault has landed only if the history proves it: each proof with near misses."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from holdfast.faults import FAULTS
from holdfast.harness.engine.registry import names
from holdfast.harness.model.capability import Claims
from holdfast.harness.model.checkpoint import CheckpointOrigin
from holdfast.harness.model.events import (
    AckOutcome,
    AckReceived,
    AckSent,
    BarrierReceived,
    BarrierSent,
    BatchProcessed,
    BatchSent,
    CheckpointCompleted,
    CheckpointRequested,
    Event,
    FaultInjected,
    NodeDied,
    NodeStarted,
    NotificationReceived,
    NotificationSent,
    RecordFailed,
    RowsVisible,
    SourceEmitted,
    SplitsLeft,
    StorageFailed,
    StorageSlowed,
    TriggerReceived,
    TriggerSent,
)
from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.job import KEYED_SUM
from holdfast.harness.model.plan import FaultSpec, Gate, Plan, Schedule, WorkloadSpec
from holdfast.harness.model.records import InputLog, Output
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.faults.scene import BY_KIND, at, landed

WORKER = Target(Role.WORKER, 1)
CHANNEL = Target(Role.CHANNEL, 1)
NAME = "source[0]->sum[1]"


def emitted(time_ms: float, node: str) -> Event:
    return at(time_ms, node, SourceEmitted(subtask="source[0]", partition=0, first_offset=0, next_offset=1))


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


def test_every_fault_is_registered_once_under_its_kind() -> None:
    assert sorted(BY_KIND) == sorted(names("faults"))
    assert len({fault.colour for fault in BY_KIND.values()}) == len(FAULTS)


def test_a_fault_that_never_acted_has_not_landed() -> None:
    for kind in BY_KIND:
        spec = FaultSpec(kind, CHANNEL if Role.CHANNEL in BY_KIND[kind].roles else WORKER)
        plan = Plan(job=KEYED_SUM, workload=WorkloadSpec("synthetic"), faults=(spec,))
        history = History(plan, Claims(), InputLog((), ()), Output(), [], RunEnd(reached=True))
        assert not BY_KIND[kind].landed(history, 0)


class TestKill:
    spec = FaultSpec("kill", WORKER)

    def died(self, node: str, cause: str = "kill", time_ms: float = 101) -> list[Event]:
        return [at(time_ms, "harness.0", NodeDied(dead_node=node, cause=cause))]

    @pytest.mark.parametrize("node", ["worker-1.0", "worker-1.3"])
    @pytest.mark.parametrize("cause", ["kill", "killed", "SIGKILL"])
    def test_any_life_of_the_process_may_have_died(self, node: str, cause: str) -> None:
        assert landed(self.spec, self.died(node, cause), end_ms=None)

    def test_a_part_of_the_process_may_have_lives_of_its_own(self) -> None:
        assert landed(self.spec, self.died("worker-1/python-worker.2"))

    @pytest.mark.parametrize(
        "node", ["worker-0.0", "worker-10.0", "worker-11.1", "coordinator.0", "worker-0/python-worker.0"]
    )
    def test_the_death_of_another_process_is_no_proof(self, node: str) -> None:
        assert not landed(self.spec, self.died(node))

    def test_a_death_of_another_cause_is_no_proof(self) -> None:
        assert not landed(self.spec, self.died("worker-1.0", cause="exit code 1"))

    def test_an_earlier_death_is_no_proof(self) -> None:
        assert not landed(self.spec, self.died("worker-1.0", time_ms=99))

    def test_the_coordinator_is_a_process_too(self) -> None:
        assert landed(FaultSpec("kill", Target(Role.COORDINATOR)), self.died("coordinator.0"))

    @pytest.mark.parametrize(("completed_ms", "expected"), [((60, 99), True), ((60,), False), ((60, 102), False)])
    def test_the_checkpoints_that_it_waited_for_completed_before_the_death(
        self, completed_ms: tuple[float, ...], expected: bool
    ) -> None:
        spec = FaultSpec("kill", WORKER, Schedule(after_checkpoint=2))
        completed = [at(ms, "coordinator.0", CheckpointCompleted(checkpoint=n)) for n, ms in enumerate(completed_ms, 1)]
        assert landed(spec, [*completed, *self.died("worker-1.0")]) is expected


@pytest.mark.parametrize(("records", "unread"), [(2, True), (1, False)])
def test_a_kill_while_input_is_unread(records: int, unread: bool) -> None:
    spec = FaultSpec("kill", WORKER, parameters={"unread": 1})
    death = at(101, "harness.0", NodeDied(dead_node="worker-1.0", cause="kill"))
    later = at(150, "worker-0.0", SourceEmitted(subtask="source[0]", partition=0, first_offset=1, next_offset=records))
    assert landed(spec, [emitted(50, "worker-0.0"), death, later], records=records) is unread


class TestKillsOfOneProcess:
    """A death is the work of one kill."""

    def landed(self, deaths_ms: Iterable[float], kills: Iterable[tuple[Target, float]]) -> list[bool]:
        """Whether each of several kills landed, given when it acted and when lives of worker 1 ended."""
        events: list[Event] = []
        specs = []
        for fault, (target, time_ms) in enumerate(kills):
            specs.append(FaultSpec("kill", target))
            events.append(at(time_ms, "harness.0", FaultInjected(fault=fault, fault_kind="kill", target=str(target))))
        for life, time_ms in enumerate(deaths_ms):
            events.append(at(time_ms, "harness.0", NodeDied(dead_node=f"worker-1.{life}", cause="kill")))
        plan = Plan(job=KEYED_SUM, workload=WorkloadSpec("synthetic"), faults=tuple(specs))
        ordered = sorted(events, key=lambda event: event.time_ns)
        history = History(plan, Claims(), InputLog((), ()), Output(), ordered, RunEnd(reached=True))
        return [BY_KIND["kill"].landed(history, fault) for fault in range(len(specs))]

    def test_one_death_proves_the_first(self) -> None:
        assert self.landed([102], [(WORKER, 100), (WORKER, 101)]) == [True, False]
        assert self.landed([102], [(WORKER, 101), (WORKER, 100)]) == [False, True]

    def test_two_deaths_prove_both(self) -> None:
        assert self.landed([102, 103], [(WORKER, 100), (WORKER, 101)]) == [True, True]
        assert self.landed([100, 201], [(WORKER, 100), (WORKER, 200)]) == [True, True]

    def test_a_death_before_the_second_is_not_its_work(self) -> None:
        assert self.landed([102, 103], [(WORKER, 100), (WORKER, 200)]) == [True, False]

    def test_the_kill_of_another_process_takes_no_death(self) -> None:
        assert self.landed([102], [(Target(Role.WORKER, 0), 100), (WORKER, 101)]) == [False, True]


class TestAimedKill:
    spec = FaultSpec("kill", WORKER, Schedule(gate=Gate("acknowledge", WORKER, vertex="sink")))
    death = (at(101, "harness.0", NodeDied(dead_node="worker-1.0", cause="kill")),)

    def acknowledging(self, subtask: str = "sink[1]", node: str = "worker-1.0", time_ms: float = 98) -> Event:
        return at(time_ms, node, AckSent(subtask=subtask, checkpoint=1))

    def test_the_last_step_leads_to_the_effect(self) -> None:
        assert landed(self.spec, [emitted(97, "worker-1.0"), self.acknowledging(), *self.death])

    def test_what_others_do_afterwards_is_no_objection(self) -> None:
        later = [emitted(99, "worker-0.0"), emitted(103, "worker-1.1")]
        assert landed(self.spec, [self.acknowledging(), *self.death, *later])

    def test_a_node_that_went_on_was_not_held(self) -> None:
        assert not landed(self.spec, [self.acknowledging(), emitted(99, "worker-1.0"), *self.death])

    def test_the_effect_of_another_vertex_is_no_proof(self) -> None:
        assert not landed(self.spec, [self.acknowledging("sum[1]"), *self.death])

    def test_the_effect_of_another_node_is_no_proof(self) -> None:
        assert not landed(self.spec, [self.acknowledging(node="worker-0.0"), *self.death])

    @pytest.mark.parametrize("step", [AckReceived(checkpoint=1, subtask="sink[1]", outcome=AckOutcome.SUCCESS),
                                      SplitsLeft(checkpoint=1, vertex="source", splits=())])  # fmt: skip
    def test_an_enumerator_adds_its_part_before_the_metadata_is_published(self, step: Event) -> None:
        spec = FaultSpec(
            "kill", Target(Role.COORDINATOR), Schedule(gate=Gate("publish-metadata", Target(Role.COORDINATOR)))
        )
        death = at(101, "harness.0", NodeDied(dead_node="coordinator.0", cause="kill"))
        assert landed(spec, [at(98, "coordinator.0", step), death])

    def test_an_effect_without_a_recorded_step_needs_the_death_alone(self) -> None:
        spec = FaultSpec("kill", WORKER, Schedule(gate=Gate("read-state", WORKER)))
        assert landed(spec, self.death)
        assert not landed(spec, [])


class TestPause:
    spec = FaultSpec("pause", WORKER, duration_ms=100)

    def test_silence_while_another_node_goes_on(self) -> None:
        assert landed(self.spec, [emitted(99, "worker-1.0"), emitted(150, "worker-0.0"), emitted(201, "worker-1.0")])

    def test_what_the_process_still_says_around_the_signals_is_no_objection(self) -> None:
        own = [emitted(101, "worker-1.0"), emitted(199, "worker-1.0")]
        assert landed(self.spec, [*own, emitted(150, "worker-0.0")])

    def test_a_process_that_goes_on_was_not_paused(self) -> None:
        own = [emitted(time, "worker-1.0") for time in range(100, 200, 20)]
        assert not landed(self.spec, [*own, emitted(150, "worker-0.0")])

    def test_silence_everywhere_proves_nothing(self) -> None:
        assert not landed(self.spec, [emitted(99, "worker-1.0"), emitted(201, "worker-0.0")])

    def test_silence_everywhere_that_ends_with_the_pause_is_a_pause(self) -> None:
        assert landed(self.spec, [emitted(99, "worker-1.0"), emitted(200.1, "worker-1.0")])
        assert not landed(self.spec, [emitted(99, "worker-1.0"), emitted(240, "worker-1.0")])

    def test_a_pause_ends_with_the_life_that_was_paused(self) -> None:
        died = at(120, "harness.0", NodeDied(dead_node="worker-1.0", cause="kill"))
        new_life = [emitted(time, "worker-1.1") for time in range(125, 200, 5)]
        assert landed(self.spec, [emitted(99, "worker-1.0"), emitted(110, "worker-0.0"), died, *new_life])
        assert not landed(self.spec, [at(100, "harness.0", died), *new_life])

    def test_a_successor_that_speaks_does_not_break_the_silence_of_the_paused(self) -> None:
        born = at(120, "worker-1.1", NodeStarted())
        successor = [emitted(time, "worker-1.1") for time in range(125, 200, 5)]
        assert landed(self.spec, [emitted(99, "worker-1.0"), born, *successor])
        going_on = [emitted(time, "worker-1.0") for time in range(105, 200, 5)]
        assert not landed(self.spec, [*going_on, born, *successor])

    def test_a_process_that_never_says_anything_proves_nothing(self) -> None:
        assert not landed(self.spec, [at(1, "worker-1.0", NodeStarted()), emitted(150, "worker-0.0")])

    @pytest.mark.parametrize(("visible_ms", "expected"), [(201, True), (150, False)])
    def test_a_process_seen_from_outside_is_heard_through_its_output(self, visible_ms: int, expected: bool) -> None:
        rows = at(visible_ms, "reader.0", RowsVisible(name="version-1", poll=9, records=1, checksum=0))
        life = at(1, "worker-1.0", NodeStarted())
        fed = [emitted(time, "source.0") for time in (120, 180)]
        assert landed(self.spec, [life, rows, *fed], end_ms=199) is expected


class TestCut:
    spec = FaultSpec("cut", CHANNEL, duration_ms=100)

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


class TestSlow:
    spec = FaultSpec("slow", CHANNEL, duration_ms=100, parameters={"delay_ms": 40})

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


class TestPoison:
    spec = FaultSpec("poison", Target(Role.SOURCE_SYSTEM), parameters={"offset": -1})

    def failed(self, offset: int, *, time_ms: float = 110) -> list[Event]:
        event = RecordFailed(subtask="source[0]", partition=0, offset=offset, cause="it cannot be parsed")
        return [at(time_ms, "worker-0.0", event)]

    def test_the_record_failed(self) -> None:
        assert landed(self.spec, self.failed(9), records=10)

    def test_another_record_or_an_earlier_failure_is_no_proof(self) -> None:
        assert not landed(self.spec, self.failed(8), records=10)
        assert not landed(self.spec, self.failed(9, time_ms=99), records=10)


class TestSurge:
    spec = FaultSpec("surge", Target(Role.SOURCE_SYSTEM))

    def emitted(self, next_offset: int, time_ms: float) -> bool:
        """Whether it lands where a record arrives every ten milliseconds and so many are emitted at a time."""
        event = SourceEmitted(subtask="source[0]", partition=0, first_offset=0, next_offset=next_offset)
        return landed(self.spec, [at(time_ms, "worker-0.0", event)], records=100, records_per_second=100)

    def test_more_is_emitted_than_can_have_arrived(self) -> None:
        assert self.emitted(17, 150)

    def test_what_has_arrived_is_no_proof(self) -> None:
        assert not self.emitted(16, 150)
        assert not self.emitted(50, 99)


class TestStorageError:
    spec = FaultSpec("storage-error", Target(Role.STORAGE), parameters={"operation": "publish-metadata"})

    def failed(
        self, operation: str = "publish-metadata", *, injected: bool = True, time_ms: float = 110
    ) -> list[Event]:
        event = StorageFailed(operation=operation, path="chk-1/_metadata", reason="no space", injected=injected)
        return [at(time_ms, "coordinator.0", event)]

    def test_the_operation_failed_on_purpose(self) -> None:
        assert landed(self.spec, self.failed())

    def test_a_failure_of_its_own_or_of_something_else_is_no_proof(self) -> None:
        assert not landed(self.spec, self.failed(injected=False))
        assert not landed(self.spec, self.failed("write-state"))
        assert not landed(self.spec, self.failed(time_ms=99))


class TestSlowStorage:
    spec = FaultSpec("slow-storage", Target(Role.STORAGE), parameters={"operation": "delete"})

    def slowed(self, operation: str = "delete", *, time_ms: float = 110) -> list[Event]:
        return [at(time_ms, "coordinator.0", StorageSlowed(operation=operation, path="chk-1/_metadata", delay_ms=100))]

    def test_the_operation_was_held_up(self) -> None:
        assert landed(self.spec, self.slowed())

    def test_another_operation_or_an_earlier_call_is_no_proof(self) -> None:
        assert not landed(self.spec, self.slowed("commit"))
        assert not landed(self.spec, self.slowed(time_ms=99))


class TestRequestCheckpoint:
    spec = FaultSpec("request-checkpoint", Target(Role.COORDINATOR))

    def requested(self, origin: CheckpointOrigin, time_ms: float = 110) -> list[Event]:
        return [at(time_ms, "coordinator.0", CheckpointRequested(request=1, origin=origin))]

    def test_a_request_arrived(self) -> None:
        assert landed(self.spec, self.requested(CheckpointOrigin.USER))

    def test_one_of_the_interval_or_an_earlier_one_is_no_proof(self) -> None:
        assert not landed(self.spec, self.requested(CheckpointOrigin.PERIODIC))
        assert not landed(self.spec, self.requested(CheckpointOrigin.USER, 99))


class TestLoseNotices:
    spec = FaultSpec("lose-notices", Target(Role.COORDINATOR))

    def notices(self, *sent: int, heard: tuple[int, ...]) -> list[Event]:
        told = [NotificationSent(checkpoint=n, subtask="sink[0]", completed=True) for n in sent]
        known = [NotificationReceived(checkpoint=n, subtask="sink[0]", completed=True) for n in heard]
        return [
            *(at(100 + 10 * event.checkpoint, "coordinator.0", event) for event in told),
            *(at(101 + 10 * event.checkpoint, "worker-0.0", event) for event in known),
        ]

    def test_a_notice_was_not_heard_and_a_later_one_was(self) -> None:
        assert landed(self.spec, self.notices(1, 2, heard=(2,)))

    def test_the_last_notice_may_still_be_on_its_way(self) -> None:
        assert not landed(self.spec, self.notices(1, 2, heard=(1,)))
        assert not landed(self.spec, self.notices(1, 2, heard=()))

    def test_its_process_heard_the_trigger_of_a_later_checkpoint(self) -> None:
        assert landed(self.spec, [*self.notices(1, heard=()), *self.trigger("source[0]")])

    def test_another_process_or_attempt_proves_nothing(self) -> None:
        assert not landed(self.spec, [*self.notices(1, heard=()), *self.trigger("source[1]")])
        assert not landed(self.spec, [*self.notices(1, heard=()), *self.trigger("source[0]", attempt=2)])

    def trigger(self, subtask: str, attempt: int = 0) -> list[Event]:
        return [
            at(120, "coordinator.0", TriggerSent(checkpoint=2, subtask=subtask, attempt=attempt)),
            at(121, "worker-0.0", TriggerReceived(checkpoint=2, subtask=subtask, attempt=attempt)),
        ]

    def test_what_was_lost_afterwards_is_no_proof(self) -> None:
        assert not landed(self.spec, self.notices(11, 12, heard=(12,)))


class TestForge:
    spec = FaultSpec("forge", Target(Role.COORDINATOR), parameters={"message": "acknowledge"})

    def sent(self) -> Event:
        return at(90, "worker-1.0", AckSent(subtask="sink[1]", checkpoint=1))

    def received(self, time_ms: float, outcome: AckOutcome) -> Event:
        return at(time_ms, "coordinator.0", AckReceived(subtask="sink[1]", checkpoint=1, outcome=outcome))

    def test_received_more_often_than_sent(self) -> None:
        answers = [self.received(91, AckOutcome.SUCCESS), self.received(110, AckOutcome.DUPLICATE)]
        assert landed(self.spec, [self.sent(), *answers])

    def test_received_as_often_as_sent(self) -> None:
        assert not landed(self.spec, [self.sent(), self.received(110, AckOutcome.SUCCESS)])
