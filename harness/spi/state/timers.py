"""Timers: Flink's InternalTimerService, as bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec


class Timer(msgspec.Struct, frozen=True, order=True, gc=False):
    """One timer. Timers fire in ascending order of these fields; a namespace that is the beginning of another one comes
    before that, whatever the keys are.

    Attributes:
        at_ms: event time or processing time, in milliseconds; any number of 64 bits with a sign.
        key_group, namespace, key: whose it is.
    """

    at_ms: int
    key_group: int
    namespace: bytes
    key: bytes


class TimerService(Protocol):
    """The timers of one name and one kind of time. Called on the task thread.

    Every method raises RuntimeError behind `close`, and for a key group that the backend does not own. Timers are
    state: snapshots hold them, and none fires twice or is lost over a restore (SBK-02; bug M1).
    """

    def register(self, timers: Sequence[Timer]) -> int:
        """Add timers, all or none; those that are there already are no error. Returns how many are new.

        Raises:
            Full: a key or namespace is longer than declared, or the memory budget is used up.
        """

    def delete(self, timers: Sequence[Timer]) -> int:
        """Remove timers; those that are not there are no error. Returns how many were there."""

    def first(self) -> Timer | None:
        """The earliest timer, due or not; it stays."""

    def poll(self, until_ms: int, limit: int) -> Sequence[Timer]:
        """Remove and return the earliest timers.

        Args:
            until_ms: no timer later than this, in milliseconds; one of exactly this time is due.
            limit: at most so many; at least 1.
        """
