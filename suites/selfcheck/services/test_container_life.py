"""A container that has ended: its log is read when the engine has taken all of it."""

from __future__ import annotations

import os
from typing import cast

import pytest

from holdfast.fixtures.services.container import Container
from holdfast.fixtures.services.container_life import ContainerLife
from holdfast.harness.adapter import process


class Draining:
    """A container whose first process is gone, which its engine has not noticed."""

    pid = 0
    written = "time first"

    def wait_for_end(self, limit_s: float) -> None:
        self.written += "\ntime last words"

    def log(self) -> str:
        return self.written

    def last_line(self) -> str:
        return self.written.splitlines()[-1]


class Forgotten(Draining):
    """It was removed meanwhile."""

    def wait_for_end(self, limit_s: float) -> None:
        raise OSError("no such container")


def test_the_last_words_of_the_dead_are_awaited() -> None:
    """They were missing where the engine was slower than whoever read the log."""
    assert ContainerLife(cast("Container", Draining())).last_words() == "time last words"
    assert ContainerLife(cast("Container", Draining())).log().endswith("last words")
    assert ContainerLife(cast("Container", Forgotten())).log() == "time first"


@pytest.mark.parametrize(("numbers", "first"), [([4711, 1], True), ([9, 23, 1], True), ([1], False), ([9, 7], False)])
def test_a_number_of_another_space_of_pids_is_told_from_a_container(
    numbers: list[int], first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would have been killed in place of the container's process."""
    assert process.numbers_of(os.getpid())[0] == os.getpid()
    assert not process.is_first(os.getpid())
    monkeypatch.setattr(process, "numbers_of", lambda _: numbers)
    assert process.is_first(1) == first
