"""A process that makes a storage or a file system and does what it is sent, until it is stopped: run by victims.py.

It stops at calls that leave Python: of the file system, of a socket, of a database, or of any module that does not
belong to Python. Each has two points: before it, and behind it. So everything between two effects is a point, in
whatever way it is written. Each command runs in a fork of its own; this process has imported everything and
started nothing.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from importlib import import_module
from typing import Any, Protocol, cast

import msgspec

from holdfast.fixtures.host.first_change import DATABASES, SYSTEM, origin_of
from holdfast.suites.certify.outside.messages import (
    LENGTH_BYTES,
    Act,
    Answer,
    Command,
    Outcome,
    Report,
    Setting,
)
from holdfast.suites.certify.outside.synchronised import Watch

_CALLS = frozenset({
    "open", "write", "writev", "pwrite", "pwritev", "fsync", "fdatasync", "link", "symlink", "rename", "replace",
    "unlink", "remove", "mkdir", "rmdir", "close", "truncate", "ftruncate", "sendfile", "copy_file_range", "flush",
    "send", "sendall", "sendmsg", "sendto", "connect",
})  # fmt: skip
_HEAP_TYPE = 1 << 9
"""Flag of a type that an interpreter did not come with."""
_answers, _heard = 1, 0
"""Descriptors of what goes to the kit, and of what comes from it."""


def leaves_python(function: Any) -> bool:
    """Whether a call of a function that is not written in Python may have an effect outside of it."""
    origin = origin_of(function)
    if origin.in_memory:
        return False
    if origin.top in SYSTEM:
        return function.__name__ in _CALLS
    if origin.top in DATABASES:
        return True
    if origin.top == "builtins":  # An extension in Rust may not say of which module it is.
        return origin.of_type is not None and bool(origin.of_type.__flags__ & _HEAP_TYPE)
    return origin.of_others


class Performer(Protocol):
    """A module that knows one contract."""

    def load(self, factory: str) -> None:
        """Import what the factory needs, and start nothing."""

    def made(self, setting: Setting) -> Any:
        """What the factory makes."""

    def perform(self, thing: Any, act: Act) -> Outcome:
        """One act, and what came of it. What it raises is reported, too."""


class Stops:
    """Counts points, and stops at one. Threads that begin meanwhile are watched, too."""

    def __init__(self, command: Command) -> None:
        self._command = command
        self.points = 0

    def begin(self) -> None:
        threading.setprofile(self._see)
        sys.setprofile(self._see)

    def end(self) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _see(self, frame: Any, event: str, argument: Any) -> None:
        if event in ("c_call", "c_return", "c_exception") and leaves_python(argument):
            number, self.points = self.points, self.points + 1
            if number == self._command.stop_at:
                sys.setprofile(None)
                self._stop(f"{'before' if event == 'c_call' else 'behind'} {argument.__name__}")

    def _stop(self, where: str) -> None:
        tell(Answer(event="stopped", where=where))
        if self._command.kill:
            os.kill(os.getpid(), signal.SIGKILL)
        hear()  # To go on.


def keep_apart() -> None:
    """From now on what a part prints goes to standard error, and it finds nothing to read: the kit is spoken to by
    descriptors of our own."""
    global _answers, _heard
    _answers, _heard = os.dup(1), os.dup(0)
    os.dup2(2, 1)
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)


def tell(answer: Answer) -> None:
    """One line for the kit. It must not be a point itself: it is written while nothing is counted."""
    os.write(_answers, msgspec.json.encode(answer) + b"\n")


def hear() -> bytes:
    """One message of the kit, and no byte more: a fork goes on reading here. Empty: go on, or the kit is gone."""
    length = int.from_bytes(_exactly(LENGTH_BYTES))
    return _exactly(length)


def _exactly(length: int) -> bytes:
    message = bytearray()
    while len(message) < length:
        piece = os.read(_heard, length - len(message))
        if not piece:
            return b""
        message += piece
    return bytes(message)


def run(performer: Performer, setting: Setting, command: Command) -> Report:
    """All acts of a command, in the fork."""
    watch, stops = Watch(setting.uri) if command.power_lost else None, Stops(command)
    thing = performer.made(setting)
    outcomes: list[Outcome] = []
    for number, act in enumerate(command.acts):
        if number >= command.counted_from:
            stops.begin()
        outcomes.append(_outcome(performer, thing, act))
        stops.end()
    if watch is None:
        return Report(outcomes=outcomes, points=stops.points)
    return Report(outcomes=outcomes, points=stops.points, lost=watch.lose(), watched=watch.applies)


def _outcome(performer: Performer, thing: Any, act: Act) -> Outcome:
    try:
        return performer.perform(thing, act)
    except Exception as error:
        return Outcome(error=type(error).__name__, text=str(error))


def main() -> None:
    keep_apart()
    setting = msgspec.json.decode(hear(), type=Setting)
    Watch.install()  # Before the storage is imported: it may keep the functions that are watched.
    performer: Performer = cast("Any", import_module(setting.performer))
    sys.path[:] = setting.path
    try:
        performer.load(setting.factory)
    except ValueError as error:
        tell(Answer(event="lost", where=str(error)))
        return
    tell(Answer(event="ready"))
    while line := hear():
        command = msgspec.json.decode(line, type=Command)
        child = os.fork()
        if not child:
            try:
                tell(Answer(event="done", report=run(performer, setting, command)))
            except BaseException as error:
                tell(Answer(event="broken", where=f"{type(error).__name__}: {error}"))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        tell(Answer(event="ended", status=os.waitstatus_to_exitcode(status)))


if __name__ == "__main__":
    main()
