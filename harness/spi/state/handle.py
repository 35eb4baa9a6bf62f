"""Where a part of a snapshot lies in the storage: Flink's keyed state handle."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from holdfast.harness.model.events import FileReference
from holdfast.harness.spi.storage.scope import Scope


class Extent(msgspec.Struct, frozen=True, gc=False):
    """A range of bytes within a file. `checksum` is its CRC-32: a storage cannot check a range, so its reader does."""

    offset: int
    length: int
    checksum: int


class StateHandle(msgspec.Struct, frozen=True, gc=False):
    """One file of a snapshot.

    Attributes:
        name: as it was created. Of a shared file, the shared state registry knows it by operator, subtask and this
            name. So a subtask never gives one name to two contents, in none of its attempts (INC-07; bug F5).
        scope: EXCLUSIVE for a file of this checkpoint alone, SHARED for one that later snapshots may refer to.
        reference: the file; None: a placeholder, for a shared file of this name that is in a checkpoint which was
            confirmed to this backend. The registry puts in the reference.
        key_groups: key group to where its part lies; groups without state are left out. A file that a backend writes
            holds its own alone. A restore reads these alone.
    """

    name: str
    scope: Scope
    reference: FileReference | None
    key_groups: Mapping[int, Extent]
