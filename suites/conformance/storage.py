"""What a crash leaves in the checkpoint storage, and what is reported of it (RULES STO, CRD-01, RET-01)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.faults.damage import damage
from holdfast.faults.power import lose_power
from holdfast.faults.process import kill
from holdfast.faults.storage import stale_listing, storage_error
from holdfast.faults.user import command
from holdfast.harness.model.case import Window
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import EVERYWHERE, STATE_IN_FILES, WORKERS, case, decides, gate, plan, with_needs
from holdfast.suites.conformance.recovery import RECORDED, UNREADABLE, WHO_READS

WAYS_TO_FAIL: tuple[Mapping[str, int], ...] = ({}, {"answer_lost": 1})
OPERATIONS = ("publish-metadata", "persist-job-record", "delete")
INSTANTS = 8
"""How many crashes fall into each operation; the seed of the run draws how far it had come."""


def crash_within(seed: int) -> Plan:
    """The coordinator dies in the middle of one of its storage operations."""
    operation = OPERATIONS[seed % len(OPERATIONS)]
    crash = kill(COORDINATOR, after_checkpoint=1, gate=gate(f"during-{operation}", COORDINATOR))
    return plan(crash, options=STATE_IN_FILES, run_seed=seed)


REPORTED = (
    plan(options=STATE_IN_FILES),
    plan(options={**STATE_IN_FILES, **plans.TWO_RETAINED}),
    plan(kill(COORDINATOR, after_checkpoint=1, gate=gate("during-delete", COORDINATOR)), options=STATE_IN_FILES),
    plan(kill(WORKERS[0], after_checkpoint=2), options=STATE_IN_FILES),
    plan(storage_error("publish-metadata", 1_000, {"occurrences": 1, "after_effect": 1}, after_checkpoint=1),
         options={**STATE_IN_FILES, **plans.TOLERANT}),
    plan(storage_error("delete", 1_000, {"occurrences": 2, "after_effect": 1}, after_checkpoint=2),
         options=STATE_IN_FILES),
)  # fmt: skip
"""With crashes between an effect and its report, and answers that are lost."""

BLACKOUTS = tuple(
    plan(lose_power(after_checkpoint=progress, gate=gate(effect, target)), options={**STATE_IN_FILES, **retained})
    for effect, target in (("publish-metadata", COORDINATOR), ("during-publish-metadata", COORDINATOR),
                           ("notify", COORDINATOR), ("persist-job-record", COORDINATOR), ("delete", COORDINATOR),
                           ("write-state", WORKERS[0]), ("during-write-state", WORKERS[0]), ("acknowledge", WORKERS[1]),
                           ("pre-commit", WORKERS[0]), ("commit", WORKERS[1]))
    for progress, retained in ((1, {}), (3, plans.TWO_RETAINED))
)  # fmt: skip
"""The power fails in front of a step, or in its middle."""
LISTED_LATE = tuple(
    plan(stale_listing(400, after_checkpoint=1),
         kill(COORDINATOR, after_checkpoint=progress, gate=gate(effect, COORDINATOR)),
         options={**STATE_IN_FILES, **retained}, records={"records": 240})
    for effect in ("persist-job-record", "send-trigger", "notify", "delete")
    for progress, retained in ((2, {}), (3, plans.TWO_RETAINED))
)  # fmt: skip
"""Listings stand still, and a coordinator dies that has published and dropped checkpoints since."""
STALE = tuple(
    plan(damage(part, "stale", 300, **RECORDED), WHO_READS[part], options={**STATE_IN_FILES, **plans.TWO_RETAINED})
    for part in WHO_READS
)
"""A file of the newest checkpoint holds what it held in the one before."""
BESIDE = tuple(
    plan(command("cancel", after_checkpoint=3),
         command("submit", {"restore": 0}, after_checkpoint=3, at_event="checkpoint_retained"), *faults,
         options={**STATE_IN_FILES,
                  f"{plans.CHECKPOINTING}.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION"},
         records={"records": 240})
    for faults in ((), (kill(COORDINATOR, after_checkpoint=6),), (kill(WORKERS[0], after_checkpoint=6),))
)  # fmt: skip
"""A job on the directory in which the last one has left a checkpoint."""
TRANSIENT = tuple(
    plan(storage_error(operation, 200, {"occurrences": occurrences, **way}, after_checkpoint=1),
         options={**STATE_IN_FILES, **plans.TOLERANT}, records={"records": 240})
    for operation in ("write-state", "publish-metadata", "persist-job-record", "delete")
    for occurrences in (1, 4, 0)
    for way in WAYS_TO_FAIL
)  # fmt: skip
"""Every operation of a checkpoint, refused or its answer lost: once, four times, and for a while."""

CASES = with_needs(
    case("storage/atomic-metadata", "Does a reader see metadata whole or not at all, wherever its writer crashes?",
         crash_within, decides("STO-01", "LOUD/partial-metadata", "LOUD/started-empty", wrong="G1"),
         windows=(Window.RESTORED_STATE,), runs=INSTANTS * len(OPERATIONS),
         method="The coordinator dies in the middle of each of its storage operations, after a drawn part of its "
                "bytes.",
         passes="Every attempt restores a checkpoint that was published whole, with all that its subtasks had in it."),
    case("storage/as-reported", "Is what the system reports as published, written and deleted so in the storage?",
         REPORTED, decides("CRD-01", "COORD/published-not-stored", wrong="completes-unpublished"),
         decides("CRD-01", "REACH/named-not-stored", wrong="names-unwritten"),
         decides("RET-01", "RETAIN/deleted-still-stored", wrong="reports-deletions"),
         decides("BAR-05", "RESTORE/audit-differs", wrong="stores-earlier-state"), tiers=EVERYWHERE,
         method="When a checkpoint has completed, and after the run, the harness lists and reads the storage itself.",
         passes="Metadata and files of every retained checkpoint are there as they are named, and what was reported as "
                "deleted is gone."),
    case("storage/power-loss", "Does what was reported as stored survive the machine?", BLACKOUTS,
         decides("STO-01", "REACH/file-differs", wrong="publishes-unsynced"),
         decides("CRD-01", "LIVE/end-not-reached", "LIVE/no-new-checkpoints", wrong="stores-unsynced"),
         windows=(Window.RESTORED_STATE,),
         method="The power fails in front of each step of a checkpoint, or in its middle: all processes end, and what "
                "was not synced is gone.",
         passes="The latest checkpoint that had completed is restored, and the output is that of the oracle's model."),
    case("storage/damaged-pieces", "Is each piece noticed that is missing, cut, changed or older than its checkpoint?",
         (*STALE, *UNREADABLE),
         decides("STO-06", "RESTORE/state-differs", "RESTORE/position-differs", wrong="takes-stale-metadata"),
         decides("STO-06", *plans.EXACT_ROWS, wrong="starts-empty"),
         decides("STO-06", "LOUD/started-empty", wrong="starts-empty-if-missing"), windows=(Window.RESTORED_STATE,),
         tiers=EVERYWHERE,
         method="Metadata or a state file of the newest checkpoint is removed, cut, changed in one bit, or holds what "
                "it held in the checkpoint before; a coordinator or worker dies that reads it, and it is mended later.",
         passes="No subtask starts with other state than was recorded, and the output is that of the oracle's model."),
    case("storage/two-jobs", "Is what one job has left safe from another one on the same directory?", BESIDE,
         decides("STO-08", "RETAIN/start-not-reported", "RETAIN/deleted-after-end", wrong="one-folder-for-all"),
         tiers=EVERYWHERE,
         method="A job is cancelled and keeps its checkpoint; another one starts empty on the same directory, and its "
                "coordinator or a worker dies. After the run the harness restores what both have retained.",
         passes="The second one starts empty, and what the first has left can be restored as it was recorded."),
    case("storage/stale-listing",
         "Does a coordinator find the latest checkpoint where listings are older than what is stored?", LISTED_LATE,
         decides("STO-09", "COORD/restored-not-latest", wrong="trusts-listings"), windows=(Window.RESTORED_STATE,),
         method="Listings of the storage stand still, checkpoints complete and are dropped, and the coordinator dies.",
         passes="Its successor restores the latest one, and the output is that of the oracle's model."),
    case("storage/transient-errors", "Does an error of the storage that passes cost a checkpoint at worst?", TRANSIENT,
         decides("STO-09", "LIVE/no-new-checkpoints", "LIVE/input-not-drained", wrong="never-triggers-again"),
         decides("STO-09", "COUNT/failed-below-tolerable", wrong="fails-for-the-storage"),
         method="Writing state, publishing metadata, writing the job record and deleting fail, each once, four times "
                "and for a while, refused or with a lost answer.",
         passes="The job does not restart for it, and checkpoints complete again afterwards."),
)  # fmt: skip
