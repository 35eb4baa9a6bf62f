"""What is certified: a factory of checkpoint storages, and where they may lie."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.spi.storage import CheckpointStorageFactory
from holdfast.suites.certify.outside import target
from holdfast.suites.certify.outside.storage_performer import CONTRACT
from holdfast.suites.certify.outside.target import Target

INLINE_THRESHOLD = "execution.checkpointing.data-inline-threshold"
"""Option of a storage that keeps small files in their references; here it keeps none, unless a check is about it."""


def target_of(
    factory: CheckpointStorageFactory | str, uri: str = "", options: Mapping[str, str] | None = None
) -> Target:
    """As outside.target.target_of."""
    return target.target_of(CONTRACT, factory, uri, options)
