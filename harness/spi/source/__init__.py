"""Sources, version 1: splits that an enumerator hands to readers.

Roles. Of each attempt one enumerator runs beside the coordinator: it finds splits, and says which reader gets which.
Each subtask has a reader. A split is read by one reader at a time; where it stands is in the split itself.

Checkpoints. `snapshot` of the enumerator and of all readers make one checkpoint; no split is on its way between them
meanwhile. Behind a restore the splits of all readers are spread over the new readers in any way, whatever the
parallelism was (RSC-05), and the enumerator goes on from its own state.

Replay. A split reads the same records again, in the same order, with the same positions, whoever reads it, as long as
REPLAYABLE is declared (E2E-05). What is published outside, such as offsets of a consumer group, is for people and never
read (E2E-07).

Input that has lost its end: what was read of a split may be more than is left of it. No reader waits until as much has
come again, nor reads on from another place: `poll` raises Damaged.

Answers. What is returned is of the types stated here, and stays what it is, whatever is called later. What was handed
in is the caller's again when the call has returned, who may change it.

Attempts. A process that is taken for dead may go on for a while: it may still look, read, publish and close when the
next attempt has begun. Nothing of that changes what the next one reads.

Threads. An enumerator is used by one thread, a reader by another; no object is shared between them.

Time. No source reads a clock: `now_ms`, milliseconds since the epoch, never decreases.
"""

from __future__ import annotations

from holdfast.harness.spi.source.batch import Batch, ReaderStatus
from holdfast.harness.spi.source.context import SourceContext
from holdfast.harness.spi.source.description import SourceDescription, SourceFlag
from holdfast.harness.spi.source.enumerator import EnumeratorState, SplitEnumerator
from holdfast.harness.spi.source.feeder import Feeder, LosesItsEnd, can_lose_its_end
from holdfast.harness.spi.source.reader import SourceReader
from holdfast.harness.spi.source.record import SourceRecord
from holdfast.harness.spi.source.source import Source, SourceFactory
from holdfast.harness.spi.source.split import SourceSplit

__all__ = [
    "Batch",
    "EnumeratorState",
    "Feeder",
    "LosesItsEnd",
    "ReaderStatus",
    "Source",
    "SourceContext",
    "SourceDescription",
    "SourceFactory",
    "SourceFlag",
    "SourceReader",
    "SourceRecord",
    "SourceSplit",
    "SplitEnumerator",
    "can_lose_its_end",
]
