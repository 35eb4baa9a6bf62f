"""Under pytest-xdist, tests of one group stay in one process, and the largest groups begin first.

A part of the plugin that is loaded where tests are spread. xdist's own scheduler for this mode, `--dist loadgroup`,
hides the group in the id of a test; since pytest 9.2 ids cannot be changed any more, and every test goes its own way.
Here each process writes down the groups of what it collected, and the scheduler reads that.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from holdfast.harness.lease import Lease

MARK = "xdist_group"
MODE = "loadgroup"
"""Of xdist's `--dist`. Whoever asks for another one, or for none, gets what xdist does."""
_FILE = "holdfast_groups"


class GroupWriter:
    """In a process that runs tests: writes down which test is in which group."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Before xdist reports that the collection is over."""
        marks = {item.nodeid: item.get_closest_marker(MARK) for item in session.items}
        groups = {test: str(mark.args[0] if mark.args else mark.kwargs["name"]) for test, mark in marks.items() if mark}
        self._path.write_bytes(msgspec.json.encode(groups))


class GroupReader:
    """In the process that spreads them."""

    def __init__(self) -> None:
        self._lease = Lease("groups")

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: WorkerController) -> None:
        node.workerinput[_FILE] = str(self._lease.room / node.gateway.id)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Producer) -> LoadScopeScheduling:
        return GroupScheduling(config, log, self._lease.room)

    def pytest_unconfigure(self) -> None:
        self._lease.close()


class GroupScheduling(LoadScopeScheduling):  # type: ignore[misc]  # xdist tells no types
    """Hands out group by group, those of the most tests first, then test by test what is in none."""

    def __init__(self, config: pytest.Config, log: Producer, folder: Path) -> None:
        super().__init__(config, log)
        self._folder = folder
        self._groups: Mapping[str, str] | None = None

    def _split_scope(self, nodeid: str) -> str:
        if self._groups is None:  # All processes have collected, and all the same.
            path = next(self._folder.iterdir())
            self._groups = msgspec.json.decode(path.read_bytes(), type=dict[str, str])
        return self._groups.get(nodeid, nodeid)

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        """Forget completed tests: xdist counts all that a process was given, at each test that it ends."""
        group = self._split_scope(self.registered_collections[node][item_index])
        super().mark_test_complete(node, item_index, duration)
        if all(self.assigned_work[node][group].values()):
            del self.assigned_work[node][group]


def keep_together(config: pytest.Config) -> None:
    """Let what runs or spreads tests here know of groups; does nothing where they are not spread."""
    path = getattr(config, "workerinput", {}).get(_FILE)
    if path is not None:
        config.pluginmanager.register(GroupWriter(Path(path)))
    elif config.getoption("tx", None) and config.getoption("dist") == MODE:
        config.pluginmanager.register(GroupReader())
