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

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

import msgspec

from holdfast.harness.spi import SPI_VERSION


class Committable(msgspec.Struct, frozen=True, gc=False):
    """One transaction that is prepared, such as the name of a file and where it belongs. Part of a checkpoint.

    Attributes:
        version: of the content's form; one of `SinkDescription.readable_versions`.
        content: as the sink writes it, at most some kilobytes: the rows themselves lie where the sink writes to.
    """

    version: int
    content: bytes


def _nothing(step: str) -> None:
    pass


class SinkContext(msgspec.Struct, frozen=True, kw_only=True):
    """The place of one sink: one operator of a job in one attempt.

    Attributes:
        uri: where it writes, such as `file:///results` or `kafka://broker/topic`; jobs may share it.
        job, operator: stable names of letters, digits, `_` and `-`; the same over restarts. What the sink calls its
            transactions begins with both of them as whole words: `job-1` is not `job-10`.
        attempt: which start of the job this is, from 1. A greater one supersedes all below, of which some may never
            have begun.
        options: those of `SinkDescription.options` that the user has set.
        arrive: called with the name of each step outside, before and behind it, by a sink that declares FAULT_POINTS;
            it may raise Transient, or end the process.
    """

    uri: str
    job: str
    operator: str
    attempt: int
    options: Mapping[str, str] = {}
    arrive: Callable[[str], None] = _nothing


class DeliveryGuarantee(StrEnum):
    """How often each row is visible, if the job repeats what it wrote behind its last checkpoint (E2E-01)."""

    EXACTLY_ONCE = "exactly-once"
    """Once: with TWO_PHASE each row, with UPSERT each key as it was written last."""
    AT_LEAST_ONCE = "at-least-once"
    """Once or more: everything is visible when `prepare` returns."""


class SinkFlag(StrEnum):
    """Something that a sink can do. What is not declared is never relied upon; what is declared is tried."""

    TWO_PHASE = "two-phase"
    """Rows are invisible until their committables are committed."""
    UPSERT = "upsert"
    """A row replaces the visible one of the same key: what is repeated changes nothing (TPC-09)."""
    ORDERED = "ordered"
    """The rows of one key are read in the order in which one writer wrote them; with UPSERT the last one (E2E-06)."""
    FAULT_POINTS = "fault-points"
    """It calls `SinkContext.arrive` around each step outside of it: the kit lets each of them fail."""


class SinkDescription(msgspec.Struct, frozen=True, kw_only=True):
    """What `describe` returns: the same value at every call, and for every sink of one factory.

    Attributes:
        name: of the sink, such as `kafka`.
        guarantee: that it can keep.
        flags: what it can do.
        committable_version: of the committables that `prepare` returns.
        readable_versions: of those that `commit` and `begin` understand; `committable_version` is one of them.
        transaction_timeout_ms: from `prepare` on a transaction may expire that was not committed in this time (TPC-07);
            None: it never does.
        committed_reader: whose format it is, so that others can read what is visible: `files` or `sqlite` as
            `CommittedReader` describes; else empty, and the sink's own reader is believed.
        options: key to (default, meaning in one line); a factory refuses others by ValueError.
        spi_version: that it was written for.
    """

    name: str
    guarantee: DeliveryGuarantee
    flags: frozenset[SinkFlag]
    committable_version: int = 1
    readable_versions: frozenset[int] = frozenset({1})
    transaction_timeout_ms: int | None = None
    committed_reader: str = ""
    options: Mapping[str, tuple[str, str]] = {}
    spi_version: int = SPI_VERSION


class OutcomeKind(StrEnum):
    """What the runtime does next depends on it (TPC-05)."""

    COMMITTED = "committed"
    """Its rows are visible now."""
    ALREADY = "already"
    """They were before: an earlier call has done it, this one changed nothing."""
    RETRY = "retry"
    """They are visible or not; the same call decides it later. The runtime goes on trying."""
    FAILED = "failed"
    """They are not visible, and will never be. The runtime fails the job, and reports data loss (TPC-07)."""


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """Of one committable.

    Attributes:
        kind: what became of it.
        reason: one sentence where it is RETRY or FAILED, such as that the transaction has expired.
    """

    kind: OutcomeKind
    reason: str = ""


class Row(NamedTuple):
    """Bytes of any content and length; typed rows are encoded above. With UPSERT a row replaces that of its key."""

    key: bytes
    value: bytes


class CommittedReader(Protocol):
    """Reads from outside, as a consumer that sees committed rows alone does.

    Two formats are read by others without it (`SinkDescription.committed_reader`), at a URI `file://FOLDER`:

    - `files`: every file below the folder whose path has no segment that begins with `.` or `_`; a line is key, tab,
      value, each percent-encoded. Files in the order of their names.
    - `sqlite`: FOLDER/rows.db, table `rows (key BLOB, value BLOB)`, by `rowid`.
    """

    def rows(self) -> Sequence[Row]:
        """All visible rows of all jobs there; with ORDERED those of a key in order."""

    def unfinished(self, job: str) -> int | None:
        """How many transactions of a job are neither committed nor aborted; None: that cannot be known."""

    def close(self) -> None:
        """Free connections. Idempotent."""


class SinkWriter(Protocol):
    """Of one subtask in one attempt. One thread, the task thread, calls every method.

    Behind an error the task fails, unless a method states otherwise.
    """

    def write(self, rows: Sequence[Row], *, now_ms: int) -> None:
        """Take rows. With TWO_PHASE none of them is visible (E2E-03).

        Raises:
            Transient: it is unknown what became of them; the attempt ends.
            Fenced: a newer attempt has begun (TPC-06).
        """

    def prepare(self, checkpoint: int, *, now_ms: int) -> Sequence[Committable]:
        """First phase: all rows since the last call are durable, before the checkpoint is acknowledged (TPC-01).

        Returns what commits them, in the order in which that is to be done. Without rows it may return nothing. Without
        TWO_PHASE it returns nothing, and the rows are visible now. Whether the checkpoint completes or not, the writer
        goes on; what it returned goes into each later checkpoint, too, until it is committed (TPC-03).

        Args:
            checkpoint: its id. Ids grow within an attempt. The next one counts on from the checkpoint that it goes on
                from, so that an id of one that never completed may come again.
            now_ms: time.

        Raises:
            Transient: the rows are durable or not; the attempt ends.
            Fenced: a newer attempt has begun.
        """

    def close(self) -> None:
        """Free connections. Idempotent. Rows that were not prepared may be lost; prepared ones stay (FIN-03)."""


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
makes no request."""
