"""The sweep takes what is ours and whose owner is dead, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("docker")

from docker.errors import APIError, NotFound

from holdfast.fixtures.services import labels
from holdfast.suites.selfcheck.test_lease import DEAD


class Thing:
    """A container or network that notes that it was removed."""

    def __init__(self, name: str, owner: str, run: str = "a", error: Exception | None = None) -> None:
        self.name = name
        self.labels = {labels.RUN: run, labels.OWNER: owner}
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


def test_only_the_dead_are_swept() -> None:
    alive = Thing("theirs", labels.labels("b")[labels.OWNER], "b")
    dead, network = Thing("ours", DEAD), Thing("net", DEAD)
    daemon: Any = Daemon(Listing(alive, dead), Listing(network))
    assert labels.leftovers(daemon) == ["container ours", "network net"]
    assert labels.sweep(daemon) == ["container ours: removed.", "network net: removed."]
    assert (dead.removed, network.removed, alive.removed) == (True, True, False)


def test_a_session_is_swept_by_its_id() -> None:
    owner = labels.labels("b")[labels.OWNER]
    mine, other = Thing("mine", owner, "b"), Thing("other", owner, "c")
    daemon: Any = Daemon(Listing(mine, other))
    assert labels.sweep(daemon, "b") == ["container mine: removed."]
    assert not other.removed


def test_what_cannot_be_removed_is_told() -> None:
    gone = Thing("gone", DEAD, error=NotFound("no such container"))
    stuck = Thing("stuck", DEAD, error=APIError("busy", explanation="in use"))
    daemon: Any = Daemon(Listing(gone, stuck))
    assert labels.sweep(daemon) == ["container stuck: cannot be removed (in use)."]
