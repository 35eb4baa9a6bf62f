"""What comes of failures of Flink's TaskManagers, and whether and when jobs restart (RULES REC, E2E, UNA, RST)."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.faults.damage import damage
from holdfast.faults.input import poison
from holdfast.faults.process import kill, pause
from holdfast.fixtures.systems.flink.stored import PART
from holdfast.harness.model.case import Tier
from holdfast.harness.model.plan import ExpectedEnd, Topology
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.conformance import (
    asynchronous,
    barriers,
    failed_checkpoints,
    operators,
    recovery,
    restart,
    sources,
    storage,
    transactions,
    triggering,
)
from holdfast.suites.conformance.flink import twins
from holdfast.suites.conformance.flink.twins import (
    FIXED_DELAY,
    INTERVAL,
    KILLED,
    RESTORED,
    STRUCK_TWICE,
    WRONG_SUMS,
    control,
    failing,
    flink,
    twin,
)
from holdfast.suites.conformance.plans import CHECKPOINTING, EXACT_SUMS, RESTART, WORKERS, case, with_needs
from holdfast.suites.conformance.processes import DECIDED, ON_THE_SIMULATOR

KILLED_AT_ONCE = kill(WORKERS[0], after_checkpoint=3)
SELDOM = {**twins.IN_FILES, f"{CHECKPOINTING}.interval": "500 ms"}
"""No other checkpoint completes between what is damaged and the death of who reads it."""
[CLAIMED] = (case for case in sources.CLAIM_CASES if case.id == "claims/tested")
"""On the first of its plans records that are read twice are seen as rows that repeat."""

CASES = with_needs(
    case("flink/killed", "Does every record count once when TaskManagers of Flink are really killed?",
         flink(*STRUCK_TWICE), *DECIDED, windows=RESTORED, tiers=(Tier.PROCESS,), needs=twins.NEEDS,
         mutant_plan=ON_THE_SIMULATOR,
         method=KILLED,
         passes="Each committed row is what the oracle's model holds at its counts, the last ones hold the whole "
                "input, and what was visible once stays."),
    twin(transactions.DELIVERY_CASES, "flink/delivery-at-least-once", flink(*STRUCK_TWICE, options=twins.AT_LEAST_ONCE),
         "NOLOSS/input-lost", "NOLOSS/extra-not-a-repeat", method=KILLED + " The mode is at-least-once.",
         windows=RESTORED),
    twin(barriers.UNALIGNED_CASES, "flink/unaligned-crash-sweep", flink(*STRUCK_TWICE, options=twins.UNALIGNED),
         *EXACT_SUMS, method=KILLED + " Checkpoints are unaligned.", windows=RESTORED),
    twin(recovery.CASES, "flink/recovery-before-first-checkpoint",
         flink(kill(WORKERS[0], at_event="job_switched"), options={f"{CHECKPOINTING}.interval": "4 s"}, records=60),
         "RESTORE/not-initial", method="SIGKILL hits a TaskManager before any checkpoint is complete."),
    twin(recovery.CASES, "flink/recovery-crash-in-recovery",
         flink(poison(12_000, after_checkpoint=2), options={f"{RESTART}.fixed-delay.attempts": "200"}),
         "RESTORE/recovery-not-repeated", method="The last record of a partition fails each restore for a while."),
    twin(recovery.CASES, "flink/recovery-backlog",
         flink(kill(WORKERS[0], after_checkpoint=2), options={f"{RESTART}.fixed-delay.delay": "1 s"}),
         "LIVE/input-not-drained", method="Input arrives while the job waits for its restart."),
    twin(barriers.CASES, "flink/barriers-at-least-once-loses-nothing",
         flink(*STRUCK_TWICE, options=twins.AT_LEAST_ONCE), "NOLOSS/input-lost", method=KILLED, windows=RESTORED),
    twin(barriers.CASES, "flink/barriers-forward-only",
         flink(kill(WORKERS[0], after_checkpoint=2), options=twins.AT_LEAST_ONCE, topology=Topology(parallelism=1)),
         "EXACT/row-repeated", "EXACT/input-missing",
         method="Each operator has one subtask, and SIGKILL hits the TaskManager. The mode is at-least-once.",
         windows=RESTORED),
    twin(asynchronous.CASES, "flink/asynchronous-switched-off",
         flink(*STRUCK_TWICE, options={"state.backend.async": "false"}), *WRONG_SUMS, method=KILLED, windows=RESTORED),
    twin(barriers.UNALIGNED_CASES, "flink/unaligned-switch-and-crash",
         flink(*STRUCK_TWICE, options={**twins.UNALIGNED, f"{CHECKPOINTING}.aligned-checkpoint-timeout": "1 ms"}),
         *WRONG_SUMS, method=KILLED + " Alignment may take a millisecond.", windows=RESTORED),
    twin(failed_checkpoints.CASES, "flink/failed-checkpoints-coordinator-crash",
         flink(kill(COORDINATOR, after_checkpoint=3)), "COORD/restored-not-latest",
         method="SIGKILL hits the JobManager, which is started again; ZooKeeper knows the job.", windows=RESTORED,
         mutant_plan=failed_checkpoints.CRASHES[11]),
    twin(storage.CASES, "flink/storage-atomic-metadata",
         flink(kill(COORDINATOR, after_checkpoint=3, at_event="checkpoint_triggered"), options=twins.IN_FILES),
         "LOUD/partial-metadata", "LOUD/started-empty",
         method="SIGKILL hits the JobManager in the middle of a checkpoint.", windows=RESTORED,
         # in which a part of the metadata is left
         mutant_plan=replace(storage.crash_within(0), run_seed=1)),
    twin(operators.CASES, "flink/operators-chaining",
         flink(*STRUCK_TWICE, options={"pipeline.operator-chaining.enabled": "false"}), "EXACT/row-wrong",
         "EXACT/row-repeated", "EXACT/input-missing", method=KILLED + " Each operator is a task of its own.",
         windows=RESTORED),
    twin(recovery.CASES, "flink/recovery-missing",
         flink(damage(PART, "remove", 3_000, after_checkpoint=3), KILLED_AT_ONCE, options=SELDOM, records=300),
         "LOUD/started-empty", *WRONG_SUMS,
         method="A file of state of the newest checkpoint is removed as SIGKILL hits a TaskManager, and put back "
                "later.",
         windows=RESTORED),
    twin(recovery.CASES, "flink/recovery-fails-visibly",
         flink(damage(PART, "remove", after_checkpoint=3), KILLED_AT_ONCE,
               options={**SELDOM, f"{RESTART}.fixed-delay.attempts": "3"}, records=300,
               expected_end=ExpectedEnd.FAILED),
         "LIVE/end-not-reached",
         method="A file of state of the newest checkpoint is removed for good; three restarts are allowed."),
    twin(storage.CASES, "flink/storage-damaged-pieces",
         flink(damage(PART, "truncate", 3_000, after_checkpoint=3), KILLED_AT_ONCE, options=SELDOM, records=300),
         "LOUD/started-empty", *WRONG_SUMS,
         method="A file of state of the newest checkpoint is cut as SIGKILL hits a TaskManager, and mended later.",
         windows=RESTORED, mutant_plan=recovery.MISSING),
    twin(sources.CLAIM_CASES, "flink/claims-tested", flink(*STRUCK_TWICE), "EXACT/row-repeated", "EXACT/input-missing",
         method=KILLED + " The job claims exactly-once.", windows=RESTORED, mutant_plan=CLAIMED.plan_for(1)),
    twin(barriers.UNALIGNED_CASES, "flink/unaligned-buffer-debloating",
         flink(pause(WORKERS[1], 1_000, after_checkpoint=2), options={**twins.UNALIGNED, **barriers.DEBLOATED}),
         *EXACT_SUMS, method="A TaskManager stands still behind buffers that follow the throughput."),
    control("keeps-in-field", flink(*STRUCK_TWICE), "EXACT/row-wrong", "EXACT/counts-stepped-back",
            purpose="that keeps its sums in a field, where no checkpoint holds them"),
    control("writes-at-once", flink(*STRUCK_TWICE), "EXACT/row-repeated", "EXACT/counts-stepped-back",
            purpose="whose rows are visible before their checkpoint is complete"),
)  # fmt: skip


NEVER_MENDED = poison(after_checkpoint=2)
"""The last record of a partition fails its operator, whenever it comes."""
POISONED = "The last record of a partition fails the sum whenever it comes."

RESTART_CASES = with_needs(
    twin(restart.CASES, "flink/restart-poison",
         failing({**INTERVAL, **FIXED_DELAY, f"{RESTART}.fixed-delay.attempts": "3"}, NEVER_MENDED),
         "COUNT/restarted-beyond-policy", "COUNT/failed-too-early", method=POISONED + " Three restarts are allowed."),
    twin(restart.CASES, "flink/restart-fixed-delay-allows",
         flink(*STRUCK_TWICE, options={f"{RESTART}.fixed-delay.attempts": "2", f"{RESTART}.fixed-delay.delay": "1 s"}),
         "COUNT/failed-too-early", "COUNT/delay-too-short",
         method=KILLED + " Two restarts are allowed, each after a second."),
    twin(restart.CASES, "flink/restart-failure-rate-ends",
         failing({**INTERVAL, f"{RESTART}.type": "failure-rate",
                  f"{RESTART}.failure-rate.max-failures-per-interval": "2",
                  f"{RESTART}.failure-rate.failure-rate-interval": "1 min", f"{RESTART}.failure-rate.delay": "200 ms"},
                 NEVER_MENDED),
         "COUNT/restarted-beyond-policy", method=POISONED + " Two failures a minute are allowed."),
    twin(restart.CASES, "flink/restart-failure-rate-allows",
         flink(*STRUCK_TWICE,
               options={f"{RESTART}.type": "failure-rate", f"{RESTART}.failure-rate.max-failures-per-interval": "2",
                        f"{RESTART}.failure-rate.failure-rate-interval": "5 min",
                        f"{RESTART}.failure-rate.delay": "500 ms"}),
         "COUNT/failed-too-early", "COUNT/delay-too-short",
         method=KILLED + " Two failures in five minutes are allowed."),
    twin(restart.CASES, "flink/restart-none",
         failing({**INTERVAL, f"{RESTART}.type": "none"}, kill(WORKERS[0], after_checkpoint=2)),
         "COUNT/restarted-after-none", method="SIGKILL hits a TaskManager under the strategy none."),
    twin(restart.CASES, "flink/restart-default", replace(flink(*STRUCK_TWICE), options=INTERVAL),
         "COUNT/failed-too-early", method=KILLED + " No strategy is named."),
    twin(restart.CASES, "flink/restart-exponential-ends",
         failing({**INTERVAL, f"{RESTART}.type": "exponential-delay",
                  f"{RESTART}.exponential-delay.initial-backoff": "100 ms",
                  f"{RESTART}.exponential-delay.max-backoff": "1 s",
                  f"{RESTART}.exponential-delay.attempts-before-reset-backoff": "3"},
                 NEVER_MENDED),
         "COUNT/restarted-beyond-policy", method=POISONED + " Three restarts in a row are allowed."),
    twin(restart.CASES, "flink/restart-unrecoverable",
         flink(poison(unrecoverable=True, after_checkpoint=2), expected_end=ExpectedEnd.FAILED),
         "COUNT/restarted-after-unrecoverable",
         method="The last record of a partition fails the sum with an error that suppresses restarts.",
         mutant_plan=restart.UNRECOVERABLE[0]),
    twin(triggering.CASES, "flink/triggering-without-interval", failing({}, kill(WORKERS[0], at_event="job_switched")),
         "PACE/triggered-without-interval",
         method="SIGKILL hits a TaskManager of a job for which no interval is configured."),
    twin(restart.CASES, "flink/restart-nothing-configured", failing({}, kill(WORKERS[0], at_event="job_switched")),
         "COUNT/restarted-without-strategy",
         method="SIGKILL hits a TaskManager of a job without checkpoints, for which nothing is configured."),
)  # fmt: skip
