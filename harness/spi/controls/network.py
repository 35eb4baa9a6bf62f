"""The network: links hold back, delay, narrow, lose and break what crosses them, and control messages are late,
doubled, lost or forged."""

from __future__ import annotations

from typing import Protocol

from holdfast.harness.model.message_contract import Disturbance
from holdfast.harness.model.target import Target

FORWARD, BACKWARD, BOTH = "forward", "backward", "both"
"""Directions of a link: from sender to receiver, or from the system under test to a service; the other way; both."""
Detail = str | int
"""What identifies a fault of a link among others of its kind: the direction of a cut, milliseconds of a delay,
kilobytes per second of a limit."""


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
        """Whether no such fault impairs the link any more, as the relay itself reports; arguments as for `restore`."""


class LinkReset(LinkControl, Protocol):
    """Links whose connections can be broken."""

    def reset(self, link: Target) -> None:
        """Break the connections with a reset at both ends; new ones are let through."""


class LinkImpairment(LinkReset, Protocol):
    """Links that suffer more than that; `cut` takes every direction."""

    def limit(self, link: Target, kilobytes_per_second: int) -> None:
        """Let no more than this through, each way."""

    def black_hole(self, link: Target) -> None:
        """Accept everything and deliver nothing, ever; `restore` resets the connections."""


MECHANISMS = (LinkControl, LinkReset, LinkImpairment)
"""Each includes those before it."""


class MessageControl(Protocol):
    """Messages of any kind, within the contract of the system (harness.model.message_contract)."""

    def disturb(self, disturbance: Disturbance) -> None:
        """Delay, double or lose the next messages of a kind."""

    def restore(self, disturbance: Disturbance) -> None:
        """Undo one `disturb`. What it holds back arrives when it is due; others go on."""

    def whole(self, disturbance: Disturbance) -> bool:
        """Whether this disturbance has ended, and no message that it delayed is still on its way."""


class NoticeControl(Protocol):
    """The notices to tasks of the end of a checkpoint."""

    def lose_notices(self, percent: int) -> None:
        """Lose this share of them, drawn one by one; 0: none."""


class SplitControl(Protocol):
    """The messages by which splits are assigned to readers."""

    def lose_splits(self, occurrences: int, delay_ms: int) -> None:
        """Lose the next ones, or let them arrive so much later, behind what is sent after them.

        Args:
            occurrences: how many; 0: none any more.
            delay_ms: 0: they never arrive.
        """


class ForgeryControl(Protocol):
    """Forged messages."""

    def forge(self, message: str, parameters: dict[str, int | str]) -> None:
        """Put a protocol message on the wire, such as a repeated `acknowledge` or one of an older attempt. Which
        messages and parameters exist is documented by the adapter."""
