"""Lanes: cases of one certification side by side, each lane a process of its own (`lane`).

What waits for real time costs no processor, so there is room beside it for what computes. Nothing is left behind: a
lane that ended is waited for, and what one that is lost was running is swept.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from signal import SIG_BLOCK, SIG_SETMASK, Signals, pthread_sigmask
from typing import Generic, TypeVar

import msgspec

from holdfast.harness.engine.artefacts.sweep import sweep
from holdfast.harness.engine.certification.inquiry import Lost, News, Ran
from holdfast.harness.engine.certification.lane import Order, Terms
from holdfast.harness.engine.site.interruption import Interruption, signals

Key = TypeVar("Key")
PROGRAM = "from holdfast.harness.engine.certification.lane import main; main()"
END_LIMIT_S = 30.0
"""How long a lane may take to end what it started, such as a session of Spark."""


class Track(msgspec.Struct, Generic[Key]):
    """Cases that wait in one line.

    Attributes:
        orders: each with a key of the caller's; the next one is taken when a lane is free.
        width: lanes; may be made less at any time, and is when a lane is free; more by what it inherits.
        terms: that all of them are told.
        heir: the track that has a lane more from then on for each that this one needs no more.
    """

    orders: Iterator[tuple[Key, Order]]
    width: int
    terms: Terms
    heir: Track[Key] | None = None


class Lanes(Generic[Key]):
    """Those of one certification; a context manager.

    Args:
        interruption: its signals are handed on.
    """

    def __init__(self, interruption: Interruption) -> None:
        self._interruption = interruption
        self._busy: dict[Connection, _Lane[Key]] = {}
        self._closed: list[_Lane[Key]] = []

    def __enter__(self) -> Lanes[Key]:
        self._interruption.followers.append(self._hand_on)
        return self

    def __exit__(self, *_: object) -> None:
        for lane in [*self._busy.values(), *self._closed]:
            lane.end()
        self._interruption.followers.remove(self._hand_on)

    def news(self, tracks: list[Track[Key]]) -> Iterator[tuple[Key, News]]:
        """Carry out every order; what comes of each, with its key, as it comes."""
        for track in tracks:
            for _ in range(track.width):
                self._begin(track, None)
        while self._busy:
            for connection in wait(list(self._busy)):
                assert isinstance(connection, Connection)
                lane = self._busy[connection]
                news = lane.receive()
                yield lane.key, news
                if not isinstance(news, Ran):
                    del self._busy[connection]
                    if isinstance(news, Lost):
                        self._closed.append(lane)
                        list(sweep(Path(lane.track.terms.folder), trust=True))
                    self._begin(lane.track, None if isinstance(news, Lost) else lane)

    def _begin(self, track: Track[Key], lane: _Lane[Key] | None) -> None:
        """The next order of a track, in a lane that is free or in a new one."""
        others = sum(each.track is track for each in self._busy.values())
        following = next(track.orders, None) if others < track.width else None
        if following is None:
            if lane is not None:
                lane.close()
                self._closed.append(lane)
                if track.heir is not None:
                    track.heir.width += 1
                    self._begin(track.heir, None)
            return
        lane = lane or _Lane(track)
        lane.begin(*following)
        self._busy[lane.connection] = lane
        if self._interruption.signal:  # It may have come before the lane could be told.
            lane.signal(Signals[self._interruption.signal])

    def _hand_on(self, number: int) -> None:
        for lane in list(self._busy.values()):
            lane.signal(number)


class _Lane(Generic[Key]):
    """One process; `key` is that of the order which it carries out."""

    key: Key

    def __init__(self, track: Track[Key]) -> None:
        self.track = track
        self.connection, theirs = Pipe()
        held = pthread_sigmask(SIG_BLOCK, signals())  # It hears what it is told when it can listen.
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", PROGRAM, str(theirs.fileno())],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},  # noqa: TID251 - the edge
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # signals of the terminal are for the certification, which hands them on
            )
        finally:
            pthread_sigmask(SIG_SETMASK, held)
            theirs.close()
        self._send(track.terms)

    def begin(self, key: Key, order: Order) -> None:
        self.key = key
        self._send(order)

    def receive(self) -> News:
        """What it tells next, at once if there is something to read; that it is lost, if it is."""
        try:
            content = self.connection.recv_bytes()
        except (EOFError, OSError):
            code = self._process.wait()
            return Lost(f"the process that asked ended with exit code {code}")
        news: News = msgspec.msgpack.decode(content, type=News)
        return news

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def close(self) -> None:
        """No more orders."""
        self.connection.close()

    def end(self) -> None:
        """Wait until it has ended."""
        self.close()
        try:
            self._process.wait(END_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _send(self, message: Terms | Order) -> None:
        with suppress(OSError):  # That it is gone is seen where its news are read.
            self.connection.send_bytes(msgspec.msgpack.encode(message))
