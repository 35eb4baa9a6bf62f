"""Asynchronous snapshots (RULES ASY)."""

from __future__ import annotations

from holdfast.faults.forge import forge
from holdfast.faults.process import kill
from holdfast.faults.storage import slow_storage, storage_error
from holdfast.harness.model.case import Window
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import EVERYWHERE, STATE_IN_FILES, WORKERS, case, decides, gate, plan, with_needs

SYNCHRONOUS = {"state.backend.async": "false"}
DENSE = {"records": 1_200, "records_per_second": 800, "preloaded_percent": 0}
"""A record every millisecond or two, for as long as the state is slow to be stored."""
STEADY = {"source.max-batch-records": "1", "taskmanager.network.memory.buffers-per-channel": "64"}
UNHURRIED = {f"{plans.CHECKPOINTING}.interval": "100 ms"}
UPLOADED_AT_ONCE = {f"{plans.CHECKPOINTING}.data-inline-threshold": "1"}
"""State is encoded first, which is not slowed, and then written."""
SLOW_UPLOADS = slow_storage("write-state", 60, 1_000)
UPLOADING = plan(SLOW_UPLOADS, options={**STATE_IN_FILES, **STEADY, **UNHURRIED}, records=DENSE)
CRASHES = tuple(
    plan(kill(worker, after_checkpoint=2, gate=gate(effect, worker)), options=STATE_IN_FILES)
    for worker in WORKERS
    for effect in ("write-state", "during-write-state", "acknowledge")
)
ABORTED_UPLOAD = plan(SLOW_UPLOADS,
                      forge("decline", "source[0]", after_checkpoint=1, gate=gate("acknowledge", WORKERS[1], "sink")),
                      options={**UPLOADED_AT_ONCE, **plans.TOLERANT}, records={"records": 240})  # fmt: skip
"""A checkpoint is declined while the files of its sums are being written, which its sink does not wait for."""

CASES = with_needs(
    case("asynchronous/beside-the-records",
         "Are records and the barrier passed on while the state of their subtask is being stored?", UPLOADING,
         decides("ASY-01", "SNAPSHOT/stood-while-uploading", wrong="stands-while-uploading"),
         decides("ASY-01", "SNAPSHOT/barrier-after-upload", wrong="sends-barrier-behind-upload"), tiers=EVERYWHERE,
         method="Each write of state takes 60 ms, and a record comes every millisecond or two.",
         passes="Batches are processed during uploads, and each barrier leaves before its own upload has ended."),
    case("asynchronous/acks-when-durable", "Does a subtask acknowledge only what is stored?", CRASHES,
         decides("ASY-03", "SNAPSHOT/acked-before-durable", wrong="acks-before-durable"),
         windows=(Window.RESTORED_STATE,),
         method="Workers die in front of, within and behind the storing of their state; what each ack names is "
                "compared with what had been written.",
         passes="Every file is written before its ack, and every checkpoint that completes can be restored."),
    case("asynchronous/error-beside-the-records",
         "Is a checkpoint declined whose state cannot be stored, and does the task continue?",
         plan(storage_error("write-state", how={"after_effect": 1, "occurrences": 9}, after_checkpoint=1),
              options={**STATE_IN_FILES, **plans.TOLERANT}),
         decides("ASY-04", "SNAPSHOT/async-error-swallowed", wrong="swallows-write-errors"),
         decides("ASY-05", "SNAPSHOT/aborted-file-left", wrong="leaves-failed-files"),
         method="Each try to write a state fails, after it took effect; failed checkpoints are tolerated.",
         passes="The subtask declines that checkpoint, and nothing restarts."),
    case("asynchronous/error-in-the-cut", "Does a task fail whose state cannot be fixed?",
         plan(storage_error("fix-state", after_checkpoint=1), options=plans.TOLERANT),
         decides("ASY-04", "SNAPSHOT/sync-error-swallowed", wrong="goes-on-without-snapshot"), tiers=EVERYWHERE,
         method="The synchronous part of one snapshot fails.",
         passes="The subtask stops, and the job restarts from the checkpoint before."),
    case("asynchronous/aborted-upload",
         "Does a snapshot that is aborted while it is stored leave neither a version nor a file?", ABORTED_UPLOAD,
         decides("ASY-05", "SNAPSHOT/aborted-file-left", wrong="leaves-aborted-files"),
         decides("ASY-05", "SNAPSHOT/versions-kept", wrong="keeps-every-second"), tiers=EVERYWHERE,
         method="A checkpoint is declined during the slow uploads of others, and the storage is listed at the end.",
         passes="Its versions are freed, and no file of it is left."),
    case("asynchronous/left-behind", "Does nothing stay of a checkpoint that was pending when the coordinator died?",
         plan(kill(COORDINATOR, after_checkpoint=1, gate=gate("publish-metadata", COORDINATOR)),
              options=STATE_IN_FILES),
         decides("ASY-05", "SNAPSHOT/aborted-file-left", wrong="leaves-leftovers"), tiers=EVERYWHERE,
         method="The coordinator dies when all state of a checkpoint is stored, in front of the metadata that would "
                "name it, and the storage is listed at the end.",
         passes="Its successor deletes what no checkpoint names."),
    case("asynchronous/versions",
         "Are old versions of state kept as long as a snapshot needs them, no longer, and no more than changed?",
         UPLOADING, decides("ASY-06", "SNAPSHOT/freed-too-early", wrong="frees-at-once"),
         decides("ASY-06", "SNAPSHOT/versions-kept", wrong="keeps-every-second"),
         decides("ASY-06", "SNAPSHOT/kept-wrong", wrong="copies-everything"),
         decides("ASY-06", "SNAPSHOT/kept-wrong", wrong="copies-one-page"), tiers=EVERYWHERE,
         method="State is slow to be stored while records change it. Each subtask reports when it frees a version, and "
                "how many entries that kept.",
         passes="Each version is freed when it is stored, no other is open then, and it kept as many entries as were "
                "changed at most."),
    case("asynchronous/switched-off",
         "Are the results the same with synchronous snapshots, where records wait in order meanwhile?",
         plan(SLOW_UPLOADS, kill(WORKERS[0], after_checkpoint=4),
              options={**STATE_IN_FILES, **STEADY, **UNHURRIED, **SYNCHRONOUS}, records=DENSE),
         decides("ASY-07", "SNAPSHOT/processed-while-writing", wrong="processes-while-writing"),
         decides("ASY-07", "CUT/channel-order", wrong="reorders-around-barrier"),
         decides("ASY-07", *plans.EXACT_SUMS, wrong="source-repeats-one"), tiers=EVERYWHERE,
         method="Each write of state takes 60 ms, records come all the time, and a worker is killed.",
         passes="Nothing is processed while state is written, channels keep their order, and the committed output "
                "equals that of the oracle's model."),
)  # fmt: skip
