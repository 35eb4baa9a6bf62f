"""Who may write: what the fence sees, and a coordinator that publishes while its successor recovers (RULES CRD-13)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import Any

import pytest

from holdfast.fixtures.reference.drivers.simulated.storage import Lane
from holdfast.fixtures.reference.parts import own_storage
from holdfast.fixtures.reference.protocol.effects import (
    JobRecord,
    MetadataStored,
    PersistJobRecord,
    PublishMetadata,
    Recover,
    Recovered,
    Superseded,
)
from holdfast.fixtures.reference.protocol.storage.checkpoint_files import CheckpointFiles
from holdfast.fixtures.reference.protocol.storage.file_layout import CHECKPOINTS, METADATA, FileLayout
from holdfast.fixtures.reference.protocol.storage.files import Files
from holdfast.fixtures.reference.protocol.storage.job_storage import JobStorage, StoredJob
from holdfast.fixtures.reference.protocol.storage.job_storages import JobStorages
from holdfast.fixtures.reference.protocol.storage.operation import Hold, Operation
from holdfast.fixtures.storages.fence import Fence
from holdfast.fixtures.storages.memory import MemoryMedium, MemoryUpload, Place
from holdfast.fixtures.storages.on_disk import DiskFiles
from holdfast.fixtures.storages.on_medium import INLINE_THRESHOLD, MediumStorage
from holdfast.fixtures.storages.s3 import S3Medium
from holdfast.fixtures.storages.stored_files import EPOCHS, Seal, put
from holdfast.harness.sim.disk import SimulatedDisk
from holdfast.harness.spi.errors import Fenced
from holdfast.harness.spi.file_system import FileSystem
from holdfast.harness.spi.storage import Scope, StorageContext
from holdfast.suites.selfcheck.storage.objects import ObjectsInMemory
from holdfast.suites.selfcheck.storing import TestWorld, outcome_of

CHECKPOINT = 3
RECORD = JobRecord(attempt=1, next_checkpoint=CHECKPOINT + 1, start=(0,))
MOST_CALLS = 40
_NUMBERS = count()
Store = SimulatedDisk | ObjectsInMemory
MakeFiles = Callable[[Any, str], FileSystem]
"""A file system on a store, for a folder of it."""


def on_disk(disk: Any, folder: str) -> DiskFiles:
    return DiskFiles(disk, f"coordinator-{next(_NUMBERS)}", folder)


def on_objects(client: Any, folder: str) -> S3Medium:
    pytest.importorskip("botocore", reason="the extra services is not installed")
    return S3Medium(client, "bucket", f"{folder}/" if folder else "")


class NeverAsks(MediumStorage):
    """A publication goes on whatever has happened meanwhile."""

    def require_epoch(self, epoch: int) -> None:
        pass

    def published(self, path: str, mark: Seal, publish: Callable[[], None]) -> None:
        publish()

    def list_folder(self, folder: str) -> Iterator[str]:
        return iter([path for path in self.medium.paths(folder) if not path.startswith("_epochs/")])


class Coordinator:
    """A coordinator whose store may stop it in front of each call.

    Attributes:
        stop: called there; None: nothing stops it.
        storage: its operations.
    """

    def __init__(self, files_of: MakeFiles, store: Store, kind: type[MediumStorage]) -> None:
        self.stop: Hold | None = None
        layout, world, stopping = FileLayout(), TestWorld(), Stopping(self, store)
        files = Files(files_of(stopping, ""))
        own = CheckpointFiles(
            layout,
            JobStorages(layout, lambda job: own_storage(job, files_of(stopping, CHECKPOINTS + job), kind)),
            files,
            0,
            world,
        )
        self.storage = JobStorage(layout, files, own, StoredJob(0, "", 1, latest=False), world)


class Stopping:
    """A store as a coordinator has it."""

    def __init__(self, coordinator: Coordinator, store: Store) -> None:
        self._coordinator = coordinator
        self._store = store

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._store, name)
        if not callable(call):
            return call

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


def disagreements(
    files_of: MakeFiles, store: Callable[[], Store], kind: type[MediumStorage] = MediumStorage
) -> set[str]:
    """What goes wrong in some order: a coordinator stops before one of its calls, its successor before one of its own,
    then the former goes on to its end, and then the latter."""
    found = set()
    for before in range(MOST_CALLS):
        for meanwhile in range(MOST_CALLS):
            where = store()
            former, latter = (Coordinator(files_of, where, kind) for _ in range(2))
            outcome_of(former.storage.recover(Recover()))
            outcome_of(former.storage.persist_job_record(PersistJobRecord(RECORD)))
            publish = PublishMetadata(CHECKPOINT, b"metadata")
            publication = Performance(former, former.storage.publish_metadata(publish))
            recovery = Performance(latter, latter.storage.recover(Recover()))
            publication.go_on(before)
            recovery.go_on(meanwhile)
            publication.go_on(MOST_CALLS)
            recovery.go_on(MOST_CALLS)
            found |= disagreement(
                publication, recovery, own_storage("job-0", files_of(where, f"{CHECKPOINTS}job-0"), kind)
            )
    return found


def disagreement(publication: Performance, recovery: Performance, storage: MediumStorage) -> set[str]:
    """What is wrong with the ends of both.

    Args:
        publication, recovery: that have ended.
        storage: as somebody sees it who comes later.
    """
    assert publication.outcome is not None
    assert recovery.outcome is not None
    recovered = recovery.outcome[-1]
    assert isinstance(recovered, Recovered)
    read = [each.checkpoint for each in recovered.checkpoints]
    answer = publication.outcome[-1]
    there = f"chk-{CHECKPOINT}/{METADATA}" in storage.list_folder("")
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
    ("files_of", "store"), [(on_disk, SimulatedDisk), (on_objects, ObjectsInMemory)], ids=["files", "objects"]
)
def test_both_agree_in_every_order(files_of: Any, store: Any) -> None:
    assert disagreements(files_of, store) == set()


@pytest.mark.parametrize(("files_of", "store"), [(on_disk, SimulatedDisk), (on_objects, ObjectsInMemory)])
def test_without_a_fence_they_do_not(files_of: Any, store: Any) -> None:
    assert "appeared behind the recovery" in disagreements(files_of, store, NeverAsks)


def test_a_savepoint_of_who_is_superseded_gets_no_name() -> None:
    """It may have asked before it began: another coordinator claims while the metadata is written."""
    disk = SimulatedDisk()
    former, latter = (Coordinator(on_disk, disk, MediumStorage) for _ in range(2))
    outcome_of(former.storage.recover(Recover()))
    publish = PublishMetadata(CHECKPOINT, b"metadata", folder="savepoints/savepoint-0-3/")
    publication = Performance(former, former.storage.publish_metadata(publish))
    publication.go_on(1)
    outcome_of(latter.storage.recover(Recover()))
    publication.go_on(MOST_CALLS)
    assert publication.outcome is not None
    assert publication.outcome[-1] == Superseded()
    assert not [path for path in disk.files if "savepoint" in path]


class Listing(list[str]):
    """What a look has listed; another thread has its turn when it is compared with what is known."""

    def __init__(self, paths: Iterable[str], meanwhile: Callable[[], None]) -> None:
        super().__init__(paths)
        self._meanwhile = meanwhile

    def __ne__(self, other: object) -> bool:
        self._meanwhile()
        return super().__ne__(other)


class Looks(MemoryMedium):
    """What is listed next, before the files that are there."""

    next: Sequence[str] | None = None

    def paths(self, folder: str) -> Sequence[str]:
        listed, self.next = self.next, None
        return super().paths(folder) if listed is None else listed


@pytest.fixture
def medium() -> Looks:
    return Looks(Place(), "job", 1 << 20, 1 << 22)


def test_an_older_look_of_another_thread_is_not_taken_for_ones_own(medium: Looks) -> None:
    fence = Fence(medium, "job")
    fence.claim(1)
    before = medium.paths(EPOCHS)
    Fence(medium, "job").claim(2)
    now = medium.paths(EPOCHS)

    def another_thread() -> None:
        medium.next = before
        fence.require(1)

    with pytest.raises(Fenced):
        fence.require(1)
    medium.next = Listing(now, another_thread)
    with pytest.raises(Fenced):
        fence.require(1)


class StoppingMedium(MemoryMedium):
    """Stands still in front of a call, while something else happens.

    Attributes:
        before: by call, what happens in front of the next one.
    """

    def __init__(self, place: Place) -> None:
        super().__init__(place, "job", 1 << 20, 1 << 22)
        self.before: dict[str, Callable[[], object]] = {}

    def begin(self, path: str) -> MemoryUpload:
        self.before.pop("begin", bool)()
        return super().begin(path)

    def remove(self, paths: Sequence[str]) -> Sequence[str]:
        self.before.pop("remove", bool)()
        return super().remove(paths)


class Two:
    """A coordinator and its successor on one place. The latter claims when the former, which has looked whether anybody
    has, begins its next file."""

    def __init__(self) -> None:
        place, context = Place(), StorageContext(uri="", job="job", options={INLINE_THRESHOLD: "0"})
        self.medium = StoppingMedium(place)
        self.former = MediumStorage(context, self.medium)
        self.latter = MediumStorage(context, MemoryMedium(place, "job", 1 << 20, 1 << 22))
        self.former.claim(1)
        self.medium.before["begin"] = lambda: self.latter.claim(2)


def test_what_came_too_late_is_seen_by_nobody_and_gives_way() -> None:
    two = Two()
    with pytest.raises(Fenced):
        two.former.finish(7, 1, b"of the former")
    assert list(two.latter.list_folder("")) == []
    with pytest.raises(FileNotFoundError):
        two.latter.resolve("chk-7")
    two.latter.finish(7, 2, b"of the latter")
    assert two.latter.resolve("chk-7") == b"of the latter"


def test_a_publication_that_came_too_late_takes_nothing_away() -> None:
    """The latter publishes in front of a removal by the former, or behind all that it does."""
    two = Two()
    two.medium.before["remove"] = lambda: two.latter.finish(7, 2, b"of the latter")
    with pytest.raises(Fenced):
        two.former.finish(7, 1, b"of the former")
    two.medium.remove([])
    assert two.latter.resolve("chk-7") == b"of the latter"


def test_a_cancellation_of_what_came_too_late_leaves_nothing() -> None:
    two = Two()
    stream = two.former.streams(7, 1).create(Scope.SHARED, "state", b"of the former")
    stream.write(b"of the former")
    with pytest.raises(Fenced):
        stream.commit()
    assert "shared/state" in two.medium.paths("")
    stream.cancel()
    assert "shared/state" not in two.medium.paths("")


@pytest.mark.parametrize("name", [".1.inherited.harness", "of-somebody", "x.inherited", "1.inherited.inherited"])
def test_what_is_no_claim_hinders_none(medium: Looks, name: str) -> None:
    fence = Fence(medium, "job")
    fence.claim(1)
    put(medium, f"{EPOCHS}/{name}", b"")
    put(medium, "chk-1/_metadata", b"")
    Fence(medium, "job").claim(2)
    assert fence.visible(medium.paths("")) == ["chk-1/_metadata"]
    assert medium.paths(EPOCHS) == sorted([f"{EPOCHS}/{each}" for each in (name, "2", "2.inherited")])
    with pytest.raises(Fenced):
        fence.require(1)


def test_who_may_not_list_what_is_under_way_claims() -> None:
    client = ObjectsInMemory()
    client.tells_uploads = False
    files = S3Medium(client, "bucket", "job/")
    put(files, "chk-1/_metadata", b"")
    Fence(files, "job").claim(1)
    assert "job/_epochs/1.inherited" in client.objects
    with pytest.raises(PermissionError):
        files.abandon_uploads()
