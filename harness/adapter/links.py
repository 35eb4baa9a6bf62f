"""Links between an engine and the services that it uses: it connects to our relay, where they are impaired."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import msgspec

from holdfast.harness.adapter.child import Child, wait_for
from holdfast.harness.adapter.holds import Holds
from holdfast.harness.adapter.network import relay
from holdfast.harness.adapter.network.relay import DONE, REFUSED, Impair, Order, Reset, Targets
from holdfast.harness.adapter.network.sockets import Address
from holdfast.harness.model.target import Target
from holdfast.harness.spi.controls.link import BACKWARD, BOTH, FORWARD, Detail

_CUT, _SLOW, _LIMIT, _BLACK_HOLE = KINDS = ("cut", "slow", "limit", "black-hole")
_ANSWER_LIMIT_S = 10.0


class Links:
    """spi.controls.link.LinkImpairment. Each fault of a link is undone on its own; of those left the newest counts.

    Args:
        targets: by link, `host:port` of the service that it leads to.
        folder: the label of the relay's process.
        log: takes its standard error.

    Raises:
        OSError: the relay does not start.
    """

    def __init__(self, targets: Mapping[Target, str], folder: Path, log: Path) -> None:
        self._held: Holds[Detail] = Holds()
        self._names = {target: str(target) for target in targets}
        self._refused: Counter[str] = Counter()
        led = Targets({self._names[target]: _address(text) for target, text in targets.items()})
        self._child = Child([sys.executable, "-P", "-m", relay.__name__], folder, log)
        self._child.send(msgspec.json.encode(led))
        try:
            self._listening = msgspec.json.decode(self._answer(), type=Targets).links
        except OSError:
            self.close()
            raise

    def address(self, link: Target) -> str:
        """`host:port` that leads through a link."""
        host, port = self._listening[self._name(link)]
        return f"{host}:{port}"

    def cut(self, link: Target, direction: str = BOTH) -> None:
        self._act(link, _CUT, direction)

    def slow(self, link: Target, delay_ms: int) -> None:
        self._act(link, _SLOW, delay_ms)

    def limit(self, link: Target, kilobytes_per_second: int) -> None:
        self._act(link, _LIMIT, kilobytes_per_second)

    def black_hole(self, link: Target) -> None:
        self._act(link, _BLACK_HOLE, "")

    def reset(self, link: Target) -> None:
        self._order(Reset(self._name(link)))

    def restore(self, link: Target, kind: str, detail: Detail = "") -> None:
        self._held.give_back((link, _known(kind)), detail)
        self._settle(link)
        if kind == _BLACK_HOLE and not self._held.acts((link, _BLACK_HOLE)):
            self.reset(link)  # What it swallowed never comes.

    def whole(self, link: Target, kind: str, detail: Detail = "") -> bool:
        return not self._held.acts((link, _known(kind)), detail) and not self._child.dead

    def refused(self) -> Mapping[str, int]:
        """By link, how many connections were refused, because they are not of the run; see the rules of `acceptor`."""
        if not self._child.dead:
            self._settle(next(iter(self._names)))  # What it has told by its answer is known.
        return self._refused

    def close(self) -> None:
        """End the relay. Idempotent."""
        self._child.close()

    def _act(self, link: Target, kind: str, detail: Detail) -> None:
        self._name(link)
        self._held.take((link, kind), detail)
        self._settle(link)

    def _settle(self, link: Target) -> None:
        """Let a link do what the faults that are left want of it."""
        for direction in (FORWARD, BACKWARD):
            cut = any(each in (direction, BOTH) for each in self._held.acting((link, _CUT)))
            self._order(
                Impair(
                    self._name(link),
                    direction,
                    cut=cut,
                    delay_ms=int(self._held.newest((link, _SLOW)) or 0),
                    kilobytes_per_second=int(self._held.newest((link, _LIMIT)) or 0),
                    swallow=self._held.acts((link, _BLACK_HOLE)),
                )
            )

    def _order(self, order: Order) -> None:
        self._child.send(msgspec.json.encode(order))
        if (answer := self._answer()) != DONE:
            raise OSError(f"the relay says {answer!r}.")

    def _answer(self) -> bytes:
        """
        Raises:
            OSError: the relay is gone, or silent.
        """
        until_s = time.monotonic() + _ANSWER_LIMIT_S
        while time.monotonic() < until_s:
            lines = self._child.lines()
            self._refused.update(line[len(REFUSED) :].decode() for line in lines if line.startswith(REFUSED))
            if answers := [line for line in lines if not line.startswith(REFUSED)]:
                return answers[0]
            if self._child.ended:
                raise OSError(f"the relay of the links ended: {self._child.last_words()}")
            wait_for([self._child], until_s - time.monotonic())
        raise OSError(f"the relay of the links does not answer within {_ANSWER_LIMIT_S:.0f} s.")

    def _name(self, link: Target) -> str:
        if link not in self._names:
            raise ValueError(f"link {link} is unknown; known are {', '.join(self._names.values())}.")
        return self._names[link]


def _known(kind: str) -> str:
    if kind not in KINDS:
        raise ValueError(f"kind {kind!r} of a link's fault is unknown; allowed are {', '.join(KINDS)}.")
    return kind


def _address(text: str) -> Address:
    host, _, port = text.rpartition(":")
    if not (host and port.isdecimal()):
        raise ValueError(f"a link leads to {text!r}: write host:port.")
    return Address(host, int(port))
