"""A child process stands still when it is paused, whatever it is doing, or the pause fails in time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.harness.adapter import process
from holdfast.harness.adapter.child import Child
from holdfast.suites.selfcheck.services.listener import becomes
from holdfast.suites.selfcheck.services.spawning import paused, spawns, states, stop_pending

pytestmark = pytest.mark.tier("process")


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    return tmp_path / "fifo"


@pytest.fixture
def child(tmp_path: Path, fifo: Path) -> Iterator[Child]:
    """One that waits for a child of its own to begin."""
    made = Child(spawns(fifo), tmp_path, tmp_path / "log")
    try:
        assert becomes(lambda: states(made.pid) == ["D", "S"]), made.log()
        yield made
    finally:
        made.close()


def test_one_that_is_starting_a_child_stands_still_with_it(child: Child, fifo: Path) -> None:
    with paused(child.pid, fifo, child.pause):
        assert becomes(lambda: states(child.pid) == ["T", "T"])
        child.resume()
        assert becomes(lambda: states(child.pid) == ["S", "S"])


def test_a_pause_that_does_not_come_about_fails_and_is_undone(
    child: Child, fifo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "STANDSTILL_LIMIT_S", 0.2)
    with pytest.raises(OSError, match=r"process \d+ does not stand still 0\.2 s after SIGSTOP\."):
        child.pause()
    child.resume()
    assert not stop_pending(child.pid)
    with os.fdopen(os.open(fifo, os.O_RDWR)):
        assert becomes(lambda: states(child.pid) == ["S", "S"])
