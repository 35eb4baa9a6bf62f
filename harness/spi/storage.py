"""Checkpoint storages, version 1: where snapshots and metadata lie.

Threads. A storage is thread-safe: task threads, upload threads and the coordinator share one object. A stream is used
by one thread.

Names. A path is relative to the place of the job, with `/` between segments. So what is moved as a whole is read where
it then lies (SAV-01). Checkpoint 7 is the folder `chk-7`, with the metadata in `_metadata` and the exclusive files
beside it; the others are in `shared` and `taskowned`. What stands behind that is the storage's own: callers hold
FileReferences and pointers, and take none apart. A segment is never a prefix of another: what holds for `chk-1` does
not touch `chk-10`. A name is free again behind a removal. A reference may also hold a small file itself (STO-04); then
there is no path. In which form it does, only storages of its kind know.

Durable. What `commit` or `finish` returned for survives a crash of everything, and is read whole by any process. What
they raised for is invisible, or is complete and found again by its token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Protocol, cast

import msgspec

from holdfast.harness.model.events import FileReference
from holdfast.harness.spi import SPI_VERSION
from holdfast.harness.spi.parts import part_of_scheme


class Scope(StrEnum):
    """Flink's CheckpointedStateScope, and the files of tasks (STO-03)."""

    EXCLUSIVE = "exclusive"
    """One checkpoint: `CheckpointStorage.drop` removes it with its checkpoint."""
    SHARED = "shared"
    """Any number of checkpoints: the shared state registry decides when it goes, and `delete` removes it."""
    TASK_OWNED = "task-owned"
    """The task that wrote it, which deletes it itself, such as a write-ahead log of a sink."""


class CheckpointOutputStream(Protocol):
    """One file under way: an S3 multipart upload, an HDFS output stream. One thread uses it."""

    def write(self, content: bytes) -> None:
        """Append content; none of it is visible yet.

        Raises:
            Transient: it is unknown what was written. The stream is of no use any more but for `cancel`.
            Full: nothing fits any more, or the file exceeds `max_file_bytes`; else as Transient.
            Fenced: a newer epoch has claimed the place. `create` and `write` may leave that to `commit`.
            RuntimeError: behind `commit` or `cancel`.
        """

    def commit(self) -> FileReference:
        """Make the file visible, whole and durable (STO-01). May be called again behind Transient.

        Where its name is taken by a file of the same token and the same content, that is success: an earlier answer was
        lost (STO-09). Its path is then the same.

        Raises:
            Transient: it is visible or not; whoever tries again finds out.
            FileExistsError: the name is taken by another token or other content; nothing was changed (STO-02).
            Full, Fenced: it is not visible.
            RuntimeError: behind `cancel`, or behind a `write` that raised.
        """

    def cancel(self) -> None:
        """Leave nothing (STO-02): neither parts nor the file of this token, visible or not. Idempotent.

        Also behind a `commit` whose answer was lost, and where another stream of this token published the file. Behind
        a `commit` of this stream that returned, it does nothing: that file is deleted by its reference. It is not
        fenced: behind a newer claim it raises nothing for that, and a file that was visible before it goes or stays.

        Raises:
            Transient: something may be left.
        """


class CheckpointStreamFactory(Protocol):
    """The files of one checkpoint, written for one epoch. Thread-safe."""

    def create(self, scope: Scope, name: str, token: bytes) -> CheckpointOutputStream:
        """Begin a file. Nothing is visible before `commit`.

        Args:
            scope: to whom it will belong.
            name: one segment: ASCII letters, digits, `.`, `_` and `-`; neither `.` nor `..`, nor `_metadata`, which
                no caller uses. Up to 200 characters are taken. Within its scope, and for EXCLUSIVE within its
                checkpoint, unique over all operators, subtasks and attempts of the job.
            token: any bytes, of the attempt and the call; a retry brings the same one, and no other call does.

        Raises:
            Transient, Full, Fenced: as `CheckpointOutputStream.write`.
            ValueError: the name is no such segment.
        """

    def read(self, reference: FileReference, offset: int = 0, length: int | None = None) -> Iterator[bytes]:
        """The content in pieces of any size, in order; the whole or a range.

        A whole read is checked against length and checksum. A range is not: its reader has a checksum for it.

        Args:
            reference: as `commit` returned it, to this or any other process.
            offset: first byte; at most the length of the file.
            length: number of bytes; None: to the end.

        Raises:
            Damaged: too short, or not what was written. Raised at the latest behind the last piece (STO-06).
            FileNotFoundError: it is gone.
            Transient: the storage did not answer.
            ValueError: the range is not within the file.
        """

    def delete(self, references: Sequence[FileReference]) -> Sequence[FileReference]:
        """As `CheckpointStorage.delete`: for what the task itself created in this checkpoint and gives up."""


class StorageDescription(msgspec.Struct, frozen=True, kw_only=True):
    """What `describe` returns.

    Attributes:
        name: of the storage, such as `s3`.
        max_file_bytes: longest file, and longest metadata; one byte more raises Full. None: no limit of its own
            (SBK-07).
        outlives_process: what is stored is there when the process that wrote it is gone. Not so in the memory of a
            coordinator.
        exclusive: of several that publish one name at the same instant, one wins. Without it, only where they do so one
            after the other.
        options: key to (default, meaning in one line); a factory refuses others by ValueError.
        spi_version: that it was written for.
    """

    name: str
    max_file_bytes: int | None = None
    outlives_process: bool = True
    exclusive: bool = True
    options: Mapping[str, tuple[str, str]] = {}
    spi_version: int = SPI_VERSION


class StorageContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a factory is given.

    Attributes:
        uri: where, such as `s3://bucket/prefix`; jobs may share it, and see nothing of each other (STO-08). A slash at
            its end means nothing. The path of a `file` URI is percent-encoded (RFC 8089): `%20` is a blank.
        job: whose checkpoints these are. Any printable text of 1 to 80 bytes in UTF-8 is a name, such as `a/b` or `..`,
            and any other text is another job (STO-08). A longer one may be refused by ValueError, and is never cut.
        options: those of `StorageDescription.options` that the user has set. Keys and passwords never are among them.
    """

    uri: str
    job: str
    options: Mapping[str, str] = {}


class CheckpointStorage(Protocol):
    """Thread-safe. Every method but `describe` and `close` may raise Transient, and RuntimeError behind `close`. Each,
    and the factory, raises Damaged where something that it needs of the storage's own is not what was written.

    Epochs. Of the coordinators of one job, each has a greater epoch than the one before, and claims it before anything
    is done for it. Once `claim` of an epoch returned, nothing that is done for a lower one has an effect any more: it
    raises Fenced (STO-05, STO-08). That holds for a `commit` and a `finish` that began before the claim, too: they
    succeed before it, or have no effect. A removal that was under way may still happen. Reading is not fenced, and
    needs no claim. Whoever changes something for an epoch that was not claimed misuses the storage: it obeys, or raises
    RuntimeError.

    Room. What was removed is invisible at once. Its content takes no room any more at the latest behind `close`, or
    behind the next claim of a greater epoch; a record that it was there may stay.
    """

    def describe(self) -> StorageDescription:
        """What it can do. Also callable before anything else, and behind `close`."""

    def claim(self, epoch: int) -> None:
        """Fence every lower epoch, and remove what they left half written (ASY-05). Claiming the epoch that has claimed
        last is no error, and touches nothing that is under way for it. A claim may wait for a call that a lower epoch
        has under way, also where its process stands still.

        Raises:
            Fenced: a greater one has.
        """

    def streams(self, checkpoint: int, epoch: int) -> CheckpointStreamFactory:
        """Where the tasks of an epoch write a checkpoint, and read what any checkpoint holds. Makes no request."""

    def finish(self, checkpoint: int, epoch: int, metadata: bytes) -> str:
        """Publish a checkpoint: its metadata appears whole and durable, or not at all (STO-01).

        Exclusive: of several calls for one checkpoint one wins. Repeating the call that won, with equal metadata and
        the same epoch, is success. Returns the pointer, which `resolve` takes; it holds no blanks.

        Raises:
            FileExistsError: the checkpoint is published, by another epoch or with other metadata.
            Fenced: a newer epoch has claimed the place.
            Full: it does not fit.
            Transient: unless it is `refused`, it is published or not; `resolve`, or the same call again, finds out
                (CRD-11).
        """

    def resolve(self, pointer: str) -> bytes:
        """The metadata of a published checkpoint (STO-10).

        Args:
            pointer: as `finish` returned it, or the path of the folder, `chk-7` or `chk-7/`, or of the metadata file
                in it.

        Raises:
            FileNotFoundError: no published checkpoint is there; the sentence names the pointer.
            Damaged: it is not what was written.
        """

    def drop(self, checkpoint: int, epoch: int) -> None:
        """Remove a checkpoint: its metadata first, then its exclusive files, and nothing else (STO-03). Idempotent.

        Raises:
            Fenced: as `finish`.
            Transient: some of it may be gone; a repetition removes the rest.
        """

    def delete(self, references: Sequence[FileReference], epoch: int) -> Sequence[FileReference]:
        """Remove files; what is gone already is no error. Returns those that could not be removed.

        Raises:
            Fenced: as `finish`; nothing was removed.
        """

    def list_folder(self, folder: str) -> Iterator[str]:
        """Paths of all visible files below a folder, ascending, each as in its FileReference. Metadata is among them.

        Args:
            folder: one or more whole segments, without a slash at the end; empty: everything of this job. One that is
                not there has no files. A file that is kept in its reference is in none.
        """

    def close(self) -> None:
        """Free connections. Idempotent. Nothing that is stored changes."""


CheckpointStorageFactory = Callable[[StorageContext], CheckpointStorage]
"""Named as `module:name`, or found by the scheme of a URI. Raises ValueError in one sentence for an option or a URI
that it does not understand, and Transient or PermissionError where the place cannot be reached (CFG-05). One of another
scheme is none that it understands, unless the URI is but a name within this process (no `outlives_process`)."""


def storage_factory(uri: str) -> CheckpointStorageFactory:
    """The factory that is registered for the scheme of a URI (CFG-05), among `holdfast.parts`.

    Raises:
        ValueError: it has no scheme, or none that is registered, or what it needs is not installed.
    """
    return cast("CheckpointStorageFactory", part_of_scheme("checkpoint-storage", uri))
