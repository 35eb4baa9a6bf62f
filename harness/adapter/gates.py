"""Armed gates of one process, through all its lives: which occurrence of an effect each waits for, and which holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast.harness.model.plan import Gate
from holdfast.harness.spi.system import GateReached


class ArmedGates:
    """Counts effects, and says which gate holds one, at most one at a time. What a hold is, a subclass says.

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
        """See spi.controls.gate.GateControl."""
        number = next(self._numbers)
        self._armed[number], self._left[number] = gate, gate.occurrence
        return number

    def disarm(self, gate: int) -> None:
        """See spi.controls.gate.GateControl."""
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
        """The life is over, and nothing of it is held. What is armed waits for the next one."""
        self._holding = None

    def reached(self) -> list[GateReached]:
        """The gates that were reached since the last call."""
        reached, self._reached = self._reached, []
        return reached
