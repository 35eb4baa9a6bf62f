"""A coordinator publishes while its successor recovers, stopped and resumed between any two steps (RULES CRD-13).

Whatever the order, both agree on what is published: the successor reads the metadata if the publication succeeds, and
the metadata never appears if the successor does not read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

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
from holdfast.fixtures.reference.protocol.storage.file_system import FileSystem
from holdfast.fixtures.reference.protocol.storage.job_storage import JobStorage, StoredJob
from holdfast.fixtures.reference.protocol.storage.medium import Medium
from holdfast.fixtures.reference.protocol.storage.object_store import ObjectStore
from holdfast.fixtures.reference.protocol.storage.operation import Operation
from holdfast.fixtures.reference.protocol.storage.steps import Permission, Steps, nothing
from holdfast.harness.model.storage_steps import Exists, is_storage_step
from holdfast.harness.sim.disk import SimulatedDisk
from holdfast.suites.selfcheck.storage.objects import ObjectsInMemory

CHECKPOINT = 3
RECORD = JobRecord(attempt=1, next_checkpoint=CHECKPOINT + 1, start=(0,))
MOST_STEPS = 40
Store = SimulatedDisk | ObjectsInMemory


class NeverSeals(FileSystem):
    """A successor leaves alone what its predecessor has under way."""

    def seal(self, paths: Sequence[str]) -> Steps[bool]:
        yield from ()
        return False


class NeverAsks(FileSystem):
    """A publication goes on whatever has happened meanwhile."""

    def publish(self, path: str, content: bytes, permitted: Permission = nothing) -> Steps[None]:
        yield from super().publish(path, content)


class ObjectsNeverSeal(ObjectStore):
    """As NeverSeals."""

    def seal(self, paths: Sequence[str]) -> Steps[bool]:
        yield from ()
        return False


class Performance:
    """An operation that is carried out step by step on a store.

    Attributes:
        outcome: of the operation; None: it is under way.
    """

    def __init__(self, operation: Operation, store: Store) -> None:
        self._steps = operation.steps
        self._store = store
        self.outcome: tuple[object, ...] | None = None
        self._stops = self._stepwise()

    def go_on(self, steps: int) -> None:
        """Take so many steps on the store, or all that are left if these are fewer."""
        for _ in range(steps):
            next(self._stops, None)

    def _stepwise(self) -> Iterator[None]:
        """Stop before each step on the store; no fault strikes, and nothing takes time."""
        answer: Any = None
        error: OSError | None = None
        while True:
            try:
                step = self._steps.throw(error) if error is not None else self._steps.send(answer)
            except StopIteration as end:
                self.outcome = end.value
                return
            answer, error = None, None
            if is_storage_step(step):
                yield
                try:
                    answer = self._store.take(step)
                except OSError as raised:
                    error = raised


def at_once(operation: Operation, store: Store) -> tuple[object, ...]:
    """The outcome of an operation that nothing disturbs."""
    performance = Performance(operation, store)
    performance.go_on(MOST_STEPS)
    assert performance.outcome is not None
    return performance.outcome


def job_storage(medium: Medium) -> JobStorage:
    layout = FileLayout()
    return JobStorage(layout, medium, OwnFiles(layout, medium, 0), StoredJob(0, "", 1, latest=False))


def disagreements(medium: Callable[[], Medium], store: Callable[[], Store]) -> set[str]:
    """What goes wrong in some order: a coordinator stops before one of its steps, its successor before one of its own,
    then the former goes on to its end, and then the latter."""
    found = set()
    for before in range(MOST_STEPS):
        for meanwhile in range(MOST_STEPS):
            where = store()
            former, latter = (job_storage(medium()) for _ in range(2))
            at_once(former.recover(Recover()), where)
            at_once(former.persist_job_record(PersistJobRecord(RECORD)), where)
            publication = Performance(former.publish_metadata(PublishMetadata(CHECKPOINT, b"metadata")), where)
            recovery = Performance(latter.recover(Recover()), where)
            publication.go_on(before)
            recovery.go_on(meanwhile)
            publication.go_on(MOST_STEPS)
            recovery.go_on(MOST_STEPS)
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
    there = where.take(Exists(FileLayout().metadata_path(CHECKPOINT, 0)))
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
    ("medium", "store"), [(FileSystem, SimulatedDisk), (ObjectStore, ObjectsInMemory)], ids=["files", "objects"]
)
def test_both_agree_in_every_order(medium: Any, store: Any) -> None:
    assert disagreements(medium, store) == set()


@pytest.mark.parametrize(
    ("medium", "store"),
    [(NeverSeals, SimulatedDisk), (NeverAsks, SimulatedDisk), (ObjectsNeverSeal, ObjectsInMemory)],
)
def test_without_the_seal_or_the_permission_they_do_not(medium: Any, store: Any) -> None:
    assert "appeared behind the recovery" in disagreements(medium, store)
