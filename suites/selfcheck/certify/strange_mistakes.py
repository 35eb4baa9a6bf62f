"""Mistakes of somebody else: each is the strange storage with one slip, of a kind that our variants do not have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.storage import Scope
from holdfast.suites.selfcheck.certify.strange_storage import Rows, Stream, Streams


class DeletesWithoutCase(Rows):
    """LIKE knows no case, and takes an underscore for any letter."""

    def delete(self, references: Sequence[FileReference], epoch: int) -> Sequence[FileReference]:
        with self.transaction() as database:
            self.require(database, epoch)
            for each in references:
                database.execute("DELETE FROM files WHERE job = ? AND path LIKE ?", (self.job, each.path))
        return ()


class ShortTokens(Rows):
    """The column of tokens has eight bytes."""

    def store(self, path: str, content: bytes, token: bytes, epoch: int) -> None:
        super().store(path, content, token[:8], epoch)

    def remove_own(self, path: str, token: bytes) -> None:
        super().remove_own(path, token[:8])


class SmallEpochs(Rows):
    """Epochs have 32 bits."""

    def claim(self, epoch: int) -> None:
        super().claim(epoch & 0xFFFFFFFF)


class PaddedContent(Rows):
    """The column of contents is padded with zeros, which are taken away again."""

    def load(self, path: str) -> bytes:
        return super().load(path).rstrip(b"\x00")

    def store(self, path: str, content: bytes, token: bytes, epoch: int) -> None:
        super().store(path, content.rstrip(b"\x00"), token, epoch)


class RemembersReads(Rows):
    """What a process has read once it does not read again."""

    def load(self, path: str) -> bytes:
        cache = self.__dict__.setdefault("_cache", {})
        if path not in cache:
            cache[path] = super().load(path)
        return bytes(cache[path])


class RemembersLists(Rows):
    """What a process has listed once it does not list again."""

    def list_folder(self, folder: str) -> Iterator[str]:
        cache = self.__dict__.setdefault("_lists", {})
        if folder not in cache:
            cache[folder] = list(super().list_folder(folder))
        return iter(cache[folder])


class OneStatement(Rows):
    """A statement takes so many paths and no more."""

    def delete(self, references: Sequence[FileReference], epoch: int) -> Sequence[FileReference]:
        return [*super().delete(references[:999], epoch), *references[999:]]


class NoLengthIsNone(Rows):
    """A length of nothing is taken for none."""

    def streams(self, checkpoint: int, epoch: int) -> Streams:
        class Wrong(Streams):
            def read(self, reference: FileReference, offset: int = 0, length: int | None = None) -> Iterator[bytes]:
                return super().read(reference, offset, length or None)

        return Wrong(self, checkpoint, epoch)


class ClaimsSweep(Rows):
    """Files of checkpoints that are not published go with a claim, committed or not."""

    def claim(self, epoch: int) -> None:
        super().claim(epoch)
        published = {path.partition("/")[0] for path in self.list_folder("") if path.endswith("_metadata")}
        paths = [path for path in self.list_folder("") if path.startswith("chk-")]
        gone = [FileReference(path, 0, 0) for path in paths if path.partition("/")[0] not in published]
        self.delete(gone, epoch)


class TwoStepDrop(Rows):
    """Files go in one transaction, and metadata in the next."""

    def drop(self, checkpoint: int, epoch: int) -> None:
        files = [FileReference(path, 0, 0) for path in self.list_folder(f"chk-{checkpoint}")]
        self.delete([each for each in files if not each.path.endswith("_metadata")], epoch)
        super().drop(checkpoint, epoch)


class CommitsTwice(Rows):
    """A commit that is called again stores nothing, and says so by an error."""

    def streams(self, checkpoint: int, epoch: int) -> Streams:
        class Wrong(Streams):
            def create(self, scope: Scope, name: str, token: bytes) -> Stream:
                stream = super().create(scope, name, token)
                stream.__class__ = _CommitsOnce
                return stream

        return Wrong(self, checkpoint, epoch)


class _CommitsOnce(Stream):
    def commit(self) -> FileReference:
        if self.state == "committed":
            raise RuntimeError("the stream is committed.")
        return super().commit()


class OneSpaceForAllScopes(Rows):
    """A shared file and a task's own of one name are one file."""

    def streams(self, checkpoint: int, epoch: int) -> Streams:
        class Wrong(Streams):
            def create(self, scope: Scope, name: str, token: bytes) -> Stream:
                return super().create(Scope.SHARED if scope is Scope.TASK_OWNED else scope, name, token)

        return Wrong(self, checkpoint, epoch)


MISTAKES: dict[type[Rows], str] = {
    DeletesWithoutCase: "STO-02/deleted",
    ShortTokens: "STO-02/tokens",
    SmallEpochs: "STO-08/claims",
    PaddedContent: "STO-07/small-pieces",
    RemembersReads: "STO-02/deleted",
    RemembersLists: "STO-03/listed",
    OneStatement: "STO-03/many",
    NoLengthIsNone: "STO-07/ranges",
    ClaimsSweep: "STO-05/fenced",
    TwoStepDrop: "STO-01/half-dropped",
    CommitsTwice: "STO-09/retried",
    OneSpaceForAllScopes: "STO-02/names",
}
"""With the check that refutes it."""
