"""One subtask's reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from holdfast.harness.spi.source.batch import Batch
from holdfast.harness.spi.source.split import SourceSplit


class SourceReader(Protocol):
    """Of one subtask in one attempt. One thread, the task thread, calls every method."""

    def add(self, splits: Sequence[SourceSplit]) -> None:
        """Read these, too, each from its position on (REC-02).

        Raises:
            Incompatible: a version that is not readable; none was added.
            Damaged: a content that this source has not written; none was added.
        """

    def no_more_splits(self) -> None:
        """Those that it has are all. A reader without any is at its end at once."""

    def poll(self, most: int, *, now_ms: int) -> Batch:
        """Read on; it never waits.

        Args:
            most: records that are wanted, at least 1.
            now_ms: time.

        Raises:
            Transient: nothing was read: the same call again returns what this one would have.
            FileNotFoundError: what a split names is gone.
            Damaged: what lies there is no record, or the input ends before the position (REC-02).
        """

    def watermarks(self) -> Mapping[str, int]:
        """By id of each split that it has: no record with this timestamp or an earlier one will come from it any more.
        What other splits hold says nothing of it, and its records lie in any order of their timestamps: who cannot know
        what is left of a split does not declare WATERMARKS. A split is left out as long as no record of it was read:
        nothing can be said of it (E2E-06)."""

    def snapshot(self, checkpoint: int) -> Sequence[SourceSplit]:
        """All splits that it has not read to the end, with the position behind the last record that `poll` returned."""

    def confirmed(self, checkpoint: int) -> None:
        """The checkpoint has completed: with PUBLISHES its positions are published. A failure of that is no error, and
        is not raised."""

    def close(self) -> None:
        """Free connections. Idempotent."""
