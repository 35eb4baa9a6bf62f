"""What processes of ours have left: each process that was started with a mark, and what Docker holds of our runs.

    python -m holdfast.suites.selfcheck.night.left_behind MARK

ends with 1 and names what is left, if anything is. The mark is the value of HOLDFAST_PASS in the environment of
whatever was started since; a process that clears its environment is not found.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from holdfast.harness.label import variables_of

MARK = "HOLDFAST_PASS"
LABEL = "holdfast.run"
"""Of everything that we start in Docker."""
ENDED_S = 10.0
"""For a killed process to end; it may take that long to give its memory back."""
KINDS = (("ps", "--all"), ("network", "ls"), ("volume", "ls"))


def marked(mark: str) -> dict[int, str]:
    """The command line of each process with a mark in its environment, by process id; this one is left out."""
    wanted = f"{MARK}={mark}".encode()
    found: dict[int, str] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        # It may have ended by now, or belong to another user.
        with suppress(OSError):
            pid = int(folder.name)
            if wanted in variables_of(pid) and pid != os.getpid():
                found[pid] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    return found


def kill_marked(mark: str) -> None:
    """End each process with a mark at once, and wait until it has ended."""
    for pid in marked(mark):
        with suppress(ProcessLookupError):
            process = os.pidfd_open(pid)
            try:
                signal.pidfd_send_signal(process, signal.SIGKILL)
                select.select([process], [], [], ENDED_S)
            finally:
                os.close(process)


def in_docker() -> list[str]:
    """Ids of containers, networks and volumes of our runs; empty where no engine answers: then nothing is there."""
    if shutil.which("docker") is None:
        return []
    commands = (("docker", *kind, "--quiet", "--filter", f"label={LABEL}") for kind in KINDS)
    answers = [subprocess.run(command, capture_output=True, text=True) for command in commands]
    return [each for answer in answers if answer.returncode == 0 for each in answer.stdout.split()]


def left_behind(mark: str) -> list[str]:
    """Everything, each in a word or a command line."""
    return [*in_docker(), *marked(mark).values()]


def main() -> int:
    """Look, and name what is found."""
    if len(sys.argv) != 2:
        sys.stderr.write("name one mark: the value of HOLDFAST_PASS of the processes that are looked for\n")
        return 3
    left = left_behind(sys.argv[1])
    if left:
        sys.stderr.write(f"left behind: {', '.join(left)}\n")
    return int(bool(left))


if __name__ == "__main__":
    sys.exit(main())
