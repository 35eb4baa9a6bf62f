"""Who may write, as the fence sees it: what threads share, and what a listing shows that is none of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pytest

from holdfast.fixtures.storages.fence import Fence
from holdfast.fixtures.storages.layout import EPOCHS
from holdfast.fixtures.storages.medium import put
from holdfast.fixtures.storages.memory import MemoryMedium, MemoryUpload, Place
from holdfast.fixtures.storages.on_medium import MediumStorage
from holdfast.fixtures.storages.options import INLINE_THRESHOLD
from holdfast.fixtures.storages.s3 import S3Medium
from holdfast.harness.spi.errors import Fenced
from holdfast.harness.spi.storage import Scope, StorageContext
from holdfast.suites.selfcheck.storage.objects import ObjectsInMemory


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


class Stopping(MemoryMedium):
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
        self.medium = Stopping(place)
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
