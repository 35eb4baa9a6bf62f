"""Which file system a URI means."""

from __future__ import annotations

from typing import cast

from holdfast.harness.spi.by_scheme import registered
from holdfast.harness.spi.file_system.file_system import FileSystemFactory


def file_system_factory(uri: str) -> FileSystemFactory:
    """The factory that is registered for the scheme of a URI (CFG-05): an entry point `holdfast.file_systems`.

    Raises:
        ValueError: it has no scheme, or nobody has registered it, or what it needs is not installed.
    """
    return cast("FileSystemFactory", registered("file system", "holdfast.file_systems", uri))
