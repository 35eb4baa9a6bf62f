"""SIGINT, SIGTERM and SIGHUP at any moment, also during the import: all is ended, and the exit code tells."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from holdfast.harness.engine.artefacts.json_files import read_journal
from holdfast.harness.engine.artefacts.stored_run import part_folders, read_run
from holdfast.harness.engine.site import interruption as module
from holdfast.harness.engine.site.interruption import Interruption, listening
from holdfast.harness.model.journal import Journal, Title
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.selfcheck.abuse.conftest import Invoke
from holdfast.suites.selfcheck.abuse.invocation import COMMAND, LIMIT_S, Invocation

HOLDS = "HOLDFAST_HELD_IMPORT"
"""`module:file`: whoever imports the module writes the file, and goes on no more."""
SITE = f"""
import os, sys, time
MODULE, FILE = os.environ["{HOLDS}"].split(":")

class Holding:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == MODULE:
            open(FILE, "w").close()
            time.sleep(600)

sys.meta_path.insert(0, Holding)
"""
CERTIFY = ("certify", "reference", "--tier", "sim", "--out")
MOMENTS = {
    "holdfast.harness.cli.execution": CERTIFY,
    "msgspec": CERTIFY,
    "holdfast.harness.commands.certify": CERTIFY,
    "holdfast.harness.commands.reports": ("run", "plan.json", "--out"),
    "holdfast.harness.commands.resume": ("sweep",),
}
"""By module, a command that imports it: before that has begun, in it, and in one that never listens to signals."""
PRESSES: dict[int, Sequence[signal.Signals]] = {
    130: (signal.SIGINT, signal.SIGINT),
    143: (signal.SIGTERM,),
    129: (signal.SIGHUP,),
}
MOST_MODULES = 40
pytestmark = pytest.mark.usefixtures("hangup_ends")


@pytest.mark.parametrize("code", PRESSES)
@pytest.mark.parametrize("module", MOMENTS)
@pytest.mark.share(4)
def test_a_signal_during_an_import_tells_its_number(invoke: Invoke, tmp_path: Path, module: str, code: int) -> None:
    """SIGTERM ended it by the signal, two SIGINT with 1."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(SITE)
    reached, out = tmp_path / "reached", tmp_path / "out"
    path = os.pathsep.join(filter(None, (str(tmp_path / "site"), os.environ.get("PYTHONPATH"))))
    environment = {HOLDS: f"{module}:{reached}", "PYTHONPATH": path}
    running = invoke(*MOMENTS[module], out, environment=environment)
    running.wait_until(reached.exists)
    running.send(*PRESSES[code])
    assert running.exit_code() == code, running.said()
    assert "Traceback" not in running.said()
    assert not out.exists()


@pytest.mark.parametrize("code", PRESSES)
def test_signals_tell_their_number_as_soon_as_they_are_heard(invoke: Invoke, tmp_path: Path, code: int) -> None:
    """Before, Python itself starts, and no program can change what it does."""
    running = invoke(*CERTIFY, tmp_path / "out")
    while not hears(running.pid, signal.SIGHUP):
        assert running.living()
    running.send(*PRESSES[code])
    assert running.exit_code() == code, running.said()


def test_next_to_nothing_is_imported_before_signals_are_heard() -> None:
    """Each import makes the time longer in which two SIGINT end the process as Python ends it."""
    program = "import sys; before = {*sys.modules}; import holdfast.harness.cli; print(*{*sys.modules} - before)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    imported = done.stdout.split()
    assert {name for name in imported if name.partition(".")[0] not in sys.stdlib_module_names} <= {
        "holdfast",
        "holdfast.harness",
        "holdfast.harness.cli",
        "holdfast.harness.engine",
        "holdfast.harness.engine.errors",
        "holdfast.harness.engine.site",
        "holdfast.harness.engine.site.interruption",
    }
    assert len(imported) < MOST_MODULES


