"""Which file system a URI means."""

from __future__ import annotations

from typing import cast

from holdfast.harness.spi.file_system.file_system import FileSystemFactory
from holdfast.harness.spi.parts import part_of_scheme


def file_system_factory(uri: str) -> FileSystemFactory:
    """The factory that is registered for the scheme of a URI (CFG-05), among `holdfast.parts`.

    Raises:
        ValueError: it has no scheme, or nobody has registered it, or what it needs is not installed.
    """
    return cast("FileSystemFactory", part_of_scheme("file-system", uri))
