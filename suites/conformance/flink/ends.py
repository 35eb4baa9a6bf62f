"""What Flink keeps, and where its jobs end and go on from (RULES RET, SAV, RSC)."""

from __future__ import annotations

from holdfast.faults.process import kill, pause
from holdfast.faults.user import command, move_savepoint, rescale, savepoint, stop
from holdfast.harness.model.case import Tier, Window
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec
from holdfast.suites.conformance import rescaling, rescaling_in_place, retention, savepoints, state_backends
from holdfast.suites.conformance.flink import twins
from holdfast.suites.conformance.flink.twins import IN_FILES, INTERVAL, KEPT, RESTORED, control, failing, flink, twin
from holdfast.suites.conformance.plans import CHECKPOINTING, EXACT_SUMS, RESTART, WORKERS, case, decides, with_needs

STOPPED = stop(after_checkpoint=3)
STANDS_STILL = pause(WORKERS[0], 2_500, after_checkpoint=3)
NO_FOLDER = "input/partition-0.log"
"""Where a file is."""
INCREMENTAL = {f"{CHECKPOINTING}.incremental": "true"}
CLAIMED = {"execution.state-recovery.claim-mode": "CLAIM"}


def _goes_on(behind: str = "savepoint_completed", **parameters: int | str) -> FaultSpec:
    """Another job, from what the last one has left."""
    return command("submit", {"restore": 1, **parameters}, after_checkpoint=3, at_event=behind)


RESCALED = (
    flink(rescale(1, after_checkpoint=2)),
    flink(rescale(3, after_checkpoint=2), rescale(1, after_checkpoint=6)),
    flink(rescale(3, after_checkpoint=2), rescale(1, after_checkpoint=2, at_event="job_switched")),
)
IMPOSSIBLE = (flink(rescale(129, after_checkpoint=2)), flink(rescale(0, after_checkpoint=2)))

