"""Sources, version 1: splits that an enumerator hands to readers.

Roles. Of each attempt one enumerator runs beside the coordinator: it finds splits, and assigns them to readers.
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

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol, TypeGuard

import msgspec

from holdfast.harness.spi import SPI_VERSION


def _nothing(step: str) -> None:
    pass


class SourceContext(msgspec.Struct, frozen=True, kw_only=True):
    """The place of one source: one operator of a job in one attempt.

    Attributes:
        uri: what it reads, such as `file:///input` or `kafka://broker/topic`.
        job, operator: stable names; the same over restarts.
        attempt: which start of the job this is, from 1.
        bounded: read what is there when the job first starts, and end; set only for a source that declares BOUNDED.
            The first `assign` with readers fixes what that is, the ends of its splits too, however late they are read.
        latest: pass over what is there when the job first starts, and read what comes behind it and in new splits;
            set only for a source that declares LATEST. The first `assign` with readers fixes what that is; a restored
            enumerator goes on from its state.
        options: those of `SourceDescription.options` that the user has set.
        arrive: called with the name of each step outside, before it and behind it, by a source that declares
            FAULT_POINTS; it may raise Transient, or end the process.
    """

    uri: str
    job: str
    operator: str
    attempt: int
    bounded: bool = False
    latest: bool = False
    options: Mapping[str, str] = {}
    arrive: Callable[[str], None] = _nothing


class SourceFlag(StrEnum):
    """Something that a source can do. What is not declared is never relied upon; what is declared is tried."""

    REPLAYABLE = "replayable"
    """Splits can be read again. Without it the job's guarantee is at most once (E2E-01, E2E-05)."""
    BOUNDED = "bounded"
    """`SourceContext.bounded` works: it reads what is there when it first starts, and ends."""
    UNBOUNDED = "unbounded"
    """It finds what comes later, in splits that it has and in new ones."""
    LATEST = "latest"
    """`SourceContext.latest` works: it passes over what is there when it first starts."""
    WATERMARKS = "watermarks"
    """`SourceReader.watermarks` works."""
    PUBLISHES = "publishes"
    """Positions of completed checkpoints are published outside (E2E-07)."""
    FAULT_POINTS = "fault-points"
    """It calls `SourceContext.arrive` around each step outside of it: the kit lets each of them fail."""


class SourceDescription(msgspec.Struct, frozen=True, kw_only=True):
    """What `describe` returns: the same value at every call, and for every source of one factory.

    Attributes:
        name: of the source, such as `kafka`.
        flags: what it can do; BOUNDED or UNBOUNDED is among them.
        split_version: of the splits that it makes.
        state_version: of the states that its enumerator makes.
        readable_versions: of both, that it understands.
        feeder: whose format it reads, so that others can write input: `files` or `sqlite` as `Feeder` describes; else
            empty, and the source's own feeder is believed.
        options: key to (default, meaning in one line); a factory refuses others by ValueError.
        spi_version: that it was written for.
    """

    name: str
    flags: frozenset[SourceFlag]
    split_version: int = 1
    state_version: int = 1
    readable_versions: frozenset[int] = frozenset({1})
    feeder: str = ""
    options: Mapping[str, tuple[str, str]] = {}
    spi_version: int = SPI_VERSION


class Feeder(Protocol):
    """Writes from outside, as producers do.

    Two formats are written by others without it (`SourceDescription.feeder`), at a URI `file://FOLDER`:

    - `files`: each call makes one file below the folder, at any depth, which appears whole and never changes. Files of
      one name may lie in several folders. A line is timestamp, tab, value, percent-encoded, of any length. Files whose
      names begin with `.` or `_` are no input.
    - `sqlite`: each call is a transaction of `records.db` in the folder, which adds rows to the table `records` (id,
      part, value, at_ms): id ascends with gaps, up to 2^63 - 1, and never comes again, part is the partition, value a
      BLOB, at_ms the timestamp. A source may add tables of its own.
    """

    def append(self, partition: int, records: Sequence[tuple[bytes, int]]) -> None:
        """Records of one partition, in order, behind those that are there: (value, timestamp in milliseconds).

        One call is read in this order, whatever the timestamps, within one split.
        """

    def falsify_positions(self, job: str) -> None:
        """Change or delete what was published of a job outside; without PUBLISHES it does nothing."""

    def close(self) -> None:
        """Free connections. Idempotent."""


class LosesItsEnd(Protocol):
    """What a Feeder may have beside, of input that a position can lie behind; the format `files` has it."""

    def lose_end(self, partition: int, count: int) -> None:
        """Take away the last records of the last `append` of a partition, as a broker or disk that lost them does. What
        is appended later lies where they did."""


def can_lose_its_end(feeder: Feeder) -> TypeGuard[LosesItsEnd]:
    """Whether it has `lose_end`, also by handing calls on to another object, which `isinstance` overlooks from Python
    3.12 on."""
    return hasattr(feeder, "lose_end")


class SourceRecord(NamedTuple):
    """One record as it was read.

    Attributes:
        value: bytes of any content and any length, all of them; it is decoded above.
        timestamp_ms: event time, milliseconds since the epoch.
        position: where it lies, in words, such as `part-3 at 120`; the same whenever it is read, and no other's.
    """

    value: bytes
    timestamp_ms: int
    position: str


class ReaderStatus(StrEnum):
    """What may come next."""

    MORE = "more"
    """There may be more at once."""
    NOTHING_NOW = "nothing-now"
    """Nothing is there now; it may come, or another split may."""
    END = "end"
    """All splits are read to their ends, and `no_more_splits` was called. Nothing ever follows."""


class Batch(msgspec.Struct, frozen=True):
    """Records in order; those of one split as they lie there.

    Attributes:
        records: at most as many as were requested.
        status: of the reader, behind them.
    """

    records: Sequence[SourceRecord]
    status: ReaderStatus


class SourceSplit(msgspec.Struct, frozen=True):
    """A partition, an object, a range of keys: what one reader reads in order, and how far it was read.

    Attributes:
        id: the same however far it was read; no other split of the source has it.
        version: of the content's form; one of `SourceDescription.readable_versions`.
        content: as the source writes it, with the position of the next record.
    """

    id: str
    version: int
    content: bytes


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
        """Look for new splits, and assign those that no reader has; called at the start and then again and again.

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
        It does not follow from other splits, and the records of a split lie in any order of their timestamps: a source
        that cannot know what is left of a split does not declare WATERMARKS. A split is left out as long as no record
        of it was read: its watermark is unknown (E2E-06)."""

    def snapshot(self, checkpoint: int) -> Sequence[SourceSplit]:
        """All splits that it has not read to the end, with the position behind the last record that `poll` returned."""

    def confirmed(self, checkpoint: int) -> None:
        """The checkpoint has completed: with PUBLISHES its positions are published. A failure of that is no error, and
        is not raised."""

    def close(self) -> None:
        """Free connections. Idempotent."""


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
makes no request."""
