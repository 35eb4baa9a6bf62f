"""Barriers of checkpoints that were given up: where barriers may overtake, a later one may come in front of them."""

from __future__ import annotations

from holdfast.harness.model.events import CheckpointAborted, CheckpointTriggered
from holdfast.harness.model.history import History
from holdfast.harness.oracles.barriers.channel_trace import Channel
from holdfast.harness.oracles.shared.options import overtakes


def in_order_but_left_behind(history: History, channel: Channel) -> bool:
    """Whether a channel delivers what entered it next, but for barriers that were left behind: a later one overtook
    them, whose checkpoint was triggered when theirs had been aborted."""
    if not overtakes(history.plan):
        return False
    behind = _left_behind(history, channel)
    received = [element for element in channel.received if element not in behind]
    sent = [element for element in channel.sent if element not in behind]
    return bool(behind) and received == sent[: len(received)]


def _left_behind(history: History, channel: Channel) -> set[int]:
    of = channel.attempt
    aborted = {each.checkpoint: each for each in history.of(CheckpointAborted) if each.attempt == of}
    triggered = {each.checkpoint: each for each in history.of(CheckpointTriggered) if each.attempt == of}
    behind: set[int] = set()
    come: set[int] = set()
    for element in channel.received:
        come.add(element)
        trigger = triggered.get(~element) if element in channel.sent else None
        if trigger is not None:
            before = channel.sent[: channel.sent.index(element)]
            behind.update(each for each in before if each not in come and _precedes(aborted.get(~each), trigger))
    return behind


def _precedes(abort: CheckpointAborted | None, trigger: CheckpointTriggered) -> bool:
    return abort is not None and abort.node == trigger.node and abort.sequence < trigger.sequence
