"""A fault has landed only if the history proves it, and each effect belongs to one fault: proofs with near misses."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pytest

from holdfast.faults import FAULTS
from holdfast.harness.engine.site.registry import toolbox
from holdfast.harness.model import events
from holdfast.harness.model.capability import Claims
from holdfast.harness.model.checkpoint import CheckpointOrigin
from holdfast.harness.model.events import (
    CheckpointRequested,
    Event,
    FailureCounted,
    FaultHealed,
    FaultInjected,
    JobStatus,
    JobSubmitted,
    JobSwitched,
    LocalCopySpoilt,
    MessageDisturbed,
    NodeDied,
    RecordFailed,
    RecoveryFailed,
    RescaleAccepted,
    StorageFailed,
    StorageSlowed,
)
from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import FaultSpec, Plan, WorkloadSpec
from holdfast.harness.model.records import InputLog, Output, Partition
from holdfast.harness.model.target import COORDINATOR, STORAGE, Role, Target
from holdfast.suites.selfcheck.faults.scene import BY_KIND, MILLISECOND_NS, WORKER, at, landed


def test_every_fault_is_registered_once_under_its_kind() -> None:
    assert list(toolbox().faults) == list(BY_KIND)
    assert len(BY_KIND) == len(FAULTS)


@pytest.mark.parametrize("kind", BY_KIND)
def test_no_other_fault_has_its_colour(kind: str) -> None:
    colour = BY_KIND[kind].colour
    assert [other for other, fault in BY_KIND.items() if fault.colour == colour] == [kind]


def test_a_fault_that_never_acted_has_not_landed() -> None:
    for kind in BY_KIND:
        spec = FaultSpec(kind, Target(Role.CHANNEL, 1) if Role.CHANNEL in BY_KIND[kind].roles else WORKER)
        plan = Plan(job=KEYED_SUM, workload=WorkloadSpec("synthetic"), faults=(spec,))
        history = History(plan, Claims(), InputLog((), ()), Output(), [], RunEnd(reached=True))
        assert not BY_KIND[kind].landed(history, 0)


class TestPoison:
    spec = FaultSpec("poison", Target(Role.SOURCE_SYSTEM), parameters={"offset": -1})

    def failed(self, offset: int, *, time_ms: float = 110) -> list[events.Event]:
        event = events.RecordFailed(subtask="source[0]", partition=0, offset=offset, cause="it cannot be parsed")
        return [at(time_ms, "worker-0.0", event)]

    def test_the_record_failed(self) -> None:
        assert landed(self.spec, self.failed(9), records=10)

    def test_another_record_or_an_earlier_failure_is_no_proof(self) -> None:
        assert not landed(self.spec, self.failed(8), records=10)
        assert not landed(self.spec, self.failed(9, time_ms=99), records=10)

    def test_in_a_partition_without_records_nothing_comes_of_it(self) -> None:
        """Whether it landed was a division by zero."""
        assert landed(self.spec, self.failed(0), records=0) is False


class TestSurge:
    spec = FaultSpec("surge", Target(Role.SOURCE_SYSTEM))

    def emitted(self, next_offset: int, time_ms: float) -> bool | None:
        """Whether it lands where a record arrives every ten milliseconds and so many are emitted at a time."""
        event = events.SourceEmitted(subtask="source[0]", partition=0, first_offset=0, next_offset=next_offset)
        return landed(self.spec, [at(time_ms, "worker-0.0", event)], records=100, records_per_second=100)

    def test_more_is_emitted_than_can_have_arrived(self) -> None:
        assert self.emitted(17, 150)

    def test_what_has_arrived_is_no_proof(self) -> None:
        assert not self.emitted(16, 150)
        assert not self.emitted(50, 99)

    @pytest.mark.parametrize(("first_offset", "lands"), [(16, True), (15, False)])
    def test_so_is_what_a_source_reads_that_tells_no_emission(self, first_offset: int, lands: bool) -> None:
        event = events.InputRead(subtask="source[0]", partition=0, first_offset=first_offset)
        read = [at(150, "worker-0.0", event)]
        assert landed(self.spec, read, records=100, records_per_second=100) is lands


class TestStorageError:
    spec = FaultSpec("storage-error", Target(Role.STORAGE), parameters={"operation": "publish-metadata"})

    def failed(
        self, operation: str = "publish-metadata", *, injected: bool = True, time_ms: float = 110
    ) -> list[events.Event]:
        event = events.StorageFailed(operation=operation, path="chk-1/_metadata", reason="no space", injected=injected)
        return [at(time_ms, "coordinator.0", event)]

    def test_the_operation_failed_on_purpose(self) -> None:
        assert landed(self.spec, self.failed())

    def test_a_failure_of_its_own_or_of_something_else_is_no_proof(self) -> None:
        assert not landed(self.spec, self.failed(injected=False))
        assert not landed(self.spec, self.failed("write-state"))
        assert not landed(self.spec, self.failed(time_ms=99))


class TestSlowStorage:
    spec = FaultSpec("slow-storage", Target(Role.STORAGE), parameters={"operation": "delete"})

    def slowed(self, operation: str = "delete", *, time_ms: float = 110) -> list[events.Event]:
        return [
            at(
                time_ms,
                "coordinator.0",
                events.StorageSlowed(operation=operation, path="chk-1/_metadata", delay_ms=100),
            )
        ]

    def test_the_operation_was_held_up(self) -> None:
        assert landed(self.spec, self.slowed())

    def test_another_operation_or_an_earlier_call_is_no_proof(self) -> None:
        assert not landed(self.spec, self.slowed("commit"))
        assert not landed(self.spec, self.slowed(time_ms=99))


class TestRequestCheckpoint:
    spec = FaultSpec("request-checkpoint", Target(Role.COORDINATOR))

    def requested(self, origin: CheckpointOrigin, time_ms: float = 110) -> list[events.Event]:
        return [at(time_ms, "coordinator.0", events.CheckpointRequested(request=1, origin=origin))]

    def test_a_request_arrived(self) -> None:
        assert landed(self.spec, self.requested(CheckpointOrigin.USER))

    def test_one_of_the_interval_or_an_earlier_one_is_no_proof(self) -> None:
        assert not landed(self.spec, self.requested(CheckpointOrigin.PERIODIC))
        assert not landed(self.spec, self.requested(CheckpointOrigin.USER, 99))


class TestLoseNotices:
    spec = FaultSpec("lose-notices", Target(Role.COORDINATOR))

    def notices(self, *sent: int, heard: tuple[int, ...]) -> list[events.Event]:
        notified = [events.NotificationSent(checkpoint=n, subtask="sink[0]", completed=True) for n in sent]
        known = [events.NotificationReceived(checkpoint=n, subtask="sink[0]", completed=True) for n in heard]
        return [
            *(at(100 + 10 * event.checkpoint, "coordinator.0", event) for event in notified),
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

    def trigger(self, subtask: str, attempt: int = 0) -> list[events.Event]:
        return [
            at(120, "coordinator.0", events.TriggerSent(checkpoint=2, subtask=subtask, attempt=attempt)),
            at(121, "worker-0.0", events.TriggerReceived(checkpoint=2, subtask=subtask, attempt=attempt)),
        ]

    def test_what_was_lost_afterwards_is_no_proof(self) -> None:
        assert not landed(self.spec, self.notices(11, 12, heard=(12,)))


class TestForge:
    spec = FaultSpec("forge", Target(Role.COORDINATOR), parameters={"message": "acknowledge"})

    def sent(self) -> events.Event:
        return at(90, "worker-1.0", events.AckSent(subtask="sink[1]", checkpoint=1))

    def received(self, time_ms: float, outcome: events.AckOutcome) -> events.Event:
        return at(time_ms, "coordinator.0", events.AckReceived(subtask="sink[1]", checkpoint=1, outcome=outcome))

    def test_received_more_often_than_sent(self) -> None:
        answers = [self.received(91, events.AckOutcome.SUCCESS), self.received(110, events.AckOutcome.DUPLICATE)]
        assert landed(self.spec, [self.sent(), *answers])

    def test_received_as_often_as_sent(self) -> None:
        assert not landed(self.spec, [self.sent(), self.received(110, events.AckOutcome.SUCCESS)])


class TestFullStorage:
    spec = FaultSpec("full-storage", Target(Role.STORAGE))

    def failed(self, *, injected: bool = True, time_ms: float = 110) -> list[events.Event]:
        event = events.StorageFailed(operation="write-state", path="chk-1/a", reason="no space", injected=injected)
        return [at(time_ms, "worker-0.0", event)]

    def test_something_could_not_be_written(self) -> None:
        assert landed(self.spec, self.failed())

    def test_a_failure_of_its_own_or_before_is_no_proof(self) -> None:
        assert not landed(self.spec, self.failed(injected=False))
        assert not landed(self.spec, self.failed(time_ms=99))


class TestSlowTask:
    spec = FaultSpec("slow-task", Target(Role.TASK, 2))

    def held_up(self, *times_ms: float, subtask: str = "sum[0]") -> list[events.Event]:
        slowed = [events.StorageSlowed(operation=f"process-{subtask}", path=subtask, delay_ms=50) for _ in times_ms]
        return [at(time_ms, "worker-0.0", event) for time_ms, event in zip(times_ms, slowed, strict=True)]

    def test_the_subtask_reports_that_it_was_held_up(self) -> None:
        assert landed(self.spec, self.held_up(110, 120))

    def emitted(self, *times_ms: float, subtask: str = "source[0]") -> list[events.Event]:
        emitted = [
            events.SourceEmitted(subtask=subtask, partition=0, first_offset=offset, next_offset=offset + 1)
            for offset in range(len(times_ms))
        ]
        return [at(time_ms, "worker-0.0", event) for time_ms, event in zip(times_ms, emitted, strict=True)]

    def test_a_source_reads_its_batches_so_far_apart(self) -> None:
        spec = FaultSpec("slow-task", Target(Role.TASK), parameters={"delay_ms": 5})
        assert landed(spec, self.emitted(110, 115, 120))
        assert not landed(spec, self.emitted(110, 112, 114))
        assert not landed(spec, self.emitted(110, 115, 120, subtask="source[1]"))

    def test_once_or_another_or_earlier_is_no_proof(self) -> None:
        assert not landed(self.spec, self.held_up(110))
        assert not landed(self.spec, self.held_up(110, 120, subtask="sum[1]"))
        assert not landed(self.spec, self.held_up(90, 95))


Effects = Callable[[], Iterable[Event]]
READS: dict[str, int | str] = {"operation": "read-state"}


def requested(origin: CheckpointOrigin) -> Effects:
    return lambda: [CheckpointRequested(request=1, origin=origin)]


def switched(status: JobStatus) -> Effects:
    return lambda: [JobSwitched(status=status)]


MOMENTARY: tuple[tuple[FaultSpec, Effects], ...] = (
    (FaultSpec("savepoint", COORDINATOR), requested(CheckpointOrigin.SAVEPOINT)),
    (FaultSpec("stop", COORDINATOR), requested(CheckpointOrigin.SAVEPOINT)),
    (FaultSpec("request-checkpoint", COORDINATOR), requested(CheckpointOrigin.USER)),
    (FaultSpec("cancel", COORDINATOR), switched(JobStatus.CANCELED)),
    (FaultSpec("suspend", COORDINATOR), switched(JobStatus.SUSPENDED)),
    (FaultSpec("submit", COORDINATOR), lambda: [JobSubmitted()]),
    (FaultSpec("rescale", COORDINATOR), lambda: [RescaleAccepted(parallelism=3)]),
    (
        FaultSpec("lose-power", STORAGE),
        lambda: [NodeDied(dead_node=node, cause="killed") for node in ("coordinator.0", "worker-0.0")],
    ),
    (FaultSpec("reset", Target(Role.BROKER)), lambda: [FailureCounted(cause="connection reset")]),
    (
        FaultSpec("spoil-local-copy", WORKER, parameters={"way": "flip"}),
        lambda: [LocalCopySpoilt(worker=1, way="flip", paths=("copy",))],
    ),
)
LASTING: tuple[tuple[FaultSpec, Effects], ...] = (
    (
        FaultSpec("storage-error", STORAGE, parameters=READS),
        lambda: [StorageFailed(operation="read-state", path="p", reason="injected", injected=True)],
    ),
    (
        FaultSpec("slow-storage", STORAGE, parameters=READS),
        lambda: [StorageSlowed(operation="read-state", path="p", delay_ms=5)],
    ),
    (
        FaultSpec("full-storage", STORAGE),
        lambda: [StorageFailed(operation="write-state", path="p", reason="no room", injected=True)],
    ),
    (FaultSpec("damage", STORAGE), lambda: [RecoveryFailed(checkpoint=1, reason="it is damaged")]),
    (
        FaultSpec("poison", Target(Role.SOURCE_SYSTEM), parameters={"offset": 3}),
        lambda: [RecordFailed(subtask="sum[0]", partition=0, offset=3, cause="poison")],
    ),
)
BOTH = (*MOMENTARY, *LASTING)
NAMES = [spec.kind for spec, _ in BOTH]


def proofs(spec: FaultSpec, *effects: tuple[float, Effects], heals_ms: float | None = None) -> list[bool | None]:
    """Two of the same fault act, at 100 and at 300 ms, the first until its heal. Which have landed?"""
    column = np.zeros(10, dtype=np.int64)
    recorded: list[Event] = [
        at(start_ms, "harness", FaultInjected(fault=number, fault_kind=spec.kind, target=str(spec.target)))
        for number, start_ms in enumerate((100, 300))
    ]
    if heals_ms is not None:
        recorded.append(at(heals_ms, "harness", FaultHealed(fault=0, fault_kind=spec.kind, target=str(spec.target))))
    recorded += [at(time_ms, "coordinator.0", event) for time_ms, some in effects for event in some()]
    recorded.sort(key=lambda event: event.time_ns)
    plan = Plan(job=KEYED_SUM, workload=WorkloadSpec("synthetic"), faults=(spec, spec))
    inputs = InputLog(("key",), (Partition(column, column, 10),))
    history = History(plan, Claims(), inputs, Output(), recorded, RunEnd(reached=True, ended_ns=900 * MILLISECOND_NS))
    return [BY_KIND[spec.kind].landed(history, number) for number in range(2)]


@pytest.mark.parametrize(("spec", "effect"), BOTH, ids=NAMES)
@pytest.mark.parametrize(
    ("times_ms", "landed"), [((150, 350), [True, True]), ((350,), [False, True]), ((150,), [True, False])],
    ids=["both", "the later one", "the earlier one"],
)  # fmt: skip
def test_what_one_did_proves_nothing_of_another(
    times_ms: tuple[int, ...], landed: list[bool], spec: FaultSpec, effect: Effects
) -> None:
    found = proofs(spec, *((each, effect) for each in times_ms), heals_ms=200)
    assert [bool(each) for each in found] == landed


@pytest.mark.parametrize(("spec", "effect"), LASTING, ids=[spec.kind for spec, _ in LASTING])
@pytest.mark.parametrize(
    ("time_ms", "heals_ms", "landed"), [(250, 200, [False, False]), (350, 400, [False, True])],
    ids=["nothing is the work of one that is healed", "while both act the newest counts"],
)  # fmt: skip
def test_of_lasting_ones_one_acts_at_a_time(
    time_ms: int, heals_ms: int, landed: list[bool], spec: FaultSpec, effect: Effects
) -> None:
    assert [bool(each) for each in proofs(spec, (time_ms, effect), heals_ms=heals_ms)] == landed


def test_users_who_ask_several_times_have_several_effects() -> None:
    asks = FaultSpec("request-checkpoint", COORDINATOR, parameters={"times": 2})
    effect = requested(CheckpointOrigin.USER)
    assert proofs(asks, (350, effect), (360, effect)) == [False, True]


def test_a_savepoint_is_no_request_for_a_checkpoint() -> None:
    asks = FaultSpec("request-checkpoint", COORDINATOR)
    assert proofs(asks, (350, requested(CheckpointOrigin.SAVEPOINT))) == [False, False]


def test_a_lost_message_is_of_the_fault_that_lasts() -> None:
    loses = FaultSpec("lose-messages", WORKER, parameters={"message": "heartbeat"})

    def lost() -> list[Event]:
        return [MessageDisturbed(message="heartbeat", way="lose", worker=1)]

    assert proofs(loses, (350, lost), heals_ms=200)[0] is False
