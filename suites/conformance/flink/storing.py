"""Flink while its checkpoint storage is slow, refuses or is full (RULES STO, ASY, CRD, CFG)."""

from __future__ import annotations

from holdfast.faults.process import kill
from holdfast.faults.storage import full_storage, slow_storage, storage_error
from holdfast.fixtures.systems.flink.orders import COMMIT, DELETE, FIX, PUBLISH, READ, WRITE
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec, Plan
from holdfast.suites.conformance import asynchronous, coordinator, failed_checkpoints, seed_samples, storage
from holdfast.suites.conformance.flink.twins import IN_FILES, RESTORED, flink, twin
from holdfast.suites.conformance.plans import CHECKPOINTING, RESTART, TOLERANT, WORKERS, with_needs
from holdfast.suites.conformance.samples import samples

TRANSIENT = tuple(
    flink(storage_error(operation, 1_500, {"occurrences": occurrences}, after_checkpoint=3), *more,
          options={**TOLERANT, **IN_FILES})
    for operation, occurrences, more in ((WRITE, 0, ()), (WRITE, 1, ()), (PUBLISH, 1, ()), (PUBLISH, 4, ()),
                                         (DELETE, 4, ()), (READ, 2, (kill(WORKERS[0], after_checkpoint=3),)))
)  # fmt: skip
FULL = flink(full_storage(1_500, after_checkpoint=3), options={**TOLERANT, **IN_FILES})
[SAMPLE] = (each.settings for each in samples() if each.name == "every-setting")


def sampled(*in_a_row: int, end: ExpectedEnd) -> Plan:
    """The sample that tolerates two failures in a row; the job does not restart, so that the third is its end."""
    failing: list[FaultSpec] = [
        storage_error(PUBLISH, 8_000, {"occurrences": failures}, after_checkpoint=begun)
        for begun, failures in enumerate(in_a_row, 1)
    ]
    return flink(*failing, options={**SAMPLE, f"{RESTART}.type": "none"}, records=2_400, expected_end=end)


CASES = with_needs(
    twin(storage.CASES, "flink/storage-transient-errors", TRANSIENT, "LIVE/no-new-checkpoints",
         "LIVE/input-not-drained", "COUNT/failed-below-tolerable",
         method="Writing state, publishing metadata, deleting and reading fail, once, some times or for a while."),
    twin(storage.CASES, "flink/storage-full", FULL, "LIVE/no-new-checkpoints", "LIVE/input-not-drained",
         "COUNT/failed-below-tolerable", method="The disk of the checkpoints is full for a while.",
         of="storage/transient-errors"),
    twin(coordinator.CASES, "flink/coordinator-expiry-of-slow-uploads",
         flink(slow_storage(WRITE, 1_000, 2_000, after_checkpoint=3),
               options={f"{CHECKPOINTING}.timeout": "300 ms", **TOLERANT, **IN_FILES}),
         "COORD/not-expired", "COORD/slot-not-freed", method="Uploads take longer than the timeout of checkpoints.",
         of="coordinator/expiry"),
    twin(asynchronous.CASES, "flink/asynchronous-beside-the-records",
         flink(slow_storage(WRITE, 400, 2_500, after_checkpoint=3), options=IN_FILES), "SNAPSHOT/stood-while-uploading",
         "SNAPSHOT/barrier-after-upload", method="Each write of state takes 400 ms."),
    twin(asynchronous.CASES, "flink/asynchronous-error-in-the-cut",
         flink(storage_error(FIX, 3_000, {"occurrences": 1}, after_checkpoint=3), options=TOLERANT),
         "SNAPSHOT/sync-error-swallowed", method="The synchronous part of one snapshot fails."),
    twin(failed_checkpoints.CASES, "flink/failed-checkpoints-failing-notice",
         flink(storage_error(COMMIT, 3_000, {"occurrences": 1}, after_checkpoint=3)), "COORD/restored-not-latest",
         method="What a task does at the notice of a completion fails.", windows=RESTORED),
    twin(seed_samples.CASES, "flink/samples-third-failure", sampled(3, end=ExpectedEnd.FAILED), "LIVE/end-not-reached",
         method="Three checkpoints in a row fail, of a job that does not restart."),
    twin(seed_samples.CASES, "flink/samples-success-in-between", sampled(2, 2, end=ExpectedEnd.RUNNING),
         "LIVE/end-not-reached",
         method="Two checkpoints fail, one completes, and two more fail, of a job that does not restart."),
)  # fmt: skip
