"""When Flink's checkpoints begin, how they end, and what bad storage does to them (RULES TRG, CRD, BAR, STO, CFG)."""

from __future__ import annotations

from holdfast.faults.process import kill, pause
from holdfast.faults.storage import full_storage, slow_storage, storage_error
from holdfast.fixtures.systems.flink.orders import COMMIT, DELETE, FIX, PUBLISH, READ, WRITE
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec, Plan
from holdfast.suites.conformance import (
    asynchronous,
    barriers,
    coordinator,
    failed_checkpoints,
    seed_samples,
    storage,
    triggering,
)
from holdfast.suites.conformance.flink.twins import IN_FILES, KILLED, RESTORED, STRUCK_TWICE, UNALIGNED, flink, twin
from holdfast.suites.conformance.plans import CHECKPOINTING, RESTART, TOLERANT, WORKERS, with_needs
from holdfast.suites.conformance.samples import samples

SHORT_TIMEOUT = {f"{CHECKPOINTING}.timeout": "300 ms"}
ONE_TOLERABLE = {f"{CHECKPOINTING}.tolerable-failed-checkpoints": "1"}
STANDS_STILL = pause(WORKERS[0], 2_500, after_checkpoint=2)
"""Shorter than the timeout of a heartbeat, longer than some checkpoints."""
NO_PLACE = tuple(storage_error(WRITE, 300, {"occurrences": 1}, after_checkpoint=begun) for begun in (3, 6, 9, 12))
"""A task declines a checkpoint, four times."""

CASES = with_needs(
    twin(coordinator.CASES, "flink/coordinator-durable-before-notified", flink(), "COORD/notified-before-durable",
         method="Nothing is broken."),
    twin(coordinator.CASES, "flink/coordinator-expiry", flink(STANDS_STILL, options={**SHORT_TIMEOUT, **TOLERANT}),
         "COORD/not-expired", "COORD/slot-not-freed",
         method="A TaskManager stands still for longer than the timeout of checkpoints."),
    twin(failed_checkpoints.CASES, "flink/failed-checkpoints-task-failure",
         flink(STANDS_STILL, kill(WORKERS[1], after_checkpoint=2, at_event="checkpoint_triggered")),
         "COORD/pending-at-restart", method="A TaskManager stands still in a checkpoint, and another one is killed."),
    twin(triggering.CASES, "flink/triggering-ids", flink(*STRUCK_TWICE), "COORD/ids-not-increasing", method=KILLED),
    twin(triggering.CASES, "flink/triggering-sources-only", flink(), "COORD/begun-without-barrier",
         method="Nothing is broken."),
    twin(triggering.CASES, "flink/triggering-max-concurrent", flink(STANDS_STILL), "COORD/too-many-pending",
         method="A TaskManager stands still in a checkpoint for longer than the interval."),
    twin(triggering.CASES, "flink/triggering-min-pause",
         flink(options={f"{CHECKPOINTING}.interval": "50 ms", f"{CHECKPOINTING}.min-pause": "300 ms"}),
         "PACE/pause-too-short", method="The pause is longer than the interval."),
    twin(triggering.CASES, "flink/triggering-refused", flink(kill(WORKERS[0], after_checkpoint=2)),
         "COUNT/failed-below-tolerable", method="SIGKILL hits a TaskManager, and meanwhile the interval passes."),
    twin(coordinator.CASES, "flink/coordinator-stale-acks", flink(STANDS_STILL, options={**SHORT_TIMEOUT, **TOLERANT}),
         "COORD/ack-counted-wrongly",
         method="A TaskManager stands still for longer than the timeout of checkpoints, which it acknowledges late."),
    twin(failed_checkpoints.CASES, "flink/failed-checkpoints-notices-rise",
         flink(slow_storage(PUBLISH, 1_000, 3_000, occurrences=1, after_checkpoint=3),
               options={**IN_FILES, f"{CHECKPOINTING}.max-concurrent-checkpoints": "2"}),
         "COORD/notices-not-increasing",
         method="The publication of one checkpoint takes longer than the interval, and two may be pending."),
    twin(failed_checkpoints.CASES, "flink/failed-checkpoints-too-many",
         flink(STANDS_STILL, options={**SHORT_TIMEOUT, **ONE_TOLERABLE}), "COUNT/tolerable-exceeded",
         method="A TaskManager stands still until more checkpoints have expired than are tolerable."),
    twin(failed_checkpoints.CASES, "flink/failed-checkpoints-forgiven",
         flink(STANDS_STILL, options={**SHORT_TIMEOUT, **ONE_TOLERABLE}), "COUNT/failed-below-tolerable",
         method="The same."),
    twin(triggering.CASES, "flink/triggering-long-checkpoints",
         flink(options={f"{CHECKPOINTING}.interval": "20 ms", f"{CHECKPOINTING}.min-pause": "100 ms"}),
         "COORD/too-many-pending", "PACE/share-too-high", method="Checkpoints last longer than an interval of 20 ms."),
    twin(coordinator.CASES, "flink/coordinator-decline", flink(*NO_PLACE, options={**TOLERANT, **IN_FILES}),
         "COORD/completed-after-decline", "COORD/slot-not-freed", method="A task cannot write its state, four times."),
    twin(barriers.UNALIGNED_CASES, "flink/unaligned-around-the-threshold", flink(options=UNALIGNED),
         "CUT/begins-aligned", method="Nothing is broken, and an alignment may take no time."),
    twin(barriers.CASES, "flink/barriers-no-deadlock",
         flink(STANDS_STILL, kill(WORKERS[1], after_checkpoint=6), options={**SHORT_TIMEOUT, **TOLERANT}),
         "LIVE/end-not-reached", "LIVE/no-new-checkpoints", "LIVE/input-not-drained",
         method="A TaskManager stands still in the middle of checkpoints, and another one is killed."),
)  # fmt: skip


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


STORING_CASES = with_needs(
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
