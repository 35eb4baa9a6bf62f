"""A source: makes an enumerator and readers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from holdfast.harness.spi.source.context import SourceContext
from holdfast.harness.spi.source.description import SourceDescription
from holdfast.harness.spi.source.enumerator import EnumeratorState, SplitEnumerator
from holdfast.harness.spi.source.feeder import Feeder
from holdfast.harness.spi.source.reader import SourceReader


class Source(Protocol):
    """One operator's source in one attempt. Any number of these objects stand for it, in any processes."""

    def describe(self) -> SourceDescription:
        """What it can do. Also callable before anything else."""

    def enumerator(self, restored: EnumeratorState | None) -> SplitEnumerator:
        """The attempt's enumerator.

        Args:
            restored: of the checkpoint that the attempt goes on from; None: the job begins.

        Raises:
            Incompatible: a version that is not readable.
            Damaged: a content that this source has not written.
        """

    def reader(self, subtask: int) -> SourceReader:
        """The reader of a subtask, from 0, without splits."""

    def feeder(self) -> Feeder:
        """Who writes input, for the kit. It is the author's word, and is named on the certificate."""


SourceFactory = Callable[[SourceContext], Source]
"""Named as `module:name`. Raises ValueError in one sentence for an option or a URI that it does not understand, and
contacts nobody."""
