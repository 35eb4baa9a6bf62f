"""Control messages that are late, overtaken, doubled or lost, as far as the contract of the system allows each kind."""

from __future__ import annotations

from typing import Any

from holdfast.faults.forge import forge
from holdfast.faults.messages import disturb
from holdfast.faults.process import kill, pause
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.window import Window
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import CHECKPOINTING, EVERYWHERE, WORKERS, case, decides, gate, plan, with_needs

SHORT_TIMEOUT = {**plans.TOLERANT, **plans.STATE_IN_FILES, f"{CHECKPOINTING}.timeout": "100 ms"}
LONG = {"records": 240}
"""Records arrive for a second and more."""
NOTICES_AND_TRIGGERS = "trigger complete abort heartbeat"


def _declined(**when: Any) -> FaultSpec:
    """Some checkpoint is aborted."""
    return forge("decline", "sink[1]", **when)


LOST_WITH_CONNECTION = tuple(
    plan(disturb("lose", first, WORKERS[0], after_checkpoint=1), disturb("lose", then, WORKERS[0], after_checkpoint=3),
         kill(WORKERS[1], after_checkpoint=1), kill(WORKERS[1], after_checkpoint=4), options=SHORT_TIMEOUT,
         records=LONG)
    for first, then in (("acknowledge", "deploy"), ("cancel", "task-running"), ("start-source", "cancelled"))
)  # fmt: skip
"""The connection of a worker is reset in front of a message; the other worker dies, so that tasks stop and start."""
ACKS_OF_THE_LAST_ATTEMPT = plan(
    disturb("double", "acknowledge", WORKERS[0], {"occurrences": 0, "delay_ms": 70}, after_checkpoint=1),
    kill(WORKERS[1], after_checkpoint=3),
    options=SHORT_TIMEOUT,
    records=LONG,
)
"""Copies of what the surviving worker acknowledged arrive when the attempt is over, and the checkpoint complete."""
OLD_TRIGGERS = (
    plan(disturb("double", "trigger", how={"occurrences": 0, "delay_ms": 50}, after_checkpoint=1),
         options=SHORT_TIMEOUT, records=LONG),
    plan(disturb("delay", "trigger", WORKERS[0], {"delay_ms": 130, "overtaken_by": NOTICES_AND_TRIGGERS},
                 after_checkpoint=1),
         options={**SHORT_TIMEOUT, **plans.TWO_AT_ONCE}, records=LONG),
)  # fmt: skip
LATE_ABORTS = plan(disturb("delay", "abort",
                           how={"delay_ms": 45, "overtaken_by": NOTICES_AND_TRIGGERS, "occurrences": 0}),
                   _declined(after_checkpoint=1, at_event="checkpoint_triggered"),
                   _declined(after_checkpoint=2, at_event="checkpoint_triggered"), options=SHORT_TIMEOUT,
                   records=LONG)  # fmt: skip
LATE_DECLINES = plan(disturb("delay", "decline",
                             how={"delay_ms": 60, "overtaken_by": "acknowledge decline heartbeat-answer"}),
                     disturb("lose", "trigger", WORKERS[0], {"occurrences": 3}, after_checkpoint=1),
                     _declined(after_checkpoint=1, at_event="checkpoint_triggered"),
                     _declined(after_checkpoint=2, at_event="checkpoint_triggered"),
                     options={**SHORT_TIMEOUT, f"{CHECKPOINTING}.timeout": "42 ms"}, records=LONG)  # fmt: skip
"""A decline arrives when its checkpoint has expired, and another is pending; a later one arrives in time."""

CASES = with_needs(
    case("messages/doubled-acks", "Is every acknowledgement counted once, when each of them arrives twice?",
         plan(disturb("double", "acknowledge", how={"occurrences": 0, "delay_ms": 1}, after_checkpoint=1),
              pause(WORKERS[1], 60, after_checkpoint=1, gate=gate("acknowledge", WORKERS[1], "sink")),
              options=SHORT_TIMEOUT, records=LONG),
         decides("CRD-02", "COORD/ack-counted-wrongly", wrong="counts-duplicate-acks"), tiers=EVERYWHERE,
         method="All acknowledgements are doubled, and the last one of a checkpoint is held back.",
         passes="No checkpoint completes without it."),
    case("messages/late-copies-of-acks",
         "Does the state of a completed checkpoint stay, when its acknowledgements come again later?",
         ACKS_OF_THE_LAST_ATTEMPT, decides("CRD-02", "REACH/file-missing", wrong="discards-counted-acks"),
         windows=(Window.RESTORED_STATE,), tiers=EVERYWHERE,
         method="Acknowledgements of one worker are doubled, the copies late; the other worker dies meanwhile.",
         passes="Every file that a retained checkpoint names is there."),
    case("messages/old-triggers",
         "Is a trigger ignored that arrives when its source has begun this checkpoint or a newer one?", OLD_TRIGGERS,
         decides("BAR-10", "CUT/stale-acted", wrong="takes-older-triggers"), tiers=EVERYWHERE,
         method="Triggers are doubled, or one is overtaken by the next.",
         passes="No source begins a checkpoint twice, or an older one after a newer."),
    case("messages/late-aborts", "Does a notice of abort leave alone what newer checkpoints have promised?",
         LATE_ABORTS, decides("CRD-07", "TXN/not-committed", wrong="abort-undoes-newer"),
         method="Checkpoints are declined, and the notices of that arrive behind those of newer checkpoints.",
         passes="What a completed checkpoint promises is committed."),
    case("messages/late-declines", "Does a decline end no other checkpoint than its own?", LATE_DECLINES,
         decides("CRD-03", "COORD/wrong-reason", wrong="decline-fails-newest"),
         method="A decline arrives when its checkpoint has expired, and another one is pending.",
         passes="The other one is not aborted as declined."),
    case("messages/lost-triggers", "Does a checkpoint whose trigger is lost expire, and the next one complete?",
         plan(disturb("lose", "trigger", WORKERS[0], {"occurrences": 2}, after_checkpoint=1), options=SHORT_TIMEOUT,
              records=LONG),
         decides("CRD-04", "COORD/not-expired", wrong="never-expires"),
         decides("CRD-04", "COORD/slot-not-freed", wrong="keeps-slot"), tiers=EVERYWHERE,
         method="The triggers of one worker's source are lost twice.",
         passes="Both checkpoints expire in time, and another is triggered in the same attempt."),
    case("messages/lost-with-connection",
         "Is the output right, and is all input drained, whichever message is lost with its connection?",
         LOST_WITH_CONNECTION, decides("REC-03", *plans.EXACT_ROWS, wrong="source-repeats-one"),
         decides("REC-10", "LIVE/input-not-drained", "LIVE/no-new-checkpoints", wrong="keeps-lost-worker"),
         windows=(Window.RESTORED_STATE, Window.READ_AGAIN), tiers=EVERYWHERE,
         method="The connection of one worker is reset twice, in front of messages of six kinds in turn; another "
                "dies.",
         passes="The committed output equals that of the oracle's model, once, and checkpoints cover all input."),
)  # fmt: skip
