"""What `/proc` tells of a process is read right whatever the process is called."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import closing

from holdfast.harness.adapter.process import Process
from holdfast.harness.adapter.process_stat import process_stat

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
        assert (dead.state, dead.start_time, held.stands_still()) == ("Z", stat.start_time, True)
    assert process_stat(child.pid) is None
    assert held.stands_still()
    assert not held.signal(signal.SIGKILL)
