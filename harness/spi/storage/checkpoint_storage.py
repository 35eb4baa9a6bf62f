"""A checkpoint storage: the place in which the checkpoints of one job lie."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

import msgspec

from holdfast.harness.model.events import FileReference
from holdfast.harness.spi import SPI_VERSION
from holdfast.harness.spi.storage.streams import CheckpointStreamFactory


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
    needs no claim. Whoever changes something for an epoch that nobody has claimed misuses the storage: it obeys, or
    raises RuntimeError.

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
        """Where the tasks of an epoch write a checkpoint, and read what any checkpoint holds. Contacts nobody."""

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
