"""The life of a checkpoint at the coordinator (RULES CRD)."""

from __future__ import annotations

from itertools import cycle

from holdfast.faults.forge import forge
from holdfast.faults.process import pause
from holdfast.harness.model.case import Case, Decision
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Plan, Topology
from holdfast.harness.model.target import Target
from holdfast.harness.model.topology import subtasks
from holdfast.suites.conformance.plans import (
    CHECKPOINTING,
    EVERYWHERE,
    STATE_IN_FILES,
    TOLERANT,
    WORKERS,
    gate,
    plan,
    with_needs,
)

SHORT_TIMEOUT = {f"{CHECKPOINTING}.timeout": "60 ms", **TOLERANT}


def _withheld(vertex: str) -> Plan:
    """The ack of one subtask is withheld for longer than the timeout, and comes late."""
    stuck = pause(WORKERS[0], 250, after_checkpoint=1, gate=gate("acknowledge", WORKERS[0], vertex))
    return plan(stuck, options={**SHORT_TIMEOUT, **STATE_IN_FILES}, records={"records": 240})


def _declined(worker: Target, subtask: str) -> Plan:
    """A subtask declines when its worker is about to send the last acknowledgement of three, and others have acked."""
    declines = forge("decline", subtask, after_checkpoint=1, gate=gate("acknowledge", worker, occurrence=3))
    return plan(declines, options={**TOLERANT, **STATE_IN_FILES})


TASKS = subtasks(KEYED_SUM, Topology())
DECLINES = tuple(_declined(worker, subtask) for worker, subtask in zip(cycle(WORKERS), TASKS, strict=False))
"""Worker i hosts subtask i of every vertex."""
DUPLICATES = plan(
    pause(WORKERS[1], 60, after_checkpoint=1, gate=gate("acknowledge", WORKERS[1], "sink")),
    forge("acknowledge", "source[0]", after_checkpoint=1, at_event="transaction_precommitted"),
    forge("acknowledge", "sum[0]", after_checkpoint=1, at_event="transaction_precommitted"),
)
STALE = plan(
    pause(WORKERS[0], 60, after_checkpoint=1, gate=gate("acknowledge", WORKERS[0], "source")),
    forge(
        "acknowledge",
        "sink[0]",
        {"attempt": -1, "checkpoint": 1},
        after_checkpoint=1,
        at_event="transaction_precommitted",
    ),
)

CASES = with_needs(
    *(
        Case(
            id=f"coordinator/withheld-{role}",
            purpose=f"Does a checkpoint wait for the acknowledgement of a {role}?",
            method=f"Worker 0 is stopped when its {role} is about to acknowledge, until after the timeout.",
            passes="The checkpoint does not complete, and every other one does only with all acknowledgements.",
            decides=(Decision("CRD-01", "COORD", ("completed-without-ack",), "completes-without-ack"),),
            plan=_withheld(vertex),
            tiers=EVERYWHERE,
        )
        for role, vertex in (("source", "source"), ("middle", "sum"), ("sink", "sink"))
    ),
    Case(
        id="coordinator/durable-before-notified",
        purpose="Is the metadata durable before anyone is notified that the checkpoint is complete?",
        method="The coordinator's trace is followed: publication, completion, notices.",
        passes="Completion and every notice come after the publication.",
        decides=(Decision("CRD-01", "COORD", ("notified-before-durable",), "notifies-before-durable"),),
        plan=plan(),
    ),
    Case(
        id="coordinator/duplicate-acks",
        purpose="Is an acknowledgement that comes twice counted once?",
        method="The last one is withheld, and two that are there already are sent again.",
        passes="The repeated ones are not counted.",
        decides=(Decision("CRD-02", "COORD", ("ack-counted-wrongly",), "counts-duplicate-acks"),),
        plan=DUPLICATES,
    ),
    Case(
        id="coordinator/stale-acks",
        purpose="Is an acknowledgement of an older attempt left out?",
        method="Those of worker 0 are withheld, and one in its name comes from the attempt before.",
        passes="It is not counted.",
        decides=(Decision("CRD-02", "COORD", ("ack-counted-wrongly",), "counts-stale-acks"),),
        plan=STALE,
    ),
    Case(
        id="coordinator/decline",
        purpose="Does one decline abort the whole checkpoint, discard its state, notify the tasks and free the slot?",
        method="Each subtask declines in turn, when others have acknowledged; their state lies in files.",
        passes="A declined checkpoint never completes, every participant is notified, and no file of it is left at the "
        "end. Another is triggered in the same attempt.",
        decides=(
            Decision("CRD-03", "COORD", ("completed-after-decline",), "ignores-decline"),
            Decision("CRD-03", "COORD", ("state-not-discarded",), "keeps-discarded-state"),
            Decision("CRD-03", "COORD", ("abort-not-notified",), "aborts-silently"),
            Decision("CRD-03", "COORD", ("slot-not-freed",), "keeps-slot"),
        ),
        plan=DECLINES,
        pictures=("states:checkpoint",),
    ),
    Case(
        id="coordinator/expiry",
        purpose="Is a checkpoint that is not done in time aborted, its late state cleaned, and the next one started?",
        method="A task is stuck for four times the timeout and then acknowledges; its state lies in files.",
        passes="No checkpoint is pending for longer than its timeout, no file of a late acknowledgement is left at the "
        "end, and another checkpoint is triggered in the same attempt.",
        decides=(
            Decision("CRD-04", "COORD", ("not-expired",), "never-expires"),
            Decision("CRD-04", "COORD", ("state-not-discarded",), "keeps-discarded-state"),
            Decision("CRD-04", "COORD", ("slot-not-freed",), "keeps-slot"),
            Decision("CRD-02", "COORD", ("state-not-discarded",), "keeps-discarded-state"),
        ),
        plan=_withheld("sum"),
        pictures=("states:checkpoint",),
    ),
)
