"""Whether, how often and when Flink starts a failed job again (RULES RST)."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.faults.input import poison
from holdfast.faults.process import kill
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.suites.conformance import restart, triggering
from holdfast.suites.conformance.flink.twins import FIXED_DELAY, INTERVAL, KILLED, STRUCK_TWICE, failing, flink, twin
from holdfast.suites.conformance.plans import RESTART, WORKERS, with_needs

NEVER_MENDED = poison(after_checkpoint=2)
"""The last record of a partition fails its operator, whenever it comes."""
POISONED = "The last record of a partition fails the sum whenever it comes."

CASES = with_needs(
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
