"""Faults of wall clocks: one is set, or runs fast or slow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holdfast.faults.landing import window_of
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.consequence import ANY_FAILURE
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import COORDINATOR, Role, Target
from holdfast.harness.model.topology import process_name, process_of
from holdfast.harness.spi.attack import Attack, Scene
from holdfast.harness.spi.controls.process import ClockControl, ClockError

_HOUR_MS = 3_600_000
_AHEAD_MS = (_HOUR_MS, -_HOUR_MS, 1_000, -1_000)
_PERCENT = (1_000, 200, 50, 0)


class _WrongClock:
    """What both have in common. A machine has one worker, or the coordinator."""

    roles = frozenset({Role.WORKER, Role.COORDINATOR})
    control = ClockControl
    may_cause = ANY_FAILURE
    lasting = True

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.WRONG_CLOCK

    def inject(self, control: ClockControl, spec: FaultSpec) -> None:
        control.mislead(spec.target, self.error(spec))

    def undo(self, control: ClockControl, spec: FaultSpec) -> None:
        control.correct(spec.target, self.error(spec))

    def healed(self, control: ClockControl, spec: FaultSpec) -> bool:
        return control.right(spec.target, self.error(spec))

    def landed(self, history: History, fault: int) -> bool:
        """A life of the process did something while its clock was wrong."""
        window = window_of(history, fault)
        process = process_name(history.plan.faults[fault].target)
        return window is not None and any(
            process_of(event.node) == process for event in history.events if window.holds(event.time_ns)
        )

    def error(self, spec: FaultSpec) -> ClockError:
        """What is wrong with the clock."""
        raise NotImplementedError


class JumpClock(_WrongClock):
    """The clock is set, as by a wrong time server, and set right again at the heal: two jumps."""

    kind = "jump-clock"
    parameters: Mapping[str, tuple[type, str]] = {
        "ahead_ms": (int, f"what it jumps ahead; negative: back; {_HOUR_MS} if not given"),
    }
    colour = "#8c6bb1"
    leaves = "nothing: only who decides by the wall clock goes wrong"

    def error(self, spec: FaultSpec) -> ClockError:
        return ClockError(ahead_ms=int(spec.parameters.get("ahead_ms", _HOUR_MS)))

    @staticmethod
    def _draw(scene: Scene) -> list[FaultSpec]:
        return [jump_clock(_process(scene), scene.stream.choice(_AHEAD_MS), _schedule(scene), 2 * scene.lasting_ms())]

    attacks: Sequence[Attack] = (Attack(kind, _draw, (Capability.WRONG_CLOCK,), place=3),)


class SkewClock(_WrongClock):
    """The clock runs fast or slow, so that it is wrong by more and more, and is set right at the heal."""

    kind = "skew-clock"
    parameters: Mapping[str, tuple[type, str]] = {
        "percent": (int, f"how fast it runs, 0: it stops; {_PERCENT[0]} if not given"),
    }
    colour = "#6a51a3"
    leaves = JumpClock.leaves

    def error(self, spec: FaultSpec) -> ClockError:
        return ClockError(percent=int(spec.parameters.get("percent", _PERCENT[0])))

    @staticmethod
    def _draw(scene: Scene) -> list[FaultSpec]:
        return [skew_clock(_process(scene), scene.stream.choice(_PERCENT), _schedule(scene), 2 * scene.lasting_ms())]

    attacks: Sequence[Attack] = (Attack(kind, _draw, (Capability.WRONG_CLOCK,), place=4),)


def _process(scene: Scene) -> Target:
    return COORDINATOR if scene.stream.chance(0.5) else scene.worker()


def _schedule(scene: Scene) -> Schedule:
    return Schedule(after_checkpoint=scene.progress)


def jump_clock(target: Target, ahead_ms: int, schedule: Schedule, duration_ms: int) -> FaultSpec:
    """The wall clock of a process is wrong by so much for a while."""
    return FaultSpec("jump-clock", target, schedule, duration_ms, {"ahead_ms": ahead_ms})


def skew_clock(target: Target, percent: int, schedule: Schedule, duration_ms: int) -> FaultSpec:
    """The wall clock of a process runs so fast for a while."""
    return FaultSpec("skew-clock", target, schedule, duration_ms, {"percent": percent})
