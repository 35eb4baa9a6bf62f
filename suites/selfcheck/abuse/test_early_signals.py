"""A signal at any moment gives 128 + n, also while the command is still being imported."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from holdfast.suites.selfcheck.abuse.conftest import Invoke

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
    "holdfast.harness.commands.folders": ("run", "plan.json", "--out"),
    "holdfast.harness.commands.sweep": ("sweep",),
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
