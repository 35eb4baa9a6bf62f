"""What `/proc` tells of a process is read right whatever the process is called."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import closing

from holdfast.harness.adapter.process import Process
from holdfast.harness.adapter.process_stat import descendants, process_stat, stands_still

LIMIT_S = 30.0
ODD_NAME = "x) Z 1 (y"
RENAMED = f"open('/proc/self/comm', 'w').write({ODD_NAME!r}); print('named', flush=True); input()"


def test_a_name_with_brackets_and_spaces_hides_nothing() -> None:
    child = subprocess.Popen([sys.executable, "-c", RENAMED], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    with child, closing(Process(child.pid)) as held:
        assert child.stdout.readline() == b"named\n"
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
    command = [sys.executable, "-c", f"{parent}; print(child.pid, flush=True); input(); child.communicate(b'.')"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdin is not None
        grandchild = int(child.stdout.readline())
        below, found = descendants(child.pid), descendants(os.getpid())
        child.stdin.write(b"\n")
        child.stdin.close()
    assert below == [grandchild]
    assert {child.pid, grandchild} <= set(found)
