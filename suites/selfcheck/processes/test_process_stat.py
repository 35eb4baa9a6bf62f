"""What `/proc` tells of a process is read right whatever the process is called."""

from __future__ import annotations

import os
import signal
from contextlib import closing

from holdfast.harness.adapter.process import Process
from holdfast.harness.adapter.process_stat import descendants, process_stat, stands_still
from holdfast.suites.selfcheck.started import Started

LIMIT_S = 30.0
ODD_NAME = "x) Z 1 (y"
RENAMED = f"open('/proc/self/comm', 'w').write({ODD_NAME!r}); print('named', flush=True); input()"


def test_a_name_with_brackets_and_spaces_hides_nothing() -> None:
    with Started.python(RENAMED) as child, closing(Process(child.pid)) as held:
        assert child.read_line() == "named"
        stat = process_stat(child.pid)
        assert stat is not None
        assert (stat.parent, stat.stands_still, held.dead) == (os.getpid(), False, False)
        held.signal(signal.SIGKILL)
        assert held.wait_end(LIMIT_S)
        dead = process_stat(child.pid)  # not reaped yet
        assert dead is not None
        assert (dead.state, dead.start_time, stands_still(child.pid)) == ("Z", stat.start_time, True)
    assert process_stat(child.pid) is None
    assert stands_still(child.pid)
    assert not held.signal(signal.SIGKILL)


def test_descendants_are_children_of_children_too() -> None:
    parent = (
        "import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE)"
    )
    with Started.python(f"{parent}; print(child.pid, flush=True); input(); child.communicate(b'.')") as child:
        grandchild = int(child.read_line())
        below, found = descendants(child.pid), descendants(os.getpid())
        child.communicate("\n", LIMIT_S)
    assert below == [grandchild]
    assert {child.pid, grandchild} <= set(found)
