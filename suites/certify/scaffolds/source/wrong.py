"""Wrong, against RSC-05: the enumerator's state leaves out splits that were found and that no reader has yet."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from holdfast.harness.spi.source import EnumeratorState
from holdfast.suites.certify.scaffolds.source.right import VERSION, Enumerator, Known, Source, decoded


class WrongSource(Source):
    """The wrong twin of Source."""

    def enumerator(self, restored: EnumeratorState | None) -> Enumerator:
        return WrongEnumerator(self, Known() if restored is None else decoded(restored, Known))


class WrongEnumerator(Enumerator):
    """Its enumerator."""

    def snapshot(self, checkpoint: int) -> EnumeratorState:
        return EnumeratorState(VERSION, msgspec.json.encode(replace(self.known, waiting=[])))
