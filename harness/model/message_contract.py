"""The contract of control messages: what may happen to each kind of them between the coordinator and a worker.

The default is that of one ordered connection with each worker: what is sent arrives once and in order, or is lost with
its connection, and both ends notice that. A system declares what it can bear beyond that, and no plan asks for more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

import msgspec


class MessageKind(StrEnum):
    """Control messages: first those to a worker, then those to the coordinator."""

    DEPLOY = "deploy"
    START_SOURCE = "start-source"
    ASSIGN_SPLITS = "assign-splits"
    CANCEL = "cancel"
    TRIGGER = "trigger"
    COMPLETE = "complete"
    """The notice that a checkpoint completed."""
    ABORT = "abort"
    """The notice that one was aborted."""
    HEARTBEAT = "heartbeat"
    REGISTER = "register"
    TASK_RUNNING = "task-running"
    CONFIRM_SPLITS = "confirm-splits"
    TASK_FAILED = "task-failed"
    TASK_FINISHED = "task-finished"
    CANCELLED = "cancelled"
    ACKNOWLEDGE = "acknowledge"
    DECLINE = "decline"
    HEARTBEAT_ANSWER = "heartbeat-answer"


NOTICES = frozenset({MessageKind.COMPLETE, MessageKind.ABORT})
ALL_KINDS = frozenset(MessageKind)
TO_WORKER = frozenset(
    {
        MessageKind.DEPLOY,
        MessageKind.START_SOURCE,
        MessageKind.ASSIGN_SPLITS,
        MessageKind.CANCEL,
        MessageKind.TRIGGER,
        *NOTICES,
        MessageKind.HEARTBEAT,
    }
)
"""What the coordinator sends; workers send the others."""


class Way(StrEnum):
    """What a fault does to a message."""

    DELAY = "delay"
    DOUBLE = "double"
    LOSE = "lose"


class Delivery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What may happen to one kind of message while its connection stands. Any kind may be late in its order, and any
    may be lost together with its connection.

    Attributes:
        lost_alone: it may be lost, and its connection stands.
        doubled: a copy of it may arrive at any later time.
        overtaken_by: kinds that may arrive earlier though they were sent later.
    """

    lost_alone: bool = False
    doubled: bool = False
    overtaken_by: frozenset[MessageKind] = frozenset()


MessageContract = Mapping[MessageKind, Delivery]

_BEST_EFFORT = frozenset({MessageKind.TRIGGER, *NOTICES, MessageKind.HEARTBEAT})
_ANSWERS = frozenset({MessageKind.ACKNOWLEDGE, MessageKind.DECLINE, MessageKind.HEARTBEAT_ANSWER})
ORDERED_CONNECTION: MessageContract = {
    **dict.fromkeys(MessageKind, Delivery()),
    # A checkpoint whose trigger is lost expires, and a lost notice is covered by the next one.
    **dict.fromkeys((MessageKind.TRIGGER, *NOTICES), Delivery(True, True, _BEST_EFFORT)),
    # The handles of an ack are known to its sender alone: it is lost only with its connection.
    MessageKind.ACKNOWLEDGE: Delivery(False, True, _ANSWERS),
    MessageKind.DECLINE: Delivery(True, True, _ANSWERS),
    MessageKind.HEARTBEAT: Delivery(True, True, ALL_KINDS),
    MessageKind.HEARTBEAT_ANSWER: Delivery(True, True, ALL_KINDS),
}
"""By kind, what a system bears that declares no contract of its own. A split assignment is lost only with its
connection, as is whatever starts, stops or describes a task."""


class Disturbance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is done to the next messages of a kind.

    Attributes:
        message: the kind.
        way: what is done.
        occurrences: to how many on each connection; 0: to all until the heal. Messages to the subtasks of one chain
            about one checkpoint count as one, and share their fate.
        delay_ms: how much later a message arrives, or a copy of it.
        overtaken_by: kinds that go in front of a delayed message; others wait behind it.
        worker: on whose connection; -1: on any.
        subtask: whose messages, or messages to whom; empty: any.
    """

    message: MessageKind
    way: Way
    occurrences: int = 1
    delay_ms: int = 0
    overtaken_by: frozenset[MessageKind] = frozenset()
    worker: int = -1
    subtask: str = ""

    def beyond(self, contract: MessageContract) -> str:
        """Why a contract does not allow this, in one sentence; empty if it does."""
        delivery = contract[self.message]
        if self.way is Way.DOUBLE and not delivery.doubled:
            allowed = [kind for kind in MessageKind if contract[kind].doubled]
            return f"a {self.message} message is never doubled; allowed are {_listed(allowed)}: choose one of these."
        beyond = self.overtaken_by - delivery.overtaken_by
        if self.way is Way.DELAY and beyond:
            return (
                f"a {self.message} message is not overtaken by {_listed(beyond)}; allowed are "
                f"{_listed(delivery.overtaken_by) or 'none'}: choose of these, or let it be late in its order."
            )
        return ""


def _listed(kinds: Iterable[MessageKind]) -> str:
    return ", ".join(sorted(kinds))
