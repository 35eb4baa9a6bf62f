"""Links: what faults do to them by now, and the relay that stands in front of each and does it.

Rules of this file
- Links bear names. The owner of a deployment maps targets to links.
- Each fault of a link is undone on its own; of those of a kind that are left, the newest counts.
- There are two relays: `relay_process`, and Toxiproxy, whose client a base must not import.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from holdfast.harness.adapter.holds import Holds
from holdfast.harness.adapter.network.pipe import Impairment, Impairments
from holdfast.harness.model.events import ConnectionsRefused
from holdfast.harness.model.target import Target
from holdfast.harness.spi.controls import NOBODY, Acting, Controls
from holdfast.harness.spi.controls.network import BACKWARD, BOTH, FORWARD, MECHANISMS, Detail

CUT, SLOW, LIMIT, BLACK_HOLE = KINDS = ("cut", "slow", "limit", "black-hole")
"""Nothing passes a cut, however slow the link is besides: it comes first where one must be named."""
_DIRECTIONS = (FORWARD, BACKWARD, BOTH)


class Relay(Protocol):
    """What stands in front of links.

    All raise ValueError for a link that it does not have, and OSError for what it does not obey.
    """

    def address(self, link: str) -> str:
        """`host:port` that leads through a link."""

    def impair(self, link: str, kind: str, wanted: Impairments) -> bool:
        """Let a link do from now on what is wanted of it.

        Args:
            link: of them.
            kind: of the fault that came or went. A relay that keeps kinds apart leaves those of other kinds alone.
            wanted: by all faults of the link.

        Returns:
            Whether the impairments until now had an effect, as far as the relay reports.
        """

    def does(self, link: str, kind: str, wanted: Impairments) -> bool:
        """Whether a link does what is wanted of it, and nothing else of a kind."""

    def reset(self, link: str) -> bool:
        """Break the connections of a link; returns whether there was one, as far as the relay reports."""

    def lead(self, link: str, target: str = "") -> None:
        """New connections of a link lead to another `host:port`; empty: to the first that it led to."""

    def refused(self) -> Mapping[str, int]:
        """By link, how many connections were refused so far, because they are not of the run; see `acceptor`."""


class Witness(Protocol):
    """Records the effects of links.

    Attributes:
        acting: the fault that acts just now.
    """

    @property
    def acting(self) -> Acting: ...

    def struck(self, fault: int, what: str) -> None:
        """Record an effect of a fault on a link; of NOBODY there is none."""

    def fail(self, problem: str) -> None:
        """Note an error after which the state of the links is unknown."""


class Links:
    """Which faults act on links by now.

    Args:
        relay: does what they want.
        witness: keeps faults apart, and takes the relay's reports of their effects; None: these are dropped.
    """

    def __init__(self, relay: Relay, witness: Witness | None = None) -> None:
        self._relay = relay
        self._witness = witness
        self._held: Holds[Detail] = Holds(None if witness is None else witness.acting)
        self._lock = threading.RLock()

    def act(self, link: str, kind: str, detail: Detail = "") -> None:
        """Add a fault to a link.

        Args:
            link: on this.
            kind, detail: see spi.controls.network.LinkControl.restore.

        Raises:
            ValueError: there is no such link, kind or direction.
            OSError: the relay does not obey; the fault does not act then.
        """
        held = _checked(kind, detail)
        with self._lock:
            former = self._by(link)
            self._held.take((link, kind), held)
            try:
                self._settle(link, kind, former)
            except (OSError, ValueError):
                self._held.give_back((link, kind), held)
                raise

    def reset(self, link: str) -> None:
        """Break connections; new ones are let through."""
        touched = self._asked(lambda: self._relay.reset(link))
        if touched and self._witness is not None:
            self._witness.struck(self._witness.acting.fault, link)

    def restore(self, link: str, kind: str = "", detail: Detail | None = None) -> None:
        """Undo faults.

        Args:
            link: of them.
            kind: of them; empty: all.
            detail: which of a kind; None: all of it.
        """
        with self._lock:
            for each in (kind,) if kind else KINDS:
                former = self._by(link)
                if detail is None:
                    self._held.give_all_back((link, each))
                else:
                    self._held.give_back((link, each), _checked(each, detail))
                self._settle(link, each, former)

    def whole(self, link: str, kind: str = "", detail: Detail | None = None) -> bool:
        """Whether no such fault acts on a link, by the relay's report; arguments as of `restore`."""
        kinds, held = (kind,) if kind else KINDS, None if detail is None else _checked(kind, detail)
        with self._lock:
            acts = any(self._held.acts((link, each), held) for each in kinds)
            return not acts and all(self._relay.does(link, each, self._wanted(link)) for each in kinds)

    def lead(self, link: str, target: str = "") -> None:
        """Let a link lead elsewhere; its connections are closed. See Relay.lead."""
        self._relay.lead(link, target)
        self._relay.reset(link)

    def _by(self, link: str) -> int:
        """The fault that impairs a link."""
        return next((self._held.by((link, each)) for each in KINDS if self._held.acts((link, each))), NOBODY)

    def _settle(self, link: str, kind: str, former: int) -> None:
        """Let a link do what the faults that are left want of it, and record what it did for the one before."""
        touched = self._asked(lambda: self._relay.impair(link, kind, self._wanted(link)))
        if touched and self._witness is not None:
            self._witness.struck(former, link)

    def _asked(self, ask: Callable[[], bool]) -> bool:
        try:
            return ask()
        except OSError as error:
            if self._witness is not None:
                self._witness.fail(str(error))
            raise

    def _wanted(self, link: str) -> Impairments:
        forward, backward = (
            Impairment(
                cut=any(each in (direction, BOTH) for each in self._held.acting((link, CUT))),
                delay_ms=int(self._held.newest((link, SLOW)) or 0),
                kilobytes_per_second=int(self._held.newest((link, LIMIT)) or 0),
                swallow=self._held.acts((link, BLACK_HOLE)),
            )
            for direction in (FORWARD, BACKWARD)
        )
        return Impairments(forward, backward)


