"""Who writes the input of a source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeGuard


class Feeder(Protocol):
    """Writes from outside, as producers do.

    Two formats are written by others without it (`SourceDescription.feeder`), at a URI `file://FOLDER`:

    - `files`: each call makes one file below the folder, at any depth, which appears whole and never changes. Files of
      one name may lie in several folders. A line is timestamp, tab, value, percent-encoded, of any length. Files whose
      names begin with `.` or `_` are no input.
    - `sqlite`: each call is a transaction of `records.db` in the folder, which adds rows to the table `records` (id,
      part, value, at_ms): id ascends with gaps, up to 2^63 - 1, and never comes again, part is the partition, value a
      BLOB, at_ms the timestamp. A source may add tables of its own.
    """

    def append(self, partition: int, records: Sequence[tuple[bytes, int]]) -> None:
        """Records of one partition, in order, behind those that are there: (value, timestamp in milliseconds).

        One call is read in this order, whatever the timestamps, within one split.
        """

    def falsify_positions(self, job: str) -> None:
        """Change or delete what was published of a job outside; without PUBLISHES it does nothing."""

    def close(self) -> None:
        """Free connections. Idempotent."""


class LosesItsEnd(Protocol):
    """What a Feeder may have beside, of input that a position can lie behind; the format `files` has it."""

    def lose_end(self, partition: int, count: int) -> None:
        """Take away the last records of the last `append` of a partition, as a broker or disk that lost them does. What
        is appended later lies where they did."""


def can_lose_its_end(feeder: Feeder) -> TypeGuard[LosesItsEnd]:
    """Whether it has `lose_end`, also by handing calls on to another object, which `isinstance` overlooks from Python
    3.12 on."""
    return hasattr(feeder, "lose_end")
