"""What is certified: a factory of file systems, and where they may lie."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.spi.file_system import FileSystem, FileSystemFactory, file_system_factory
from holdfast.suites.certify.outside import target
from holdfast.suites.certify.outside.target import Contract, Target

CONTRACT = Contract("file system", FileSystem, file_system_factory)


def target_of(factory: FileSystemFactory | str, uri: str = "", options: Mapping[str, str] | None = None) -> Target:
    """As outside.target.target_of."""
    return target.target_of(CONTRACT, factory, uri, options)
