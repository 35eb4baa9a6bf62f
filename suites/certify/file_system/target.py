"""What is certified: a factory of file systems, and where they may lie."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.spi.file_system import FileSystemFactory
from holdfast.suites.certify.outside import target
from holdfast.suites.certify.outside.file_system_performer import CONTRACT
from holdfast.suites.certify.outside.target import Target


def target_of(factory: FileSystemFactory | str, uri: str = "", options: Mapping[str, str] | None = None) -> Target:
    """As outside.target.target_of."""
    return target.target_of(CONTRACT, factory, uri, options)
