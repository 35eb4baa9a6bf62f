"""What the proofs of landing are asked with: a fault, and the events around it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from holdfast.faults import FAULTS
from holdfast.fixtures.reference.drivers.input_faults import Suffered
from holdfast.harness.model.capability import Claims
from holdfast.harness.model.events import (
    Event,
    FaultHealed,
    FaultInjected,
    FaultStruck,
    NodeDied,
    ObjectDamaged,
    SourceEmitted,
)
from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import FaultSpec, Plan, WorkloadSpec
from holdfast.harness.model.records import InputLog, Output, Partition
from holdfast.harness.model.target import Role, Target
from holdfast.harness.spi.controls import Acting, stamp

MILLISECOND_NS = 1_000_000
WORKER = Target(Role.WORKER, 1)
NO_INPUT = InputLog((), ())
BY_KIND = {fault.kind: fault for fault in (factory() for factory in FAULTS)}


class NotedHarness:
    """What mechanisms record."""

    def __init__(self) -> None:
        self.acting = Acting()
        self.recorded: list[Event] = []

    def record(self, events: Sequence[Event]) -> None:
        self.recorded += events

    def struck(self, fault: int, what: str) -> None:
        self.recorded += stamp(fault, what)


class NotedInput:
    """An input of empty or full partitions, and what it suffers by now."""

    suffered: Suffered

    def __init__(self, *lengths: int, covered: Sequence[int] = ()) -> None:
        columns = [np.zeros(length, dtype=np.int64) for length in lengths]
        self.partitions = [Partition(column, column, len(column)) for column in columns]
        self.covered = covered

    def require(self, kind: str) -> None:
        """Everything can be done to it."""

    def suffer(self, suffered: Suffered) -> None:
        self.suffered = suffered


def landed(
    spec: FaultSpec,
    events: Iterable[Event],
    *,
    start_ms: float = 100,
    end_ms: float | None = 200,
    records: int = 0,
    records_per_second: int = 0,
) -> bool | None:
    """Whether the fault landed in a run with these events and one partition of so many records, which are there or
    arrive at a rate; it acted from `start_ms` to `end_ms`, and its mechanism recorded deaths and damages since."""
    column = np.zeros(records, dtype=np.int64)
    preloaded = 0 if records_per_second else records
    partition = Partition(column, column, preloaded, records_per_second=records_per_second)
    inputs = InputLog(("key",), (partition,))
    around: list[Event] = [
        at(start_ms, "harness.0", FaultInjected(fault=0, fault_kind=spec.kind, target=str(spec.target)))
    ]
    if end_ms is not None:
        around.append(at(end_ms, "harness.0", FaultHealed(fault=0, fault_kind=spec.kind, target=str(spec.target))))
    placed = list(events)
    for event in placed:
        if isinstance(event, NodeDied | ObjectDamaged) and event.time_ns >= start_ms * MILLISECOND_NS:
            what = event.dead_node if isinstance(event, NodeDied) else event.path
            around.append(at(event.time_ns / MILLISECOND_NS, "harness.0", FaultStruck(fault=0, what=what)))
    return BY_KIND[spec.kind].landed(history_of(spec, [*around, *placed], inputs=inputs), 0)


def history_of(
    spec: FaultSpec, events: Iterable[Event], faults: Sequence[FaultSpec] = (), inputs: InputLog = NO_INPUT
) -> History:
    """A run with these events, whose plan has this fault, or several."""
    plan = Plan(job=KEYED_SUM, workload=WorkloadSpec("synthetic"), faults=tuple(faults) or (spec,))
    ordered = sorted(events, key=lambda event: event.time_ns)
    return History(plan, Claims(), inputs, Output(), ordered, RunEnd(reached=True))


def at(time_ms: float, node: str, event: Event) -> Event:
    event.time_ns = int(time_ms * MILLISECOND_NS)
    event.node = node
    return event


def emitted(time_ms: float, node: str) -> Event:
    return at(time_ms, node, SourceEmitted(subtask="source[0]", partition=0, first_offset=0, next_offset=1))
