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

from holdfast.harness.spi.storage.by_scheme import storage_factory
from holdfast.harness.spi.storage.checkpoint_storage import (
    CheckpointStorage,
    CheckpointStorageFactory,
    StorageContext,
    StorageDescription,
)
from holdfast.harness.spi.storage.scope import Scope
from holdfast.harness.spi.storage.streams import CheckpointOutputStream, CheckpointStreamFactory

__all__ = [
    "CheckpointOutputStream",
    "CheckpointStorage",
    "CheckpointStorageFactory",
    "CheckpointStreamFactory",
    "Scope",
    "StorageContext",
    "StorageDescription",
    "storage_factory",
]
