"""What befalls the processes of a system: they are killed, they stand still, they leave and come back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.harness.adapter.member import Member
from holdfast.harness.adapter.worker import Crew, Worker
from holdfast.harness.model.target import COORDINATOR, Target


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
    """And MembershipControl. Nobody coordinates but the harness, which lives."""

    def __init__(self, crew: Crew[Worker]) -> None:
        super().__init__(crew.member, lambda: True)
        self._crew = crew

    def alive(self, target: Target) -> bool:
        return target == COORDINATOR or super().alive(target)

    def leave(self, target: Target) -> None:
        self._crew.member(target).leave()

    def come_back(self, target: Target) -> None:
        self._crew.member(target).come_back()
