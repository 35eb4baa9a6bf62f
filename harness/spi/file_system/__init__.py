"""File systems, version 1: what a checkpoint storage needs of the place where its files lie (RULES STO-02).

That is little, so that almost every place has it: a disk, a mounted network, HDFS, an object store.

- A file appears whole or not at all, and its path is published once, and again behind its removal. Whether that is a
  rename without overwriting, a link, or a put on a condition is the file system's own. Nothing is ever appended, and
  nothing that is there changes.
- What was published is read by any process at once, in any range, and is found in any listing (STO-07).
- What `publish` returned for survives a crash of everything, and a loss of power (ASY-03).
- Removing is idempotent. What was removed or abandoned takes no room any more; a record that it was there may stay.
- Folders are no things: they are there when something is in them. No caller publishes one path as a file and as a
  folder of files, not even one behind the removal of the other: whether that works is the file system's own.

Threads. A file system is thread-safe; an upload is used by one thread.
"""

from __future__ import annotations

from holdfast.harness.spi.file_system.by_scheme import file_system_factory
from holdfast.harness.spi.file_system.description import FileSystemContext, FileSystemDescription
from holdfast.harness.spi.file_system.file_system import FileSystem, FileSystemFactory
from holdfast.harness.spi.file_system.upload import Upload

__all__ = [
    "FileSystem",
    "FileSystemContext",
    "FileSystemDescription",
    "FileSystemFactory",
    "Upload",
    "file_system_factory",
]
