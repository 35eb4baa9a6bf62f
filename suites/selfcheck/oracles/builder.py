"""Hand-made histories, tersely: a story says what happens, the builder says where, when and in which attempt.

A line of a story is an event without its header. Worker i hosts subtask i of every vertex, so the node follows from the
event; whatever names no subtask happens on the coordinator. Every event takes one millisecond. AttemptStarted begins
the next attempt, NodeDied of a process (`worker-1`) ends its present life (`worker-1.0`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import NamedTuple, Protocol, TypedDict, Unpack

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
Line = Event | float | Sequence["Line"]
"""An event, milliseconds that pass, or several of these."""


class Until(float):
    """As a line: milliseconds pass until so many of the story are over."""


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


def at(node: str, *lines: Line, attempt: int = 0) -> list[Event | float]:
    """These lines on a node, or of an attempt, that does not follow from them; events that have a node keep it."""
    placed: list[Event | float] = []
    for line in _flat(lines):
        if isinstance(line, Event) and not line.node:
            line = copy(line)
            line.node, line.attempt = node, attempt
        placed.append(line)
    return placed


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
            yield from _flat(line)


def stamped(lines: Iterable[Line]) -> list[Event]:
    """The events of a story with their headers. Its lines stay as they are: stories may share them."""
    lives: dict[str, int] = {}
    sequences: dict[str, int] = {}
    events: list[Event] = []
    now_ms, attempt = 0.0, 0
    for line in _flat(lines):
        if not isinstance(line, Event):
            now_ms = float(line) if isinstance(line, Until) else now_ms + line
            continue
        line = copy(line)
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


def input_log(*lengths: int, first_offsets: tuple[int, ...] = (), marked: bool = False) -> InputLog:
    """A log whose record at offset n has the value n + 1; even offsets have key `a`, odd ones `b`.

    Marked, each partition has one more record at its end, a marker of key `marker`.
    """
    keys = ("a", "b", "marker") if marked else ("a", "b")
    partitions = (
        Partition(np.append(np.arange(n) % 2, 2)[: n + marked], np.arange(1, n + marked + 1), n, markers=int(marked))
        for n in lengths
    )
    return InputLog(keys, tuple(partitions), first_offsets)


class Setting(TypedDict, total=False):
    """What a story may say of its run besides its lines; see `story`."""

    job: Job
    parallelism: int
    options: Mapping[str, str]
    claimed: frozenset[Guarantee] | Claims
    inputs: InputLog
    faults: tuple[FaultSpec, ...]
    expected: ExpectedEnd
    units: tuple[CommittedRows, ...]
    end: RunEnd | None
    unreached: str
    mode: OutputMode
    real_time: bool


def story(
    *lines: Line,
    job: Job = KEYED_SUM,
    parallelism: int = 2,
    options: Mapping[str, str] | None = None,
    claimed: frozenset[Guarantee] | Claims = EXACTLY_ONCE,
    inputs: InputLog | None = None,
    faults: tuple[FaultSpec, ...] = (),
    expected: ExpectedEnd = ExpectedEnd.RUNNING,
    units: tuple[CommittedRows, ...] = (),
    end: RunEnd | None = None,
    unreached: str = "",
    mode: OutputMode = OutputMode.APPEND,
    real_time: bool = False,
) -> History:
    """The history of a story.

    Args:
        lines: what happens.
        job: which job runs.
        parallelism: of each vertex.
        options: of the plan; None: `OPTIONS`.
        claimed: guarantees of state and output alike, or claims as they are.
        inputs: the input log; None: ten records for each subtask of the source.
        faults: of the plan.
        expected: the end that the plan states.
        units: the committed output.
        end: how the run ended; None: one second after its last event.
        unreached: why it did not reach its end then; empty: it did.
        mode: how the output is written.
        real_time: whether it happened on a machine that others use too.
    """
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
    claims = claimed if isinstance(claimed, Claims) else Claims(claimed, claimed, mode)
    end = end or RunEnd(not unreached, unreached, ended_ns=last_ns + 1_000 * MS)
    end = replace(end, real_time=True) if real_time else end
    return History(plan, claims, log, Output(units), events, end)


class Exhibit(NamedTuple):
    """A history with what its oracle must make of it: name exactly `clause`, or, of a near miss, decide it and pass."""

    oracle: str
    clause: str
    bad: bool
    history: Callable[[], History]


EXHIBITS: dict[str, Exhibit] = {}
HISTORIES: dict[str, Callable[[], History]] = {}
"""By name, such as `coord/two-ends/aborted-twice`: what a case may cite as `history:NAME`."""


class Show(Protocol):
    """Registers an exhibit of a clause."""

    def __call__(self, clause: str, tells: str, *lines: Line, **setting: Unpack[Setting]) -> None:
        """Tell a story.

        Args:
            clause: which clause of the oracle it is about.
            tells: what happens, in words; with hyphens the last part of its name.
            lines: of the story.
            setting: in which run; see `story`.
        """


def exhibits(oracle: str, *before: Line, **common: Unpack[Setting]) -> tuple[Show, Show]:
    """What registers the bad histories of an oracle, and what registers their near misses.

    Args:
        oracle: its name.
        before: lines in front of every story.
        common: the setting of every story, unless one has another.
    """

    def shows(bad: bool) -> Show:
        def show(clause: str, tells: str, *lines: Line, **setting: Unpack[Setting]) -> None:
            def tell() -> History:
                merged: Setting = {**common, **setting}
                return story(*before, *lines, **merged)

            name = f"{oracle.lower()}/{clause}/{tells.replace(' ', '-')}"
            assert name not in EXHIBITS, name
            EXHIBITS[name] = Exhibit(oracle, clause, bad, tell)
            HISTORIES[name] = tell

        return show

    return shows(True), shows(False)


def undecided(oracle: str, tells: str, *lines: Line, **setting: Unpack[Setting]) -> None:
    """Register a history of which an oracle says less than of an exhibit, such as `state/undecided/no-watermark`.

    Args:
        oracle: its name.
        tells: what happens, in words; with hyphens the last part of the history's name.
        lines: of the story.
        setting: in which run; see `story`.
    """
    HISTORIES[f"{oracle.lower()}/undecided/{tells.replace(' ', '-')}"] = lambda: story(*lines, **setting)
