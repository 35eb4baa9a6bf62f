"""The input: records that fail, arrive fast, are gone, or are not listed."""

from __future__ import annotations

from typing import Protocol

Detail = int | tuple[int, int, bool]
"""What tells a fault of the input from others of its kind: partition, offset and `recoverable` of a poison, the percent
of a surge, the partition of a listing, or partition, `beyond` and False of a truncation."""


class RetentionControl(Protocol):
    """What the source system of the job keeps of its records."""

    def truncate(self, partition: int, beyond: int) -> None:
        """Remove the oldest records: nobody can read them any more. An InputTruncated tells what is left.

        Args:
            partition: whose; -1: of every partition.
            beyond: how many more than the last completed checkpoint covers; negative: so many fewer.
        """

    def restore(self, kind: str, detail: Detail) -> None:
        """Undo one fault, where that can be: what a broker has removed stays removed. Any other goes on until it is
        undone itself.

        Args:
            kind: `poison`, `surge`, `truncate` or `list-part`.
            detail: which of several.
        """

    def whole(self, kind: str, detail: Detail) -> bool:
        """Whether no such fault acts any more; arguments as for `restore`."""


class PoisonControl(Protocol):
    """Records that no operator can stand."""

    def poison(self, partition: int, offset: int, *, recoverable: bool) -> None:
        """Let a record make its operator fail whenever it is processed. Replaces an earlier one of its partition.

        Args:
            partition, offset: the record; a negative offset counts from the end of the partition.
            recoverable: False: its operator says that no restart can help.
        """

    def restore(self, kind: str, detail: Detail) -> None:
        """See RetentionControl."""

    def whole(self, kind: str, detail: Detail) -> bool:
        """See RetentionControl."""


class InputControl(PoisonControl, RetentionControl, Protocol):
    """The source system of the job, in full."""

    def surge(self, percent: int) -> None:
        """Let input arrive at so many percent of the rate of the workload. Replaces an earlier rate."""

    def hide_partition(self, partition: int) -> None:
        """Leave a partition out of what the source system lists, besides those that are left out already; who knows it
        reads it as before."""
