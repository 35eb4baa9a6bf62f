"""A victim that hangs is ended with all that it has started."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

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


def test_a_call_that_never_returns_is_a_finding_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = tmp_path / "pid"
    with closing(Victims(Setting(hanging_performer.__name__, "none", tmp_path.as_uri(), str(pid), {}))) as hanging:
        monkeypatch.setattr(victims, "PATIENCE_S", 3.0)  # It has imported all that it needs.
        with pytest.raises(Violation, match="a process that uses it ended: it does not answer"):
            hanging.run([Act("hang")])
        assert becomes(lambda: dead(int(pid.read_text())))
