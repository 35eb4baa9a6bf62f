"""All processes of a system that stand, each through its lives: heard, started again, found by target, replaced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from holdfast.harness.adapter.child import Child
from holdfast.harness.adapter.worker import Worker
from holdfast.harness.model.target import Role, Target
from holdfast.harness.spi.system import DiedAtOnce

AWorker = TypeVar("AWorker", bound=Worker, covariant=True)


class Crew(Generic[AWorker]):
    """
    Args:
        members: the processes; worker i is `members[i]`.

    Attributes:
        members: as given; subclasses may put others in their place.
        most: how many there ever were at a time.
    """

    def __init__(self, members: Sequence[AWorker]) -> None:
        self.members = tuple(members)
        self.most = len(self.members)

    def hear(self) -> None:
        """Take what they say, and notice who died or fell silent."""
        for each in self.members:
            each.hear()

    def tend(self) -> None:
        """Start again those for whom that is due."""
        for each in self.members:
            each.tend()

    @property
    def next_ms(self) -> float:
        """When something is due for one of them; infinity: nothing."""
        return min(each.next_ms for each in self.members)

    @property
    def children(self) -> Sequence[Child]:
        """The processes that there are now."""
        return [each.present for each in self.members if each.present is not None]

    @property
    def alive(self) -> bool:
        """Whether one of them is."""
        return any(each.alive for each in self.members)

    @property
    def problem(self) -> str:
        """Why the run says nothing; empty while all is well."""
        return next((each.problem for each in self.members if each.problem), "")

    def require_started(self) -> None:
        """
        Raises:
            DiedAtOnce: one ended by itself before it did anything.
        """
        for each in self.members:
            if each.died_at_once is not None:
                raise DiedAtOnce(each.problem, each.died_at_once)

    def close(self) -> None:
        """End them. Idempotent."""
        for each in self.members:
            each.close()

    def member(self, target: Target) -> AWorker:
        """The process that is a target.

        Raises:
            OSError: there was one, and is none at present.
            ValueError: there is never one.
        """
        if target.role is not Role.WORKER or not 0 <= target.index < self.most:
            known = f"{_worker(0)} to {_worker(self.most - 1)}" if self.most > 1 else str(_worker(0))
            raise ValueError(f"target {target} is unknown: there is {known}.")
        if target.index >= len(self.members):
            raise OSError(f"there is no {target} at present.")
        return self.members[target.index]


def _worker(index: int) -> Target:
    return Target(Role.WORKER, index)
