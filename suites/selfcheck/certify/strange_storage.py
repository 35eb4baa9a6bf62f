"""A storage as somebody else writes it, by the contract alone, rows in SQLite; and its mistakes, one slip each."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import ClassVar
from urllib.parse import unquote, urlsplit
from zlib import crc32

from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.errors import Damaged, Fenced, Full, Transient
from holdfast.harness.spi.storage import Scope, StorageContext, StorageDescription

_LONGEST = 8 << 20
_FOLDERS = {Scope.SHARED: "shared", Scope.TASK_OWNED: "taskowned"}
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS files (job TEXT, path TEXT, content BLOB, token BLOB, digest BLOB, PRIMARY KEY (job, path));
CREATE TABLE IF NOT EXISTS epochs (job TEXT PRIMARY KEY, epoch INTEGER);
"""


class Rows:
    """All files of all jobs are in one table, and each call is one transaction."""

    def __init__(self, context: StorageContext) -> None:
        if context.options:
            raise ValueError(f"this storage has no option {min(context.options)!r}.")
        parts = urlsplit(context.uri)
        if parts.scheme != "file" or not parts.path:
            raise ValueError(f"{context.uri!r} is no folder: write file:///folder.")
        folder = Path(unquote(parts.path))
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise PermissionError(f"{folder} cannot be made: {error}.") from error
        self.job = context.job
        self._path = folder / "checkpoints.sqlite"
        self._closed = False
        with self.transaction() as database:
            database.executescript(_SCHEMA)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A connection of its own: any thread may call."""
        if self._closed:
            raise RuntimeError("the storage is closed.")
        try:
            database = sqlite3.connect(self._path, timeout=60, isolation_level=None)
            try:
                database.execute("PRAGMA synchronous = FULL")
                database.execute("BEGIN IMMEDIATE")
                yield database
                if database.in_transaction:
                    database.execute("COMMIT")
            finally:
                database.close()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error) or "malformed" in str(error):
                raise Damaged(f"{self._path.name} is not what was written: {error}.") from error
            raise Transient(f"{self._path.name}: {error}.") from error
        except sqlite3.DatabaseError as error:
            raise Damaged(f"{self._path.name} is not what was written: {error}.") from error

    def describe(self) -> StorageDescription:
        return StorageDescription(name="rows", max_file_bytes=_LONGEST)

    def claim(self, epoch: int) -> None:
        with self.transaction() as database:
            self.require(database, epoch)
            database.execute("INSERT OR REPLACE INTO epochs VALUES (?, ?)", (self.job, epoch))

    def require(self, database: sqlite3.Connection, epoch: int) -> None:
        found = database.execute("SELECT epoch FROM epochs WHERE job = ?", (self.job,)).fetchone()
        if found and found[0] > epoch:
            raise Fenced(f"epoch {found[0]} has claimed, and this is {epoch}.")

    def streams(self, checkpoint: int, epoch: int) -> Streams:
        return Streams(self, checkpoint, epoch)

    def store(self, path: str, content: bytes, token: bytes, epoch: int) -> None:
        if len(content) > _LONGEST:
            raise Full("max_file_bytes", _LONGEST, len(content))
        row = (content, token, _digest(path, content))
        with self.transaction() as database:
            self.require(database, epoch)
            found = database.execute(
                "SELECT content, token, digest FROM files WHERE job = ? AND path = ?", (self.job, path)
            ).fetchone()
            if found is None:
                database.execute("INSERT INTO files VALUES (?, ?, ?, ?, ?)", (self.job, path, *row))
            elif tuple(found) != row:
                raise FileExistsError(f"{path} is taken.")

    def load(self, path: str) -> bytes:
        with self.transaction() as database:
            found = database.execute(
                "SELECT content, digest FROM files WHERE job = ? AND path = ?", (self.job, path)
            ).fetchone()
        if found is None:
            raise FileNotFoundError(f"{path} is not there.")
        content, digest = found
        if not isinstance(content, bytes) or digest != _digest(path, content):
            raise Damaged(f"{path} is not what was written.")
        return content

    def finish(self, checkpoint: int, epoch: int, metadata: bytes) -> str:
        path = f"chk-{checkpoint}/_metadata"
        self.store(path, metadata, b"%d" % epoch, epoch)
        return path

    def resolve(self, pointer: str) -> bytes:
        path = pointer if pointer.endswith("/_metadata") else f"{pointer.rstrip('/')}/_metadata"
        try:
            return self.load(path)
        except FileNotFoundError:
            raise FileNotFoundError(f"no checkpoint is published at {pointer!r}.") from None

    def drop(self, checkpoint: int, epoch: int) -> None:
        with self.transaction() as database:
            self.require(database, epoch)
            prefix = f"chk-{checkpoint}/"
            database.execute(
                "DELETE FROM files WHERE job = ? AND substr(path, 1, ?) = ?", (self.job, len(prefix), prefix)
            )

    def delete(self, references: Sequence[FileReference], epoch: int) -> Sequence[FileReference]:
        with self.transaction() as database:
            self.require(database, epoch)
            paths = [(self.job, each.path) for each in references]
            database.executemany("DELETE FROM files WHERE job = ? AND path = ?", paths)
        return ()

    def remove_own(self, path: str, token: bytes) -> None:
        with self.transaction() as database:
            database.execute("DELETE FROM files WHERE job = ? AND path = ? AND token = ?", (self.job, path, token))

    def list_folder(self, folder: str) -> Iterator[str]:
        prefix = f"{folder.strip('/')}/" if folder.strip("/") else ""
        with self.transaction() as database:
            rows = database.execute("SELECT path FROM files WHERE job = ?", (self.job,)).fetchall()
        return iter(sorted(path for (path,) in rows if path.startswith(prefix)))

    def close(self) -> None:
        self._closed = True


class HoldsConnections(Rows):
    """A near miss: each object holds a connection, and there are not many."""

    most = 12
    held: ClassVar[set[object]] = set()

    def __init__(self, context: StorageContext) -> None:
        super().__init__(context)
        self.held.add(self)
        if len(self.held) > self.most:
            raise RuntimeError("sorry, too many clients already")

    def close(self) -> None:
        self.held.discard(self)
        super().close()


class Streams:
    """The files of one checkpoint."""

    def __init__(self, rows: Rows, checkpoint: int, epoch: int) -> None:
        self.rows, self.checkpoint, self.epoch = rows, checkpoint, epoch

    def create(self, scope: Scope, name: str, token: bytes) -> Stream:
        if not name or set(name) - _LETTERS or name in (".", ".."):
            raise ValueError(f"{name!r} is no segment.")
        with self.rows.transaction() as database:
            self.rows.require(database, self.epoch)
        return Stream(self, f"{_FOLDERS.get(scope, f'chk-{self.checkpoint}')}/{name}", token)

    def read(self, reference: FileReference, offset: int = 0, length: int | None = None) -> Iterator[bytes]:
        end = reference.length if length is None else offset + length
        if not 0 <= offset <= end <= reference.length:
            raise ValueError(f"{offset} to {end} is not within {reference.length} bytes.")
        content = self.rows.load(reference.path)
        if (len(content), crc32(content)) != (reference.length, reference.checksum):
            raise Damaged(f"{reference.path} is another file than the reference means.")
        return iter([content[offset:end]])

    def delete(self, references: Sequence[FileReference]) -> Sequence[FileReference]:
        return self.rows.delete(references, self.epoch)


class Stream:
    """One file, in memory until its commit."""

    def __init__(self, streams: Streams, path: str, token: bytes) -> None:
        self.streams, self.path, self.token = streams, path, token
        self.pieces: list[bytes] = []
        self.size = 0
        self.state = "open"
        self.reference: FileReference | None = None

    def write(self, content: bytes) -> None:
        if self.state != "open":
            raise RuntimeError(f"the stream is {self.state}.")
        self.size += len(content)
        if self.size > _LONGEST:
            self.state = "broken"
            raise Full("max_file_bytes", _LONGEST, self.size)
        self.pieces.append(content)

    def commit(self) -> FileReference:
        if self.state in ("cancelled", "broken"):
            raise RuntimeError(f"the stream is {self.state}.")
        content = b"".join(self.pieces)
        self.streams.rows.store(self.path, content, self.token, self.streams.epoch)
        self.state = "committed"
        self.reference = FileReference(self.path, len(content), crc32(content))
        return self.reference

    def cancel(self) -> None:
        if self.state != "committed":
            self.state = "cancelled"
            self.streams.rows.remove_own(self.path, self.token)


def _digest(path: str, content: bytes) -> bytes:
    return sha256(path.encode() + b"\x00" + content).digest()


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
