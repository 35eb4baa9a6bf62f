"""The sweep takes what is ours and whose owner is dead, and nothing else."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("docker")

from docker.errors import APIError, NotFound

from holdfast.fixtures.services import labels

DEAD = f"{2**22 + 1}:5"
"""No process can have this number."""


class Thing:
    """A container or network that notes that it was removed."""

    def __init__(
        self, name: str, owner: str, run: str = "a", exchange: str = "", error: Exception | None = None
    ) -> None:
        self.name = name
        self.labels = {labels.RUN: run, labels.OWNER: owner, labels.EXCHANGE: exchange}
        self.attrs = {"Labels": self.labels}
        self.removed = False
        self._error = error

    def remove(self, **options: bool) -> None:
        if self._error is not None:
            raise self._error
        self.removed = True


class Listing:
    """Filters by label, as the daemon does."""

    def __init__(self, *things: Thing) -> None:
        self._things = things

    def list(self, filters: dict[str, str], **options: bool) -> list[Thing]:
        name, equals, value = filters["label"].partition("=")
        return [each for each in self._things if name in each.labels and (not equals or each.labels[name] == value)]


class Daemon:
    """What the sweep asks of a client."""

    def __init__(self, containers: Listing, networks: Listing | None = None) -> None:
        self.containers = containers
        self.networks = networks or Listing()
        self.volumes = Listing()


def test_we_live_and_others_do_not(tmp_path: Path) -> None:
    own = labels.labels("a", tmp_path)[labels.OWNER]
    assert labels.owner_lives(own)
    child = subprocess.Popen(["true"])
    child.wait()
    assert not labels.owner_lives(f"{child.pid}:{own.partition(':')[2]}")
    assert not labels.owner_lives(f"{os.getpid()}:1"), "the number belongs to another process by now"
    for nonsense in ("", "x", "1", ":", "-1:0", DEAD, f"{2**22 + 1}:0"):
        assert not labels.owner_lives(nonsense), nonsense


def test_only_the_dead_are_swept(tmp_path: Path) -> None:
    alive = Thing("theirs", labels.labels("b", tmp_path)[labels.OWNER], "b")
    dead, network = Thing("ours", DEAD), Thing("net", DEAD)
    daemon: Any = Daemon(Listing(alive, dead), Listing(network))
    assert labels.leftovers(daemon) == ["container ours", "network net"]
    assert labels.sweep(daemon) == ["container ours: removed.", "network net: removed."]
    assert (dead.removed, network.removed, alive.removed) == (True, True, False)


def test_a_session_is_swept_by_its_id(tmp_path: Path) -> None:
    owner = labels.labels("b", tmp_path)[labels.OWNER]
    mine, other = Thing("mine", owner, "b"), Thing("other", owner, "c")
    daemon: Any = Daemon(Listing(mine, other))
    assert labels.sweep(daemon, "b") == ["container mine: removed."]
    assert not other.removed


def test_what_cannot_be_removed_is_told() -> None:
    gone = Thing("gone", DEAD, error=NotFound("no such container"))
    stuck = Thing("stuck", DEAD, error=APIError("busy", explanation="in use"))
    daemon: Any = Daemon(Listing(gone, stuck))
    assert labels.sweep(daemon) == ["container stuck: cannot be removed (in use)."]


def test_only_a_folder_that_we_can_have_made_is_deleted(tmp_path: Path) -> None:
    ours = Path(tempfile.mkdtemp(prefix=labels.EXCHANGE_PREFIX))
    (ours / "file").touch()
    precious = tmp_path / "holdfast-exchange-x"
    precious.mkdir()
    outside = Path(tempfile.gettempdir()) / f"{labels.EXCHANGE_PREFIX}x" / ".." / ".."
    things = [Thing(str(each), DEAD, exchange=str(each)) for each in (ours, precious, outside)]
    daemon: Any = Daemon(Listing(*things))
    assert f"folder {ours}: removed." in labels.sweep(daemon)
    assert not ours.exists()
    assert precious.exists()
