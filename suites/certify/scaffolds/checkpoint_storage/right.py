"""A checkpoint storage in a folder that every worker sees.

The contract is `holdfast.harness.spi.storage`. Three things of a file system are all that it needs. A link fails where
its name is taken: so of several writers one wins. A link of a file that is gone fails: so a claim fences who has
begun to write, by taking its files away. What is synchronised survives a loss of power.

A file ends with a digest of the writer's token, and then with one of everything before it and of its path.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit
from uuid import uuid4
from zlib import crc32

from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.errors import Damaged, Fenced, Full, Transient
from holdfast.harness.spi.storage import Scope, StorageContext, StorageDescription

DESCRIPTION = StorageDescription(name="example", max_file_bytes=8 << 20)
DIGEST_BYTES = 32
MAX_NAME = 255
EPOCHS = "_epochs"
METADATA = "_metadata"
LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


class Storage:
    """The files of one job. Any thread may call; the file system is all that calls share.

    An epoch that has claimed has a folder of its own in `_epochs`, in which its files begin.
    """

    def __init__(self, context: StorageContext) -> None:
        for key in context.options:
            raise ValueError(f"option {key!r} is unknown; this storage has none.")
        parts = urlsplit(context.uri)
        if parts.scheme != "file" or parts.netloc or not parts.path:
            raise ValueError(f"{context.uri!r} is no folder: write file:///folder.")
        # Quoted and behind a word: a job may be called `..`, or as a part of another one's path.
        name = f"job-{quote(context.job, safe='')}"
        if len(name) > MAX_NAME:
            raise ValueError(f"job {context.job[:20]!r}... has too long a name for a folder: {len(name)} characters.")
        self.folder = Path(unquote(parts.path)) / name
        self.closed = False
        try:
            self.make_folder(self.folder / EPOCHS)
        except OSError as error:
            raise PermissionError(f"{context.uri} cannot be written: {error}.") from error

    def describe(self) -> StorageDescription:
        return DESCRIPTION

    def claim(self, epoch: int) -> None:
        with self.calling():
            self.require_newest(epoch)
            self.make_folder(self.folder / EPOCHS / str(epoch))
            # Another claim may have come between: of two, the greater one finds the other, whoever is first.
            self.require_newest(epoch)
            for older in [each for each in self.epochs() if each < epoch]:
                # Taken away at once, so that nothing begins there while it is emptied.
                with suppress(FileNotFoundError):
                    (self.folder / EPOCHS / str(older)).rename(self.folder / EPOCHS / f"old-{uuid4().hex}")
            for gone in (self.folder / EPOCHS).glob("old-*"):
                shutil.rmtree(gone, ignore_errors=True)

    def streams(self, checkpoint: int, epoch: int) -> Streams:
        return Streams(self, checkpoint, epoch)

    def finish(self, checkpoint: int, epoch: int, metadata: bytes) -> str:
        path = f"chk-{checkpoint}/{METADATA}"
        self.store(path, metadata, b"%d" % epoch, epoch)
        return path

    def resolve(self, pointer: str) -> bytes:
        path = pointer if pointer.endswith(f"/{METADATA}") else f"{pointer.rstrip('/')}/{METADATA}"
        try:
            return self.load(path)
        except FileNotFoundError:
            raise FileNotFoundError(f"no checkpoint is published at {pointer!r}.") from None

    def drop(self, checkpoint: int, epoch: int) -> None:
        with self.calling():
            self.require_newest(epoch)
            paths = list(self.list_folder(f"chk-{checkpoint}"))
            # Metadata first: what is half dropped is never taken for a checkpoint.
            for path in sorted(paths, key=lambda path: not path.endswith(f"/{METADATA}")):
                self.remove(path)

    def delete(self, references: Sequence[FileReference], epoch: int) -> Sequence[FileReference]:
        with self.calling():
            self.require_newest(epoch)
            for each in references:
                self.remove(each.path)
        return ()

    def list_folder(self, folder: str) -> Iterator[str]:
        with self.calling():
            # By whole segments: `chk-1` is not `chk-10`.
            prefix = f"{folder.strip('/')}/" if folder.strip("/") else ""
            files = [each.relative_to(self.folder).as_posix() for each in self.folder.rglob("*") if each.is_file()]
        return iter(sorted(path for path in files if path.startswith(prefix) and not path.startswith(f"{EPOCHS}/")))

    def close(self) -> None:
        self.closed = True

    def store(self, path: str, content: bytes, token: bytes, epoch: int) -> None:
        """Publish a file, whole and durable, or not at all."""
        if len(content) > (DESCRIPTION.max_file_bytes or 0):
            raise Full("max_file_bytes", DESCRIPTION.max_file_bytes or 0, len(content))
        with self.calling():
            self.require_newest(epoch)
            begun, target = self.folder / EPOCHS / str(epoch) / uuid4().hex, self.folder / path
            sealed = content + _seal(path, content, token)
            try:
                with self.fencing(epoch), begun.open("xb") as file:
                    file.write(sealed)
                    file.flush()
                    os.fsync(file.fileno())
                self.make_folder(target.parent)
                with self.fencing(epoch):
                    self.publish(begun, target)
            except FileExistsError:
                # An earlier answer was lost, if it is our own file that is there.
                if target.read_bytes() != sealed:
                    raise
            finally:
                begun.unlink(missing_ok=True)
            _synchronise(target.parent)

    def publish(self, begun: Path, target: Path) -> None:
        """Raises: FileExistsError, if the name is taken. FileNotFoundError, if a newer epoch took the file away."""
        os.link(begun, target)

    def load(self, path: str) -> bytes:
        with self.calling():
            if not self.holds(path):
                raise FileNotFoundError(f"{path} is not there.")
            sealed = (self.folder / path).read_bytes()
        content, seal = sealed[: -2 * DIGEST_BYTES], sealed[-2 * DIGEST_BYTES :]
        if _digest(path, content, seal[:DIGEST_BYTES]) != seal[DIGEST_BYTES:]:
            raise Damaged(f"{path} is not what was written.")
        return content

    def remove(self, path: str) -> None:
        if self.holds(path):
            with suppress(FileNotFoundError, NotADirectoryError):
                (self.folder / path).unlink()
                _synchronise((self.folder / path).parent)

    def remove_own(self, path: str, token: bytes) -> None:
        """Remove a file that this token wrote, and nobody else's."""
        with self.calling(), suppress(FileNotFoundError):
            if (self.folder / path).read_bytes()[-2 * DIGEST_BYTES : -DIGEST_BYTES] == sha256(token).digest():
                self.remove(path)

    def holds(self, path: str) -> bool:
        """Whether a path leads to a file of this job; references may come from elsewhere."""
        segments = path.split("/")
        return EPOCHS not in segments and not {"", ".", ".."} & set(segments)

    def epochs(self) -> Sequence[int]:
        return [int(each.name) for each in (self.folder / EPOCHS).iterdir() if each.name.isdecimal()]

    def require_newest(self, epoch: int) -> None:
        newest = max(self.epochs(), default=0)
        if newest > epoch:
            raise Fenced(f"epoch {newest} has claimed, and this is epoch {epoch}.")

    def make_folder(self, folder: Path) -> None:
        """Durably, with all above it."""
        if not folder.is_dir():
            self.make_folder(folder.parent)
            folder.mkdir(exist_ok=True)
            _synchronise(folder.parent)

    @contextmanager
    def fencing(self, epoch: int) -> Iterator[None]:
        """A file of ours that is gone was taken away by a claim."""
        try:
            yield
        except FileNotFoundError:
            raise Fenced(f"a newer epoch than {epoch} has claimed.") from None

    @contextmanager
    def calling(self) -> Iterator[None]:
        """What the file system says, in the words of the contract."""
        if self.closed:
            raise RuntimeError("this storage is closed.")
        try:
            yield
        except (FileExistsError, FileNotFoundError, Fenced, Full, Transient):
            raise
        except (IsADirectoryError, NotADirectoryError) as error:
            raise FileNotFoundError(f"{error.filename} is no file.") from error
        except OSError as error:
            raise Transient(f"{self.folder}: {error}.") from error


