"""Wrong sources whose splits are the partitions of their feeder."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.fixtures.mutants.sources.enumerators import HandsOutTwice, with_enumerator
from holdfast.fixtures.mutants.sources.readers import ResumesOneLate, with_reader
from holdfast.fixtures.sources.log import LogSource
from holdfast.fixtures.sources.reader import Reader
from holdfast.harness.spi.source import SourceSplit


class RecordsNothing(Reader):
    """No split is in a snapshot."""

    def snapshot(self, checkpoint: int) -> Sequence[SourceSplit]:
        super().snapshot(checkpoint)
        return ()


ResumesLate = with_reader(ResumesOneLate)
GivesTwice = with_enumerator(HandsOutTwice, LogSource)
ForgetsSplits = with_reader(RecordsNothing)
