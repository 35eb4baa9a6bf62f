"""Control messages between the coordinator and the workers: late, doubled, lost, forged."""

from __future__ import annotations

from typing import Protocol

from holdfast.harness.model.message_contract import Disturbance


class MessageControl(Protocol):
    """Messages of any kind, within the contract of the system (harness.model.message_contract)."""

    def disturb(self, disturbance: Disturbance) -> None:
        """Delay, double or lose the next messages of a kind."""

    def restore(self, disturbance: Disturbance) -> None:
        """Undo one `disturb`. What it holds back arrives when it is due; others go on."""

    def whole(self, disturbance: Disturbance) -> bool:
        """Whether this is not done any more, and nothing that a disturbance delayed is on its way."""


class NoticeControl(Protocol):
    """The notices that tell tasks of the end of a checkpoint."""

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
    """Messages that nobody sent."""

    def forge(self, message: str, parameters: dict[str, int | str]) -> None:
        """Put a protocol message on the wire, such as a repeated `acknowledge` or one of an older attempt. Which
        messages and parameters exist is documented by the adapter."""
