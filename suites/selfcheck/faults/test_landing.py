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


POISON = FaultSpec("poison", Target(Role.SOURCE_SYSTEM), parameters={"offset": -1})


def failed_record(offset: int, time_ms: float) -> list[Event]:
    event = events.RecordFailed(subtask="source[0]", partition=0, offset=offset, cause="it cannot be parsed")
    return [at(time_ms, "worker-0.0", event)]


@pytest.mark.parametrize(
    ("offset", "time_ms", "lands"),
    [(9, 110, True), (8, 110, False), (9, 99, False)],
    ids=["the record failed", "another record", "an earlier failure"],
)
def test_a_poison_makes_its_record_fail(offset: int, time_ms: float, lands: bool) -> None:
    assert bool(landed(POISON, failed_record(offset, time_ms), records=10)) is lands


def test_in_a_partition_without_records_nothing_comes_of_a_poison() -> None:
    """Whether it landed was a division by zero."""
    assert landed(POISON, failed_record(0, 110), records=0) is False


SURGE = FaultSpec("surge", Target(Role.SOURCE_SYSTEM))


def surged(event: Event, time_ms: float = 150) -> bool | None:
    """Whether it lands where a record arrives every ten milliseconds."""
    return landed(SURGE, [at(time_ms, "worker-0.0", event)], records=100, records_per_second=100)


@pytest.mark.parametrize(
    ("next_offset", "time_ms", "lands"),
    [(17, 150, True), (16, 150, False), (50, 99, False)],
    ids=["more is emitted than can have arrived", "what has arrived", "before it"],
)
def test_by_a_surge_more_is_emitted_than_can_have_arrived(next_offset: int, time_ms: float, lands: bool) -> None:
    event = events.SourceEmitted(subtask="source[0]", partition=0, first_offset=0, next_offset=next_offset)
    assert bool(surged(event, time_ms)) is lands


@pytest.mark.parametrize(("first_offset", "lands"), [(16, True), (15, False)])
def test_so_is_what_a_source_reads_that_tells_no_emission(first_offset: int, lands: bool) -> None:
    assert surged(events.InputRead(subtask="source[0]", partition=0, first_offset=first_offset)) is lands


def storage_failed(operation: str = "publish-metadata", *, injected: bool = True, time_ms: float = 110) -> list[Event]:
    event = StorageFailed(operation=operation, path="chk-1/_metadata", reason="no space", injected=injected)
    return [at(time_ms, "coordinator.0", event)]


def slowed(operation: str = "delete", time_ms: float = 110) -> list[Event]:
    return [at(time_ms, "coordinator.0", StorageSlowed(operation=operation, path="chk-1/_metadata", delay_ms=100))]


def asked(origin: CheckpointOrigin, time_ms: float = 110) -> list[Event]:
    return [at(time_ms, "coordinator.0", CheckpointRequested(request=1, origin=origin))]


def notices(*sent: int, heard: tuple[int, ...]) -> list[Event]:
    notified = [events.NotificationSent(checkpoint=n, subtask="sink[0]", completed=True) for n in sent]
    known = [events.NotificationReceived(checkpoint=n, subtask="sink[0]", completed=True) for n in heard]
    return [
        *(at(100 + 10 * event.checkpoint, "coordinator.0", event) for event in notified),
        *(at(101 + 10 * event.checkpoint, "worker-0.0", event) for event in known),
    ]


def trigger(subtask: str, attempt: int = 0) -> list[Event]:
    return [
        at(120, "coordinator.0", events.TriggerSent(checkpoint=2, subtask=subtask, attempt=attempt)),
        at(121, "worker-0.0", events.TriggerReceived(checkpoint=2, subtask=subtask, attempt=attempt)),
    ]


def acknowledged(*answers: tuple[float, events.AckOutcome]) -> list[Event]:
    """One acknowledgement is sent, before the fault, and these are received."""
    received = [
        at(time_ms, "coordinator.0", events.AckReceived(subtask="sink[1]", checkpoint=1, outcome=outcome))
        for time_ms, outcome in answers
    ]
    return [at(90, "worker-1.0", events.AckSent(subtask="sink[1]", checkpoint=1)), *received]


def unwritten(*, injected: bool = True, time_ms: float = 110) -> list[Event]:
    event = StorageFailed(operation="write-state", path="chk-1/a", reason="no space", injected=injected)
    return [at(time_ms, "worker-0.0", event)]


def held_up(*times_ms: float, subtask: str = "sum[0]") -> list[Event]:
    reports = [StorageSlowed(operation=f"process-{subtask}", path=subtask, delay_ms=50) for _ in times_ms]
    return [at(time_ms, "worker-0.0", event) for time_ms, event in zip(times_ms, reports, strict=True)]


