"""Processes and threads that a part starts under its kit: where each was started, and which are left behind its check.

A part may hold what its library keeps for a whole process, such as a pool: that is there once, however many lives end.
"""

from __future__ import annotations

import _posixsubprocess
import gc
import os
import sys
import threading
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from errno import EMFILE
from fcntl import F_DUPFD, fcntl
from functools import cache
from itertools import takewhile
from pathlib import Path
from signal import SIGKILL
from tempfile import gettempdir
from time import monotonic, sleep  # noqa: TID251 - how long a child takes to end  # noqa: TID251 - how long what was told to end takes
from types import FrameType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from holdfast.harness.adapter.process import process_stat
from holdfast.harness.label import end_if_labelled, label_of, labelled

PATIENCE_S = 1.0
"""How long a child may take to end by itself."""
_STARTS = frozenset({"os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen"})
"""Audit events of Python for what starts a process."""
_KIT = str(Path(__file__).parent) + os.sep
_STANDARD_LIBRARY = str(Path(os.__file__).parent) + os.sep
_PACKAGES = f"{os.sep}site-packages{os.sep}"
_POLL_S = 0.01
_SHOWN = 60
_STANDARD_INPUT = 0
_THREADS = Path("/proc/self/task")


class _Start(NamedTuple):
    """One start of a process.

    Attributes:
        where: the call of the part during which it came, and its line, in words; None: the kit itself starts it.
        thread: in which it came.
        before: children that there were.
    """

    where: str | None
    thread: int
    before: frozenset[int]


_UNSEEN = _Start("", 0, frozenset())
_starts: deque[_Start] = deque(maxlen=1_000)


def _own_label() -> Path | None:
    """The label of this process, if only children of a part carry it as well, as in a worker of a kit."""
    label = label_of(os.getpid())
    return label if label == Path(gettempdir()).parent else None


_label = _own_label()  # Before any part is loaded, which could change both.


@cache
def _spare() -> int:
    """Standard input once more: it is kept here while its own number is lent."""
    return os.dup(_STANDARD_INPUT)


@contextmanager
def _room() -> Iterator[None]:
    """One file can be opened within at a time. Where a part has used up all descriptors, or has lowered how many there
    may be, it gets the number of standard input meanwhile: that is allowed under each limit.

    Raises:
        OSError: no file can be opened, and that number is the part's, too.
    """
    try:
        os.close(os.open(_THREADS, os.O_RDONLY))
    except OSError as error:
        if error.errno != EMFILE or not _can_be_lent():
            raise
        os.close(_STANDARD_INPUT)
        try:
            yield
        finally:
            _give_back()
    else:
        yield


def _can_be_lent() -> bool:
    try:
        return os.path.sameopenfile(_STANDARD_INPUT, _spare())
    except OSError:
        return False


def _give_back() -> None:
    with suppress(OSError):  # A thread of the part was quicker: the number is of a file of it.
        number = fcntl(_spare(), F_DUPFD, _STANDARD_INPUT)
        if number != _STANDARD_INPUT:
            os.close(number)


class Children:
    """The children that are started while a check runs. Of checks in parallel threads, each has those of its thread."""

    def __init__(self) -> None:
        with suppress(OSError):  # There is no standard input.
            _spare()
        _listen()
        self._alone = threading.current_thread() is threading.main_thread()
        self._last = _starts[-1] if _starts else None
        self._known = children()

    def end(self) -> str:
        """End those that are left; what and where they were started, without a full stop. Empty: nothing is left.

        Raises:
            Exception: they cannot be looked for, because of what the part did to its process.
        """
        starts = self._starts()
        left = self._left(starts)
        deadline_s = monotonic() + PATIENCE_S
        while left and monotonic() < deadline_s:
            sleep(_POLL_S)
            left = self._left(starts)
        words = dict.fromkeys(f"{_program(pid)}{_start_of(pid, starts).where}" for pid in left)
        for pid in left:
            _end(pid)
        return ", ".join(words)

    def _starts(self) -> Sequence[_Start]:
        """The children that came since, the last one first."""
        return list(takewhile(lambda start: start is not self._last, reversed(_starts)))

    @_room()
    def _left(self, starts: Sequence[_Start]) -> Sequence[int]:
        """Children, and, if any were started, what these have started, which has our label."""
        found = children() - self._known
        if self._alone and starts and _label is not None:
            found |= {pid for pid in labelled(_label) if label_of(pid) == _label}
        return sorted(pid for pid in found - _kept_by_python() if self._is_theirs(_start_of(pid, starts)))

    def _is_theirs(self, start: _Start) -> bool:
        return start.where is not None and (self._alone or start.thread == threading.get_ident())


@contextmanager
def only_here() -> Iterator[None]:
    """A child that a part forks within ends here, if it comes here."""
    ours, leave = os.getpid(), os._exit
    try:
        yield
    finally:
        if os.getpid() != ours:
            leave(0)


