"""Links between an engine and the services that it uses: it connects to our relay, where they are impaired."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from holdfast.harness.adapter.child import Child, wait_for
from holdfast.harness.adapter.holds import Holds
from holdfast.harness.adapter.network import relay
from holdfast.harness.adapter.network.relay import DONE, REFUSED, Impair, Order, Reset, Targets
from holdfast.harness.adapter.network.sockets import Address
from holdfast.harness.model.events import ConnectionsRefused
from holdfast.harness.model.target import Target
from holdfast.harness.spi.controls.link import BACKWARD, BOTH, FORWARD, Detail

_CUT, _SLOW, _LIMIT, _BLACK_HOLE = KINDS = ("cut", "slow", "limit", "black-hole")
_ANSWER_LIMIT_S = 10.0


class RelayProcess:
    """The relay, and what is said to it; by one thread at a time.

    Args:
        targets: by link, where it leads.
        folder: the label of its process.
        log: takes its standard error.

    Raises:
        OSError: it does not start.

    Attributes:
        listening: by link, where it listens.
        refused: by link, how many connections it had refused when it answered last.
    """

    def __init__(self, targets: Mapping[str, Address], folder: Path, log: Path) -> None:
        self.refused: Counter[str] = Counter()
        self._child = Child([sys.executable, "-P", "-m", relay.__name__], folder, log)
        self._child.send(msgspec.json.encode(Targets(dict(targets))))
        try:
            self.listening = msgspec.json.decode(self._answer(), type=Targets).links
        except OSError:
            self.close()
            raise

    @property
    def dead(self) -> bool:
        return self._child.dead

    def order(self, order: Order) -> None:
        """Returns when it is in force.

        Raises:
            OSError: the relay is gone, or silent.
        """
        if self._child.dead:
            raise OSError(f"the relay of the links ended: {self._child.last_words()}")
        self._child.send(msgspec.json.encode(order))
        if (answer := self._answer()) != DONE:
            raise OSError(f"the relay says {answer!r}.")

    def end(self) -> None:
        """Kill it, in any thread. Idempotent."""
        self._child.end()

    def close(self) -> None:
        """End it, and free what it took. Idempotent."""
        self._child.close()

    def _answer(self) -> bytes:
        until_s = time.monotonic() + _ANSWER_LIMIT_S
        while time.monotonic() < until_s:
            lines = self._child.lines()
            self.refused.update(line[len(REFUSED) :].decode() for line in lines if line.startswith(REFUSED))
            if answers := [line for line in lines if not line.startswith(REFUSED)]:
                return answers[0]
            if self._child.ended:
                raise OSError(f"the relay of the links ended: {self._child.last_words()}")
            wait_for([self._child], until_s - time.monotonic())
        raise OSError(f"the relay of the links does not answer within {_ANSWER_LIMIT_S:.0f} s.")


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
        led = {self._names[target]: _address(text) for target, text in targets.items()}
        self._relay = RelayProcess(led, folder, log)

    def address(self, link: Target) -> str:
        """`host:port` that leads through a link."""
        host, port = self._relay.listening[self._name(link)]
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
        self._relay.order(Reset(self._name(link)))

    def restore(self, link: Target, kind: str, detail: Detail = "") -> None:
        self._held.give_back((link, _known(kind)), detail)
        self._settle(link)
        if kind == _BLACK_HOLE and not self._held.acts((link, _BLACK_HOLE)):
            self.reset(link)  # What it swallowed never comes.

    def whole(self, link: Target, kind: str, detail: Detail = "") -> bool:
        return not self._held.acts((link, _known(kind)), detail) and not self._relay.dead

    def refused(self) -> Mapping[str, int]:
        """By link, how many connections were refused, because they are not of the run; see the rules of `acceptor`."""
        if not self._relay.dead:
            self._settle(next(iter(self._names)))  # What it has told by its answer is known.
        return self._relay.refused

    def close(self) -> None:
        """End the relay. Idempotent."""
        self._relay.close()

    def _act(self, link: Target, kind: str, detail: Detail) -> None:
        self._name(link)
        self._held.take((link, kind), detail)
        self._settle(link)

    def _settle(self, link: Target) -> None:
        """Let a link do what the faults that are left want of it."""
        for direction in (FORWARD, BACKWARD):
            cut = any(each in (direction, BOTH) for each in self._held.acting((link, _CUT)))
            self._relay.order(
                Impair(
                    self._name(link),
                    direction,
                    cut=cut,
                    delay_ms=int(self._held.newest((link, _SLOW)) or 0),
                    kilobytes_per_second=int(self._held.newest((link, _LIMIT)) or 0),
                    swallow=self._held.acts((link, _BLACK_HOLE)),
                )
            )

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


class Strangers:
    """Who came to a link of a service and is not of the run.

    Args:
        refused: by link, how many connections were refused so far; other runs may have had the same links.
    """

    def __init__(self, refused: Callable[[], Mapping[str, int]]) -> None:
        self._refused = refused
        self._known = Counter(refused())

    def events(self) -> Sequence[ConnectionsRefused]:
        """Those that have come since this was made, or last asked."""
        known, self._known = self._known, Counter(self._refused())
        return [ConnectionsRefused(connections=more, link=link) for link, more in (self._known - known).items()]