def emitted(*times_ms: float, subtask: str = "source[0]") -> list[Event]:
    emissions = [
        events.SourceEmitted(subtask=subtask, partition=0, first_offset=offset, next_offset=offset + 1)
        for offset in range(len(times_ms))
    ]
    return [at(time_ms, "worker-0.0", event) for time_ms, event in zip(times_ms, emissions, strict=True)]


STORAGE_ERROR = FaultSpec("storage-error", STORAGE, parameters={"operation": "publish-metadata"})
SLOW_STORAGE = FaultSpec("slow-storage", STORAGE, parameters={"operation": "delete"})
REQUEST = FaultSpec("request-checkpoint", COORDINATOR)
LOSE_NOTICES = FaultSpec("lose-notices", COORDINATOR)
FORGE = FaultSpec("forge", COORDINATOR, parameters={"message": "acknowledge"})
FULL_STORAGE = FaultSpec("full-storage", STORAGE)
SLOW_TASK = FaultSpec("slow-task", Target(Role.TASK, 2))
SLOW_SOURCE = FaultSpec("slow-task", Target(Role.TASK), parameters={"delay_ms": 5})
SUCCESS, DUPLICATE = events.AckOutcome.SUCCESS, events.AckOutcome.DUPLICATE
EFFECTS: dict[str, tuple[FaultSpec, list[Event]]] = {
    "the operation failed on purpose": (STORAGE_ERROR, storage_failed()),
    "the operation was held up": (SLOW_STORAGE, slowed()),
    "a request arrived": (REQUEST, asked(CheckpointOrigin.USER)),
    "a notice was not heard and a later one was": (LOSE_NOTICES, notices(1, 2, heard=(2,))),
    "its process heard a later trigger": (LOSE_NOTICES, [*notices(1, heard=()), *trigger("source[0]")]),
    "received more often than sent": (FORGE, acknowledged((91, SUCCESS), (110, DUPLICATE))),
    "something could not be written": (FULL_STORAGE, unwritten()),
    "the subtask reports that it was held up": (SLOW_TASK, held_up(110, 120)),
    "a source reads its batches so far apart": (SLOW_SOURCE, emitted(110, 115, 120)),
}
NO_EFFECTS: dict[str, tuple[FaultSpec, list[Event]]] = {
    "a failure of its own": (STORAGE_ERROR, storage_failed(injected=False)),
    "of something else": (STORAGE_ERROR, storage_failed("write-state")),
    "an earlier failure": (STORAGE_ERROR, storage_failed(time_ms=99)),
    "another operation": (SLOW_STORAGE, slowed("commit")),
    "an earlier call": (SLOW_STORAGE, slowed(time_ms=99)),
    "a request of the interval": (REQUEST, asked(CheckpointOrigin.PERIODIC)),
    "an earlier request": (REQUEST, asked(CheckpointOrigin.USER, 99)),
    "the last notice may be on its way": (LOSE_NOTICES, notices(1, 2, heard=(1,))),
    "both notices may be": (LOSE_NOTICES, notices(1, 2, heard=())),
    "another process": (LOSE_NOTICES, [*notices(1, heard=()), *trigger("source[1]")]),
    "another attempt": (LOSE_NOTICES, [*notices(1, heard=()), *trigger("source[0]", attempt=2)]),
    "a notice that was lost afterwards": (LOSE_NOTICES, notices(11, 12, heard=(12,))),
    "received as often as sent": (FORGE, acknowledged((110, SUCCESS))),
    "a full disk of its own": (FULL_STORAGE, unwritten(injected=False)),
    "a full disk before": (FULL_STORAGE, unwritten(time_ms=99)),
    "a source reads its batches too soon": (SLOW_SOURCE, emitted(110, 112, 114)),
    "another source reads its batches so far apart": (SLOW_SOURCE, emitted(110, 115, 120, subtask="source[1]")),
    "held up once": (SLOW_TASK, held_up(110)),
    "another subtask is held up": (SLOW_TASK, held_up(110, 120, subtask="sum[1]")),
    "held up earlier": (SLOW_TASK, held_up(90, 95)),
}


@pytest.mark.parametrize("what", EFFECTS)
def test_its_effect_proves_a_fault(what: str) -> None:
    assert landed(*EFFECTS[what])


@pytest.mark.parametrize("what", NO_EFFECTS)
def test_a_near_miss_is_no_proof(what: str) -> None:
    assert not landed(*NO_EFFECTS[what])


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