class NamedLinks(Protocol):
    """Links, or what stands in front of them; see there."""

    def act(self, link: str, kind: str, detail: Detail = "") -> None: ...

    def reset(self, link: str) -> None: ...

    def restore(self, link: str, kind: str, detail: Detail) -> None: ...

    def whole(self, link: str, kind: str, detail: Detail) -> bool: ...


LinkOf = Callable[[Target], tuple[NamedLinks, str]]
"""The link that a target is. Raises ValueError where there is none, and OSError where no fault may act on it."""


class LinksOfTargets:
    """spi.controls.network.LinkImpairment.

    Args:
        of: the link that a target is.
    """

    def __init__(self, of: LinkOf) -> None:
        self._of = of

    def cut(self, link: Target, direction: str = BOTH) -> None:
        self._act(link, CUT, direction)

    def slow(self, link: Target, delay_ms: int) -> None:
        self._act(link, SLOW, delay_ms)

    def limit(self, link: Target, kilobytes_per_second: int) -> None:
        self._act(link, LIMIT, kilobytes_per_second)

    def black_hole(self, link: Target) -> None:
        self._act(link, BLACK_HOLE)

    def reset(self, link: Target) -> None:
        links, name = self._of(link)
        links.reset(name)

    def restore(self, link: Target, kind: str, detail: Detail = "") -> None:
        links, name = self._of(link)
        links.restore(name, kind, detail)

    def whole(self, link: Target, kind: str, detail: Detail = "") -> bool:
        links, name = self._of(link)
        return links.whole(name, kind, detail)

    def _act(self, link: Target, kind: str, detail: Detail = "") -> None:
        links, name = self._of(link)
        links.act(name, kind, detail)


def offer_links(controls: Controls, of: LinkOf) -> None:
    """Offer all that can be done to links. Their effects are seen in what crosses them, which does not say for whom."""
    links = LinksOfTargets(of)
    for mechanism in MECHANISMS:
        controls.offer(mechanism, links, stamps=False)


def _checked(kind: str, detail: Detail) -> Detail:
    """What identifies a fault among others of its kind.

    Raises:
        ValueError: there is no such kind or direction.
    """
    if kind not in KINDS:
        raise ValueError(f"kind {kind!r} of a link's fault is unknown; allowed are {', '.join(KINDS)}.")
    if kind == CUT and (detail or BOTH) not in _DIRECTIONS:
        raise ValueError(f"direction {detail!r} is unknown; allowed are {', '.join(_DIRECTIONS)}.")
    if kind == CUT:
        return detail or BOTH
    return "" if kind == BLACK_HOLE else int(detail)


class Strangers:
    """Connections to a link of a service by processes outside the run.

    Args:
        refused: by link, how many connections were refused so far; other runs may have had the same links.
    """

    def __init__(self, refused: Callable[[], Mapping[str, int]]) -> None:
        self._refused = refused
        self._known = Counter(refused())

    def events(self) -> Sequence[ConnectionsRefused]:
        """The refused connections since this was made, or last called."""
        known, self._known = self._known, Counter(self._refused())
        return [ConnectionsRefused(connections=more, link=link) for link, more in (self._known - known).items()]
