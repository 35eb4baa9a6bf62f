"""Histories for COUNT: failures and what the coordinator makes of them."""

from __future__ import annotations

from holdfast.harness.model.events import Event, NodeStarted, RecordFailed, RestartRefused, RestartScheduled
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, injected
from holdfast.suites.selfcheck.oracles.lines import attempt, died, failure, task

FIXED = {
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "2",
    "restart-strategy.fixed-delay.delay": "1 s",
}
MANY = {**FIXED, "restart-strategy.fixed-delay.attempts": "9"}
RATE = {
    "restart-strategy.type": "failure-rate",
    "restart-strategy.failure-rate.max-failures-per-interval": "2",
    "restart-strategy.failure-rate.failure-rate-interval": "5 min",
    "restart-strategy.failure-rate.delay": "1 s",
}
EXPONENTIAL = {
    "restart-strategy.type": "exponential-delay",
    "restart-strategy.exponential-delay.initial-backoff": "1 s",
    "restart-strategy.exponential-delay.max-backoff": "10 s",
    "restart-strategy.exponential-delay.backoff-multiplier": "2.0",
    "restart-strategy.exponential-delay.reset-backoff-threshold": "1 min",
    "restart-strategy.exponential-delay.jitter-factor": "0.1",
    "restart-strategy.exponential-delay.attempts-before-reset-backoff": "5",
}
NONE = {"restart-strategy.type": "none", "execution.checkpointing.interval": "100 ms"}
OF_1_14 = {"holdfast.profile": "flink-1.14", "execution.checkpointing.interval": "100 ms"}
UNNAMED = {"execution.checkpointing.interval": "100 ms"}
REFUSED: list[Line] = [failure(), RestartRefused(reason="enough")]

RESTART: list[Line] = [failure(), RestartScheduled(delay_ms=1_000), 1_000, attempt()]

bad, near = exhibits("COUNT", attempt(), injected("kill", "worker[0]"), expected=ExpectedEnd.FAILED, options=FIXED)

# A worker was killed before: of that its failures are.
bad("restarted-beyond-policy", "third restart of two", RESTART, RESTART, RESTART)
bad("restarted-beyond-policy", "third failure in the window", RESTART, RESTART, RESTART, options=RATE)
near("restarted-beyond-policy", "two restarts of two", RESTART, RESTART, REFUSED)
near("restarted-beyond-policy", "fourth failure after the window slid",
     RESTART, RESTART, 300_000, RESTART, RESTART, REFUSED, options=RATE)  # fmt: skip

bad("failed-too-early", "second restart of two refused", RESTART, REFUSED)
bad("failed-too-early", "second failure in the window refused", RESTART, REFUSED, options=RATE)
bad("failed-too-early", "new coordinator goes on counting",
    RESTART, RESTART, died("coordinator", "killed"), attempt(), REFUSED)  # fmt: skip
near("failed-too-early", "second failure in the window restarts", RESTART, RESTART, options=RATE)

bad("restart-missing", "nothing follows a failure", failure())
near("restart-missing", "restart follows a failure", RESTART)

bad("restarted-without-strategy", "restarts without checkpointing", RESTART, options={})
near("restarted-without-strategy", "fails without checkpointing", REFUSED, options={})

bad("restarted-after-none", "restarts though none", RESTART, options=NONE)
near("restarted-after-none", "fails as none", REFUSED, options=NONE)

bad("delay-too-short", "restarts at half the delay", *RESTART[:2], 500, attempt())
near("delay-too-short", "restarts after the delay", *RESTART[:2], 999, attempt())

bad("delay-wrong", "schedules another delay", failure(), RestartScheduled(delay_ms=2_000), 2_000, attempt())
near("delay-wrong", "schedules the delay", RESTART)


def restarts(*delays_ms: int) -> list[Line]:
    """Restarts one after the other, each as soon as its delay is over."""
    return [line for delay_ms in delays_ms
            for line in (failure(), RestartScheduled(delay_ms=delay_ms), delay_ms, attempt(), 100)]  # fmt: skip


bad("delay-wrong", "third delay is that of the second", restarts(1_000, 2_000, 2_100), options=EXPONENTIAL)
bad("delay-wrong", "delay above the maximum", restarts(1_000, 2_000, 4_000, 8_000, 10_500), options=EXPONENTIAL)
bad("delay-wrong", "delay below the initial one", restarts(950), options=EXPONENTIAL)
bad("delay-wrong", "default of another profile", restarts(1_000, 1_000), options=UNNAMED)
bad("delay-wrong", "delays grow though 1 14", restarts(1_000, 1_500), options=OF_1_14)
near("delay-wrong", "fixed delay as 1 14", restarts(1_000, 1_000), options=OF_1_14)
near("delay-wrong", "delays within their jitter",
     restarts(1_100, 1_800, 4_400, 7_300, 10_000), REFUSED, options=EXPONENTIAL)  # fmt: skip
near("delay-wrong", "default of this profile", restarts(1_000, 1_500, 2_250, 3_375), options=UNNAMED)

bad("restarted-beyond-policy", "sixth restart of five in a row",
    restarts(1_000, 2_000, 4_000, 8_000, 10_000, 10_000), options=EXPONENTIAL)  # fmt: skip

bad("delay-too-short", "drawn delay is not waited for",
    restarts(1_000), failure(), RestartScheduled(delay_ms=2_000), 1_000, attempt(), options=EXPONENTIAL)  # fmt: skip

bad("backoff-not-reset", "row goes on after a quiet minute",
    restarts(1_000, 2_000), 60_100, restarts(4_000), options=EXPONENTIAL)  # fmt: skip