def test_behind_the_end_of_the_command_no_signal_changes_its_exit_code() -> None:
    """A second press came when Python had taken its handlers away."""
    program = """
import os, sys
from holdfast.harness import cli
class Late:
    def __del__(self, kill=os.kill, pid=os.getpid()):
        kill(pid, 2)
sys.late = Late()
sys.argv = ["holdfast", "rules", "--nonsense"]
cli.main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr


def hears(pid: int, number: signal.Signals) -> bool:
    """Whether a process has a handler for a signal."""
    caught = re.search(r"^SigCgt:\s*(\w+)", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return caught is not None and bool(int(caught[1], 16) >> (number - 1) & 1)


def test_processes_that_are_forked_hear_as_before() -> None:
    program = "import os; from holdfast.harness.engine.site.interruption import heard_from_now_on as hear; hear();"
    program += "child = os.fork(); child or os.kill(os.getpid(), 15); print(os.waitpid(child, 0)[1])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == f"{int(signal.SIGTERM)}\n"


REPORTS = ("report.html", "junit.xml", "ctrf.json", "summary.md")


def has_stored(out: Path, tier: str) -> bool:
    """Whether a certification has stored a run on a tier."""
    return any(out.glob(f"*/runs/*-{tier}-0000"))


def report(out: Path) -> Journal:
    """The report below an output folder, which must be whole."""
    latest = out / "latest"
    assert all((latest / name).stat().st_size for name in REPORTS)
    assert not part_folders(out)
    journal = read_journal(latest / "results.json")
    assert journal.runs
    for run in journal.runs:
        if run.artefacts:
            read_run(latest / run.artefacts)
    return journal


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.share(3)
def test_a_run_with_a_paused_worker_is_ended_and_stored(
    invoke: Invoke, tmp_path: Path, paused_worker: Path, number: signal.Signals
) -> None:
    running = invoke("run", paused_worker, "--tier", "process", "--out", tmp_path / "out")
    running.wait_until_one_is_paused()
    running.send(number)
    assert running.exit_code() == 128 + number
    assert running.left() == []
    [folder] = (tmp_path / "out").iterdir()
    history, stored = read_run(folder)
    assert stored.outcome is Outcome.INCONCLUSIVE
    assert stored.reason == f"interrupted by {number.name}"
    assert any(event.node.startswith("worker") for event in history.events)


@pytest.mark.nightly
def test_a_paused_program_is_ended_too(invoke: Invoke, tmp_path: Path, program_plan: Path) -> None:
    running = invoke("run", program_plan, "--system", "persists-first", "--out", tmp_path / "out")
    running.wait_until_one_is_paused()
    running.send(signal.SIGTERM)
    assert running.exit_code() == 143
    assert running.left() == []
    assert not part_folders(tmp_path / "out")


@pytest.mark.nightly
def test_ctrl_c_twice_leaves_a_whole_report(invoke: Invoke, tmp_path: Path) -> None:
    out = tmp_path / "out"
    certifying = invoke("certify", "reference", "--tier", "sim", "--out", out)
    certifying.wait_until(lambda: has_stored(out, "sim"))
    certifying.send(signal.SIGINT, signal.SIGINT)
    assert certifying.exit_code() == 130
    assert report(out).interrupted == "SIGINT"


@pytest.mark.nightly
def test_a_certification_among_real_processes_is_reported_so_far(invoke: Invoke, tmp_path: Path) -> None:
    out = tmp_path / "out"
    certifying = invoke("certify", "reference", "--tier", "process", "--out", out)
    certifying.wait_until(lambda: has_stored(out, "process") and part_folders(out))
    certifying.send(signal.SIGTERM)
    assert certifying.exit_code() == 143, certifying.said()
    assert certifying.left() == []
    assert "Traceback" not in certifying.said()
    journal = report(out)
    assert journal.interrupted == "SIGTERM"
    assert journal.certificate.title is Title.INCONCLUSIVE
    assert any("interrupted by SIGTERM" in sentence for sentence in journal.certificate.missing)


@pytest.mark.nightly
def test_cases_side_by_side_end_with_a_certification_that_is_killed(invoke: Invoke, tmp_path: Path) -> None:
    out = tmp_path / "out"
    certifying = invoke("certify", "reference", "--tier", "process", "--jobs", "2", "--out", out)
    certifying.wait_until(lambda: has_stored(out, "process") and len(part_folders(out)) > 1)
    certifying.send(signal.SIGKILL)
    assert certifying.left() == []


@pytest.mark.nightly
def test_a_terminal_that_is_closed_keeps_no_report_from_being_written(tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["certify", "reference", "--tier", "sim", "--out", str(out)]
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, *COMMAND, *arguments])
    try:
        while not has_stored(out, "sim"):
            assert os.read(terminal, 1 << 16)
    finally:
        os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 129
    assert report(out).interrupted == "SIGHUP"


@pytest.mark.nightly
def test_worker_processes_leave_a_signal_to_their_parent(invoke: Invoke, tmp_path: Path) -> None:
    drawing = begin_drawing(invoke, tmp_path)
    drawing.send(signal.SIGTERM, group=True)
    assert drawing.exit_code() == 143, drawing.said()
    assert drawing.left() == []
    assert "Traceback" not in drawing.said()


def test_worker_processes_die_with_their_parent(invoke: Invoke, tmp_path: Path) -> None:
    drawing = begin_drawing(invoke, tmp_path)
    drawing.send(signal.SIGKILL)
    assert drawing.left() == []


def begin_drawing(invoke: Invoke, tmp_path: Path) -> Invocation:
    drawing = invoke(tmp_path / "drawn", program=("-m", "holdfast.suites.selfcheck.abuse.drawing"))
    drawing.wait_until((tmp_path / "drawn").exists)
    assert len(drawing.living()) >= 3
    return drawing


def test_a_second_ctrl_c_breaks_off_only_what_may_be_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 0.0
    monkeypatch.setattr(module, "monotonic", lambda: now_s)
    interruption = Interruption()

    def press() -> None:
        interruption.hear(signal.SIGINT, None)

    with interruption.breakable():
        press()
        press()  # the same press, heard twice
    now_s = LIMIT_S
    press()
    with pytest.raises(KeyboardInterrupt), interruption.breakable():
        press()
    assert interruption.exit_code == 130
    broken_off = Interruption()
    broken_off.hear(signal.SIGTERM, None)
    now_s *= 2
    with broken_off.breakable():
        with pytest.raises(KeyboardInterrupt):
            broken_off.hear(signal.SIGINT, None)
        broken_off.hear(signal.SIGINT, None)
    assert broken_off.exit_code == 143


def test_those_that_follow_hear_every_signal() -> None:
    interruption = Interruption()
    heard: list[int] = []
    interruption.followers.append(heard.append)
    for number in (signal.SIGINT, signal.SIGINT, signal.SIGTERM):
        interruption.hear(number, None)
    assert heard == [signal.SIGINT, signal.SIGINT, signal.SIGTERM]
    assert interruption.signal == "SIGINT"


def test_nohup_is_respected() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with listening() as interruption:
            signal.raise_signal(signal.SIGHUP)
            assert not interruption.signal
    finally:
        signal.signal(signal.SIGHUP, before)
