"""A file of a stored checkpoint that is damaged, and put back later: one at a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from holdfast.harness.model.events import Event, ObjectDamaged, ObjectMended

REMOVE, TRUNCATE, FLIP = WAYS = ("remove", "truncate", "flip")
Record = Callable[[Event, int], None]
"""Records what the harness did, and when: on the machine's monotonic clock, in nanoseconds."""


class Damage(NamedTuple):
    """A file, and what becomes of it.

    Attributes:
        path: of it.
        checkpoint: that it belongs to.
        published: checkpoints of the same job that are complete by now, in ascending order.
        content: that it holds.
        left: of that; None: it is removed.
        leave: leaves that. Raises OSError if the file is gone meanwhile; nothing was damaged then.
        restore: puts the content back; whether it did, because somebody may need it. Raises OSError if the file is not
            what it was.
    """

    path: str
    checkpoint: int
    published: tuple[int, ...]
    content: bytes
    left: bytes | None
    leave: Callable[[], None]
    restore: Callable[[], bool]


class DamagedFile:
    """spi.controls.storage.CheckpointFileControl. A subclass chooses the file, and the time at which it is restored.

    Args:
        record: see Record.
        struck: takes the path of the file that is damaged.
    """

    def __init__(self, record: Record, struck: Callable[[str], None]) -> None:
        self._record = record
        self._struck = struck
        self._damage: Damage | None = None
        self._released = False

    def choose(self, part: str, way: str) -> Damage:
        """A file of the newest checkpoint, and what becomes of it; nothing is done to it yet.

        Raises:
            ValueError, TargetAbsent: there is no such part or way.
            OSError: there is no such file.
        """
        raise NotImplementedError

    def due(self, damage: Damage) -> bool:
        """Whether a damage whose fault is over can end: whoever was to read the file has."""
        return True

    @property
    def acts(self) -> bool:
        """Whether a file is damaged."""
        return self._damage is not None

    def damage(self, part: str, way: str) -> None:
        """See the Protocol.

        Raises:
            As choose; and OSError, because a file is damaged already.
        """
        if self.acts:
            raise OSError("a file is damaged already.")
        damage = self.choose(part, way)
        before_ns = time.monotonic_ns()
        damage.leave()
        self._damage, self._released = damage, False
        # With the time before it, since it may have been read at once; and not before it, since the event would excuse
        # a file that was not damaged.
        left = None if damage.left is None else len(damage.left)
        damaged = ObjectDamaged(
            path=damage.path,
            checkpoint=damage.checkpoint,
            published=damage.published,
            length=len(damage.content),
            left=left,
        )
        self._record(damaged, before_ns)
        self._struck(damage.path)

    def mend(self) -> None:
        """See the Protocol. It ends when it is due."""
        self._released = True
        self.tend()

    def mended(self) -> bool:
        """See the Protocol."""
        return not self.acts

    def tend(self) -> None:
        """End the damage if it is time to.

        Raises:
            OSError: the file is not what it was.
        """
        damage = self._damage
        if damage is None or not self._released or not self.due(damage):
            return
        length = len(damage.content) if damage.restore() else None
        self._damage = None
        self._record(ObjectMended(path=damage.path, length=length), time.monotonic_ns())


def left_of(content: bytes, way: str, at: int | None = None) -> bytes | None:
    """What is left of a file: nothing, its first half, or all of it with one bit changed.

    Args:
        content: of the file.
        way: one of WAYS.
        at: the byte with that bit; None: the last one.
    """
    if way == REMOVE:
        return None
    if way == TRUNCATE:
        return content[: len(content) // 2]
    at = len(content) - 1 if at is None else at
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
