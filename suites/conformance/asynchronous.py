"""Asynchronous snapshots (RULES ASY)."""

from __future__ import annotations

from holdfast.faults.forge import forge
from holdfast.faults.process import kill
from holdfast.faults.storage import slow_storage, storage_error
from holdfast.harness.model.case import Case, Decision
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.window import Window
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

SYNCHRONOUS = {"state.backend.async": "false"}
DENSE = {"records": 1_200, "records_per_second": 800, "preloaded_percent": 0}
"""A record every millisecond or two, for as long as the state is slow to be stored."""
STEADY = {"source.max-batch-records": "1", "taskmanager.network.memory.buffers-per-channel": "64"}
UNHURRIED = {f"{CHECKPOINTING}.interval": "100 ms"}
UPLOADED_AT_ONCE = {f"{CHECKPOINTING}.data-inline-threshold": "1"}
"""State is encoded first, which is not slowed, and then written."""
SLOW_UPLOADS = slow_storage("write-state", 60, 1_000)
UPLOADING = plan(SLOW_UPLOADS, options={**STATE_IN_FILES, **STEADY, **UNHURRIED}, records=DENSE)
CRASHES = tuple(
    plan(kill(worker, after_checkpoint=2, gate=gate(effect, worker)), options=STATE_IN_FILES)
    for worker in WORKERS
    for effect in ("write-state", "during-write-state", "acknowledge")
)
ABORTED_UPLOAD = plan(
    SLOW_UPLOADS,
    forge("decline", "source[0]", after_checkpoint=1, gate=gate("acknowledge", WORKERS[1], "sink")),
    options={**UPLOADED_AT_ONCE, **TOLERANT},
    records={"records": 240},
)
"""A checkpoint is declined while the files of its sums are being written, which its sink does not wait for."""
LEFT_BEHIND = plan(
    kill(COORDINATOR, after_checkpoint=1, gate=gate("publish-metadata", COORDINATOR)), options=STATE_IN_FILES
)
FAILED_WRITE = plan(
    storage_error("write-state", how={"after_effect": 1, "occurrences": 9}, after_checkpoint=1),
    options={**STATE_IN_FILES, **TOLERANT},
)

CASES = with_needs(
    Case(
        id="asynchronous/beside-the-records",
        purpose="Are records and the barrier passed on while the state of their subtask is being stored?",
        method="Each write of state takes 60 ms, and a record comes every millisecond or two.",
        passes="Batches are processed during uploads, and each barrier leaves before its own upload has ended.",
        decides=(
            Decision("ASY-01", "SNAPSHOT", ("stood-while-uploading",), "stands-while-uploading"),
            Decision("ASY-01", "SNAPSHOT", ("barrier-after-upload",), "sends-barrier-behind-upload"),
        ),
        plan=UPLOADING,
        tiers=EVERYWHERE,
    ),
    Case(
        id="asynchronous/acks-when-durable",
        purpose="Does a subtask acknowledge only what is stored?",
        method="Workers die in front of, within and behind the storing of their state; what each ack names is compared "
        "with what had been written.",
        passes="Every file is written before its ack, and every checkpoint that completes can be restored.",
        decides=(Decision("ASY-03", "SNAPSHOT", ("acked-before-durable",), "acks-before-durable"),),
        windows=(Window.RESTORED_STATE,),
        plan=CRASHES,
    ),
    Case(
        id="asynchronous/error-beside-the-records",
        purpose="Is a checkpoint declined whose state cannot be stored, and does the task continue?",
        method="Each try to write a state fails, after it took effect; failed checkpoints are tolerated.",
        passes="The subtask declines that checkpoint, and nothing restarts.",
        decides=(
            Decision("ASY-04", "SNAPSHOT", ("async-error-swallowed",), "swallows-write-errors"),
            Decision("ASY-05", "SNAPSHOT", ("aborted-file-left",), "leaves-failed-files"),
        ),
        plan=FAILED_WRITE,
    ),
    Case(
        id="asynchronous/error-in-the-cut",
        purpose="Does a task fail whose state cannot be fixed?",
        method="The synchronous part of one snapshot fails.",
        passes="The subtask stops, and the job restarts from the checkpoint before.",
        decides=(Decision("ASY-04", "SNAPSHOT", ("sync-error-swallowed",), "goes-on-without-snapshot"),),
        plan=plan(storage_error("fix-state", after_checkpoint=1), options=TOLERANT),
        tiers=EVERYWHERE,
    ),
    Case(
        id="asynchronous/aborted-upload",
        purpose="Does a snapshot that is aborted while it is stored leave neither a version nor a file?",
        method="A checkpoint is declined during the slow uploads of others, and the storage is listed at the end.",
        passes="Its versions are freed, and no file of it is left.",
        decides=(
            Decision("ASY-05", "SNAPSHOT", ("aborted-file-left",), "leaves-aborted-files"),
            Decision("ASY-05", "SNAPSHOT", ("versions-kept",), "keeps-every-second"),
        ),
        plan=ABORTED_UPLOAD,
        tiers=EVERYWHERE,
    ),
    Case(
        id="asynchronous/left-behind",
        purpose="Does nothing stay of a checkpoint that was pending when the coordinator died?",
        method="The coordinator dies when all state of a checkpoint is stored, in front of the metadata that would "
        "name it, and the storage is listed at the end.",
        passes="Its successor deletes what no checkpoint names.",
        decides=(Decision("ASY-05", "SNAPSHOT", ("aborted-file-left",), "leaves-leftovers"),),
        plan=LEFT_BEHIND,
        tiers=EVERYWHERE,
    ),
    Case(
        id="asynchronous/versions",
        purpose="Are old versions of state kept as long as a snapshot needs them, no longer, and no more than changed?",
        method="State is slow to be stored while records change it. Each subtask reports when it frees a version, "
        "and how many entries that kept.",
        passes="Each version is freed when it is stored, no other is open then, and it kept as many entries as were "
        "changed at most.",
        decides=(
            Decision("ASY-06", "SNAPSHOT", ("freed-too-early",), "frees-at-once"),
            Decision("ASY-06", "SNAPSHOT", ("versions-kept",), "keeps-every-second"),
            Decision("ASY-06", "SNAPSHOT", ("kept-wrong",), "copies-everything"),
            Decision("ASY-06", "SNAPSHOT", ("kept-wrong",), "copies-one-page"),
        ),
        plan=UPLOADING,
        tiers=EVERYWHERE,
    ),
    Case(
        id="asynchronous/switched-off",
        purpose="Are the results the same with synchronous snapshots, where records wait in order meanwhile?",
        method="Each write of state takes 60 ms, records come all the time, and a worker is killed.",
        passes="Nothing is processed while state is written, channels keep their order, and the committed output "
        "equals that of the oracle's model.",
        decides=(
            Decision("ASY-07", "SNAPSHOT", ("processed-while-writing",), "processes-while-writing"),
            Decision("ASY-07", "CUT", ("channel-order",), "reorders-around-barrier"),
            Decision("ASY-07", "EXACT", ("row-wrong", "counts-stepped-back", "input-missing"), "source-repeats-one"),
        ),
        plan=plan(
            SLOW_UPLOADS,
            kill(WORKERS[0], after_checkpoint=4),
            options={**STATE_IN_FILES, **STEADY, **UNHURRIED, **SYNCHRONOUS},
            records=DENSE,
        ),
        tiers=EVERYWHERE,
    ),
)
