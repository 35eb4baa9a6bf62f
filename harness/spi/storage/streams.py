"""How a task writes and reads the files of one checkpoint: Flink's checkpoint stream factory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.storage.scope import Scope


class CheckpointOutputStream(Protocol):
    """One file under way: an S3 multipart upload, an HDFS output stream. One thread uses it."""

    def write(self, content: bytes) -> None:
        """Append content; none of it is visible yet.

        Raises:
            Transient: nothing can be said of what was written. The stream is of no use any more but for `cancel`.
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
                nobody asks for. Up to 200 characters are taken. Within its scope, and for EXCLUSIVE within its
                checkpoint, unique over all operators, subtasks and attempts of the job.
            token: any bytes, of the attempt and the call; a retry brings the same one, and nobody else does.

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
