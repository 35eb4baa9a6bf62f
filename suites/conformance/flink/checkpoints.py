"""When Flink's checkpoints begin, and how they end (RULES TRG, CRD, BAR)."""

from __future__ import annotations

from holdfast.faults.process import kill, pause
from holdfast.faults.storage import slow_storage, storage_error
from holdfast.fixtures.systems.flink.orders import PUBLISH, WRITE
from holdfast.suites.conformance import barriers, coordinator, failed_checkpoints, triggering, unaligned
from holdfast.suites.conformance.flink.twins import IN_FILES, KILLED, STRUCK_TWICE, UNALIGNED, flink, twin
from holdfast.suites.conformance.plans import CHECKPOINTING, TOLERANT, WORKERS, with_needs

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
    twin(unaligned.CASES, "flink/unaligned-around-the-threshold", flink(options=UNALIGNED), "CUT/begins-aligned",
         method="Nothing is broken, and an alignment may take no time."),
    twin(barriers.CASES, "flink/barriers-no-deadlock",
         flink(STANDS_STILL, kill(WORKERS[1], after_checkpoint=6), options={**SHORT_TIMEOUT, **TOLERANT}),
         "LIVE/end-not-reached", "LIVE/no-new-checkpoints", "LIVE/input-not-drained",
         method="A TaskManager stands still in the middle of checkpoints, and another one is killed."),
)  # fmt: skip
