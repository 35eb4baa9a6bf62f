"""What an engine is told of the run that it stands for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from holdfast.harness.model.plan import Plan
from holdfast.harness.model.target import Target


class Place(msgspec.Struct, frozen=True):
    """One run.

    Attributes:
        folder: exists, is empty at first, and survives the processes of the engine; they work in it.
        workers: how many processes there are, from 0.
        partitions: how many the input has, from 0.
        digest_key: of the identity hash (harness/adapter/README.md).
        plan: what is run, with its options.
        links: by link that the engine has declared, `host:port` to connect to in place of the service.
    """

    folder: Path
    workers: int
    partitions: int
    digest_key: int
    plan: Plan
    links: Mapping[Target, str] = {}
