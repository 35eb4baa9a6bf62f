"""Histories for RESTORE, LOUD and RESCALE: a third job, and a job that is to go on at three subtasks."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.harness.model import events
from holdfast.harness.model.jobs import MINI_BATCH
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import COORDINATOR, Role, Target
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, injected
from holdfast.suites.selfcheck.oracles.legal import summary
from holdfast.suites.selfcheck.oracles.lines import (
    attempt,
    completed,
    content,
    died,
    failure,
    in_flight,
    published,
    put_back,
    snapshot,
    submitted,
    task,
    triggered,
)

# --- RESTORE and LOUD: the first job leaves checkpoint 1, the second starts empty and draws that id again, ------------


NONE: list[tuple[int, int]] = []
FIRST, SECOND = [(0, 0), (0, 2)], [(1, 0)]
TO_1, TO_3 = (FaultSpec("submit", Target(Role.COORDINATOR), parameters={"parallelism": width}) for width in (1, 3))
PATH = "job-0/chk-1/_metadata"
COMPLETED_TOO: list[Line] = [published(1, path="job-1/chk-1/_metadata"), completed()]
IN_FLIGHT = (content("source[0]->sum[0]", 5, 6),)


def _sum(held: Sequence[tuple[int, int]], subtask: str = "sum[0]", offset: int = 4) -> list[Line]:
    """What the only sum that anything was ever added to holds at checkpoint 1, and its source."""
    return [snapshot(subtask, state=summary(held)), snapshot("source[0]", 1, (0, offset))]


def third(*lines: Line, first: Sequence[Line], second: Sequence[Line], path: str = PATH, states: int = 0) -> list[Line]:
    """The third job starts so, after what the first two have recorded of their checkpoints 1."""
    return [
        submitted(),
        attempt(),
        *first,
        published(1, states=states, path=PATH),
        completed(),
        submitted(job=1),
        attempt(number=1_001),
        *second,
        submitted(path, 1, job=2),
        attempt(1, number=2_001),
        *lines,
    ]


bad, near = exhibits(
    "RESTORE",
)

bad(
    "state-differs", "starts as one that never completed",
    third(
        task("sum[0]", 1, state=summary(SECOND)), task("source[0]", 1, positions=((0, 4),)), first=_sum(FIRST),
        second=(*_sum(SECOND, offset=2),), path=PATH,
    ),
)  # fmt: skip
near(
    "state-differs", "starts as the one that completed",
    third(
        task("sum[0]", 1, state=summary(FIRST)), task("source[0]", 1, positions=((0, 4),)), first=_sum(FIRST),
        second=(*_sum(SECOND, offset=2),), path=PATH,
    ),
)  # fmt: skip

bad(
    "position-differs", "reads on from a completed one that it was not given",
    third(
        task("sum[0]", 1, state=summary(FIRST)), task("source[0]", 1, positions=((0, 2),)), first=_sum(FIRST),
        second=(*_sum(SECOND, offset=2), *COMPLETED_TOO), path=PATH,
    ),
)  # fmt: skip
near(
    "position-differs", "reads on from the one that it was given",
    third(
        task("sum[0]", 1, state=summary(FIRST)), task("source[0]", 1, positions=((0, 4),)), first=_sum(FIRST),
        second=(*_sum(SECOND, offset=2), *COMPLETED_TOO), path=PATH,
    ),
)  # fmt: skip

near(
    "state-differs", "was given that of the second job",
    third(
        task("sum[0]", 1, state=summary(SECOND)), task("source[0]", 1, positions=((0, 2),)), first=_sum(FIRST),
        second=(*_sum(SECOND, offset=2), *COMPLETED_TOO), path="job-1/chk-1/_metadata",
    ),
)  # fmt: skip

bad_loud, near_loud = exhibits(
    "LOUD",
)

bad_loud(
    "partial-metadata", "the second job completed one and the first half of one",
    third(
        first=[triggered(1, "source[0]", "sum[0]")],
        second=(triggered(1, "sum[0]"), published(1, states=1, path="job-1/chk-1/_metadata"), completed()), states=1,
    ),
)  # fmt: skip
near_loud(
    "partial-metadata", "the first job completed one and the second half of one",
    third(
        first=[triggered(1, "source[0]", "sum[0]")],
        second=(triggered(1, "source[0]", "sum[0]"), published(1, states=1, path="job-1/chk-1/_metadata")), states=2,
    ),
)  # fmt: skip

bad(
    "channel-state-differs", "puts back what was in flight in the second job",
    third(
        task("sum[0]", 1), put_back("sum[0]", content("source[0]->sum[0]", 5)), first=[in_flight("sum[0]", *IN_FLIGHT)],
        second=[in_flight("sum[0]", content("source[0]->sum[0]", 5))],
    ),
)  # fmt: skip
near(
    "channel-state-differs", "puts back what was in flight in the first job",
    third(
        task("sum[0]", 1), put_back("sum[0]", *IN_FLIGHT), first=[in_flight("sum[0]", *IN_FLIGHT)],
        second=[in_flight("sum[0]", content("source[0]->sum[0]", 5))],
    ),
)  # fmt: skip

bad(
    "rescaled-state-differs", "is wider and starts as one that never completed",
    third(
        *[task(f"{name}[{i}]", 1) for name in ("source", "sink") for i in range(3)],
        *[task(f"sum[{index}]", 1, state=summary(each)) for index, each in enumerate((SECOND, NONE, NONE))],
        first=[
            *[snapshot(f"{name}[{i}]") for name in ("source", "sink") for i in (0, 1)],
            snapshot("sum[0]", state=summary(FIRST)), snapshot("sum[1]", state=summary(NONE)),
        ],
        second=[snapshot("sum[0]", state=summary(SECOND))],
    ),
    faults=(TO_1, TO_3),
)  # fmt: skip
near(
    "rescaled-state-differs", "is wider and starts as the one that completed",
    third(
        *[task(f"{name}[{i}]", 1) for name in ("source", "sink") for i in range(3)],
        *[task(f"sum[{index}]", 1, state=summary(each)) for index, each in enumerate((NONE, FIRST, NONE))],
        first=[
            *[snapshot(f"{name}[{i}]") for name in ("source", "sink") for i in (0, 1)],
            snapshot("sum[0]", state=summary(FIRST)), snapshot("sum[1]", state=summary(NONE)),
        ],
        second=[snapshot("sum[0]", state=summary(SECOND))],
    ),
    faults=(TO_1, TO_3),
)  # fmt: skip

bad_loud(
    "started-empty", "starts empty where the second job held nothing",
    third(task("sum[0]", 1, state=summary(NONE)), first=_sum(FIRST), second=_sum([])),
)  # fmt: skip
near_loud(
    "started-empty", "starts empty where only the second job held anything",
    third(
        task("sum[0]", 1, state=summary(NONE)), task("sum[1]", 1, state=summary(FIRST)),
        first=[*_sum([]), *_sum(FIRST, "sum[1]")], second=_sum(SECOND),
    ),
)  # fmt: skip

# --- RESCALE: a job of two subtasks for each vertex is to go on at three ----------------------------------------------

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
