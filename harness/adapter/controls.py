"""What befalls the processes of a system: they are killed, they stand still, they leave and come back, and gates hold
them in front of an effect."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from holdfast.harness.adapter.member import Member
from holdfast.harness.adapter.worker import Crew, Worker
from holdfast.harness.model.plan import Gate
from holdfast.harness.model.target import COORDINATOR, Target
from holdfast.harness.spi.system import GateReached


class MemberProcesses:
    """spi.controls.process.ProcessControl.

    Args:
        member: the process that a target is at present; its errors are those of the verbs.
        absent_well: whether a target that is no process at present counts as alive.
    """

    def __init__(
        self, member: Callable[[Target], Member[Any]], absent_well: Callable[[], bool] = lambda: False
    ) -> None:
        self._member = member
        self._absent_well = absent_well
        self._paused: dict[Target, Member[Any]] = {}

    def kill(self, target: Target, part: str = "") -> None:
        self._member(target).kill(part)

    def pause(self, target: Target, part: str = "") -> None:
        member = self._member(target)
        member.pause(part)
        self._paused[target] = member

    def resume(self, target: Target) -> None:
        """Let the one go on that was stopped for it, whatever the target is by now."""
        if target in self._paused:
            self._paused.pop(target).resume()

    def alive(self, target: Target) -> bool:
        try:
            return self._member(target).alive
        except OSError:
            return self._absent_well()


class CrewProcesses(MemberProcesses):
    """Adds MembershipControl: a worker leaves and joins again. Only the harness coordinates, and it lives."""

    def __init__(self, crew: Crew[Worker]) -> None:
        super().__init__(crew.member, lambda: True)
        self._crew = crew

    def alive(self, target: Target) -> bool:
        return target == COORDINATOR or super().alive(target)

    def leave(self, target: Target) -> None:
        self._crew.member(target).leave()

    def come_back(self, target: Target) -> None:
        self._crew.member(target).come_back()


class ArmedGates:
    """Counts effects, and decides which gate holds one, at most one at a time. A subclass defines how one is held.

    Args:
        numbers: of gates, each used once.
        precision: how exactly the process stands in front of the effect; see spi.system.GateReached.
    """

    def __init__(self, numbers: Iterator[int], precision: str) -> None:
        self._numbers = numbers
        self._precision = precision
        self._armed: dict[int, Gate] = {}
        self._left: dict[int, int] = {}
        self._holding: int | None = None
        self._reached: list[GateReached] = []

    @property
    def effects(self) -> Sequence[str]:
        """What the armed gates wait for."""
        return [gate.effect for gate in self._armed.values()]

    @property
    def holds(self) -> bool:
        return self._holding is not None

    def arm(self, gate: Gate) -> int:
        """See spi.controls.job.GateControl."""
        number = next(self._numbers)
        self._armed[number], self._left[number] = gate, gate.occurrence
        return number

    def disarm(self, gate: int) -> None:
        """See spi.controls.job.GateControl."""
        self._armed.pop(gate, None)

    def take(self, effect: str, node: str, *, again: bool = False) -> bool:
        """A life is in front of an effect, and no gate holds it yet: whether one does now, which is armed no longer.

        Args:
            effect: its name.
            node: the life.
            again: another gate has held this one, and it has been counted.
        """
        theirs = [number for number, gate in self._armed.items() if gate.effect == effect]
        for number in theirs:
            self._left[number] -= not again
        self._holding = next((number for number in theirs if self._left[number] <= 0), None)
        if self._holding is None:
            return False
        del self._armed[self._holding]
        self._reached.append(GateReached(self._holding, node, self._precision))
        return True

    def let_go(self, gate: int) -> bool:
        """Let go of what a gate holds; whether it held something."""
        held = gate == self._holding
        if held:
            self._holding = None
        return held

    def forget(self) -> None:
        """Forget held effects of a life that is over. Armed gates wait for the next life."""
        self._holding = None

    def reached(self) -> list[GateReached]:
        """The gates that were reached since the last call."""
        reached, self._reached = self._reached, []
        return reached