@_room()
def children() -> frozenset[int]:
    """The pids of those of this process, among them such as have ended and were not waited for.

    Raises:
        OSError: they cannot be looked for: no file can be opened, not even in place of standard input.
    """
    found: set[int] = set()
    for thread in os.listdir(_THREADS):  # Newer versions of `Path.glob` find nothing where no file can be opened.
        with suppress(FileNotFoundError, ProcessLookupError):  # A thread that has ended meanwhile.
            found.update(map(int, Path(_THREADS, thread, "children").read_text().split()))
    return frozenset(found)


def _kept_by_python() -> frozenset[int]:
    """What its multiprocessing keeps for a whole process, and ends with it."""
    tracker: Any = sys.modules.get("multiprocessing.resource_tracker")
    server: Any = sys.modules.get("multiprocessing.forkserver")
    pids = [
        tracker and getattr(tracker._resource_tracker, "_pid", None),
        server and getattr(server._forkserver, "_forkserver_pid", None),
    ]
    return frozenset(pid for pid in pids if pid)


def _start_of(pid: int, starts: Sequence[_Start]) -> _Start:
    """With which start it came: the last one before which it was not there."""
    return next((start for start in starts if pid not in start.before), _UNSEEN)


@_room()
def _program(pid: int) -> str:
    """The program of a process, in words."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        command = ""
    if command == Path("/proc/self/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip():
        return "a fork of its process"
    if not command:
        stat = process_stat(pid)
        if stat is None or stat.state == "Z":
            return "a process that ended and was not waited for"
        return "a process without a command line, which may still be loading its program"
    return command if len(command) <= _SHOWN else f"{command[:_SHOWN]}..."


@_room()
def _end(pid: int) -> None:
    if pid not in children():
        end_if_labelled(pid, _label or Path())
        return
    with suppress(OSError):
        os.kill(pid, SIGKILL)  # It is not waited for yet, so the pid is its own.
        os.waitpid(pid, 0)


@cache
def _listen() -> None:
    """Begin to note starts; nothing that listens can be taken away again."""
    theirs: Any = _posixsubprocess
    fork_exec = theirs.fork_exec

    def noted(*arguments: Any) -> int:
        _note()
        pid: int = fork_exec(*arguments)
        return pid

    def hear(event: str, _arguments: tuple[Any, ...]) -> None:
        if event in _STARTS:
            _note()

    theirs.fork_exec = noted  # Of multiprocessing, which raises no audit event.
    sys.addaudithook(hear)


def _note() -> None:
    try:
        before = children()
    except Exception:  # That is for the end of the check to say: a start needs no look.
        before = _starts[-1].before if _starts else frozenset()
    _starts.append(_Start(called(sys._getframe(2)), threading.get_ident(), before))


def called(frame: FrameType | None) -> str | None:
    """The call of a part, and its own line in it; None: there is none."""
    line = name = ""
    while frame is not None and not frame.f_code.co_filename.startswith(_KIT):
        file = frame.f_code.co_filename
        if not file.startswith((_STANDARD_LIBRARY, "<frozen")) or _PACKAGES in file:
            line = line or f"{Path(file).name}:{frame.f_lineno}"
            name = frame.f_code.co_name
        frame = frame.f_back
    return f", started in {name} ({line})" if line else None


class _ThreadStart(NamedTuple):
    """Attributes:
    where: the call of the part during which it came, and its line, in words.
    thread: in which it came.
    """

    where: str
    thread: int


_started: WeakKeyDictionary[threading.Thread, _ThreadStart] = WeakKeyDictionary()
"""Those that were started by a part."""


class Threads:
    """The threads that a part starts from now on. Of checks in parallel threads, each has those of its thread."""

    def __init__(self) -> None:
        _listen_to_threads()
        self._alone = threading.current_thread() is threading.main_thread()
        self._known = set(threading.enumerate())

    def left(self) -> str:
        """How many live on and where they were started, without a full stop. Empty: none."""
        if self._living():
            gc.collect()  # What a pool's threads wait for is that somebody gives the pool up.
        deadline_s = monotonic() + PATIENCE_S
        while (living := self._living()) and monotonic() < deadline_s:
            sleep(_POLL_S)
        places = Counter(_started[thread].where for thread in living)
        return ", ".join(f"{number}{where}" for where, number in places.items())

    @property
    def living(self) -> int:
        """How many live now; some of them may be about to end."""
        return len(self._living())

    def _living(self) -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread not in self._known and self._is_theirs(thread)]

    def _is_theirs(self, thread: threading.Thread) -> bool:
        start = _started.get(thread)
        return start is not None and (self._alone or start.thread == threading.get_ident())


@cache
def _listen_to_threads() -> None:
    """Begin to note starts: what Python tells those who listen depends on its version."""
    theirs: Any = threading.Thread
    start = theirs.start

    def noted(thread: threading.Thread) -> None:
        if (where := called(sys._getframe(1))) is not None:
            _started[thread] = _ThreadStart(where, threading.get_ident())
        start(thread)

    theirs.start = noted
