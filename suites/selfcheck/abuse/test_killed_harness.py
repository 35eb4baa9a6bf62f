"""SIGKILL of the harness: nothing lives on, and the sweep undoes the rest."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.fixtures.systems import programs
from holdfast.harness.adapter.process import Process
from holdfast.harness.cli import execute
from holdfast.harness.engine.certification.worker_pool import WorkerPool
from holdfast.harness.engine.site.interruption import Interruption
from holdfast.harness.lease import Lease
from holdfast.suites.selfcheck.abuse.conftest import Invoke
from holdfast.suites.selfcheck.marks import sweeps

pytestmark = sweeps


def swept(out: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What a sweep says of this folder, for it also removes what others left on this machine; it always ends well."""
    assert execute(["sweep", str(out)]) == 0
    return [line for line in capsys.readouterr().out.splitlines() if line.startswith(str(out))]


@pytest.mark.parametrize("whose", ["paused_worker", pytest.param("paused_coordinator", marks=pytest.mark.nightly)])
def test_with_a_paused_process_nothing_lives_on(
    invoke: Invoke, tmp_path: Path, whose: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    running = invoke("run", request.getfixturevalue(whose), "--tier", "process", "--out", out)
    running.wait_until_one_is_paused()
    running.send(signal.SIGKILL)
    assert running.exit_code() == -signal.SIGKILL
    assert running.left() == []
    [part] = out.iterdir()
    assert execute(["run", str(tmp_path / "plan.json"), "--system", "nonsense", "--out", str(out)]) == 3
    assert capsys.readouterr().err.startswith(f"1 run was cut off earlier: holdfast sweep {out}\n")
    assert swept(out, capsys) == [
        f"{part}: faults[0] (pause) is gone with the processes that it acted on.",
        f"{part}: removed.",
    ]
    assert swept(out, capsys) == [f"{out}: nothing to sweep."]
    assert list(out.iterdir()) == []


def test_what_a_program_left_running_is_ended_by_the_sweep(
    invoke: Invoke, tmp_path: Path, program_plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, program = tmp_path / "out", tmp_path / "program.sh"
    twin = Path(programs.__file__).with_name("persists_first.py")
    program.write_text(f"#!/bin/sh\nsetsid sleep 60 &\nexec {sys.executable} -I {twin}\n")
    program.chmod(0o755)
    running = invoke("run", program_plan, "--system", f"json-lines+{program}", "--out", out)
    running.wait_until_one_is_paused()
    running.send(signal.SIGKILL)
    running.exit_code()
    running.wait_gone("json_lines", twin.name, "reader_process")
    assert [process.command for process in running.living()] == ["sleep 60 "]
    [part] = out.iterdir()
    assert swept(out, capsys) == [f"{part}: 1 process ended.", f"{part}: removed."]
    assert running.left() == []
    assert swept(out, capsys) == [f"{out}: nothing to sweep."]


def test_a_run_that_goes_on_is_not_swept(
    invoke: Invoke, tmp_path: Path, paused_worker: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    running = invoke("run", paused_worker, "--tier", "process", "--out", out)
    running.wait_until_one_is_paused()
    assert swept(out, capsys) == [f"{out}: nothing to sweep."]
    running.send(signal.SIGINT)
    assert running.exit_code() == 130


def test_the_next_kit_removes_the_folder_that_a_killed_one_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    program = (
        "import os; from holdfast.harness.lease import Lease;"
        "t = Lease('kit'); print(t.room, flush=True); os.kill(os.getpid(), 9)"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    left = Path(done.stdout.strip())
    assert left.is_dir()
    with Lease("kit") as living, WorkerPool[int](Interruption()):
        assert living.is_dir()
        assert not left.parent.exists()


@pytest.mark.parametrize("labelled", [True, False])
def test_what_a_part_left_of_a_killed_kit_is_ended_by_the_sweep(
    labelled: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    program = (
        "import os, subprocess, sys; from holdfast.harness.lease import Lease;"
        f"t = Lease('kit'); label = {{'HOLDFAST_RUN': str(t.folder)}} if {labelled} else {{}};"
        "c = subprocess.Popen(['sleep', '600'], env=label, stdout=-3, stderr=-3, start_new_session=True);"
        "print(t.folder, c.pid, flush=True); os.kill(os.getpid(), 9)"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    folder, pid = done.stdout.split()
    with closing(Process(int(pid))) as child:
        assert execute(["sweep", str(tmp_path / "out")]) == 0
        assert child.wait_end(5 if labelled else 0) is labelled
        child.signal(signal.SIGKILL)
    ended = ", 1 process ended" if labelled else ""
    assert f"{folder}: removed{ended}.\n" in capsys.readouterr().out
    assert not Path(folder).exists()
