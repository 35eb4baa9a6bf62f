"""Histories for MESSAGE: what was sent and what was taken, by subtasks and a coordinator that live."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, injected
from holdfast.suites.selfcheck.oracles.legal import SUBTASKS
from holdfast.suites.selfcheck.oracles.lines import (
    CANCELLING,
    ack_sent,
    acked,
    attempt,
    claimed,
    decline_sent,
    declined,
    died,
    finish_received,
    finished,
    heard,
    received,
    stopped,
    switched,
    task,
    told,
    trigger_received,
    trigger_sent,
)

SOURCE = "source[1]"


def running(*lines: Line) -> list[Line]:
    """Every subtask runs in attempt 1; the run ends a second after the last line."""
    return [attempt(), *(task(each) for each in SUBTASKS), *lines]


TRIGGER = trigger_sent(SOURCE)


def taken(attempt: int = 0) -> events.TriggerReceived:
    return at("", trigger_received(SOURCE), attempt)


def struck(kind: str, target: str = "worker[1]") -> events.FaultInjected:
    return at("harness", injected(kind, target))


bad, near = exhibits("MESSAGE")

bad(
    "never-sent", "trigger of another attempt",
    running(attempt(), trigger_sent(SOURCE), at("", trigger_received(SOURCE), 1)),
)  # fmt: skip
bad(
    "never-sent", "acknowledgement that nobody sent",
    running(ack_sent(SOURCE), [acked(each, SOURCE) for each in (1, 2)]),
)  # fmt: skip
bad(
    "never-sent", "acknowledgement under another name",
    running(ack_sent("source[0]"), [acked(1, each) for each in ("source[0]", SOURCE)]),
)  # fmt: skip
bad(
    "never-sent", "decline of another checkpoint",
    running(decline_sent(SOURCE, 2), [declined(each, SOURCE, "full") for each in (2, 1)]),
)  # fmt: skip
bad(
    "never-sent", "notice of the other kind",
    running(told(1, SOURCE, completed=False), [heard(SOURCE, completed=each) for each in (False, True)]),
)  # fmt: skip

BEHIND_A_SUCCESSOR: list[Line] = [
    at("coordinator.0", attempt()), at("coordinator.0", claimed()), at("coordinator.1", claimed(2)),
    at("coordinator.0", trigger_sent(SOURCE)),
]  # fmt: skip
"""Another coordinator has taken over while the one of the attempt lives."""


bad("never-sent", "neither of two coordinators sent it", *BEHIND_A_SUCCESSOR, at("", trigger_received(SOURCE), 2))
near("never-sent", "a superseded coordinator sent it", *BEHIND_A_SUCCESSOR, trigger_received(SOURCE))

near(
    "never-received", "nobody takes what a superseded coordinator sends",
    *BEHIND_A_SUCCESSOR, trigger_received(SOURCE), at("coordinator.0", trigger_sent(SOURCE, 2)),
)  # fmt: skip

near(
    "never-sent", "trigger that is sent again",
    running(trigger_sent(SOURCE), trigger_sent(SOURCE), trigger_received(SOURCE), trigger_received(SOURCE)),
)  # fmt: skip

near(
    "taken-twice", "trigger that is sent again",
    running(trigger_sent(SOURCE), trigger_sent(SOURCE), trigger_received(SOURCE), trigger_received(SOURCE)),
)  # fmt: skip
bad(
    "taken-twice", "trigger that comes twice",
    running(trigger_sent(SOURCE), trigger_received(SOURCE), trigger_received(SOURCE)),
)  # fmt: skip


def _doubled(subtask: str) -> Line:
    return at(
        "harness", events.MessageDisturbed(message="trigger", way="double", worker=1, subtask=subtask, checkpoint=1)
    )


bad(
    "taken-twice", "another trigger is doubled",
    running(_doubled("source[0]"), trigger_sent(SOURCE), trigger_received(SOURCE), trigger_received(SOURCE)),
)  # fmt: skip
near(
    "taken-twice", "a fault doubles it",
    running(_doubled(SOURCE), trigger_sent(SOURCE), trigger_received(SOURCE), trigger_received(SOURCE)),
)  # fmt: skip

near(
    "never-sent", "the sender died on a busy machine",
    running(trigger_sent(SOURCE), trigger_received(SOURCE), died(), trigger_received(SOURCE, 2)),
    real_time=True,
)  # fmt: skip

# A coordinator finds that in the checkpoint that it restores: nobody sends it.
near(
    "never-sent", "subtask that had finished in the checkpoint",
    running(finish_received(SOURCE), trigger_sent(SOURCE), trigger_received(SOURCE)),
)  # fmt: skip

bad("never-received", "trigger is lost", running(trigger_sent(SOURCE)))
bad("never-received", "acknowledgement is lost", running(ack_sent(SOURCE)))
bad("never-received", "notice is lost", running(told(1, SOURCE)))
bad("never-received", "decline is lost", running(decline_sent(SOURCE)))
bad("never-received", "splits are lost", running(events.SplitsAssigned(subtask=SOURCE, splits=(1, 3))))
bad("never-received", "end of a subtask is lost", running(finished(SOURCE)))

# Records travel on it, and no control messages.
bad("never-received", "a channel is slow", running(at("harness", injected("slow", "channel[0]")), trigger_sent(SOURCE)))
bad(
    "never-received", "connection was cut before",
    running(at("harness", injected("cut", "worker[1]")), 100, trigger_sent(SOURCE)),
)  # fmt: skip
bad(
    "never-received",
    "another message was struck",
    running(
        events.MessageDisturbed(message="trigger", way="lose", worker=0, subtask="source[0]", checkpoint=1),
        trigger_sent(SOURCE),
    ),
)
near("never-received", "trigger arrives", running(trigger_sent(SOURCE), trigger_received(SOURCE)))
near(
    "never-received",
    "everything arrives",
    running(
        events.SplitsAssigned(subtask=SOURCE, splits=(1, 3)),
        received(1, 3, subtask=SOURCE),
        ack_sent(SOURCE),
        acked(1, SOURCE),
        finished(SOURCE),
        finish_received(SOURCE),
    ),
)


near(
    "never-received", "its receiver has stopped",
    running(trigger_sent(SOURCE), trigger_received(SOURCE), trigger_sent(SOURCE, 2), stopped(SOURCE)),
)  # fmt: skip
near(
    "never-received", "its receiver dies",
    running(trigger_sent(SOURCE), trigger_received(SOURCE), trigger_sent(SOURCE, 2), died("worker-1")),
)  # fmt: skip
near(
    "never-received", "the next attempt begins",
    running(trigger_sent(SOURCE), trigger_received(SOURCE), trigger_sent(SOURCE, 2), attempt()),
)  # fmt: skip
near(
    "never-received", "the job is over",
    running(trigger_sent(SOURCE), trigger_received(SOURCE), ack_sent(SOURCE), switched(CANCELLING)),
)  # fmt: skip
near(
    "never-received", "its coordinator dies",
    running(trigger_sent(SOURCE), trigger_received(SOURCE), ack_sent(SOURCE), died()),
)  # fmt: skip
near(
    "never-received",
    "a fault loses it",
    running(
        trigger_sent(SOURCE),
        trigger_received(SOURCE),
        at(
            "coordinator.0",
            events.MessageDisturbed(message="trigger", way="lose", worker=1, subtask=SOURCE, checkpoint=2),
        ),
        trigger_sent(SOURCE, 2),
    ),
)
near(
    "never-received",
    "its connection is cut",
    running(
        trigger_sent(SOURCE),
        trigger_received(SOURCE),
        trigger_sent(SOURCE, 2),
        100,
        at("harness", injected("cut", "worker[1]")),
    ),
)
