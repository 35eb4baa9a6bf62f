"""Hand-made histories, tersely: a story says what happens, the builder says where, when and in which attempt.

A line of a story is an event without its header. Worker i hosts subtask i of every vertex, so the node follows from the
event; whatever names no subtask happens on the coordinator. Every event takes one millisecond. AttemptStarted begins
the next attempt, NodeDied of a process (`worker-1`) ends its present life (`worker-1.0`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from msgspec.structs import replace

from holdfast.harness.engine.site import registry
from holdfast.harness.model.capability import EXACTLY_ONCE, Claims, Guarantee, OutputMode
from holdfast.harness.model.events import (
    AckReceived,
    AttemptStarted,
    BarrierReceived,
    BatchProcessed,
    CancellationReceived,
    ChannelBlocked,
    ChannelUnblocked,
    DeclineReceived,
    EndOfDataReceived,
    Event,
    FailureCounted,
    FaultInjected,
    FinishReceived,
    InputRead,
    MachineStalled,
    NodeDied,
    NotificationSent,
    ObjectDamaged,
    ObjectMended,
    ReaderPolled,
    RowsChanged,
    RowsVisible,
    StateOverBudget,
    StorageListed,
    StorageObserved,
    SubtaskAudited,
    SubtaskMoved,
    SubtaskStatistics,
    TriggerSent,
)
from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec, Plan, Topology, WorkloadSpec
from holdfast.harness.model.records import CommittedRows, InputLog, Output, Partition
from holdfast.harness.oracles import ORACLES
from holdfast.harness.spi.fault import declared

BY_NAME = {oracle.name: oracle for oracle in ORACLES}


MS = 1_000_000
OPTIONS = {"execution.checkpointing.interval": "100 ms", "pipeline.operator-chaining.enabled": "false"}
"""Unless a story has others. It names all channels that the job has."""
EventKind = TypeVar("EventKind", bound=Event)
Line = Event | float | Sequence[Event]
"""An event, several, or milliseconds that pass."""

_RECEIVER_RECORDS = (
    BatchProcessed,
    BarrierReceived,
    CancellationReceived,
    EndOfDataReceived,
    ChannelBlocked,
    ChannelUnblocked,
)
_COORDINATOR_RECORDS = (
    TriggerSent, FinishReceived, AckReceived, DeclineReceived, NotificationSent, SubtaskStatistics, FailureCounted,
    StateOverBudget,
)  # fmt: skip
_HARNESS_RECORDS = (
    InputRead, NodeDied, RowsVisible, RowsChanged, ReaderPolled, StorageListed, StorageObserved, SubtaskAudited,
    SubtaskMoved, ObjectDamaged, ObjectMended, MachineStalled,
)  # fmt: skip


def at(node: str, event: EventKind, attempt: int = 0) -> EventKind:
    """The event on a node, or of an attempt, that does not follow from it."""
    event.node, event.attempt = node, attempt
    return event


def injected(kind: str, target: str, fault: int = 0) -> FaultInjected:
    """A fault acts, with what it declares that it may cause; one that is not registered declares nothing."""
    registered = registry.toolbox().faults.get(kind)
    may_cause = None if registered is None else declared(registered)
    return FaultInjected(fault=fault, fault_kind=kind, target=target, may_cause=may_cause)


def _process(event: Event) -> str:
    """The process that records an event."""
    if isinstance(event, _HARNESS_RECORDS):
        return "harness"
    place = "" if isinstance(event, _COORDINATOR_RECORDS) else getattr(event, "subtask", getattr(event, "channel", ""))
    if isinstance(event, _RECEIVER_RECORDS):
        place = place.partition("->")[2]
    return f"worker-{place.partition('[')[2].partition(']')[0]}" if place else "coordinator"


def _flat(lines: Iterable[Line]) -> Iterator[Event | float]:
    for line in lines:
        if isinstance(line, Event | int | float):
            yield line
        else:
            yield from line


def stamped(lines: Iterable[Line]) -> list[Event]:
    """The events of a story with their headers."""
    lives: dict[str, int] = {}
    sequences: dict[str, int] = {}
    events: list[Event] = []
    now_ms, attempt = 0.0, 0
    for line in _flat(lines):
        if not isinstance(line, Event):
            now_ms += line
            continue
        now_ms += 1
        if isinstance(line, AttemptStarted):
            attempt = line.attempt or attempt + 1
        if isinstance(line, NodeDied) and "." not in line.dead_node:
            process = line.dead_node
            line.dead_node = f"{process}.{lives.get(process, 0)}"
            lives[process] = lives.get(process, 0) + 1
        if not line.node:
            process = _process(line)
            line.node = f"{process}.{lives.get(process, 0)}" if process != "harness" else process
        line.sequence = sequences.get(line.node, 0)
        sequences[line.node] = line.sequence + 1
        line.attempt = line.attempt or attempt
        line.time_ns = int(now_ms * MS)
        events.append(line)
    return events


def input_log(*lengths: int, first_offsets: tuple[int, ...] = ()) -> InputLog:
    """A log whose record at offset n has the value n + 1; even offsets have key `a`, odd ones `b`."""
    partitions = (Partition(np.arange(n) % 2, np.arange(1, n + 1), preloaded=n) for n in lengths)
    return InputLog(("a", "b"), tuple(partitions), first_offsets)


def story(
    *lines: Line,
    job: Job = KEYED_SUM,
    parallelism: int = 2,
    options: Mapping[str, str] | None = None,
    claimed: frozenset[Guarantee] = EXACTLY_ONCE,
    inputs: InputLog | None = None,
    faults: tuple[FaultSpec, ...] = (),
    expected: ExpectedEnd = ExpectedEnd.RUNNING,
    units: tuple[CommittedRows, ...] = (),
    end: RunEnd | None = None,
    mode: OutputMode = OutputMode.APPEND,
) -> History:
    """The history of a story. Unless it says otherwise, the run reached its end one second after its last event."""
    events = stamped(lines)
    last_ns = events[-1].time_ns if events else 0
    plan = Plan(
        job=job,
        topology=Topology(parallelism),
        options=OPTIONS if options is None else dict(options),
        workload=WorkloadSpec("hand-made"),
        faults=faults,
        expected_end=expected,
    )
    log = input_log(*(10,) * parallelism) if inputs is None else inputs
    end = end or RunEnd(reached=True, ended_ns=last_ns + 1_000 * MS)
    return History(plan, Claims(claimed, claimed, mode), log, Output(units), events, end)


class Exhibit(NamedTuple):
    """A history with what its oracle must make of it: name exactly `clause`, or, of a near miss, decide it and pass."""

    oracle: str
    clause: str
    bad: bool
    history: Callable[[], History]


EXHIBITS: dict[str, Exhibit] = {}
HISTORIES: dict[str, Callable[[], History]] = {}
"""By name, such as `cut/channel-order/batch-lost`: what a case may cite as `history:NAME`."""


def in_real_time(history: History) -> History:
    """As if it had happened on a machine that others use too."""
    history.end = replace(history.end, real_time=True)
    return history


Tell = Callable[[], History]


def exhibits(oracle: str) -> tuple[Callable[[str], Callable[[Tell], Tell]], Callable[[str], Callable[[Tell], Tell]]]:
    """Two decorators that register the bad histories of an oracle, and their near misses, each by clause."""

    def register(clause: str, bad: bool) -> Callable[[Tell], Tell]:
        def add(tell: Tell) -> Tell:
            name = f"{oracle.lower()}/{clause}/{tell.__name__.replace('_', '-')}"
            assert name not in EXHIBITS, name
            EXHIBITS[name] = Exhibit(oracle, clause, bad, tell)
            HISTORIES[name] = tell
            return tell

        return add

    return (lambda clause: register(clause, True)), (lambda clause: register(clause, False))
