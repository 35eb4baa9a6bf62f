"""A real object store: as a process of this machine, and in a container."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, cast

from holdfast.fixtures.services.processes.installation import missing
from holdfast.fixtures.services.site import OBJECT_STORE
from holdfast.harness.model.case import Tier
from holdfast.suites.selfcheck.marks import on

if TYPE_CHECKING:
    from holdfast.fixtures.services.object_store import OwnObjectStore

BUCKET = "holdfast"
TIERS = (on(Tier.PROCESS, missing(OBJECT_STORE)), on(Tier.CONTAINERS))
"""Where one can run, as arguments of a test or a fixture."""


@contextmanager
def object_store(tier: Tier) -> Iterator[OwnObjectStore]:
    """One with a bucket, which ends with the context."""
    from holdfast.fixtures.services.processes.stack import ProcessStack
    from holdfast.fixtures.services.stack import Stack

    with closing(ProcessStack() if tier is Tier.PROCESS else Stack()) as stack:
        stack.start(OBJECT_STORE)
        stack.object_store.create_bucket(BUCKET)
        yield cast("OwnObjectStore", stack.object_store)
