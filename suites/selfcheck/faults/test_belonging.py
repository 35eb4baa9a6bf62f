"""An effect belongs to one fault: what a later fault of the same kind does is no proof that an earlier one acted."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pytest

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
from holdfast.suites.selfcheck.faults.scene import BY_KIND, MILLISECOND_NS, WORKER, at

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
def test_each_has_its_own_effect(spec: FaultSpec, effect: Effects) -> None:
    assert proofs(spec, (150, effect), (350, effect), heals_ms=200) == [True, True]


@pytest.mark.parametrize(("spec", "effect"), BOTH, ids=NAMES)
def test_what_the_later_one_did_proves_nothing_of_the_earlier(spec: FaultSpec, effect: Effects) -> None:
    first, second = proofs(spec, (350, effect), heals_ms=200)
    assert not first
    assert second


@pytest.mark.parametrize(("spec", "effect"), BOTH, ids=NAMES)
def test_what_the_earlier_one_did_proves_nothing_of_the_later(spec: FaultSpec, effect: Effects) -> None:
    first, second = proofs(spec, (150, effect), heals_ms=200)
    assert first
    assert not second


@pytest.mark.parametrize(("spec", "effect"), LASTING, ids=[spec.kind for spec, _ in LASTING])
def test_nothing_is_the_work_of_a_fault_that_is_healed(spec: FaultSpec, effect: Effects) -> None:
    assert not any(proofs(spec, (250, effect), heals_ms=200))


@pytest.mark.parametrize(("spec", "effect"), LASTING, ids=[spec.kind for spec, _ in LASTING])
def test_while_both_act_the_newest_counts(spec: FaultSpec, effect: Effects) -> None:
    first, second = proofs(spec, (350, effect), heals_ms=400)
    assert not first
    assert second


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
