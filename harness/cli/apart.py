"""The process in which a command runs what does not ship with Holdfast (see commands.apart)."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from signal import SIG_UNBLOCK, pthread_sigmask

from holdfast.harness.cli import execution
from holdfast.harness.commands.own_process import note_parent
from holdfast.harness.commands.standard_streams import reserve, result_stream
from holdfast.harness.engine.site.foreign import interrupts_are_theirs
from holdfast.harness.engine.site.interruption import heard_from_now_on, signals


def main() -> None:
    """Its arguments are the descriptor of the pipe, the file for its stack, the names of what does not ship with
    Holdfast, and those of the command.

    It ends at once when the command is over: an ordinary end would wait for threads of parts.
    """
    ours, leave = os.getpid(), os._exit
    connection = note_parent(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
    heard = heard_from_now_on()
    interrupts_are_theirs()
    reserve()  # What a part prints is no result.
    pthread_sigmask(SIG_UNBLOCK, signals())
    with heard.breaking():
        code = execution.run_once(sys.argv[4:])
        if os.getpid() == ours:  # Else a part has forked, and its child came here.
            result_stream().flush()
            sys.stderr.flush()
            connection.send_bytes(b"%d" % (heard.exit_code or code))
    leave(0)
