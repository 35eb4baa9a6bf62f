"""A victim that hangs is ended with all that it has started."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Thread

import pytest

from holdfast.fixtures.sinks.files import FileSink
from holdfast.harness.adapter.process import process_stat
from holdfast.suites.certify.check import CannotTry, Violation
from holdfast.suites.certify.checkpoint_storage.bench import Bench as StorageBench
from holdfast.suites.certify.file_system.bench import Bench as FileSystemBench
from holdfast.suites.certify.outside import sink_performer, victim, victims
from holdfast.suites.certify.outside.messages import Act, PartSettings
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
    with closing(Victims(PartSettings(hanging_performer.__name__, "none", tmp_path.as_uri(), str(pid), {}))) as hanging:
        monkeypatch.setattr(victims, "Timer", partial(TimerFrom, pid))
        with pytest.raises(Violation, match="a process that uses it ended: it does not answer"):
            hanging.run([Act("hang")])
        assert becomes(lambda: dead(int(pid.read_text())))


def test_another_process_finds_what_this_one_can_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a test that lies in a folder of its own, which pytest has put in front."""
    (tmp_path / "only_here.py").write_text(f"from {FileSink.__module__} import FileSink as Sink\n")
    monkeypatch.syspath_prepend(tmp_path)
    setting = PartSettings(sink_performer.__name__, "only_here:Sink", (tmp_path / "rows").as_uri(), "job", {})
    with closing(Victims(setting)) as ours:
        [outcome] = ours.run([Act("begin", epoch=1)]).outcomes
    assert not outcome.error, outcome.text


PRINTS = f"""
import sys
from {FileSink.__module__} import FileSink
print("imported", flush=True)
class Sink(FileSink):
    def __init__(self, context):
        print("made", sys.stdin.read(), flush=True)
        super().__init__(context)
"""


def test_what_a_part_prints_is_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The kit broke on it."""
    (tmp_path / "prints.py").write_text(PRINTS)
    monkeypatch.syspath_prepend(tmp_path)
    setting = PartSettings(sink_performer.__name__, "prints:Sink", (tmp_path / "rows").as_uri(), "job", {})
    with closing(Victims(setting)) as ours:
        [outcome] = ours.run([Act("begin", epoch=1)]).outcomes
    assert not outcome.error, outcome.text
    assert capfd.readouterr().err.split() == ["imported", "made"]


def test_a_factory_that_no_other_process_finds_is_not_tried(tmp_path: Path) -> None:
    setting = PartSettings(sink_performer.__name__, "__main__:NoSuchSink", tmp_path.as_uri(), "job", {})
    with pytest.raises(CannotTry, match=r"another process cannot import its factory: .*NoSuchSink"):
        Victims(setting)


@pytest.mark.parametrize("performer", [StorageBench.performer, FileSystemBench.performer, sink_performer.__name__])
def test_a_victim_imports_no_check_of_a_kit_and_no_hypothesis(performer: str) -> None:
    """Each check starts a victim, and half of its processor time went into importing what it never uses."""
    program = f"import sys, {victim.__name__}, {performer}; print(*sys.modules)"
    imported = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout
    modules = set(imported.split())
    assert performer in modules
    assert not [each for each in modules if each.partition(".")[0] == "hypothesis" or ".checks" in each]