near("backoff-not-reset", "row begins again after a quiet minute",
     restarts(1_000, 2_000), 60_100, restarts(1_000, 2_000), options=EXPONENTIAL)  # fmt: skip

# A second failure comes 500 ms after the first, and the restart from that one is due after a second.
bad("simultaneous-counted", "second failure begins a longer delay",
    failure(), RestartScheduled(delay_ms=1_000), 498, failure(), RestartScheduled(delay_ms=2_000), 2_000, attempt(),
    options=EXPONENTIAL)  # fmt: skip
near("simultaneous-counted", "second failure waits with the first",
     failure(), RestartScheduled(delay_ms=1_000), 498, failure(), RestartScheduled(delay_ms=500), 500, attempt(),
     options=EXPONENTIAL)  # fmt: skip

EIGHT_MS = [int(1_000 * 1.5**number) for number in range(8)]

bad("without-jitter", "eight delays are the row itself", restarts(*EIGHT_MS), options=UNNAMED)
near("without-jitter", "one of eight delays is moved",
     restarts(*EIGHT_MS[:3], EIGHT_MS[3] + 77, *EIGHT_MS[4:]), options=UNNAMED)  # fmt: skip
POISON = "source[0]: record 7 of partition 0: it cannot be parsed"
FOLLOWED = "source[0]: Task is not running, but in state FAILED"

RECORD_7 = RecordFailed(subtask="source[0]", partition=0, offset=7, cause="it cannot be parsed")
BEYOND_HELP = RecordFailed(subtask="source[0]", partition=0, offset=7, cause="it cannot be parsed", recoverable=False)
POISONED: list[Line] = [RECORD_7, failure(POISON, "source[0]")]
"""Record 7 makes the source fail, and that is counted."""

bad("restarted-after-unrecoverable", "restarts though no restart can help",
    BEYOND_HELP, failure(POISON, "source[0]", recoverable=False), *RESTART[1:])  # fmt: skip
bad("restarted-after-unrecoverable", "what the operator said is lost on the way",
    BEYOND_HELP, failure(POISON, "source[0]"), *RESTART[1:])  # fmt: skip
near("restarted-after-unrecoverable", "fails as no restart can help",
     BEYOND_HELP, failure(POISON, "source[0]", recoverable=False), RestartRefused(reason="unrecoverable"))  # fmt: skip

bad("cause-not-reported", "only that a task failed",
    RECORD_7, failure("source[0]: task failed", "source[0]"), *RESTART[1:])  # fmt: skip
near("cause-not-reported", "record is named", *POISONED, *RESTART[1:])
near("cause-not-reported", "what followed from the record is heard of first once",
     *POISONED, *RESTART[1:], RECORD_7, failure(FOLLOWED, "source[0]"), *RESTART[1:])  # fmt: skip
bad("cause-not-reported", "what followed from the record hides it most times",
    *[line for cause in (POISON, FOLLOWED, FOLLOWED) for line in (RECORD_7, failure(cause, "source[0]"), *RESTART[1:])],
    options=MANY)  # fmt: skip
bad("cause-not-reported", "another record is named",
    *POISONED, *RESTART[1:], RECORD_7, failure("source[0]: record 12 of partition 3: it cannot be parsed", "source[0]"),
    *RESTART[1:])  # fmt: skip
bad("cause-not-reported", "what followed from the record hides it each time",
    RECORD_7, failure(FOLLOWED, "source[0]"), *RESTART[1:], RECORD_7, failure(FOLLOWED, "source[0]"),
    *RESTART[1:])  # fmt: skip

bad("failure-not-counted", "death passes unnoticed", task("sum[1]"), died("worker-1", "killed"), options=UNNAMED)
near("failure-not-counted", "death is counted", task("sum[1]"), died("worker-1", "killed"), RESTART, options=UNNAMED)

WORKER_DIES: list[Line] = [task("sum[1]"), died("worker-1", "killed")]
"""Worker 1 runs a task of the present attempt and dies."""

COORDINATOR_DIES: list[Line] = [died("coordinator", "killed"), attempt()]
"""A new coordinator starts the next attempt by itself."""

bad("failure-not-counted", "only the next death is counted",
    WORKER_DIES, attempt(), WORKER_DIES, RESTART, options=UNNAMED)  # fmt: skip
bad("failure-not-counted", "the coordinator dies an attempt later",
    WORKER_DIES, attempt(), COORDINATOR_DIES, options=UNNAMED)  # fmt: skip
bad("failure-not-counted", "death under the new coordinator passes unnoticed",
    WORKER_DIES, COORDINATOR_DIES, WORKER_DIES, attempt(), options=UNNAMED)  # fmt: skip
near("failure-not-counted", "the coordinator dies before it counts",
     WORKER_DIES, COORDINATOR_DIES, WORKER_DIES, RESTART, options=UNNAMED)  # fmt: skip
FIRST, SECOND = "coordinator.0", "coordinator.1"
SUPERSEDED: list[Line] = [at(SECOND, NodeStarted()), at(SECOND, attempt())]
"""A second coordinator starts while the first stands still, and starts the next attempt."""

near("failure-not-counted", "the coordinator is superseded before it counts",
     at(FIRST, NodeStarted()), WORKER_DIES, SUPERSEDED, WORKER_DIES,
     *[at(SECOND, line) if isinstance(line, Event) else line for line in RESTART], options=UNNAMED)  # fmt: skip
bad("failure-not-counted", "the coordinator is superseded an attempt later",
    at(FIRST, NodeStarted()), WORKER_DIES, attempt(), SUPERSEDED, options=UNNAMED)  # fmt: skip
near("failure-not-counted", "two deaths of an attempt are one failure",
     task("sum[0]"), died("worker-0", "killed"), WORKER_DIES, RESTART, options=UNNAMED)  # fmt: skip
