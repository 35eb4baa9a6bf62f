"""State backends that end or crash their process, hang, print or leave something behind at one of their snapshots."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event

from holdfast.fixtures.backends.hashmap import HashMapBackend, HashMapSnapshot
from holdfast.harness.spi.sink import Sink, SinkContext
from holdfast.harness.spi.state import SnapshotKind

MOMENT = 5
"""The snapshot of a process at which it happens."""
FOREVER = Event()
SECRET = "HOLDFAST_TEST_SECRET"


def at_a_snapshot(act: Callable[[], object]) -> type[HashMapBackend]:
    class Backend(HashMapBackend):
        calls = 0

        def make_snapshot(self, checkpoint: int, kind: SnapshotKind) -> HashMapSnapshot:
            Backend.calls += 1
            if Backend.calls == MOMENT:
                act()
            return super().make_snapshot(checkpoint, kind)

    return Backend


def interrupt() -> None:
    raise KeyboardInterrupt


def leave() -> None:
    sys.exit(0)


def stay() -> None:
    threading.Thread(target=FOREVER.wait).start()


def fork() -> None:
    """The children would go on with the kit."""
    if os.fork() == 0:
        FOREVER.wait()


def fork_and_return() -> None:
    """The child goes on with the kit."""
    os.fork()


def detach() -> None:
    """A daemon, which is nobody's child and in a session of its own."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            FOREVER.wait()
        os._exit(0)
    os.wait()


def disturb(message: bytes, behind: Callable[[], object] = lambda: None) -> None:
    """Write into every socket that this process has from whoever began it."""
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            if os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                os.write(int(name), message)
    behind()


def peek() -> None:
    """Also where a process keeps what it was started with."""
    if SECRET in os.environ or SECRET.encode() in Path("/proc/self/environ").read_bytes():  # noqa: TID251
        raise AssertionError(f"a part sees {SECRET}")


def peeking_sink(context: SinkContext) -> Sink:
    """It says what it sees."""
    words = Path("/proc/self/environ").read_bytes().decode() + " ".join(os.environ.values())  # noqa: TID251
    raise ValueError(f"sees {'a key' if SECRET in words else 'no key'}")


Exits = at_a_snapshot(lambda: os._exit(0))
Crashes = at_a_snapshot(lambda: os.kill(os.getpid(), signal.SIGSEGV))
Interrupts = at_a_snapshot(interrupt)
Leaves = at_a_snapshot(leave)
Peeks = at_a_snapshot(peek)
Hangs = at_a_snapshot(FOREVER.wait)
Prints = at_a_snapshot(lambda: os.write(1, b"words of a part\n"))
Stays = at_a_snapshot(stay)
Forks = at_a_snapshot(fork)
ForksAndReturns = at_a_snapshot(fork_and_return)
Disturbs = at_a_snapshot(lambda: disturb(b"\0\0\0\x05hello"))
DisturbsAtLength = at_a_snapshot(lambda: disturb(b"\x7f\0\0\0hello"))
DisturbsInPart = at_a_snapshot(lambda: disturb(b"\0\0\0\x40hello", FOREVER.wait))
Detaches = at_a_snapshot(detach)
Terminates = at_a_snapshot(lambda: os.kill(os.getpid(), signal.SIGTERM))
