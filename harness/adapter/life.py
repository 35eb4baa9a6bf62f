"""One life of a program, wherever it runs: `child.Child` on this machine, and one of a container elsewhere."""

from __future__ import annotations

from typing import Protocol


class Mortal(Protocol):
    """What can die, and is held by a member.Member."""

    @property
    def dead(self) -> bool: ...

    @property
    def paused(self) -> bool:
        """Whether it was stopped by us."""

    def pause(self) -> None:
        """Stop it; returns when it stands still.

        Raises:
            OSError: it does not in time.
        """

    def resume(self) -> None:
        """Let it go on. Idempotent."""

    def end(self) -> int | None:
        """End it with all that it started; returns its exit code, negative for a signal, where that is known.
        Idempotent."""


class Life(Mortal, Protocol):
    """From its start to its death."""

    @property
    def pid(self) -> int:
        """Of its first process, as this machine numbers it."""

    def lines(self) -> list[bytes]:
        """The whole lines that it has said since the last call; none, where somebody else takes them."""

    def end(self) -> int: ...

    def close(self) -> None:
        """End it and free what it took. Idempotent."""

    def last_words(self) -> str:
        """The last line of its log."""
