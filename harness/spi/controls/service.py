"""Services that the system under test depends on: they go down and come up."""

from __future__ import annotations

from typing import Protocol

from holdfast.harness.model.target import Target


class ServiceControl(Protocol):
    """The storage and the broker."""

    def take_down(self, service: Target) -> None:
        """End a service as SIGKILL does, and keep it down."""

    def bring_up(self, service: Target) -> None:
        """Start it again with what it had stored; returns when it serves. Does nothing where it is up."""

    def alive(self, service: Target) -> bool:
        """Whether it serves."""
