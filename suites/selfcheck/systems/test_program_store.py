"""A file of a program's store is put back when no life can refuse it any more for what the harness left of it."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import create_autospec

import pytest

from holdfast.fixtures.systems.json_lines.store import STATE, Store
from holdfast.fixtures.systems.json_lines.workers import Workers
from holdfast.harness.adapter.damaged_file import TRUNCATE
from holdfast.harness.adapter.recorder import HARNESS, Recorder
from holdfast.harness.model.events import ObjectMended, RecoveryFailed

CONTENT = b"0123456789"


class Stand:
    def __init__(self, folder: Path) -> None:
        self.file = folder / "store" / "table"
        self.file.parent.mkdir()
        self.file.write_bytes(CONTENT)
        self.workers = create_autospec(Workers, instance=True)
        self.workers.ready = self.workers.beginning = False
        self.recorder = Recorder()
        self.store = Store(self.file.parent, folder / "damages", self.recorder, self.workers)
        self.store.damage(STATE, TRUNCATE)

    def put_back(self) -> bool:
        return self.file.read_bytes() == CONTENT


@pytest.fixture
def stand(tmp_path: Path) -> Stand:
    return Stand(tmp_path)


def test_it_is_killed_and_its_file_is_put_back_once_it_has_refused_that(stand: Stand) -> None:
    stand.workers.kill.assert_called_once_with()
    stand.store.mend()
    assert not stand.put_back(), "nobody has read it"
    assert stand.store.refuses("torn")
    stand.store.tend()
    assert stand.put_back()
    kinds = [type(event) for event in stand.recorder.nodes[HARNESS]]
    assert kinds[-2:] == [RecoveryFailed, ObjectMended]
    assert not stand.store.refuses("torn")


def test_a_life_that_begins_is_waited_for(stand: Stand) -> None:
    """It may have read what was left, and may end of that a moment later."""
    assert stand.store.refuses("torn")
    stand.workers.beginning = True
    stand.store.mend()
    assert not stand.put_back()
    assert stand.store.refuses("torn"), "it ends of that"
    stand.workers.beginning = False
    stand.store.tend()
    assert stand.put_back()


def test_one_that_starts_on_it_has_recovered(stand: Stand) -> None:
    stand.workers.ready = True
    stand.store.mend()
    assert stand.store.mended()
    assert not stand.put_back()
    [mended] = [event for event in stand.recorder.nodes[HARNESS] if isinstance(event, ObjectMended)]
    assert mended.length is None
