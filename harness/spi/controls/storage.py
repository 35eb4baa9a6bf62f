"""Where state and output are kept: operations of the checkpoint storage fail and its files are damaged, local disks
lose copies, services go down and come up."""

from __future__ import annotations

from typing import Protocol

from holdfast.harness.model.target import Target


class StorageControl(Protocol):
    """Single operations of the storage.

    The adapter names them, such as `write-state` and `publish-metadata`, and refuses others with a ValueError.
    """

    def fail(self, operation: str, occurrences: int, *, after_effect: bool, answer_lost: bool = False) -> None:
        """Make the next calls of an operation fail.

        Args:
            operation: which.
            occurrences: how many calls, from the next one; 0: until `restore`.
            after_effect: the operation takes effect and the caller sees the error all the same (a lost ack).
            answer_lost: it takes no effect, and the caller cannot know that.
        """

    def slow(self, operation: str, delay_ms: int, occurrences: int) -> None:
        """Make the next calls of an operation take longer; occurrences as for `fail`."""

    def restore(
        self, operation: str, *, delay_ms: int | None = None, after_effect: bool = False, answer_lost: bool = False
    ) -> None:
        """Undo one fault of an operation. Any other goes on until it is undone itself.

        Args:
            operation: which.
            delay_ms: of the `slow` to undo; None: it is a `fail`.
            after_effect, answer_lost: of the `fail`.
        """

    def whole(
        self, operation: str, *, delay_ms: int | None = None, after_effect: bool = False, answer_lost: bool = False
    ) -> bool:
        """Whether no such fault of an operation acts any more; arguments as for `restore`."""


class CheckpointFileControl(Protocol):
    """The files of stored checkpoints."""

    def damage(self, part: str, way: str) -> None:
        """Damage a file of the newest checkpoint. An ObjectDamaged is recorded as soon as it is done, so that oracles
        excuse what follows on that object, and nothing else.

        Args:
            part: `metadata`, `state`, or `commit` where that is a file of its own.
            way: `remove`, `truncate` or `flip` (one bit).
        """

    def mend(self) -> None:
        """Put back what was damaged, unless a newer checkpoint has taken its place; an ObjectMended records what became
        of it. Where it takes long until anybody reads it, that may be waited for."""

    def mended(self) -> bool:
        """Whether nothing is damaged any more."""


class SpaceControl(Protocol):
    """The room that the storage has."""

    def fill(self) -> None:
        """Take all that is left."""

    def empty(self) -> None:
        """Give it back. Idempotent."""

    def has_room(self) -> bool:
        """Whether it was given back."""


class PowerControl(Protocol):
    """The machine that everything runs on."""

    def lose_power(self) -> None:
        """Every process ends at once, and what they stored without making it durable is gone. The machine is up again
        at once, and starts what it started before."""


class ListingControl(Protocol):
    """Listings of the checkpoint storage."""

    def hold_listings(self) -> None:
        """From now on every listing shows what is there now: what is stored later is left out, what is removed is
        still in. Reading by name is as ever."""

    def release_listings(self) -> None:
        """Listings show what is there. Releasing what is not held does nothing."""

    def listings_held(self) -> bool:
        """Whether they are older."""


class ServiceControl(Protocol):
    """The storage and the broker."""

    def take_down(self, service: Target) -> None:
        """End a service as SIGKILL does, and keep it down."""

    def bring_up(self, service: Target) -> None:
        """Start it again with what it had stored; returns when it serves. Does nothing where it is up."""

    def alive(self, service: Target) -> bool:
        """Whether it serves."""


class LocalDiskControl(Protocol):
    """The local copies of state."""

    def spoil(self, worker: int, way: str) -> None:
        """Change the newest local copy of each subtask of a worker. A LocalCopySpoilt is recorded before it acts.

        Args:
            worker: index of the worker.
            way: `remove`, `truncate`, `flip` (one bit), `foreign` (the copy of another worker) or `stale` (that which
                was there at the last `remember`).
        """
