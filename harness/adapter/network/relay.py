"""Run as a module: the relay, a process in front of services, where links are cut, slowed, narrowed and reset.

    python -P -m holdfast.harness.adapter.network.relay

The first line of its standard input says where each link leads; it answers with a line that says where each listens.
Each further line is an order, and is answered when it is in force. A line tells of each connection that was refused.
The end of its standard input ends it.
"""

from __future__ import annotations

import os
import sys
from functools import partial

import msgspec

from holdfast.harness.adapter.network.carrier import Carrier
from holdfast.harness.adapter.network.loop import Loop
from holdfast.harness.adapter.network.sockets import Address, address_of, listen
from holdfast.harness.spi.controls.link import BOTH

_CHUNK_BYTES = 1 << 16


class Targets(msgspec.Struct, frozen=True):
    """By link, where it leads; as an answer, where it listens."""

    links: dict[str, Address]


class Impair(msgspec.Struct, frozen=True, tag="impair"):
    """See Carrier.impair."""

    link: str
    direction: str = BOTH
    cut: bool = False
    delay_ms: int = 0
    kilobytes_per_second: int = 0
    swallow: bool = False


class Reset(msgspec.Struct, frozen=True, tag="reset"):
    """See Carrier.reset."""

    link: str


class Route(msgspec.Struct, frozen=True, tag="route"):
    """New connections of a link go elsewhere."""

    link: str
    target: Address


Order = Impair | Reset | Route
DONE, REFUSED = b"done", b"refused "


class Relay:
    """One loop over all sockets."""

    def __init__(self, targets: Targets) -> None:
        self._loop = Loop()
        listeners = {link: listen() for link in targets.links}
        self._carriers = {
            link: Carrier(self._loop, listener, targets.links[link], on_refused=partial(_say, REFUSED + link.encode()))
            for link, listener in listeners.items()
        }
        self.listening = Targets({link: address_of(listener) for link, listener in listeners.items()})

    def serve(self, orders: _Orders) -> None:
        """Until there are no more orders."""

        def obey() -> None:
            for line in orders.lines():
                self._obey(line)

        self._loop.watch(orders, obey)
        while not orders.ended:
            self._loop.turn()

    def _obey(self, line: bytes) -> None:
        order = msgspec.json.decode(line, type=Order)
        carrier = self._carriers[order.link]
        if isinstance(order, Reset):
            carrier.reset()
        elif isinstance(order, Route):
            carrier.target = order.target
        else:
            carrier.impair(
                order.direction,
                cut=order.cut,
                delay_ms=order.delay_ms,
                kilobytes_per_second=order.kilobytes_per_second,
                swallow=order.swallow,
            )
        _say(DONE)


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


def _say(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def main() -> None:
    orders = _Orders()
    lines: list[bytes] = []
    while not lines:
        lines = orders.lines()
        if orders.ended:
            return
    relay = Relay(msgspec.json.decode(lines[0], type=Targets))
    _say(msgspec.json.encode(relay.listening))
    relay.serve(orders)


if __name__ == "__main__":
    main()
