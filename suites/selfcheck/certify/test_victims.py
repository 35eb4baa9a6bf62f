"""A victim that hangs is ended with all that it has started."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Thread

import pytest

from holdfast.harness.adapter.process_stat import process_stat
from holdfast.suites.certify.check import Violation
from holdfast.suites.certify.outside import victims
from holdfast.suites.certify.outside.telling import Act, Setting
from holdfast.suites.certify.outside.victims import Victims
from holdfast.suites.selfcheck.certify import hanging_performer
from holdfast.suites.selfcheck.services.listener import becomes

pytestmark = pytest.mark.tier("process")


def dead(pid: int) -> bool:
    stat = process_stat(pid)
    return stat is None or stat.state == "Z"


class TimerFrom(Thread):
    """A limit that passes when a file has content."""

    def __init__(self, path: Path, _limit_s: float, act: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self._path, self._act = path, act

    def run(self) -> None:
        if becomes(lambda: self._path.exists() and self._path.read_text() != "", 60.0):
            self._act()

    def cancel(self) -> None:
        """It has passed."""


def test_a_call_that_never_returns_is_a_finding_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = tmp_path / "pid"
    with closing(Victims(Setting(hanging_performer.__name__, "none", tmp_path.as_uri(), str(pid), {}))) as hanging:
        monkeypatch.setattr(victims, "Timer", partial(TimerFrom, pid))
        with pytest.raises(Violation, match="a process that uses it ended: it does not answer"):
            hanging.run([Act("hang")])
        assert becomes(lambda: dead(int(pid.read_text())))
