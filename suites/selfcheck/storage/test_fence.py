"""Who may write, as the fence sees it: what threads share, and what a listing shows that is none of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pytest

from holdfast.fixtures.storages.fence import Fence
from holdfast.fixtures.storages.layout import EPOCHS
from holdfast.fixtures.storages.medium import put
from holdfast.fixtures.storages.memory import MemoryMedium, Place
from holdfast.fixtures.storages.on_medium import MediumStorage
from holdfast.fixtures.storages.s3 import S3Medium
from holdfast.fixtures.storages.seal import Seal
from holdfast.harness.spi.errors import Fenced
from holdfast.harness.spi.storage import StorageContext
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


@pytest.mark.parametrize("taken", [False, True])
def test_who_came_too_late_takes_away_his_own_file_alone(medium: Looks, taken: bool) -> None:
    """His file gives way to one of that name while he does not know yet that he is fenced off."""
    context = StorageContext(uri="", job="job")
    latter = MediumStorage(context, medium)

    class Overtaken(MediumStorage):
        def published(self, path: str, mark: Seal, publish: Callable[[], None]) -> None:
            def late() -> None:
                latter.claim(2)
                publish()
                if taken:
                    latter.finish(7, 2, b"of the latter")

            super().published(path, mark, late)

    former = Overtaken(context, medium)
    former.claim(1)
    with pytest.raises(Fenced):
        former.finish(7, 1, b"of the former")
    there = [path for path in medium.paths("") if path == "chk-7/_metadata"]
    assert bool(there) == taken
    if taken:
        assert latter.resolve("chk-7") == b"of the latter"


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
