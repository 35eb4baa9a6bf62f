"""Run as a module: the relay, a process in front of receivers of links, where links are cut, slowed, narrowed, reset,
and where requests are held back.

    python -P -m holdfast.harness.adapter.network.relay

The first line of its standard input says where each link leads; it answers with a line that says where each listens.
Each further line is an order, and is answered when it is in force. Another line tells of each request that it comes to
hold. The end of its standard input ends it.
"""

from __future__ import annotations

import os
import sys
from functools import partial

import msgspec

from holdfast.harness.adapter.network.carrier import Carrier, Impairments
from holdfast.harness.adapter.network.loop import Loop
from holdfast.harness.adapter.network.sockets import LOOPBACK, Address, address_of, listen

_CHUNK_BYTES = 1 << 16


class Targets(msgspec.Struct, frozen=True):
    """What it is told first.

    Attributes:
        links: by link, where it leads; None: not known yet.
        host: of this machine, where all listen.
        token, guarded: as of Carrier.
    """

    links: dict[str, Address | None]
    host: str = LOOPBACK
    token: bytes = b""
    guarded: bool = True


class Listening(msgspec.Struct, frozen=True, tag="listening"):
    """What it answers: by link, where it listens."""

    links: dict[str, Address]


class Impair(msgspec.Struct, frozen=True, tag="impair"):
    """See Carrier.impair."""

    link: str
    wanted: Impairments


class Reset(msgspec.Struct, frozen=True, tag="reset"):
    """See Carrier.reset."""

    link: str


class Route(msgspec.Struct, frozen=True, tag="route"):
    """New connections of a link go elsewhere."""

    link: str
    target: Address


class Hold(msgspec.Struct, frozen=True, tag="hold"):
    """See Carrier.hold."""

    link: str
    beginning: str
    occurrence: int


class Release(msgspec.Struct, frozen=True, tag="release"):
    """See Carrier.release."""

    link: str
    hold: int
    lost: bool = False


class Ask(msgspec.Struct, frozen=True, tag="ask"):
    """Do nothing but answer."""

    link: str


Order = Impair | Reset | Route | Hold | Release | Ask


class Answer(msgspec.Struct, frozen=True, tag="answer"):
    """An order is in force.

    Attributes:
        does: what the link does now.
        refused: how many clients of the link were refused so far.
        touched: what the order before this one had done to the link befell something; of a reset, there were
            connections.
    """

    does: Impairments
    refused: int
    touched: bool


class Held(msgspec.Struct, frozen=True, tag="held"):
    """A hold of a link has come to hold a request."""

    link: str
    hold: int


Said = Listening | Answer | Held


class Relay:
    """One loop over all sockets."""

    def __init__(self, targets: Targets) -> None:
        self._loop = Loop()
        listeners = {link: listen(host=targets.host) for link in targets.links}
        self._carriers = {
            link: Carrier(self._loop, listener, targets.links[link], targets.token, guarded=targets.guarded)
            for link, listener in listeners.items()
        }
        self._holds = dict.fromkeys(listeners, 0)
        self.listening = Listening({link: address_of(listener) for link, listener in listeners.items()})

    def serve(self, orders: _Orders) -> None:
        """Until there are no more orders."""

        def obey() -> None:
            for line in orders.lines():
                self._obey(msgspec.json.decode(line, type=Order))

        self._loop.watch(orders, obey)
        while not orders.ended:
            self._loop.turn()

    def _obey(self, order: Order) -> None:
        carrier = self._carriers[order.link]
        touched = False
        match order:
            case Impair(wanted=wanted):
                touched = carrier.impair(wanted)
            case Reset():
                touched = carrier.reset()
            case Route(target=target):
                carrier.target = target
            case Hold(link=link):
                held = Held(link, self._holds[link])
                self._holds[link] += 1
                carrier.hold(order.beginning.encode(), order.occurrence, partial(_say, held))
            case Release(hold=hold, lost=lost):
                carrier.release(hold, lost=lost)
        _say(Answer(carrier.does, carrier.refused, touched))


class _Orders:
    """Lines of standard input, without blocking."""

    def __init__(self) -> None:
        self._rest = b""
        self.ended = False

    def fileno(self) -> int:
        return 0

    def lines(self) -> list[bytes]:
        chunk = os.read(0, _CHUNK_BYTES)
        self.ended = not chunk
        *whole, self._rest = (self._rest + chunk).split(b"\n")
        return whole


def _say(what: Said) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(what) + b"\n")
    sys.stdout.buffer.flush()


def main() -> None:
    orders = _Orders()
    lines: list[bytes] = []
    while not lines:
        lines = orders.lines()
        if orders.ended:
            return
    relay = Relay(msgspec.json.decode(lines[0], type=Targets))
    _say(relay.listening)
    relay.serve(orders)


if __name__ == "__main__":
    main()
