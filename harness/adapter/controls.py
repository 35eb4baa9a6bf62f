"""What befalls the processes of a system: they are killed, they stand still, they leave and come back."""

from __future__ import annotations

from contextlib import suppress

from holdfast.harness.adapter.crew import Crew
from holdfast.harness.adapter.worker import Worker
from holdfast.harness.model.target import COORDINATOR, Target


class CrewProcesses:
    """spi.controls.process.ProcessControl and MembershipControl. Nobody coordinates but the harness, which lives."""

    def __init__(self, crew: Crew[Worker]) -> None:
        self._crew = crew

    def kill(self, target: Target, part: str = "") -> None:
        self._crew.member(target).kill()

    def pause(self, target: Target, part: str = "") -> None:
        self._crew.member(target).pause()

    def resume(self, target: Target) -> None:
        with suppress(OSError):  # Who is none at present does not stand still.
            self._crew.member(target).resume()

    def alive(self, target: Target) -> bool:
        if target == COORDINATOR:
            return True
        try:
            return self._crew.member(target).alive
        except OSError:
            return True  # There is nothing that could be dead.

    def leave(self, target: Target) -> None:
        self._crew.member(target).leave()

    def come_back(self, target: Target) -> None:
        self._crew.member(target).come_back()
