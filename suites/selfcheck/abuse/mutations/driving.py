"""Mutations driven through the command, all in this process: which of them made it do what it must never do."""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import msgspec

from holdfast.harness.cli import execute
from holdfast.harness.sim.streams import Stream
from holdfast.suites.selfcheck.abuse.mutations.kinds import REFUSED, Kind

MOST_MEGABYTES = 500
_RESET_PEAK = "5"
_SELF = Path("/proc/self")
_PEAK = re.compile(r"VmHWM:\s+(\d+) kB")


def forget_peak() -> float:
    """Let the peak begin anew; megabytes that are held now."""
    (_SELF / "clear_refs").write_text(_RESET_PEAK)
    return peak_megabytes()


def peak_megabytes() -> float:
    """The most that was held since the peak began anew."""
    found = _PEAK.search((_SELF / "status").read_text())
    assert found is not None
    return int(found[1]) / 1_024


def grown_megabytes(call: Callable[[], object], answers: list[Any]) -> float:
    """By how much the memory grew while something ran; what it returned is appended to `answers`."""
    before = forget_peak()
    answers.append(call())
    return peak_megabytes() - before


LIMIT_S = 20
"""No command that reads one run, or runs one small plan, takes a tenth of that."""


class HungError(BaseException):
    """The limit has passed; nothing that the command runs may catch this."""


class Ended(msgspec.Struct, frozen=True):
    """What a command came to."""

    code: int
    said: str
    complaint: str


def violation(kind: Kind, name: str, number: int, whole: Path, room: Path) -> str:
    """Mutate a copy of what is whole, and say what must not have happened; empty if nothing did.

    Args:
        kind: of what is mutated.
        name: of the kind; with the number it is the seed.
        number: of the mutation.
        whole: folder with what is whole.
        room: an existing folder, in which a copy is made and nothing else may be touched.
    """
    folder, seed = room / "copy", f"{name}:{number}"
    shutil.copytree(whole, folder, symlinks=True)
    try:
        kind.mutate(folder, Stream(number, name))
        before, children = _outside(room), _children()
        try:
            held = forget_peak()
            with _limited():
                ended = _ended([*kind.command(folder)])
            grown = peak_megabytes() - held
        except HungError:
            return f"{seed}: it hung"
        trouble = _trouble(kind, ended)
        if grown > MOST_MEGABYTES:
            trouble = f"it took {grown:.0f} MB"
        if _outside(room) != before:
            trouble = "it touched what is outside"
        if _children() - children:
            trouble = "it left a process"
        return trouble and f"{seed}: {trouble}\n{ended.complaint[-3_000:]}"
    finally:
        shutil.rmtree(folder)


def _trouble(kind: Kind, ended: Ended) -> str:
    if "Traceback" in ended.complaint:
        return "a traceback"
    if ended.code not in kind.allowed:
        return f"exit code {ended.code}"
    if ended.code == REFUSED and ended.complaint.count("holdfast: ") != 1:
        return "refused without one sentence"
    return ""


def _ended(command: list[str]) -> Ended:
    said, complaint = io.StringIO(), io.StringIO()
    with redirect_stdout(said), redirect_stderr(complaint):
        code = execute(command)
    return Ended(code, said.getvalue(), complaint.getvalue())


def _outside(room: Path) -> list[tuple[str, int, int]]:
    """What lies beside the copy, and what is above it."""
    return [
        (str(path), status.st_size, status.st_mtime_ns)
        for path in sorted([*room.iterdir(), *room.parent.iterdir(), room.parent])
        if path not in (room, room / "copy") and (status := path.lstat())
    ]


def _children() -> set[str]:
    return set(Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split())


@contextmanager
def _limited() -> Iterator[None]:
    def end(_number: int, _frame: FrameType | None) -> NoReturn:
        raise HungError

    before = signal.signal(signal.SIGALRM, end)
    timer = signal.setitimer(signal.ITIMER_REAL, LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, before)
