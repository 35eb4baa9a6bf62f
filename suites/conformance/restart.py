"""Whether, how often and after which delay a failed job runs again (RULES RST)."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from holdfast.faults.input import poison
from holdfast.faults.process import kill
from holdfast.harness.model.plan import Bounds, ExpectedEnd, FaultSpec, Plan
from holdfast.suites.conformance import plans
from holdfast.suites.conformance.plans import CHECKPOINTING, EVERYWHERE, RESTART, case, decides, plan, with_needs

SECOND_MS = 1_000
MINUTE_MS = 60 * SECOND_MS
BOUNDS = Bounds(safety_ms=10 * MINUTE_MS, liveness_ms=MINUTE_MS)
CHECKPOINTS = {f"{CHECKPOINTING}.interval": "2 s"}
FIXED_DELAY = {
    f"{RESTART}.type": "fixed-delay",
    f"{RESTART}.fixed-delay.attempts": "3",
    f"{RESTART}.fixed-delay.delay": "10 s",
}
"""The book's 3 times 10 seconds."""
FAILURE_RATE = {
    f"{RESTART}.type": "failure-rate",
    f"{RESTART}.failure-rate.max-failures-per-interval": "3",
    f"{RESTART}.failure-rate.failure-rate-interval": "5 min",
    f"{RESTART}.failure-rate.delay": "10 s",
}
"""The book's 3 in 5 minutes, after 10 seconds each."""
EXPONENTIAL_DELAY = {
    f"{RESTART}.type": "exponential-delay",
    f"{RESTART}.exponential-delay.initial-backoff": "1 s",
    f"{RESTART}.exponential-delay.max-backoff": "20 s",
    f"{RESTART}.exponential-delay.backoff-multiplier": "1.5",
    f"{RESTART}.exponential-delay.reset-backoff-threshold": "2 min",
    f"{RESTART}.exponential-delay.jitter-factor": "0.1",
}
FEW_IN_A_ROW = {f"{RESTART}.exponential-delay.attempts-before-reset-backoff": "3"}
NO_STRATEGY: Mapping[str, str] = {}
NONE = {f"{RESTART}.type": "none"}


def _failures(*at_s: int, options: Mapping[str, str], end: ExpectedEnd, bounds: Bounds = BOUNDS) -> Plan:
    """A worker is killed at each of these times. No other options are set."""
    kills = (kill(plans.WORKERS[0], at_time_ms=second * SECOND_MS) for second in at_s)
    return replace(plan(*kills, expected_end=end, bounds=bounds), options=dict(options))


def _hundred_failures(**options: str) -> Plan:
    """70 s apart, which is more than the longest delay of the default."""
    return _failures(*range(10, 7_010, 70), options={f"{CHECKPOINTING}.interval": "10 s", **options},
                     end=ExpectedEnd.RUNNING,
                     bounds=Bounds(safety_ms=7_200 * SECOND_MS, liveness_ms=3 * MINUTE_MS))  # fmt: skip


def _poisoned(spec: FaultSpec, *, options: Mapping[str, str], end: ExpectedEnd, bounds: Bounds = BOUNDS) -> Plan:
    """A record fails its operator on every attempt. No other options are set."""
    return replace(plan(spec, expected_end=end, bounds=bounds), options=dict(options))


QUICK = {f"{CHECKPOINTING}.interval": "200 ms", f"{RESTART}.type": "fixed-delay"}
QUICK_BOUNDS = Bounds(safety_ms=10_000, liveness_ms=20_000, settle_ms=500)
THREE_ATTEMPTS = _poisoned(
    poison(),
    options=QUICK | {f"{RESTART}.fixed-delay.attempts": "3", f"{RESTART}.fixed-delay.delay": "200 ms"},
    end=ExpectedEnd.FAILED,
    bounds=QUICK_BOUNDS,
)
"""Short enough for real processes."""
UNRECOVERABLE = tuple(
    _poisoned(poison(unrecoverable=True), options=QUICK | strategy, end=ExpectedEnd.FAILED, bounds=QUICK_BOUNDS)
    for strategy in ({f"{RESTART}.fixed-delay.attempts": "9"},
                     {f"{RESTART}.type": "failure-rate", f"{RESTART}.failure-rate.max-failures-per-interval": "9"},
                     {f"{RESTART}.type": "exponential-delay"})
)  # fmt: skip
FAILURE_RATE_ENDS = _failures(3, 23, 43, 63, options=CHECKPOINTS | FAILURE_RATE, end=ExpectedEnd.FAILED)
FIXED_DELAY_ENDS = _failures(3, 23, 43, 63, options=CHECKPOINTS | FIXED_DELAY, end=ExpectedEnd.FAILED)