CASES = with_needs(
    twin(retention.CASES, "flink/retention-discards",
         failing({**INTERVAL, f"{RESTART}.type": "none"}, kill(WORKERS[0], after_checkpoint=2)), "RETAIN/kept-wrongly",
         method="The job fails, and its checkpoints are not externalized."),
    twin(retention.CASES, "flink/retention-leaves",
         failing({**INTERVAL, f"{RESTART}.type": "none", **KEPT}, kill(WORKERS[0], after_checkpoint=2)),
         "RETAIN/discarded-wrongly", method="The job fails, and its checkpoints are retained."),
    twin(retention.CASES, "flink/retention-number", flink(*twins.STRUCK_TWICE), "RETAIN/too-many-retained",
         "REACH/dropped-too-early", method=twins.KILLED),
    twin(retention.CASES, "flink/retention-by-path",
         flink(command("cancel", after_checkpoint=3), _goes_on("checkpoint_retained"), options={**KEPT, **IN_FILES}),
         "RETAIN/restored-elsewhere", "RETAIN/deleted-after-end", "COORD/wrong-first-id",
         method="A job is cancelled that retains its checkpoints, and another goes on from the last one.",
         windows=RESTORED),
    twin(retention.CASES, "flink/retention-in-use", flink(*twins.STRUCK_TWICE, options=IN_FILES),
         "RETAIN/deleted-in-use", method=twins.KILLED),
    twin(savepoints.CASES, "flink/savepoints-moved",
         flink(STOPPED, move_savepoint(after_checkpoint=3, at_event="savepoint_completed"), _goes_on(),
               options=IN_FILES),
         "SAVEPOINT/not-resumed", "SAVEPOINT/outside-folder",
         method="A job is stopped with a savepoint in files, that is moved, and another goes on from there.",
         windows=RESTORED),
    twin(savepoints.CASES, "flink/savepoints-kept",
         flink(savepoint(after_checkpoint=3), kill(WORKERS[0], after_checkpoint=6), options=IN_FILES),
         "SAVEPOINT/savepoint-deleted",
         method="A savepoint is taken, checkpoints follow, and SIGKILL hits a TaskManager."),
    twin(savepoints.CASES, "flink/savepoints-complete",
         flink(savepoint(after_checkpoint=3), options={**IN_FILES, **twins.ROCKSDB, **INCREMENTAL}),
         "SAVEPOINT/outside-folder", method="A savepoint is taken of a job whose checkpoints are incremental."),
    twin(savepoints.CASES, "flink/savepoints-claimed", flink(STOPPED, _goes_on(), options={**IN_FILES, **CLAIMED}),
         "SAVEPOINT/claimed-left", method="A job is stopped with a savepoint, and another claims it."),
    twin(savepoints.CASES, "flink/savepoints-not-claimed", flink(STOPPED, _goes_on(), options=IN_FILES),
         "SAVEPOINT/savepoint-deleted",
         method="A job is stopped with a savepoint, and another goes on from it without claiming it."),
    twin(savepoints.CASES, "flink/savepoints-in-flight", flink(savepoint(after_checkpoint=3), options=twins.UNALIGNED),
         "SAVEPOINT/carries-in-flight", method="A savepoint is taken of a job whose checkpoints are unaligned.",
         without="savepoints-time-out"),
    twin(savepoints.CASES, "flink/savepoints-struck",
         flink(STANDS_STILL, STOPPED, kill(WORKERS[1], after_checkpoint=3, at_event="savepoint_triggered")),
         "COORD/restored-not-latest",
         method="A job is stopped with a savepoint while a TaskManager stands still, and another one is killed."),
    twin(state_backends.CASES, "flink/state-backends-rocksdb-widths",
         flink(STOPPED, _goes_on(parallelism=1), options={**twins.ROCKSDB, **IN_FILES}), *EXACT_SUMS,
         method="A job is stopped with a savepoint, and another of half the width goes on from it, in RocksDB.",
         windows=RESTORED),
    twin(savepoints.CASES, "flink/savepoints-between",
         flink(savepoint(after_checkpoint=3), kill(WORKERS[0], after_checkpoint=3, at_event="savepoint_completed")),
         "SAVEPOINT/savepoint-restored", method="SIGKILL hits a TaskManager as soon as a savepoint is complete."),
    twin(rescaling.CASES, "flink/rescaling-in-flight-on-two-edges",
         flink(command("cancel", after_checkpoint=3), _goes_on("checkpoint_retained", parallelism=1),
               options={**KEPT, **IN_FILES, **twins.UNALIGNED}),
         "EXACT/input-missing",
         method="A job whose checkpoints are unaligned is cancelled, and one of half the width goes on.",
         windows=RESTORED),
    twin(rescaling.CASES, "flink/rescaling-max-parallelism",
         flink(command("cancel", after_checkpoint=3), _goes_on("checkpoint_retained", max_parallelism=64),
               options={**KEPT, **IN_FILES}, expected_end=ExpectedEnd.FAILED),
         "RESTORE/key-groups-changed",
         method="A job is cancelled, and another one with half as many key groups is to go on."),
    twin(savepoints.CASES, "flink/savepoints-left-out",
         flink(STOPPED, _goes_on(edit="source=origin"), options=IN_FILES, expected_end=ExpectedEnd.FAILED),
         "SAVEPOINT/state-left-out",
         method="A job is stopped with a savepoint, and another is to go on whose source has another name."),
    twin(savepoints.CASES, "flink/savepoints-failing", flink(savepoint(NO_FOLDER, after_checkpoint=3)),
         "COUNT/failed-below-tolerable",
         method="A savepoint is to be written where a file is, and no failed checkpoint is tolerable."),
    twin(rescaling_in_place.CASES, "flink/rescaling-in-place", RESCALED, "RESCALE/not-required",
         "RESCALE/refused-possible", "RESCALE/goes-on-as-before", "RESCALE/counted-as-failure",
         "COORD/restored-not-latest", "COORD/ids-not-increasing",
         method="A job under the adaptive scheduler is to become narrower, or wider, and then or meanwhile narrower.",
         windows=(Window.RESCALED, Window.RESTORED_STATE)),
    twin(rescaling_in_place.CASES, "flink/rescaling-in-place-refused", IMPOSSIBLE, "RESCALE/above-max",
         method="A job is to go on above its max parallelism, and at no subtask at all."),
    case("flink/storage-two-jobs", "Is what one job has left safe from another one on the same directory?",
         flink(command("cancel", after_checkpoint=3), _goes_on("checkpoint_retained"),
               kill(WORKERS[0], after_checkpoint=6), options={**KEPT, **IN_FILES}),
         decides("STO-08", "RETAIN/deleted-after-end", wrong="claims-restored"), tiers=(Tier.PROCESS,),
         needs=twins.NEEDS, mutant_plan=retention.RESUMED[0],
         method="A job is cancelled and retains its checkpoint; another goes on there, and a TaskManager is killed.",
         passes="What the first has left is there at the end."),
    control("changes-uid", flink(STOPPED, _goes_on()), "SAVEPOINT/not-resumed",
            purpose="whose operators have other uids when it is submitted again"),
)  # fmt: skip
