"""Who finds splits, and hands them out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from holdfast.harness.spi.source.split import SourceSplit


class EnumeratorState(msgspec.Struct, frozen=True):
    """What is known of splits that no reader has: those still to be handed out, and which were found at all.

    Attributes:
        version: of the content's form; one of `SourceDescription.readable_versions`.
        content: as the source writes it.
    """

    version: int
    content: bytes


class SplitEnumerator(Protocol):
    """Of one attempt. One thread, the coordinator's, calls every method."""

    def assign(self, readers: Sequence[int], *, now_ms: int) -> Mapping[int, Sequence[SourceSplit]]:
        """Look for new splits, and hand out what nobody has; called at the start and then again and again.

        Each split is handed out once; from then on its reader has it, or the state of a checkpoint. Without readers
        nothing is.

        Args:
            readers: subtasks that run, ascending; each as often as it likes gets splits.
            now_ms: time.

        Raises:
            Transient: nothing was handed out; the same call again looks again.
        """

    def exhausted(self) -> bool:
        """Whether no split will ever be found any more, and all were handed out. False for ever, if not bounded."""

    def give_back(self, splits: Sequence[SourceSplit]) -> None:
        """Splits of a reader that is gone alone, as they were handed out behind the last checkpoint. They are handed
        out again; until then they are in `snapshot`, and `exhausted` is False."""

    def snapshot(self, checkpoint: int) -> EnumeratorState:
        """Its state, as of now. No split that was handed out is in it, and none that was not is missing."""

    def close(self) -> None:
        """Free connections. Idempotent."""
