"""Where a process was when it ended, hung or crashed, so that a part is blamed by the call that it did not return from.

The process writes its stack to a file: when a signal crashes it, when it calls `os._exit`, and on request.
"""

from __future__ import annotations

import faulthandler
import os
import re
from pathlib import Path
from signal import SIGUSR1
from typing import Any, NoReturn

from holdfast.harness.spi.outside_files import WRITTEN_BYTES, read_end

ASK = SIGUSR1
"""Asks for the stack."""
_FRAME = re.compile(r'^  File "(?P<file>.+)", line (?P<line>\d+) in (?P<name>\S+)$', re.MULTILINE)
_HARNESS = str(Path(__file__).parents[2])


def note_last_call(path: Path) -> None:
    """From now on write the stack of this process to a file when it ends, crashes or is asked to; not of its forks.

    Args:
        path: of the file, which stays open.
    """
    file = path.open("w")
    faulthandler.enable(file, all_threads=False)
    faulthandler.register(ASK, file, all_threads=False)
    ours, leave = os.getpid(), os._exit

    def noted(status: int) -> NoReturn:
        if os.getpid() == ours:
            faulthandler.dump_traceback(file, all_threads=False)
        leave(status)

    patched: Any = os
    patched._exit = noted


def last_call(path: Path, kit: Path) -> str:
    """Which call of a part was under way, such as ` in snapshot (backend.py:22)`; empty where it cannot be known.

    Args:
        path: of the file.
        kit: folder of the code that made the call.
    """
    try:
        text = read_end(path, WRITTEN_BYTES).decode(errors="replace")
    except OSError:
        return ""
    called = None
    for frame in _FRAME.finditer(text):  # The innermost first.
        if frame["file"] == __file__:
            continue
        if frame["file"].startswith((f"{kit}{os.sep}", f"{_HARNESS}{os.sep}")):
            break
        called = frame
    return f" in {called['name']} ({Path(called['file']).name}:{called['line']})" if called is not None else ""
