"""Sinks, version 1: rows leave the job, in two phases where they are to be seen exactly once.

Roles. A Sink is one attempt's view of what it writes to. Of each attempt, `begin` is called once, before anything else.
Then each subtask has a writer of its own, and whatever a completed checkpoint holds of this sink is committed. Any
number of Sink objects stand for one attempt, in any processes; none knows the others.

Committables. `prepare` returns what it takes to commit, as bytes; they are part of the checkpoint. They belong to no
subtask: whoever restores the checkpoint commits all of them, with any parallelism (RSC-05).

Attempts. A process that is taken for dead may go on for a while: any call of it may have been under way when the next
attempt began, and take effect later. What `begin` promises holds for those, too: whether a newer attempt has begun is
decided where the effect is, at its moment, and not looked at before (TPC-06).

Durable. What `prepare` and `commit` returned for survives a crash of everything, and a loss of power.

Answers. What is returned is of the types stated here, and stays what it is, whatever is called later. What was handed
in is the caller's again when the call has returned, who may change it.

Order. Rows of one writer become visible in the order in which they were written, where ORDERED is declared (E2E-06).

Threads. A writer is used by one thread, as is the Sink that made it. `commit` may run on another one, through another
Sink object.

Time. No sink reads a clock for what it promises here: `now_ms`, milliseconds since the epoch, never decreases. What it
writes to may have a clock of its own.
"""

from __future__ import annotations

from holdfast.harness.spi.sink.committable import Committable
from holdfast.harness.spi.sink.committed_reader import CommittedReader
from holdfast.harness.spi.sink.context import SinkContext
from holdfast.harness.spi.sink.description import DeliveryGuarantee, SinkDescription, SinkFlag
from holdfast.harness.spi.sink.outcome import Outcome, OutcomeKind
from holdfast.harness.spi.sink.row import Row
from holdfast.harness.spi.sink.sink import Sink, SinkFactory
from holdfast.harness.spi.sink.sink_writer import SinkWriter

__all__ = [
    "Committable",
    "CommittedReader",
    "DeliveryGuarantee",
    "Outcome",
    "OutcomeKind",
    "Row",
    "Sink",
    "SinkContext",
    "SinkDescription",
    "SinkFactory",
    "SinkFlag",
    "SinkWriter",
]
