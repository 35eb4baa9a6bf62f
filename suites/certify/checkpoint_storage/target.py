"""What is certified: a factory, and where its storages may lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from holdfast.harness.spi.storage import CheckpointStorage, CheckpointStorageFactory, StorageContext, storage_factory
from holdfast.suites.certify import plug

INLINE_THRESHOLD = "execution.checkpointing.data-inline-threshold"
"""Option of a storage that keeps small files in their references; here it keeps none, unless a check is about it."""


class Target(msgspec.Struct, frozen=True):
    """What is certified.

    Attributes:
        name: by which another process finds the factory; empty: it cannot.
        uri: below which storages may lie; empty: a folder of the kit's own.
        options: for each storage.
        factory: of them; None: to be found by name.
    """

    name: str
    uri: str = ""
    options: Mapping[str, str] = {}
    factory: CheckpointStorageFactory | None = None

    def made(self, uri: str, job: str, options: Mapping[str, str]) -> CheckpointStorage:
        """A storage of one job at one place."""
        factory = self.factory or named(self.name)
        return factory(StorageContext(uri=uri, job=job, options=options))


def target_of(
    factory: CheckpointStorageFactory | str, uri: str = "", options: Mapping[str, str] | None = None
) -> Target:
    """
    Args:
        factory: a URI whose scheme is registered, `module:name`, or the factory itself.
        uri: of `Target`; where `factory` is a URI, it is that one.
        options: of `Target`.

    Raises:
        ValueError: the name leads nowhere, or there are two URIs.
    """
    if isinstance(factory, str):
        if "://" in factory:
            if uri:
                raise ValueError(f"both {factory!r} and {uri!r} are places: leave out --location.")
            uri = factory
        return Target(factory, uri, options or {}, named(factory))
    return Target(_name_of(factory), uri, options or {}, factory)


def named(name: str) -> CheckpointStorageFactory:
    """The factory of a name, or of the scheme of a URI.

    Raises:
        ValueError: it leads nowhere.
    """
    return storage_factory(name) if "://" in name else plug.loaded("checkpoint storage", name, CheckpointStorage)


def _name_of(factory: Callable[..., object]) -> str:
    name = f"{getattr(factory, '__module__', '')}:{getattr(factory, '__qualname__', '')}"
    try:
        return name if plug.loaded("checkpoint storage", name, CheckpointStorage) is factory else ""
    except ValueError:
        return ""
