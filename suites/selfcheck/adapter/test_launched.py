"""A program that we started ends with all of its group, and nobody goes on before all of that is gone."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.harness.adapter.child import Child, Launched
from holdfast.harness.adapter.process import end_group
from holdfast.harness.adapter.process_stat import process_stat
from holdfast.suites.selfcheck.services.listener import becomes

LARGE_BYTES = 300 << 20
"""A process that holds so much takes far longer to go than one that is small."""
CHILD = f"held = b'x' * {LARGE_BYTES}; print(len(held), flush=True); input()"
LEADER = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {CHILD!r}], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
child.wait()
"""


def test_what_dies_slowly_is_gone_when_its_group_was_ended(tmp_path: Path) -> None:
    """Only the leader was awaited: the folder of a run was removed while others still wrote there."""
    log = tmp_path / "log"
    with closing(Launched([sys.executable, "-c", LEADER], tmp_path, log)) as program:
        assert becomes(lambda: log.read_text().endswith("\n"))
        child = int(log.read_text())
        assert program.end() == -9
        stat = process_stat(child)
        assert stat is None or stat.state == "Z"


@pytest.fixture
def outlived(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of each group seems to outlive SIGKILL, as one does that waits for a disk."""

    def ends_late(leader: int) -> None:
        end_group(leader)
        raise OSError(f"process {leader} outlives SIGKILL for 5 s.")

    monkeypatch.setattr("holdfast.harness.adapter.child.end_group", ends_late)


@pytest.mark.usefixtures("outlived")
def test_what_outlives_sigkill_is_told_at_an_end_and_keeps_nobody_from_closing(tmp_path: Path) -> None:
    first, second = (Child([sys.executable, "-c", "input()"], tmp_path, tmp_path / "log") for _ in range(2))
    with pytest.raises(OSError, match="outlives SIGKILL"):
        first.end()
    for child in (first, second):
        child.close()
        with pytest.raises(ValueError, match="closed file"):
            child.fileno()