CASES = with_needs(
    case("restart/nothing-configured", "Does a job without checkpoints and without a strategy stay down?",
         _failures(1, options=NO_STRATEGY, end=ExpectedEnd.FAILED),
         decides("RST-01", "COUNT/restarted-without-strategy", wrong="restarts-without-strategy"),
         method="A worker is killed.", passes="The job fails and does not restart."),
    case("restart/strategy-without-checkpoints", "Does a strategy that is named work without checkpoints, too?",
         _failures(1, 21, 41, 61, options=FIXED_DELAY, end=ExpectedEnd.FAILED),
         decides("RST-01", "COUNT/failed-too-early", wrong="needs-checkpoints-to-restart"),
         method="A fixed delay allows three restarts, and a worker is killed four times.",
         passes="The job restarts three times before it fails."),
    case("restart/fixed-delay-allows", "Does a fixed delay of 3 times 10 s allow three restarts, each after 10 s?",
         _failures(3, 23, 43, options=CHECKPOINTS | FIXED_DELAY, end=ExpectedEnd.RUNNING),
         decides("RST-03", "COUNT/failed-too-early", wrong="restarts-once-less"),
         decides("RST-03", "COUNT/delay-too-short", wrong="restarts-at-once"), pictures=("states:job",),
         method="A worker is killed three times, on the virtual clock.",
         passes="The job runs again each time, 10 s after the failure at least."),
    case("restart/fixed-delay-ends", "Does a fixed delay of 3 times 10 s end with the third restart?", FIXED_DELAY_ENDS,
         decides("RST-03", "COUNT/restarted-beyond-policy", wrong="restarts-once-more"),
         method="A worker is killed four times, on the virtual clock.", passes="The job fails at the fourth failure."),
    case("restart/failure-rate-allows",
         "Does a rate of 3 failures in 5 min allow three of them, each with a restart after 10 s?",
         _failures(3, 23, 43, options=CHECKPOINTS | FAILURE_RATE, end=ExpectedEnd.RUNNING),
         decides("RST-04", "COUNT/failed-too-early", wrong="I1"),
         decides("RST-04", "COUNT/delay-too-short", wrong="restarts-at-once"),
         method="A worker is killed three times within a minute, on the virtual clock.",
         passes="The job runs again each time, 10 s after the failure at least."),
    case("restart/failure-rate-ends", "Does a rate of 3 failures in 5 min end with the fourth within the window?",
         FAILURE_RATE_ENDS, decides("RST-04", "COUNT/restarted-beyond-policy", wrong="restarts-once-more"),
         method="A worker is killed four times within two minutes, on the virtual clock.",
         passes="The job fails at the fourth failure."),
    case("restart/failure-rate-slides", "Does the window of the failure rate slide?",
         _failures(3, 23, 43, 310, options=CHECKPOINTS | FAILURE_RATE, end=ExpectedEnd.RUNNING),
         decides("RST-04", "COUNT/failed-too-early", wrong="never-forgets-failures"),
         method="A worker is killed three times within a minute, and once more when the first is 5 min past.",
         passes="The job runs again each time."),
    case("restart/none", "Is the first failure final when no restart is configured?",
         _failures(3, options=CHECKPOINTS | NONE, end=ExpectedEnd.FAILED),
         decides("RST-05", "COUNT/restarted-after-none", wrong="restarts-after-none"),
         method="The strategy is none, checkpoints are on, and a worker is killed.",
         passes="The job fails and does not restart."),
    case("restart/default", "Does a job with checkpoints that names no strategy get the default of its version?",
         _hundred_failures(), decides("RST-02", "COUNT/delay-wrong", wrong="defaults-of-other-version"),
         decides("RST-02", "COUNT/failed-too-early", wrong="restarts-fifty-times"),
         method="A worker is killed a hundred times, 70 s apart, on the virtual clock.",
         passes="It restarts each time, after 1 s, 1.5 s, 2.25 s and so on up to a minute, a tenth more or less."),
    case("restart/default-1-14",
         "Does a job with checkpoints that names no strategy get the default of version 1.14 under its profile?",
         _hundred_failures(**{"holdfast.profile": "flink-1.14"}),
         decides("RST-02", "COUNT/delay-wrong", wrong="defaults-of-other-version"),
         decides("RST-02", "COUNT/failed-too-early", wrong="restarts-fifty-times"),
         method="A worker is killed a hundred times, 70 s apart, on the virtual clock.",
         passes="It restarts each time, after 1 s."),
    case("restart/exponential-grows",
         "Does each restart in a row wait longer by the multiplier, within jitter, and never above the maximum?",
         _failures(*range(3, 403, 40), options=CHECKPOINTS | EXPONENTIAL_DELAY, end=ExpectedEnd.RUNNING),
         decides("RST-06", "COUNT/delay-wrong", wrong="backoff-never-grows"),
         decides("RST-06", "COUNT/delay-wrong", wrong="backoff-grows-forever"),
         decides("RST-06", "COUNT/delay-too-short", wrong="waits-not"),
         decides("RST-06", "COUNT/without-jitter", wrong="backoff-never-jitters"),
         method="A worker is killed ten times, 40 s apart, on the virtual clock.",
         passes="Every delay is within a tenth of its place in the row 1 s, 1.5 s, 2.25 s to 20 s, and some are "
                "moved."),
    case("restart/exponential-resets", "Does a quiet period make the next delay the first one again?",
         _failures(3, 23, 43, 63, 200, options=CHECKPOINTS | EXPONENTIAL_DELAY, end=ExpectedEnd.RUNNING),
         decides("RST-06", "COUNT/backoff-not-reset", wrong="backoff-never-calms-down"),
         method="A worker is killed four times, and once more when two quiet minutes are over.",
         passes="The fifth restart waits for the initial delay."),
    case("restart/exponential-allows", "Do attempts before the reset count restarts in a row?",
         _failures(3, 23, 43, 200, 220, 240, options=CHECKPOINTS | EXPONENTIAL_DELAY | FEW_IN_A_ROW,
                   end=ExpectedEnd.RUNNING),
         decides("RST-06", "COUNT/failed-too-early", wrong="restarts-once-less"),
         method="Three in a row are allowed; a worker is killed three times, and three times more after a quiet "
                "period.",
         passes="The job runs again each time."),
    case("restart/exponential-ends", "Does a row end with the last attempt that is allowed in it?",
         _failures(3, 23, 43, 63, options=CHECKPOINTS | EXPONENTIAL_DELAY | FEW_IN_A_ROW, end=ExpectedEnd.FAILED),
         decides("RST-06", "COUNT/restarted-beyond-policy", wrong="restarts-once-more"),
         method="Three in a row are allowed, and a worker is killed four times, 20 s apart.",
         passes="The job fails at the fourth failure."),
    case("restart/poison-golden",
         "Does a record that fails every attempt end the job after exactly three restarts of 3 times 10 s?",
         _poisoned(poison(), options=CHECKPOINTS | FIXED_DELAY, end=ExpectedEnd.FAILED),
         decides("RST-03", "COUNT/restarted-beyond-policy", wrong="restarts-once-more"),
         decides("RST-03", "COUNT/failed-too-early", wrong="restarts-once-less"),
         decides("RST-03", "COUNT/delay-too-short", wrong="waits-not"),
         method="The last record of a partition makes its source fail whenever it is read, on the virtual clock.",
         passes="Three restarts, each 10 s after its failure, and the fourth failure ends the job."),
    case("restart/poison",
         "Does a record that fails every attempt end the job after exactly the restarts that are allowed?",
         THREE_ATTEMPTS, decides("RST-03", "COUNT/restarted-beyond-policy", wrong="restarts-once-more"),
         decides("RST-03", "COUNT/failed-too-early", wrong="restarts-once-less"), tiers=EVERYWHERE,
         method="The last record of a partition makes its source fail whenever it is read; three restarts are allowed.",
         passes="Three restarts, and the fourth failure ends the job, each under a cause that names the record."),
    case("restart/poison-for-ever", "Does a job whose strategy has no end say why it does not end?",
         [_poisoned(poison(5 * MINUTE_MS), options={**CHECKPOINTS, "holdfast.profile": profile},
                    end=ExpectedEnd.RUNNING, bounds=replace(BOUNDS, liveness_ms=2 * MINUTE_MS))
          for profile in ("flink-1.14", "flink-2.x")],
         decides("RST-03", "COUNT/failed-too-early", wrong="restarts-four-times"),
         decides("RST-03", "COUNT/cause-not-reported", wrong="hides-causes"),
         method="The last record of a partition fails its source under the default of each version, until it is mended "
                "after five minutes.",
         passes="The job restarts each time, every failure is counted under subtask, partition and offset, and the "
                "report notes that this does not end."),
    case("restart/unrecoverable", "Is a failure that no restart can help final, whatever the strategy allows?",
         UNRECOVERABLE, decides("RST-07", "COUNT/restarted-after-unrecoverable", wrong="restarts-after-unrecoverable"),
         decides("RST-07", "COUNT/restarted-after-unrecoverable", wrong="loses-kind-of-failure"), tiers=EVERYWHERE,
         method="A record makes its source fail with an unrecoverable error, under each strategy.",
         passes="The job fails without a restart."),
)  # fmt: skip
