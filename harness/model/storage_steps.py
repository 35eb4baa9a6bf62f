"""Primitive steps on a store: what a disk or an object store does at once, or fails to do.

Whatever is made of several steps can be left between any two of them, by a crash or by a fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import msgspec

if TYPE_CHECKING:
    from typing_extensions import TypeIs

# --- any store ---


class ListPaths(msgspec.Struct, frozen=True, gc=False):
    """Paths that begin with a prefix, in ascending order. The prefix names a folder and may go on with the beginning of
    a name in it."""

    path: str


class Read(msgspec.Struct, frozen=True, gc=False):
    """The content at a path; FileNotFoundError: there is nothing."""

    path: str


class Exists(msgspec.Struct, frozen=True, gc=False):
    """Whether there is something at a path."""

    path: str


# --- a file system ---


class Create(msgspec.Struct, frozen=True, gc=False):
    """Make an empty file; refuses a path that is taken.

    Attributes:
        path: of the file.
        durable_folders: the folders that lead to it survive the machine, too. Without that they do as soon as something
            durable is made in one of them.
    """

    path: str
    durable_folders: bool = True


class Append(msgspec.Struct, frozen=True, gc=False):
    """Add bytes to a file. Not atomic: a crash leaves any prefix."""

    path: str
    content: bytes | memoryview


class Sync(msgspec.Struct, frozen=True, gc=False):
    """What was appended survives the machine, and so does the name of the file unless it is about to change.

    Attributes:
        path: of the file.
        durable_name: whether its name survives as well.
    """

    path: str
    durable_name: bool = True


class Rename(msgspec.Struct, frozen=True, gc=False):
    """Give a file another name, atomically; refuses a target that is taken."""

    path: str
    target: str


class Replace(msgspec.Struct, frozen=True, gc=False):
    """As Rename, over whatever is there."""

    path: str
    target: str


class Remove(msgspec.Struct, frozen=True, gc=False):
    """Remove a file; what is gone already is no error."""

    path: str


# --- an object store: what is put appears whole ---


class Put(msgspec.Struct, frozen=True, gc=False):
    """Store an object, whatever is there."""

    path: str
    content: bytes | memoryview


class PutIfAbsent(msgspec.Struct, frozen=True, gc=False):
    """Store an object where nothing is, not even an empty object; refuses a path that is taken."""

    path: str
    content: bytes


class PutIfUnchanged(msgspec.Struct, frozen=True, gc=False):
    """Store an object in place of a version, or where nothing is if that is empty; refuses any other. Answer: the
    version that is there then."""

    path: str
    content: bytes
    version: str


class ReadVersion(msgspec.Struct, frozen=True, gc=False):
    """The version of the object at a path; empty: there is none."""

    path: str


class RemoveObjects(msgspec.Struct, frozen=True, gc=False):
    """Remove objects; what is gone already is no error."""

    paths: tuple[str, ...]


FileChange = Create | Append | Sync | Rename | Replace | Remove
ObjectChange = Put | PutIfAbsent | PutIfUnchanged | RemoveObjects
Look = ListPaths | Read | Exists | ReadVersion
StorageStep = FileChange | ObjectChange | Look
_FILE_CHANGES = frozenset(get_args(FileChange))
_STORAGE_STEPS = frozenset(get_args(StorageStep))


def is_file_change(step: object) -> TypeIs[FileChange]:
    """Whether a step changes a file."""
    return type(step) in _FILE_CHANGES


def is_storage_step(step: object) -> TypeIs[StorageStep]:
    """Whether a step is one on a store."""
    return type(step) in _STORAGE_STEPS
