"""Whether, how often and after which delay a failed job runs again (RULES RST)."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from holdfast.harness.model.case import Case, Decision
from holdfast.harness.model.plan import Bounds, ExpectedEnd, Plan
from holdfast.suites.conformance.plans import CHECKPOINTING, RESTART, WORKERS, kill, plan, with_needs

SECOND_MS = 1_000
MINUTE_MS = 60 * SECOND_MS
BOUNDS = Bounds(safety_ms=10 * MINUTE_MS, liveness_ms=MINUTE_MS)
CHECKPOINTS = {f"{CHECKPOINTING}.interval": "2 s"}
FIXED_DELAY = {
    f"{RESTART}.type": "fixed-delay",
    f"{RESTART}.fixed-delay.attempts": "3",
    f"{RESTART}.fixed-delay.delay": "10 s",
}
"""The seed's 3 times 10 seconds."""
FAILURE_RATE = {
    f"{RESTART}.type": "failure-rate",
    f"{RESTART}.failure-rate.max-failures-per-interval": "3",
    f"{RESTART}.failure-rate.failure-rate-interval": "5 min",
    f"{RESTART}.failure-rate.delay": "10 s",
}
"""The seed's 3 in 5 minutes, after 10 seconds each."""
NO_STRATEGY: Mapping[str, str] = {}
NONE = {f"{RESTART}.type": "none"}


def _failures(*at_s: int, options: Mapping[str, str], end: ExpectedEnd) -> Plan:
    """A worker is killed at each of these times. No other options are set."""
    kills = (kill(WORKERS[0], at_time_ms=second * SECOND_MS) for second in at_s)
    return replace(plan(*kills, expected_end=end, bounds=BOUNDS), options=dict(options))


FIXED_DELAY_ENDS = _failures(3, 23, 43, 63, options=CHECKPOINTS | FIXED_DELAY, end=ExpectedEnd.FAILED)

CASES = with_needs(
    Case(
        id="restart/nothing-configured",
        purpose="Does a job without checkpoints and without a strategy stay down?",
        method="A worker is killed.",
        passes="The job fails and does not restart.",
        decides=(Decision("RST-01", "COUNT", ("restarted-without-strategy",), "restarts-without-strategy"),),
        plan=_failures(1, options=NO_STRATEGY, end=ExpectedEnd.FAILED),
    ),
    Case(
        id="restart/strategy-without-checkpoints",
        purpose="Does a strategy that is named work without checkpoints, too?",
        method="A fixed delay allows three restarts, and a worker is killed four times.",
        passes="The job restarts three times before it fails.",
        decides=(Decision("RST-01", "COUNT", ("failed-too-early",), "needs-checkpoints-to-restart"),),
        plan=_failures(1, 21, 41, 61, options=FIXED_DELAY, end=ExpectedEnd.FAILED),
    ),
    Case(
        id="restart/fixed-delay-allows",
        purpose="Does a fixed delay of 3 times 10 s allow three restarts, each after 10 s?",
        method="A worker is killed three times, on the virtual clock.",
        passes="The job runs again each time, 10 s after the failure at least.",
        decides=(
            Decision("RST-03", "COUNT", ("failed-too-early",), "restarts-once-less"),
            Decision("RST-03", "COUNT", ("delay-too-short",), "restarts-at-once"),
        ),
        plan=_failures(3, 23, 43, options=CHECKPOINTS | FIXED_DELAY, end=ExpectedEnd.RUNNING),
    ),
    Case(
        id="restart/fixed-delay-ends",
        purpose="Does a fixed delay of 3 times 10 s end with the third restart?",
        method="A worker is killed four times, on the virtual clock.",
        passes="The job fails at the fourth failure.",
        decides=(Decision("RST-03", "COUNT", ("restarted-beyond-policy",), "restarts-once-more"),),
        plan=FIXED_DELAY_ENDS,
    ),
    Case(
        id="restart/failure-rate-allows",
        purpose="Does a rate of 3 failures in 5 min allow three of them, each with a restart after 10 s?",
        method="A worker is killed three times within a minute, on the virtual clock.",
        passes="The job runs again each time, 10 s after the failure at least.",
        decides=(
            Decision("RST-04", "COUNT", ("failed-too-early",), "I1"),
            Decision("RST-04", "COUNT", ("delay-too-short",), "restarts-at-once"),
        ),
        plan=_failures(3, 23, 43, options=CHECKPOINTS | FAILURE_RATE, end=ExpectedEnd.RUNNING),
    ),
    Case(
        id="restart/failure-rate-ends",
        purpose="Does a rate of 3 failures in 5 min end with the fourth within the window?",
        method="A worker is killed four times within two minutes, on the virtual clock.",
        passes="The job fails at the fourth failure.",
        decides=(Decision("RST-04", "COUNT", ("restarted-beyond-policy",), "restarts-once-more"),),
        plan=_failures(3, 23, 43, 63, options=CHECKPOINTS | FAILURE_RATE, end=ExpectedEnd.FAILED),
    ),
    Case(
        id="restart/failure-rate-slides",
        purpose="Does the window of the failure rate slide?",
        method="A worker is killed three times within a minute, and once more when the first is 5 min past.",
        passes="The job runs again each time.",
        decides=(Decision("RST-04", "COUNT", ("failed-too-early",), "never-forgets-failures"),),
        plan=_failures(3, 23, 43, 310, options=CHECKPOINTS | FAILURE_RATE, end=ExpectedEnd.RUNNING),
    ),
    Case(
        id="restart/none",
        purpose="Is the first failure final when no restart is asked for?",
        method="The strategy is none, checkpoints are on, and a worker is killed.",
        passes="The job fails and does not restart.",
        decides=(Decision("RST-05", "COUNT", ("restarted-after-none",), "restarts-after-none"),),
        plan=_failures(3, options=CHECKPOINTS | NONE, end=ExpectedEnd.FAILED),
    ),
)
