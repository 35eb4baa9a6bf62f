"""Which storage a URI means."""

from __future__ import annotations

from typing import cast

from holdfast.harness.spi.parts import part_of_scheme
from holdfast.harness.spi.storage.checkpoint_storage import CheckpointStorageFactory


def storage_factory(uri: str) -> CheckpointStorageFactory:
    """The factory that is registered for the scheme of a URI (CFG-05), among `holdfast.parts`.

    Raises:
        ValueError: it has no scheme, or nobody has registered it, or what it needs is not installed.
    """
    return cast("CheckpointStorageFactory", part_of_scheme("checkpoint-storage", uri))
