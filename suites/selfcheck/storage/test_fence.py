"""Who may write, as the fence sees it: what threads share, and what a listing shows that is none of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pytest

from holdfast.fixtures.storages.fence import Fence
from holdfast.fixtures.storages.layout import EPOCHS
from holdfast.fixtures.storages.memory import MemoryMedium, Place
from holdfast.harness.spi.errors import Fenced


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
