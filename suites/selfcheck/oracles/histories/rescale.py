"""Histories for RESCALE: a job of two subtasks for each vertex is to go on at three."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.jobs import MINI_BATCH
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, injected
from holdfast.suites.selfcheck.oracles.lines import attempt, completed, died, failure, submitted, triggered

WIDER = FaultSpec("rescale", COORDINATOR, parameters={"parallelism": 3})
NARROWER = FaultSpec("rescale", COORDINATOR, parameters={"parallelism": 2})
BEYOND = FaultSpec("rescale", COORDINATOR, parameters={"parallelism": 129})
KILL = FaultSpec("kill")
SKEW_MS = 101
"""From here on nobody's clock shows the time of the fault."""


def accepted(parallelism: int = 3) -> list[Line]:
    return [events.RescaleRequested(parallelism=parallelism), events.RescaleAccepted(parallelism=parallelism)]


def refused(parallelism: int = 3) -> list[Line]:
    return [
        events.RescaleRequested(parallelism=parallelism),
        events.RescaleRefused(parallelism=parallelism, reason="so it is."),
    ]


def complete(*checkpoints: int) -> list[Line]:
    return [line for checkpoint in checkpoints for line in (triggered(checkpoint), completed(checkpoint))]


bad, near = exhibits(
    "RESCALE", submitted(), attempt(parallelism=2), injected("rescale", "coordinator[0]"), faults=(WIDER,)
)

bad(
    "not-required", "four are accepted where three were required",
    events.RescaleRequested(parallelism=3), events.RescaleAccepted(parallelism=4), attempt(1, parallelism=4),
)  # fmt: skip
bad(
    "not-required", "the second order is taken for the first",
    accepted(), attempt(1, parallelism=3), injected("rescale", "coordinator[0]", 1), accepted(),
    faults=(WIDER, NARROWER),
)  # fmt: skip
near(
    "not-required", "two orders come at once",
    injected("rescale", "coordinator[0]", 1), accepted(), accepted(2), attempt(1, parallelism=2),
    faults=(WIDER, NARROWER),
)  # fmt: skip
near(
    "not-required", "an order comes twice",
    accepted(), events.RescaleRequested(parallelism=3), attempt(1, parallelism=3),
)  # fmt: skip
bad(
    "not-required", "nobody accepts what is deployed",
    injected("kill", "worker[0]", 1), refused(), attempt(1, parallelism=3), faults=(WIDER, KILL),
)  # fmt: skip
near("not-required", "what was required is deployed", accepted(), attempt(1, parallelism=3))

bad("not-taken", "the next attempt is as wide as the last", accepted(), attempt(1, parallelism=2))
bad(
    "not-taken", "a later coordinator has forgotten it",
    accepted(), attempt(1, parallelism=3), died(), attempt(1, parallelism=2),
)  # fmt: skip
near(
    "not-taken", "a later coordinator finds what was not accepted yet",
    events.RescaleRequested(parallelism=3), died(), attempt(1, parallelism=3),
)  # fmt: skip
near(
    "not-taken", "a later coordinator finds nothing that was accepted",
    events.RescaleRequested(parallelism=3), died(), attempt(1, parallelism=2),
)  # fmt: skip

bad("above-max", "more subtasks than key groups", accepted(129), faults=(BEYOND,))
near("above-max", "more subtasks than key groups are refused", refused(129), faults=(BEYOND,))

bad("refused-possible", "three of 128 are refused", refused())
near("refused-possible", "the job accepts what it can", accepted(), attempt(1, parallelism=3))
near(
    "refused-possible", "one is refused that is none and another accepted",
    refused(129), injected("rescale", "coordinator[0]", 1), accepted(), attempt(1, parallelism=3),
    faults=(BEYOND, WIDER),
)  # fmt: skip

bad(
    "counted-as-failure", "a failure is counted and nothing failed",
    accepted(), failure("it is rescaled"), attempt(1, parallelism=3),
)  # fmt: skip
near("counted-as-failure", "a failure is counted before", failure("sum[0]"), accepted(), attempt(1, parallelism=3))

bad("goes-on-as-before", "checkpoints go on at two", accepted(), SKEW_MS, complete(2, 3))
near(
    "goes-on-as-before", "one checkpoint more completes at two",
    accepted(), SKEW_MS, complete(2), attempt(1, parallelism=3), complete(3, 4),
)  # fmt: skip
near(
    "goes-on-as-before", "the worker that is missing comes late",
    accepted(), complete(2, 3), at("worker-2.0", events.NodeStarted()), attempt(1, parallelism=3), complete(4, 5),
)  # fmt: skip

near(
    "refused-possible", "what an operator holds back is not moved",
    refused(), injected("rescale", "coordinator[0]", 1), accepted(2), attempt(1, parallelism=2),
    faults=(WIDER, NARROWER), job=MINI_BATCH,
)  # fmt: skip
