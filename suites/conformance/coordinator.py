"""The life of a checkpoint at the coordinator (RULES CRD)."""

from __future__ import annotations

from itertools import cycle

from holdfast.faults.forge import forge
from holdfast.faults.process import pause
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Plan, Topology
from holdfast.harness.model.target import Target
from holdfast.harness.model.topology import subtasks
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import STATE_IN_FILES, TOLERANT, WORKERS, case, decides, gate, plan, with_needs

SHORT_TIMEOUT = {f"{plans.CHECKPOINTING}.timeout": "60 ms", **TOLERANT}


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
DUPLICATES = plan(pause(WORKERS[1], 60, after_checkpoint=1, gate=gate("acknowledge", WORKERS[1], "sink")),
                  forge("acknowledge", "source[0]", after_checkpoint=1, at_event="transaction_precommitted"),
                  forge("acknowledge", "sum[0]", after_checkpoint=1, at_event="transaction_precommitted"))  # fmt: skip
STALE = plan(pause(WORKERS[0], 60, after_checkpoint=1, gate=gate("acknowledge", WORKERS[0], "source")),
             forge("acknowledge", "sink[0]", {"attempt": -1, "checkpoint": 1}, after_checkpoint=1,
                   at_event="transaction_precommitted"))  # fmt: skip

CASES = with_needs(
    *(case(f"coordinator/withheld-{role}", f"Does a checkpoint wait for the acknowledgement of a {role}?",
           _withheld(vertex), decides("CRD-01", "COORD/completed-without-ack", wrong="completes-without-ack"),
           tiers=plans.EVERYWHERE,
           method=f"Worker 0 is stopped when its {role} is about to acknowledge, until after the timeout.",
           passes="The checkpoint does not complete, and every other one does only with all acknowledgements.")
      for role, vertex in (("source", "source"), ("middle", "sum"), ("sink", "sink"))),
    case("coordinator/durable-before-notified",
         "Is the metadata durable before anyone is notified that the checkpoint is complete?", plan(),
         decides("CRD-01", "COORD/notified-before-durable", wrong="notifies-before-durable"),
         method="The coordinator's trace is followed: publication, completion, notices.",
         passes="Completion and every notice come after the publication."),
    case("coordinator/duplicate-acks", "Is an acknowledgement that comes twice counted once?", DUPLICATES,
         decides("CRD-02", "COORD/ack-counted-wrongly", wrong="counts-duplicate-acks"),
         method="The last one is withheld, and two that are there already are sent again.",
         passes="The repeated ones are not counted."),
    case("coordinator/stale-acks", "Is an acknowledgement of an older attempt left out?", STALE,
         decides("CRD-02", "COORD/ack-counted-wrongly", wrong="counts-stale-acks"),
         method="Those of worker 0 are withheld, and one in its name comes from the attempt before.",
         passes="It is not counted."),
    case("coordinator/decline",
         "Does one decline abort the whole checkpoint, discard its state, notify the tasks and free the slot?",
         DECLINES, decides("CRD-03", "COORD/completed-after-decline", wrong="ignores-decline"),
         decides("CRD-03", "COORD/state-not-discarded", wrong="keeps-discarded-state"),
         decides("CRD-03", "COORD/abort-not-notified", wrong="aborts-silently"),
         decides("CRD-03", "COORD/slot-not-freed", wrong="keeps-slot"), pictures=("states:checkpoint",),
         method="Each subtask declines in turn, when others have acknowledged; their state lies in files.",
         passes="A declined checkpoint never completes, every participant is notified, and no file of it is left at "
                "the end. Another is triggered in the same attempt."),
    case("coordinator/expiry",
         "Is a checkpoint that is not done in time aborted, its late state cleaned, and the next one started?",
         _withheld("sum"), decides("CRD-04", "COORD/not-expired", wrong="never-expires"),
         decides("CRD-04", "COORD/state-not-discarded", wrong="keeps-discarded-state"),
         decides("CRD-04", "COORD/slot-not-freed", wrong="keeps-slot"),
         decides("CRD-02", "COORD/state-not-discarded", wrong="keeps-discarded-state"), pictures=("states:checkpoint",),
         method="A task is stuck for four times the timeout and then acknowledges; its state lies in files.",
         passes="No checkpoint is pending for longer than its timeout, no file of a late acknowledgement is left at "
                "the end, and another checkpoint is triggered in the same attempt."),
)  # fmt: skip