class Streams:
    """The files of one checkpoint."""

    def __init__(self, storage: Storage, checkpoint: int, epoch: int) -> None:
        self.storage, self.checkpoint, self.epoch = storage, checkpoint, epoch

    def create(self, scope: Scope, name: str, token: bytes) -> Stream:
        if not name or set(name) - LETTERS or name in (".", ".."):
            raise ValueError(f"{name!r} is no name of letters, digits, `.`, `_` and `-`.")
        with self.storage.calling():
            self.storage.require_newest(self.epoch)
        folders = {Scope.SHARED: "shared", Scope.TASK_OWNED: "taskowned"}
        return Stream(self, f"{folders.get(scope, f'chk-{self.checkpoint}')}/{name}", token)

    def read(self, reference: FileReference, offset: int = 0, length: int | None = None) -> Iterator[bytes]:
        end = reference.length if length is None else offset + length
        if not 0 <= offset <= end <= reference.length:
            raise ValueError(f"{offset} to {end} is not within the {reference.length} bytes of {reference.path}.")
        content = self.storage.load(reference.path)
        if (len(content), crc32(content)) != (reference.length, reference.checksum):
            raise Damaged(f"{reference.path} is another file than its reference means.")
        return iter([content[offset:end]])

    def delete(self, references: Sequence[FileReference]) -> Sequence[FileReference]:
        return self.storage.delete(references, self.epoch)


class Stream:
    """One file, in memory until its commit."""

    def __init__(self, streams: Streams, path: str, token: bytes) -> None:
        self.streams, self.path, self.token = streams, path, token
        self.content = bytearray()
        self.phase = "open"

    def write(self, content: bytes) -> None:
        if self.phase != "open":
            raise RuntimeError(f"this stream is {self.phase}.")
        allowed = DESCRIPTION.max_file_bytes or 0
        if len(self.content) + len(content) > allowed:
            self.phase = "broken"
            raise Full("max_file_bytes", allowed, len(self.content) + len(content))
        self.content += content

    def commit(self) -> FileReference:
        if self.phase in ("broken", "cancelled"):
            raise RuntimeError(f"this stream is {self.phase}.")
        content = bytes(self.content)
        self.streams.storage.store(self.path, content, self.token, self.streams.epoch)
        self.phase = "committed"
        return FileReference(self.path, len(content), crc32(content))

    def cancel(self) -> None:
        # Also behind a commit whose answer was lost: then the file is there, and goes.
        if self.phase != "committed":
            self.phase = "cancelled"
            self.streams.storage.remove_own(self.path, self.token)


def _digest(path: str, content: bytes, writer: bytes) -> bytes:
    """Of a content, who wrote it, and where: a file that lies elsewhere is not what was written there."""
    return sha256(b"%s\0%s%s" % (path.encode(), content, writer)).digest()


def _seal(path: str, content: bytes, token: bytes) -> bytes:
    writer = sha256(token).digest()
    return writer + _digest(path, content, writer)


def _synchronise(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
