"""Which storage a URI means."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import cast

from holdfast.harness.spi.storage.checkpoint_storage import CheckpointStorageFactory

GROUP = "holdfast.checkpoint_storages"
"""Entry points, by scheme."""


def storage_factory(uri: str) -> CheckpointStorageFactory:
    """The factory that is registered for the scheme of a URI (CFG-05).

    Raises:
        ValueError: it has no scheme, or nobody has registered it, or what it needs is not installed.
    """
    scheme, separator, _ = uri.partition("://")
    found = {entry.name: entry for entry in entry_points(group=GROUP)}
    if not separator or scheme not in found:
        raise ValueError(
            f"checkpoint storage {uri!r} has no known scheme; known: "
            f"{', '.join(f'{name}://' for name in sorted(found)) or 'none is installed'}."
        )
    try:
        return cast("CheckpointStorageFactory", found[scheme].load())
    except ImportError as error:
        raise ValueError(f"checkpoint storage {uri!r} needs a package that is not installed: {error}.") from error
