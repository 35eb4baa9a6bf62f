"""What a snapshot consists of, as the task acknowledges it to the coordinator."""

from __future__ import annotations

import msgspec

from holdfast.harness.spi.state.descriptor import StateDescriptor
from holdfast.harness.spi.state.handle import StateHandle


class Manifest(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Everything that `KeyedStateBackend.restore` needs beside the files. The runtime stores it in the metadata.

    Attributes:
        format: name and version of the backend's own format, such as `hashmap-1`; others refuse it.
        checkpoint: which.
        subtask: whose; shared files of this index are those that a claiming restore may refer to.
        first_key_group, end_key_group: that the backend owned, as in `range`.
        max_parallelism: number of key groups of the operator; a restore compares it (bug O3).
        handles: all files, in the order in which a restore needs them.
        descriptors: of every state that was there at the snapshot, also of those that were restored and not registered
            again; of none that was registered during the upload.
        base: the confirmed checkpoint whose files are referred to; None: a full snapshot.
        opaque: whatever else the format needs; small, because it is in the metadata of every checkpoint.
    """

    format: str
    checkpoint: int
    subtask: int
    first_key_group: int
    end_key_group: int
    max_parallelism: int
    handles: tuple[StateHandle, ...]
    descriptors: tuple[StateDescriptor, ...]
    base: int | None = None
    opaque: bytes = b""
