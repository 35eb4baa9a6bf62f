"""A process that makes a storage or a file system and does what it is sent, until it is stopped: run by victims.py.

It stops at calls that leave Python: of the file system, of a socket, of a database, or of any module that does not
belong to Python. Each has two points: before it, and behind it. So everything between two effects is a point, in
whatever way it is written. Each command runs in a fork of its own; this process has imported everything and
started nothing.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Protocol, cast
from urllib.parse import unquote, urlsplit

import msgspec

from holdfast.fixtures.host.first_change import DATABASES, SYSTEM, origin_of
from holdfast.suites.certify.outside.messages import LENGTH_BYTES, Act, Answer, Command, Outcome, PartSettings, Report

_WRITES = os.O_WRONLY | os.O_RDWR
_Identity = tuple[int, int]


class Watch:
    """Watches what is written below one folder, and what of it is synchronised. Files that exist at first are safe.

    Args:
        uri: of the folder; of anything else nothing is seen.
    """

    _opened: ClassVar[list[str]] = []
    _databases: ClassVar[set[str]] = set()
    _synchronised: ClassVar[dict[_Identity, int]] = {}
    """Length of a file when it was synchronised last, in bytes."""
    _named: ClassVar[dict[_Identity, frozenset[str]]] = {}
    """What was in a folder when it was synchronised last."""

    @classmethod
    def install(cls) -> None:
        """Watch this process, for good."""
        sys.addaudithook(cls._audit)
        for name in ("fsync", "fdatasync"):
            setattr(os, name, cls._recording(getattr(os, name)))

    @classmethod
    def _audit(cls, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes | os.PathLike) and arguments[2] & _WRITES:
            cls._opened.append(os.path.abspath(os.fsdecode(arguments[0])))
        elif event == "sqlite3.connect" and isinstance(arguments[0], str | bytes | os.PathLike):
            name = os.fsdecode(arguments[0])
            name = os.path.abspath(unquote(urlsplit(name).path) if name.startswith("file:") else name)
            cls._databases.update(name + end for end in ("", "-wal", "-shm", "-journal"))
        elif event in ("os.remove", "os.rename"):  # The number of a file that goes comes again.
            with suppress(OSError):
                found = os.lstat(arguments[event == "os.rename"])
                if found.st_nlink == 1:
                    cls._synchronised.pop((found.st_dev, found.st_ino), None)

    @classmethod
    def _recording(cls, synchronise: Callable[[Any], None]) -> Callable[[Any], None]:
        def recorded(file: Any) -> None:
            synchronise(file)
            number = file if isinstance(file, int) else file.fileno()
            found = os.fstat(number)
            if os.path.isdir(f"/proc/self/fd/{number}"):
                cls._named[found.st_dev, found.st_ino] = frozenset(os.listdir(number))
            else:
                cls._synchronised[found.st_dev, found.st_ino] = found.st_size

        return recorded

    def __init__(self, uri: str) -> None:
        parts = urlsplit(uri)
        self._root = Path(unquote(parts.path)) if parts.scheme == "file" else None
        self._opened.clear()
        self._safe = frozenset(self._all())
        for path in self._safe:
            found = path.lstat()
            self._synchronised[found.st_dev, found.st_ino] = found.st_size

    @property
    def applies(self) -> bool:
        """Whether Python wrote something there."""
        root = self._root
        return root is not None and any(Path(path).is_relative_to(root) for path in self._opened)

    def lose(self) -> Sequence[str]:
        """Take away what is not synchronised; a sentence for each thing that was.

        A file is cut to the length that it had when it was synchronised last, or at first. A name goes that its folder
        did not have then. Bytes that were exchanged in place stay: what they were is not known.
        """
        if not self.applies:
            return ()
        lost: list[str] = []
        for path in self._all():
            if os.fspath(path) in self._databases or not os.path.lexists(path):
                continue
            found, folder = path.lstat(), path.parent.stat()
            kept = self._synchronised.get((found.st_dev, found.st_ino), 0)
            if path not in self._safe and path.name not in self._named.get((folder.st_dev, folder.st_ino), ()):
                lost.append(f"the folder of {path.name} was not synchronised since it is in there")
                _remove(path)
            elif path.is_file() and not path.is_symlink() and kept < found.st_size:
                lost.append(f"{path.name} was not synchronised behind its last byte")
                os.truncate(path, kept)
        return lost

    def _all(self) -> Sequence[Path]:
        return () if self._root is None else sorted(self._root.rglob("*"))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


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

    def made(self, setting: PartSettings) -> Any:
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


def run(performer: Performer, setting: PartSettings, command: Command) -> Report:
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
    setting = msgspec.json.decode(hear(), type=PartSettings)
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
