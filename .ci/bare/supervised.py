"""Runs one line of a shell, measures it, and says what it leaves behind; started by `machines.py`.

On a bare machine it is the first process of its namespaces, as root: it makes the machine's file systems, enters its
root folder, and runs the line as an ordinary user. Every process that the line starts and abandons becomes a child of
this one, so what is left behind is whatever children it has when the line has ended.

    python3 supervised.py ORDER.json
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SET_PARENT_DEATH_SIGNAL, SET_CHILD_SUBREAPER = 1, 36
GET_FLAGS, SET_FLAGS, UP = 0x8913, 0x8914, 0x1
SAMPLED_EVERY_S = 2.0
LISTENED_EVERY_S = 0.1
LIMIT_CODE = 124
"""Exit code of a line that was ended at its limit, as of `timeout`."""


def main() -> None:
    """Carry out the order, and write what came of it beside it."""
    end_with_parent()
    order = json.loads(Path(sys.argv[1]).read_text())
    if order["root"]:
        _make_file_systems(Path(order["root"]), order["shared"])
        socket.sethostname(order["name"])
    if order["offline"]:
        _loopback_up()
    ctypes.CDLL(None, use_errno=True).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    Path(order["result"]).write_text(json.dumps(_run(order)))


def end_with_parent() -> None:
    """Let the kernel end this process as soon as the one that has started it is gone."""
    ctypes.CDLL(None, use_errno=True).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def _run(order: dict[str, Any]) -> dict[str, Any]:
    steps_read, steps_write = os.pipe()
    os.set_blocking(steps_read, False)
    began = time.monotonic()
    began_at = time.time()
    with open(order["output"], "ab") as output:
        line = subprocess.Popen(
            # The trace of the shell names each command of the line when it begins.
            ["bash", "-c", f"BASH_XTRACEFD={steps_write} PS4='+ $EPOCHREALTIME '; set -x\n{order['line']}"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=[steps_write],
            env=order["environment"],
            cwd=None if order["root"] else order["folder"],
            start_new_session=True,
            preexec_fn=_entering(order),
        )
    os.close(steps_write)
    peak_bytes, sampled_at, trace = 0, 0.0, b""
    commands: list[dict[str, Any]] = []
    timed_out = False
    while True:
        trace += _available(steps_read)
        for words in trace.decode(errors="replace").splitlines()[len(commands) :]:
            if words.startswith("+ "):
                at = float(words.split()[1].replace(",", "."))
                commands.append({"command": words.split(" ", 2)[2], "at_s": at - began_at, "cpu_s": _cpu_s(line.pid)})
        if _reaped(line.pid):
            break
        now = time.monotonic()
        if now - sampled_at >= SAMPLED_EVERY_S:
            peak_bytes, sampled_at = max(peak_bytes, sum(map(_proportional_bytes, _descendants()))), now
        if now - began > order["limit_s"] and not timed_out:
            timed_out = True
            os.killpg(line.pid, signal.SIGTERM)
        time.sleep(LISTENED_EVERY_S)
    ended = time.monotonic() - began
    left = _left_behind(order["patience_s"])
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "code": LIMIT_CODE if timed_out else _CODES[line.pid],
        "seconds": ended,
        "cpu_s": used.ru_utime + used.ru_stime,
        "peak_bytes": peak_bytes,
        "commands": commands,
        "left": left,
    }


_CODES: dict[int, int] = {}
"""Exit codes of the children that have ended, by process id."""


def _reaped(pid: int) -> bool:
    """Take leave of every child that has ended, whoever started it; whether a certain one is among those."""
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if not ended:
            break
        code = os.waitstatus_to_exitcode(status)
        _CODES[ended] = code if code >= 0 else 128 - code
    return pid in _CODES


def _left_behind(patience_s: float) -> list[str]:
    """Command lines of what still runs a while after the line has ended; ends them.

    Args:
        patience_s: what the line has ended, such as a Java virtual machine, may take so long to be gone.
    """
    until = time.monotonic() + patience_s
    while (left := list(_descendants())) and time.monotonic() < until:
        time.sleep(LISTENED_EVERY_S)
        _reaped(0)
    said = [_command_line(pid) for pid in left]
    for pid in left:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    while list(_descendants()):
        _reaped(0)
        time.sleep(LISTENED_EVERY_S)
    return said


def _descendants() -> Iterator[int]:
    """Process ids of all that descends from this process."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                stat = (entry / "stat").read_bytes()
            except OSError:
                continue
            parents[int(entry.name)] = int(stat.rpartition(b")")[2].split()[1])
    own = os.getpid()
    for pid in parents:
        above: int | None = pid
        while above in parents and above != own:
            above = parents[above]
        if above == own and pid != own:
            yield pid


def _proportional_bytes(pid: int) -> int:
    """Memory of a process; of what it shares with others its part."""
    try:
        content = Path(f"/proc/{pid}/smaps_rollup").read_bytes()
    except OSError:
        return 0
    found = [each.split()[1] for each in content.splitlines() if each.startswith(b"Pss:")]
    return int(found[0]) * 1024 if found else 0


def _cpu_s(pid: int) -> float:
    """Processor time of what a shell has waited for so far."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return f"process {pid}"


def _available(pipe: int) -> bytes:
    try:
        return os.read(pipe, 1 << 16)
    except BlockingIOError:
        return b""


def _entering(order: dict[str, Any]) -> Callable[[], None]:
    """What the child does before it becomes the shell."""

    def enter() -> None:
        if order["root"]:
            os.chroot(order["root"])
            os.chdir(order["folder"])
            os.setgroups([])
            os.setgid(order["user"])
            os.setuid(order["user"])
        end_with_parent()

    return enter


def _make_file_systems(root: Path, shared: dict[str, str]) -> None:
    """They are those of this namespace and end with it.

    Args:
        root: folder of the machine.
        shared: folders of the host, by where the machine has them.
    """
    _mount("-t", "proc", "proc", str(root / "proc"))
    _mount("--rbind", "/sys", str(root / "sys"))
    _mount("--rbind", "/dev", str(root / "dev"))
    _mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", str(root / "dev/shm"))
    for place, folder in shared.items():
        (root / place.lstrip("/")).mkdir(parents=True, exist_ok=True)
        _mount("--bind", folder, str(root / place.lstrip("/")))


def _mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True)


def _loopback_up() -> None:
    """Of a network namespace that has no other interface."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh22x", b"lo", 0)
        (flags,) = struct.unpack_from("h", fcntl.ioctl(control, GET_FLAGS, request), 16)
        fcntl.ioctl(control, SET_FLAGS, struct.pack("16sh22x", b"lo", flags | UP))


if __name__ == "__main__":
    main()
