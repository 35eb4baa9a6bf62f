"""A sink: one attempt's view of what it writes to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from holdfast.harness.spi.sink.committable import Committable
from holdfast.harness.spi.sink.committed_reader import CommittedReader
from holdfast.harness.spi.sink.context import SinkContext
from holdfast.harness.spi.sink.description import SinkDescription
from holdfast.harness.spi.sink.outcome import Outcome
from holdfast.harness.spi.sink.sink_writer import SinkWriter


class Sink(Protocol):
    """One operator's sink in one attempt. Methods but `describe` and `close` may raise Transient and Fenced."""

    def describe(self) -> SinkDescription:
        """What it can do. Also callable before anything else, and behind `close`."""

    def begin(self, restored: Sequence[Committable], *, now_ms: int) -> None:
        """The attempt begins, in one process, before any writer of it is made.

        Fences every earlier attempt: its writers and commits raise Fenced from now on, or have no effect. Only a commit
        of what is in `restored`, too, may still take effect, since this attempt commits it anyhow. Aborts every
        transaction of this job and operator that earlier attempts left, open or prepared, whatever their parallelism
        was and whichever process it ran in, but for `restored` (TPC-06). Repeating it is no error.

        Args:
            restored: all committables of the checkpoint that the attempt goes on from. They are committed next.
            now_ms: time.

        Raises:
            Incompatible: a committable of a version that is not readable.
            Fenced: a newer attempt has begun.
            Transient: some of it may be done; a repetition does the rest.
        """

    def writer(self, subtask: int, *, now_ms: int) -> SinkWriter:
        """The writer of a subtask, from 0. Behind `begin`, in any process."""

    def commit(self, committables: Sequence[Committable], *, now_ms: int) -> Sequence[Outcome]:
        """Second phase: their checkpoint has completed. Returns an outcome for each, in their order.

        Idempotent: what was committed by any attempt, in any process, however long ago, is ALREADY, or COMMITTED again,
        and changes nothing (TPC-05). Nothing else is committed with them, not even what its writer prepared
        before (TPC-02). An error of one leaves the outcomes
        of the others as they are: it is RETRY or FAILED.

        Raises:
            Transient: nothing is known of any; the same call again decides.
            Incompatible: a committable of a version that is not readable; nothing was committed.
            Damaged: a content that this sink has not written; nothing was committed.
            Fenced: a newer attempt has begun; nothing was committed.
        """

    def committed_reader(self) -> CommittedReader:
        """Who reads what consumers see. It is the author's word, and is named on the certificate."""

    def close(self) -> None:
        """Free connections. Idempotent. Nothing that is stored changes."""


SinkFactory = Callable[[SinkContext], Sink]
"""Named as `module:name`. Raises ValueError in one sentence for an option or a URI that it does not understand, and
contacts nobody."""
