"""The relay as a process of ours, and the orders that it gets."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from holdfast.harness.adapter.child import Child, wait_for
from holdfast.harness.adapter.network import relay
from holdfast.harness.adapter.network.pipe import Impairments
from holdfast.harness.adapter.network.relay import (
    Answer,
    Ask,
    Held,
    Hold,
    Impair,
    Listening,
    Order,
    Release,
    Reset,
    Route,
    Said,
)
from holdfast.harness.adapter.network.sockets import LOOPBACK, Address
from holdfast.harness.adapter.process import how_it_ended

_ANSWER_LIMIT_S = 10.0
Answered = TypeVar("Answered", Listening, Answer)


class RelayProcess:
    """links.Relay.

    Args:
        targets: by link, the `host:port` that it leads to; None: not known yet.
        folder: the label of the process.
        log: takes its standard error.
        host: of this machine, where links listen.
        token, guarded: see relay.Carrier.

    Raises:
        ValueError: a target is no `host:port`.
        OSError: it does not start.

    Attributes:
        name: that it has among other processes.
        listening: by link, where it listens.
    """

    name = "relay"

    def __init__(
        self,
        targets: Mapping[str, str | None],
        folder: Path,
        log: Path,
        *,
        host: str = LOOPBACK,
        token: bytes = b"",
        guarded: bool = True,
    ) -> None:
        self._first = {link: None if text is None else _address(text) for link, text in targets.items()}
        self._refused: Counter[str] = Counter()
        self._held: list[Held] = []
        self._lock = threading.RLock()
        self._child = Child([sys.executable, "-P", "-m", relay.__name__], folder, log)
        self._child.send(msgspec.json.encode(relay.Targets(self._first, host, token, guarded)))
        try:
            self.listening: Mapping[str, Address] = self._answer(Listening).links
        except OSError:
            self.kill()
            raise

    def address(self, link: str) -> str:
        return str(self.listening[link])

    def impair(self, link: str, kind: str, wanted: Impairments) -> bool:
        return self._order(Impair(link, wanted)).touched

    def does(self, link: str, kind: str, wanted: Impairments) -> bool:
        return not self._child.dead and self._order(Ask(link)).does == wanted

    def reset(self, link: str) -> bool:
        return self._order(Reset(link)).touched

    def lead(self, link: str, target: str = "") -> None:
        address = _address(target) if target else self._first.get(link)
        if address is not None:
            self._order(Route(link, address))
            self._first[link] = self._first[link] or address

    def refused(self) -> Counter[str]:
        for link in self._first:
            if not self._child.dead:
                self._order(Ask(link))
        return +self._refused

    def hold(self, link: str, beginning: str, occurrence: int) -> None:
        """Hold back a request when it comes. Holds of a link are numbered from 0.

        Args:
            link: that it crosses.
            beginning: of the request.
            occurrence: of such requests, from 1, that is meant.
        """
        self._order(Hold(link, beginning, occurrence))

    def release(self, link: str, hold: int, *, lost: bool = False) -> None:
        """Let a request pass, or forget the hold. `lost`: it never arrives; what is not held yet is held later."""
        self._order(Release(link, hold, lost))

    def held(self) -> Sequence[Held]:
        """The requests that it has come to hold since the last call."""
        with self._lock:
            self._answers()
            held, self._held = self._held, []
            return held

    def fileno(self) -> int:
        """Readable when it ends; see `ended`."""
        return self._child.fileno()

    def ended(self) -> str:
        """How it ended by itself; empty: it has not."""
        with self._lock:
            self._answers()
        return how_it_ended(self._child.end(), self._child.last_words()) if self._child.ended else ""

    def log(self) -> str:
        """All that it wrote."""
        return self._child.log()

    def kill(self) -> None:
        """End it, in any thread. Idempotent."""
        with suppress(OSError):  # As of Launched.close.
            self._child.end()  # Who waits for an answer hears of it.
        with self._lock:
            self._child.close()

    def _order(self, order: Order) -> Answer:
        """Returns when it is in force."""
        if order.link not in self._first:
            raise ValueError(f"link {order.link!r} is unknown; known are {', '.join(self._first)}.")
        with self._lock:
            if self._child.dead:
                raise OSError(f"the relay of the links ended: {self._child.last_words()}")
            self._answers()  # One that came too late is the answer to nothing.
            self._child.send(msgspec.json.encode(order))
            answer = self._answer(Answer)
            self._refused[order.link] = answer.refused
        return answer

    def _answer(self, kind: type[Answered]) -> Answered:
        until_s = time.monotonic() + _ANSWER_LIMIT_S
        while time.monotonic() < until_s:
            for answer in self._answers():
                assert isinstance(answer, kind)
                return answer
            if self._child.ended:
                raise OSError(f"the relay of the links ended: {self._child.last_words()}")
            wait_for([self._child], until_s - time.monotonic())
        raise OSError(f"the relay of the links does not answer within {_ANSWER_LIMIT_S:.0f} s.")

    def _answers(self) -> list[Said]:
        """Read what it has sent by now; reports of held requests are kept."""
        said = [msgspec.json.decode(line, type=Said) for line in self._child.lines()]
        self._held += [each for each in said if isinstance(each, Held)]
        return [each for each in said if not isinstance(each, Held)]


def _address(text: str) -> Address:
    host, _, port = text.rpartition(":")
    if not (host and port.isdecimal()):
        raise ValueError(f"a link leads to {text!r}: write host:port.")
    return Address(host, int(port))
