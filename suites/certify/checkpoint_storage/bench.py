"""Where a check takes place: storages, and what the kit expects of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast
from zlib import crc32

from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.storage import (
    CheckpointStorage,
    CheckpointStreamFactory,
    Scope,
    StorageContext,
    StorageDescription,
)
from holdfast.suites.certify.check import Violation
from holdfast.suites.certify.outside import storage_performer
from holdfast.suites.certify.outside.bench import OutsideBench, differs, shortened
from holdfast.suites.certify.plug import Target

JOB = "job"
INLINE = "inline"
INLINE_THRESHOLD = "execution.checkpointing.data-inline-threshold"
"""Option of a storage that keeps small files in their references; here it keeps none, unless a check is about it."""


class Bench(OutsideBench):
    """See OutsideBench.

    Attributes:
        description: that the storage gives of itself.
    """

    performer = storage_performer.__name__
    own = JOB
    contract = CheckpointStorage
    description: StorageDescription

    def __init__(self, target: Target, rule: str, seed: int = 0) -> None:
        self._epoch = 0
        super().__init__(target, rule, seed)
        if INLINE_THRESHOLD in self.description.options:
            self.flags |= {INLINE}
            self.options = {INLINE_THRESHOLD: "0", **target.options}

    # ---------------------------------------------------------------- storages
    def at(self, uri: str, own: str, options: Mapping[str, str]) -> CheckpointStorage:
        """A storage of one job at one place."""
        return cast("CheckpointStorage", self.target.factory(StorageContext(uri=uri, job=own, options=options)))

    def storage(self, job: str = JOB, options: Mapping[str, str] | None = None, uri: str = "") -> CheckpointStorage:
        """A storage as another process would make it; closed at the end of the check."""
        return cast("CheckpointStorage", self.make(job, options, uri))

    def coordinator(self, job: str = JOB) -> tuple[CheckpointStorage, int]:
        """A storage with an epoch that has just claimed."""
        storage = self.storage(job)
        epoch = self.next_epoch()
        self.step(f"claim({epoch})")
        storage.claim(epoch)
        return storage, epoch

    def leave(self, made: CheckpointStorage) -> None:
        epoch = self.next_epoch()
        made.claim(epoch)
        self.write(made.streams(1, epoch), f"left-by-{epoch}", b"left", Scope.SHARED)

    def remove_left(self, made: CheckpointStorage) -> None:
        made.delete([FileReference(path, 0, 0) for path in made.list_folder("")], self._epoch)

    def finds(self, made: CheckpointStorage) -> bool:
        return bool(list(made.list_folder("shared")))

    def next_epoch(self) -> int:
        self._epoch += 1
        return self._epoch

    # ---------------------------------------------------------------- calls, with what is expected of them
    def write(
        self,
        streams: CheckpointStreamFactory,
        name: str,
        content: bytes,
        scope: Scope = Scope.EXCLUSIVE,
        token: bytes = b"token",
    ) -> FileReference:
        """One file, in one write.

        Raises:
            CannotTry: it is longer than is declared.
        """
        self.require_fits(len(content))
        self.step(f"write {scope} {name!r}, {len(content)} bytes, token {token!r}")
        stream = streams.create(scope, name, token)
        stream.write(content)
        return self.checked(stream.commit(), content)

    def checked(self, reference: FileReference, content: bytes) -> FileReference:
        """A reference says what was written."""
        if not isinstance(reference, FileReference):
            raise Violation(self.rule, f"commit() returned {reference!r}, which is no FileReference.")
        if (reference.length, reference.checksum) != (len(content), crc32(content)):
            raise Violation(
                self.rule, f"{reference} was returned for {len(content)} bytes with the CRC-32 {crc32(content)}."
            )
        return reference

    def require_content(self, streams: CheckpointStreamFactory, reference: FileReference, content: bytes) -> None:
        """A file holds what was written.

        Raises:
            Violation: of `rule`.
        """
        self.step(f"read {shortened(reference.path)}")
        read = content_of(streams, reference)
        if read != content:
            raise Violation(self.rule, f"{shortened(reference.path)} {differs(read, content)}.")

    def require_metadata(self, storage: CheckpointStorage, pointer: str, content: bytes) -> None:
        """A pointer leads to what was published."""
        self.step(f"resolve({pointer!r})")
        found = storage.resolve(pointer)
        if found != content:
            raise Violation(self.rule, f"resolve({pointer!r}) {differs(found, content)}.")

    def require_files(self, storage: CheckpointStorage, folder: str, expected: Sequence[str]) -> None:
        """Exactly these files are listed."""
        self.step(f"list_folder({folder!r})")
        listed = list(storage.list_folder(folder))
        if listed != sorted(expected):
            raise Violation(self.rule, f"list_folder({folder!r}) shows {listed}; {sorted(expected)} is right.")


def content_of(streams: CheckpointStreamFactory, reference: FileReference) -> bytes:
    """The whole file."""
    return b"".join(streams.read(reference))
