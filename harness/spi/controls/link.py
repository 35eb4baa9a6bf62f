"""Links: they hold back, delay, narrow, lose and break what crosses them."""

from __future__ import annotations

from typing import Protocol

from holdfast.harness.model.target import Target

FORWARD, BACKWARD, BOTH = "forward", "backward", "both"
"""Directions of a link: from sender to receiver, or from the system under test to a service; the other way; both."""
Detail = str | int
"""What tells a fault of a link from others of its kind: the direction of a cut, milliseconds of a delay, kilobytes per
second of a limit."""


class LinkControl(Protocol):
    """Channels between two subtasks, and the links to the storage and the broker, as far as declared."""

    def cut(self, link: Target, direction: str = BOTH) -> None:
        """Hold back everything without closing the link. What was sent is delivered after `restore`.

        Args:
            link: a channel, or the storage or broker that the system under test is linked to.
            direction: FORWARD, BACKWARD or BOTH.
        """

    def slow(self, link: Target, delay_ms: int) -> None:
        """Delay everything, keeping its order. Replaces an earlier delay."""

    def restore(self, link: Target, kind: str, detail: Detail = "") -> None:
        """Undo one fault of a link. Any other that acts on the link goes on until it is undone itself.

        Args:
            link: as for `cut`.
            kind: of the fault: `cut`, `slow`, `limit` or `black-hole`.
            detail: which of several.
        """

    def whole(self, link: Target, kind: str, detail: Detail = "") -> bool:
        """Whether no such fault impairs the link any more, asked of whatever does; arguments as for `restore`."""


class LinkReset(LinkControl, Protocol):
    """Links whose connections can be broken."""

    def reset(self, link: Target) -> None:
        """Break the connections with a reset at both ends; new ones are let through."""


class LinkImpairment(LinkReset, Protocol):
    """Links that suffer more than that; `cut` takes every direction."""

    def limit(self, link: Target, kilobytes_per_second: int) -> None:
        """Let no more than this through, each way."""

    def black_hole(self, link: Target) -> None:
        """Take everything and deliver nothing, ever; the connections are reset by `restore`."""


MECHANISMS = (LinkControl, LinkReset, LinkImpairment)
"""Who has the last has all."""
