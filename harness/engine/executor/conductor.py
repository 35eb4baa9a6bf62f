"""The conductor: lets the faults of a plan act by progress, at gates and at times, and heals them.

Each fault goes through `Stage` on its own; of several that are due at once, plan order decides. Every undo is written
down before its fault acts. Nothing here reads a clock: `now_ms` is the deployment's.

Progress is what the system has persisted, as its checkpoints or acknowledgements show, never how many rows or
milliseconds our own programs take for it. A life of the system begins with an attempt, or with the start of a program,
and is over when a process of it dies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import IntEnum
from math import ceil
from typing import Any, Final

from holdfast.harness.engine.plans.words import moment
from holdfast.harness.model.events import (
    EVENT_KINDS,
    AttemptStarted,
    CheckpointCompleted,
    Event,
    FaultHealed,
    FaultInjected,
    InputAcknowledged,
    NodeDied,
    RowsVisible,
    StateFound,
)
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.target import Role
from holdfast.harness.spi.controls.job import GateControl
from holdfast.harness.spi.controls.process import ProcessControl, TargetAbsent
from holdfast.harness.spi.fault import AnyFault, UndoRecord, declared
from holdfast.harness.spi.system import Deployment, GateReached


class Milestones:
    """Counts of watched events."""

    __slots__ = ("_acknowledged", "_checkpoints", "_empty", "_restored", "_rows")

    def __init__(self) -> None:
        self._checkpoints = self._rows = self._acknowledged = self._restored = 0
        self._empty: set[int] = set()

    def observe(self, event: Event) -> None:
        """Take notice of a watched event."""
        if type(event) is CheckpointCompleted:
            self._checkpoints += 1
            self._acknowledged += 1
            if event.positions and not any(event.positions):
                self._empty.add(event.checkpoint)  # It completed before anything was read.
            else:
                self._empty.discard(event.checkpoint)  # The next job draws ids again.
        elif type(event) is InputAcknowledged:
            self._acknowledged += 1
        elif type(event) is RowsVisible:
            self._rows += event.records
        elif type(event) is AttemptStarted:
            self._begin(restored=event.restored_checkpoint is not None and event.restored_checkpoint not in self._empty)
        elif type(event) is StateFound:
            self._begin(restored=any(event.positions))
        elif type(event) is NodeDied:
            self._acknowledged = 0

    def hold(self, schedule: Schedule) -> bool:
        """Whether the progress conditions of a schedule hold now."""
        return (
            self._checkpoints >= schedule.after_checkpoint
            and self._rows >= schedule.after_rows
            and self._acknowledged >= schedule.after_acknowledged
            and self._restored >= schedule.after_restored
        )

    def lacking(self, schedule: Schedule) -> str:
        """The progress conditions of a schedule that do not hold, in words; empty if all do."""
        counts = (
            (self._checkpoints, schedule.after_checkpoint, ("checkpoint", "checkpoints"), "completed"),
            (self._rows, schedule.after_rows, ("row", "rows"), "visible"),
            (self._restored, schedule.after_restored, ("life", "lives"), "began from persisted state"),
            (self._acknowledged, schedule.after_acknowledged, ("acknowledgement", "acknowledgements"), "in this life"),
        )
        return " and ".join(
            f"{plural(wanted, *what)} ({have} {which})" for have, wanted, what, which in counts if have < wanted
        )

    def _begin(self, *, restored: bool) -> None:
        self._acknowledged = 0
        self._restored += restored


PROCESSES = frozenset({Role.WORKER, Role.COORDINATOR})
NEVER: Final = float("inf")
UndoWriter = Callable[[UndoRecord], None]


class Stage(IntEnum):
    """What a fault waits for."""

    PROGRESS = 0
    EVENT = 1
    GATE = 2
    TIME = 3
    ACTING = 4
    """It has acted and has not been undone yet."""
    UNDONE = 5
    HEALED = 6
    """Undone, and the undo was checked."""
    GAVE_UP = 7
    """It could not act."""
    RETIRED = 8
    """The heal phase began before it was due."""


PROGRESS, EVENT, GATE, TIME, ACTING, UNDONE, HEALED, GAVE_UP, RETIRED = Stage
"""Members by their own names, as a look-up in the enumeration is slow in Python 3.11."""


class _Planned:
    """One fault of the plan on its way."""

    __slots__ = ("due_ms", "event", "fault", "gate", "index", "spec", "stage", "trouble")

    def __init__(self, index: int, spec: FaultSpec, fault: AnyFault) -> None:
        self.index = index
        self.spec = spec
        self.fault = fault
        self.stage = PROGRESS
        self.event = EVENT_KINDS.get(spec.schedule.at_event)
        self.gate = -1
        self.due_ms = NEVER
        self.trouble = ""

    def control(self, deployment: Deployment) -> Any:
        """The mechanism that the fault needs."""
        return deployment.controls.act_for(self.index, self.fault.control)


class Conductor:
    """Drives the faults of one run.

    Args:
        specs: of the plan.
        faults: registered faults by kind.
        deployment: what they act on.
        write_undo: writes an undo durably; returns when it is.

    Attributes:
        next_ms: when a fault is due by time, to act or to be undone.
        settled: every fault has acted and healed by itself, or given up: the safety phase has no more to wait for. A
            lasting fault without a duration lasts until the heal phase, so it keeps the safety phase open to its bound.
        precisions: by fault that acted at a gate, how exactly the gate held: `exact`, `boundary` or `polled`.
        absent: what a fault found that the system under test has not; empty: each found its target.
    """

    __slots__ = (
        "_deployment",
        "_milestones",
        "_planned",
        "_waiting",
        "_write_undo",
        "absent",
        "next_ms",
        "precisions",
        "settled",
    )

    def __init__(
        self,
        specs: tuple[FaultSpec, ...],
        faults: Mapping[str, AnyFault],
        deployment: Deployment,
        write_undo: UndoWriter,
    ) -> None:
        self._deployment = deployment
        self._write_undo = write_undo
        self._planned = [_Planned(index, spec, faults[spec.kind]) for index, spec in enumerate(specs)]
        self._waiting = list(self._planned)
        self._milestones = Milestones()
        self.next_ms = NEVER
        self.settled = not specs
        self.absent = ""
        self.precisions: dict[int, str] = {}

    def start(self) -> None:
        """Let the faults act, or wait, that need no progress."""
        if self._waiting:
            self._promote()

    def observe(self, event: Event | GateReached) -> None:
        """Take notice of what happened, and let the faults act that waited for it."""
        if isinstance(event, GateReached):
            self._pass_gate(event)
        elif self._waiting:
            # An event satisfies `at_event` only if the progress conditions held before it.
            for planned in self._waiting:
                if planned.stage is EVENT and type(event) is planned.event:
                    self._after_event(planned)
            self._milestones.observe(event)
            self._promote()

    def tick(self) -> None:
        """Do what is due by time."""
        now_ms = self._deployment.now_ms
        for planned in self._planned:
            if planned.due_ms <= now_ms:
                planned.due_ms = NEVER
                if planned.stage is TIME:
                    self._act(planned)
                else:
                    self._undo(planned)

    def heal(self) -> None:
        """Undo everything that still acts, the latest fault first, and forget every gate that was not reached. What has
        not acted yet never will: the liveness phase is free of faults."""
        self._waiting.clear()
        for planned in reversed(self._planned):
            planned.due_ms = NEVER
            planned.trouble = planned.trouble or self._awaited(planned)
            if planned.stage is GATE:
                self._deployment.controls[GateControl].disarm(planned.gate)
                planned.stage = RETIRED
            elif planned.stage is GAVE_UP:
                # It may have acted all the same: an answer that was lost is no proof that nothing happened.
                with suppress(OSError):
                    planned.fault.undo(planned.control(self._deployment), planned.spec)
            elif planned.stage < ACTING:
                planned.stage = RETIRED
            if planned.stage is ACTING:
                self._undo(planned)

    def check_healed(self) -> bool:
        """Whether every undo has taken effect; records each that has."""
        for planned in self._planned:
            if planned.stage is UNDONE:
                self._check(planned)
        return all(planned.stage is not UNDONE for planned in self._planned)

    def unhealed(self) -> str:
        """The faults that an undo did not heal, in words."""
        return ", ".join(
            f"faults[{planned.index}] ({planned.spec.kind} {planned.spec.target})"
            for planned in self._planned
            if planned.stage is UNDONE
        )

    def acted(self) -> tuple[bool, ...]:
        """By fault of the plan, whether it acted."""
        return tuple(planned.stage in (ACTING, UNDONE, HEALED) for planned in self._planned)

    def troubles(self) -> tuple[str, ...]:
        """By fault of the plan, why it could not act when it was due, or what it waited for in vain; empty if it acted,
        and before the heal."""
        return tuple(planned.trouble for planned in self._planned)

    def _awaited(self, planned: _Planned) -> str:
        """What a fault that has not acted still waits for, in words."""
        schedule = planned.spec.schedule
        if planned.stage is PROGRESS:
            return f"it waited for {self._milestones.lacking(schedule)}"
        if planned.stage is EVENT:
            return f"it waited for an event {schedule.at_event}"
        if planned.stage is GATE and schedule.gate is not None:
            return f"it waited at a gate {moment(schedule.gate)} that was not reached"
        return f"it waited for {schedule.at_time_ms} ms" if planned.stage is TIME else ""

    def _promote(self) -> None:
        """Let every fault go on whose progress condition holds."""
        for planned in self._waiting:
            if planned.stage is PROGRESS and self._holds(planned.spec):
                if planned.event is not None:
                    planned.stage = EVENT
                else:
                    self._after_event(planned)
        self._waiting = [planned for planned in self._waiting if planned.stage <= EVENT]

    def _holds(self, spec: FaultSpec) -> bool:
        """Whether the progress conditions of a fault hold. One that counts from the start of a life waits for the next
        if its process died meanwhile, such as by a fault that waited for the same."""
        schedule = spec.schedule
        if not self._milestones.hold(schedule):
            return False
        counts_lives = schedule.after_acknowledged or schedule.after_restored
        return (
            not counts_lives
            or spec.target.role not in PROCESSES
            or self._deployment.controls[ProcessControl].alive(spec.target)
        )

    def _review(self) -> None:
        """Say again what the phases ask at every step, after a fault went on."""
        self.next_ms = min(planned.due_ms for planned in self._planned)
        self.settled = all(
            planned.stage > ACTING or (planned.stage is ACTING and not planned.fault.lasting)
            for planned in self._planned
        )

    def _after_event(self, planned: _Planned) -> None:
        schedule = planned.spec.schedule
        if schedule.gate is not None:
            planned.gate = self._deployment.controls[GateControl].arm(schedule.gate)
            planned.stage = GATE
        elif schedule.at_time_ms is not None:
            planned.due_ms = float(schedule.at_time_ms)
            planned.stage = TIME
            self._review()
        else:
            self._act(planned)

    def _pass_gate(self, reached: GateReached) -> None:
        for planned in self._planned:
            if planned.gate == reached.gate and planned.stage is GATE:
                self.precisions[planned.index] = reached.precision
                self._act(planned)
        # Always: releasing a gate whose node died does nothing, and a gate that no fault waits for must not hold.
        self._deployment.controls[GateControl].release(reached.gate)

    def _act(self, planned: _Planned) -> None:
        spec = planned.spec
        deployment = self._deployment
        self._write_undo(UndoRecord(planned.index, spec.kind, spec))
        deployment.record(
            FaultInjected(
                fault=planned.index,
                fault_kind=spec.kind,
                target=str(spec.target),
                may_cause=declared(planned.fault),
                stamped=deployment.controls.stamps(planned.fault.control),
            )
        )
        try:
            planned.fault.inject(planned.control(deployment), spec)
        except OSError as error:
            planned.trouble = str(error)
            planned.stage = GAVE_UP
            if isinstance(error, TargetAbsent):
                self.absent = str(error)
        else:
            planned.trouble = ""
            planned.stage = ACTING
            if planned.fault.lasting and spec.duration_ms:
                # Whole milliseconds, as all times that the engine waits for: no clock's resolution falls short of them.
                planned.due_ms = float(ceil(deployment.now_ms) + spec.duration_ms)
        self._review()

    def _undo(self, planned: _Planned) -> None:
        planned.fault.undo(planned.control(self._deployment), planned.spec)
        planned.stage = UNDONE
        # All of them: an earlier one may have waited for this one.
        self.check_healed()
        self._review()

    def _check(self, planned: _Planned) -> None:
        spec = planned.spec
        stamps = self._deployment.controls.stamps(planned.fault.control)
        twin = (
            planned.fault.lasting
            and not stamps
            and any(other.stage is ACTING and _alike(other.spec, spec) for other in self._planned)
        )
        # Where two faults that do the same to one target look alike, what is left belongs to the one that still acts.
        if twin or planned.fault.healed(planned.control(self._deployment), spec):
            planned.stage = HEALED
            self._deployment.record(FaultHealed(fault=planned.index, fault_kind=spec.kind, target=str(spec.target)))


def _alike(one: FaultSpec, other: FaultSpec) -> bool:
    return (one.kind, one.target, one.parameters) == (other.kind, other.target, other.parameters)
