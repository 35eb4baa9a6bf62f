"""A coordinator publishes while its successor recovers, stopped and resumed between any two changes (RULES CRD-13).

Whatever the order, both agree on what is published: the successor reads the metadata if the publication succeeds, and
the metadata never appears if the successor does not read it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import pytest

from holdfast.fixtures.reference.drivers.simulated.lane import Lane
from holdfast.fixtures.reference.protocol.effects import (
    JobRecord,
    MetadataStored,
    PersistJobRecord,
    PublishMetadata,
    Recover,
    Recovered,
    Superseded,
)
from holdfast.fixtures.reference.protocol.storage.checkpoint_files import OwnFiles
from holdfast.fixtures.reference.protocol.storage.file_layout import FileLayout
from holdfast.fixtures.reference.protocol.storage.files import Files
from holdfast.fixtures.reference.protocol.storage.job_storage import JobStorage, StoredJob
from holdfast.fixtures.reference.protocol.storage.medium import Medium, Permission, permitted_always
from holdfast.fixtures.reference.protocol.storage.object_store import ObjectStore
from holdfast.fixtures.reference.protocol.storage.operation import Operation
from holdfast.fixtures.reference.protocol.storage.storage_world import Hold
from holdfast.fixtures.storages.on_disk import DiskFiles
from holdfast.harness.sim.disk import SimulatedDisk
from holdfast.suites.selfcheck.storage.objects import ObjectsInMemory
from holdfast.suites.selfcheck.storing import TestWorld, outcome_of

CHECKPOINT = 3
RECORD = JobRecord(attempt=1, next_checkpoint=CHECKPOINT + 1, start=(0,))
MOST_CALLS = 40
_NUMBERS = count()
Store = SimulatedDisk | ObjectsInMemory
MakeMedium = Callable[[Any], Medium]


class OnDisk(Files):
    """Files on a simulated disk."""

    def __init__(self, disk: Any) -> None:
        super().__init__(DiskFiles(disk, f"coordinator-{next(_NUMBERS)}"))


class NeverSeals(OnDisk):
    """A successor leaves alone what its predecessor has under way."""

    def seal(self, paths: Sequence[str]) -> bool:
        return False


class NeverAsks(OnDisk):
    """A publication goes on whatever has happened meanwhile."""

    def publish(self, path: str, content: bytes | memoryview, permitted: Permission = permitted_always) -> None:
        super().publish(path, content)


class ObjectsNeverSeal(ObjectStore):
    """As NeverSeals."""

    def seal(self, paths: Sequence[str]) -> bool:
        return False


class Coordinator:
    """A coordinator whose store may stop it in front of each call.

    Attributes:
        stop: called there; None: nothing stops it.
        storage: its operations.
    """

    def __init__(self, medium: MakeMedium, store: Store) -> None:
        self.stop: Hold | None = None
        files, layout, world = medium(Stopping(self, store)), FileLayout(), TestWorld()
        own = OwnFiles(layout, files, 0, world)
        self.storage = JobStorage(layout, files, own, StoredJob(0, "", 1, latest=False), world)


class Stopping:
    """A store as a coordinator has it."""

    def __init__(self, coordinator: Coordinator, store: Store) -> None:
        self._coordinator = coordinator
        self._store = store

    def __getattr__(self, name: str) -> Callable[..., Any]:
        call = getattr(self._store, name)

        def stopped(*arguments: Any, **named: Any) -> Any:
            if self._coordinator.stop is not None:
                self._coordinator.stop()
            return call(*arguments, **named)

        return stopped


class Performance:
    """An operation of a coordinator, carried out call by call on its store; no fault strikes, and nothing takes time.

    Attributes:
        outcome: of the operation; None: it is under way.
    """

    def __init__(self, coordinator: Coordinator, operation: Operation) -> None:
        self.outcome: tuple[object, ...] | None = None
        self._coordinator = coordinator
        self._lane = Lane(lambda: outcome_of(operation))

    def go_on(self, calls: int) -> None:
        """Come to so many calls on the store, or to the end if these are fewer."""
        for _ in range(calls):
            if self.outcome is None:
                self._coordinator.stop = self._lane.hold
                result = self._lane.go_on()
                self.outcome = result if isinstance(result, tuple) else None


def disagreements(medium: MakeMedium, store: Callable[[], Store]) -> set[str]:
    """What goes wrong in some order: a coordinator stops before one of its calls, its successor before one of its own,
    then the former goes on to its end, and then the latter."""
    found = set()
    for before in range(MOST_CALLS):
        for meanwhile in range(MOST_CALLS):
            where = store()
            former, latter = (Coordinator(medium, where) for _ in range(2))
            outcome_of(former.storage.recover(Recover()))
            outcome_of(former.storage.persist_job_record(PersistJobRecord(RECORD)))
            publish = PublishMetadata(CHECKPOINT, b"metadata")
            publication = Performance(former, former.storage.publish_metadata(publish))
            recovery = Performance(latter, latter.storage.recover(Recover()))
            publication.go_on(before)
            recovery.go_on(meanwhile)
            publication.go_on(MOST_CALLS)
            recovery.go_on(MOST_CALLS)
            found |= disagreement(publication, recovery, where)
    return found


def disagreement(publication: Performance, recovery: Performance, where: Store) -> set[str]:
    """What is wrong with the ends of both."""
    assert publication.outcome is not None
    assert recovery.outcome is not None
    recovered = recovery.outcome[-1]
    assert isinstance(recovered, Recovered)
    read = [each.checkpoint for each in recovered.checkpoints]
    answer = publication.outcome[-1]
    there = where.exists(FileLayout().metadata_path(CHECKPOINT, 0))
    assert isinstance(answer, MetadataStored | Superseded), answer
    found = set()
    if isinstance(answer, MetadataStored) and not read:
        found.add("stored, and the successor does not know it")
    if there and not read:
        found.add("appeared behind the recovery")
    if read and not there:
        found.add("gone behind the recovery")
    return found


@pytest.mark.parametrize(
    ("medium", "store"), [(OnDisk, SimulatedDisk), (ObjectStore, ObjectsInMemory)], ids=["files", "objects"]
)
def test_both_agree_in_every_order(medium: Any, store: Any) -> None:
    assert disagreements(medium, store) == set()


@pytest.mark.parametrize(
    ("medium", "store"),
    [(NeverSeals, SimulatedDisk), (NeverAsks, SimulatedDisk), (ObjectsNeverSeal, ObjectsInMemory)],
)
def test_without_the_seal_or_the_permission_they_do_not(medium: Any, store: Any) -> None:
    assert "appeared behind the recovery" in disagreements(medium, store)
