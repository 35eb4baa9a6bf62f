"""Histories for RESTORE, LOUD and RESCALE: a third job, and a job that is to go on at three subtasks."""

from __future__ import annotations

from holdfast.harness.model.events import (
    ChannelStateRestored, NodeStarted, RescaleAccepted, RescaleRefused, RescaleRequested,
)  # fmt: skip
from holdfast.harness.model.jobs import MINI_BATCH
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import COORDINATOR, Role, Target
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, injected
from holdfast.suites.selfcheck.oracles.legal import summary
from holdfast.suites.selfcheck.oracles.lines import (
    attempt, completed, content, died, failure, in_flight, published, snapshot, submitted, task, triggered,
)  # fmt: skip

# --- RESTORE and LOUD: the first job leaves checkpoint 1, the second starts empty and draws that id again, ------------


NONE: list[tuple[int, int]] = []
FIRST, SECOND = [(0, 0), (0, 2)], [(1, 0)]
TO_1, TO_3 = (FaultSpec("submit", Target(Role.COORDINATOR), parameters={"parallelism": width}) for width in (1, 3))
PATH = "job-0/chk-1/_metadata"
COMPLETED_TOO: list[Line] = [published(1, path="job-1/chk-1/_metadata"), completed()]
IN_FLIGHT = (content("source[0]->sum[0]", 5, 6),)

bad, near = exhibits("RESTORE")

FIRST_JOB: list[Line] = [
    submitted(), attempt(), snapshot("sum[0]", state=summary(FIRST)), snapshot("source[0]", 1, (0, 4)),
    published(1, path=PATH), completed(),
]  # fmt: skip
SECOND_BEGINS: list[Line] = [submitted(job=1), attempt(number=1_001)]
THIRD_BEGINS: list[Line] = [submitted(PATH, 1, job=2), attempt(1, number=2_001)]
SECOND_JOB: list[Line] = [*SECOND_BEGINS, snapshot("sum[0]", state=summary(SECOND)), snapshot("source[0]", 1, (0, 2))]

bad("state-differs", "starts as one that never completed",
    *FIRST_JOB, *SECOND_JOB, *THIRD_BEGINS, task("sum[0]", 1, state=summary(SECOND)),
    task("source[0]", 1, positions=((0, 4),)))  # fmt: skip
near("state-differs", "starts as the one that completed",
     *FIRST_JOB, *SECOND_JOB, *THIRD_BEGINS, task("sum[0]", 1, state=summary(FIRST)),
     task("source[0]", 1, positions=((0, 4),)))  # fmt: skip

bad("position-differs", "reads on from a completed one that it was not given",
    *FIRST_JOB, *SECOND_JOB, *COMPLETED_TOO, *THIRD_BEGINS, task("sum[0]", 1, state=summary(FIRST)),
    task("source[0]", 1, positions=((0, 2),)))  # fmt: skip
near("position-differs", "reads on from the one that it was given",
     *FIRST_JOB, *SECOND_JOB, *COMPLETED_TOO, *THIRD_BEGINS, task("sum[0]", 1, state=summary(FIRST)),
     task("source[0]", 1, positions=((0, 4),)))  # fmt: skip

near("state-differs", "was given that of the second job",
     *FIRST_JOB, *SECOND_JOB, *COMPLETED_TOO, submitted("job-1/chk-1/_metadata", 1, job=2), attempt(1, number=2_001),
     task("sum[0]", 1, state=summary(SECOND)), task("source[0]", 1, positions=((0, 2),)))  # fmt: skip

bad_loud, near_loud = exhibits("LOUD")

# Of two states one is in the metadata that the first job published, or both are.
bad_loud("partial-metadata", "the second job completed one and the first half of one",
         submitted(), attempt(), triggered(1, "source[0]", "sum[0]"), published(1, states=1, path=PATH), completed(),
         *SECOND_BEGINS, triggered(1, "sum[0]"), published(1, states=1, path="job-1/chk-1/_metadata"), completed(),
         *THIRD_BEGINS)  # fmt: skip
near_loud("partial-metadata", "the first job completed one and the second half of one",
          submitted(), attempt(), triggered(1, "source[0]", "sum[0]"), published(1, states=2, path=PATH), completed(),
          *SECOND_BEGINS, triggered(1, "source[0]", "sum[0]"), published(1, states=1, path="job-1/chk-1/_metadata"),
          *THIRD_BEGINS)  # fmt: skip

# Two batches were in flight at the checkpoint of the first job, and one at that of the second.
bad("channel-state-differs", "puts back what was in flight in the second job",
    submitted(), attempt(), in_flight("sum[0]", *IN_FLIGHT), published(1, path=PATH), completed(), *SECOND_BEGINS,
    in_flight("sum[0]", content("source[0]->sum[0]", 5)), *THIRD_BEGINS, task("sum[0]", 1),
    ChannelStateRestored(subtask="sum[0]", checkpoint=1, channels=(content("source[0]->sum[0]", 5),)))  # fmt: skip
near("channel-state-differs", "puts back what was in flight in the first job",
     submitted(), attempt(), in_flight("sum[0]", *IN_FLIGHT), published(1, path=PATH), completed(), *SECOND_BEGINS,
     in_flight("sum[0]", content("source[0]->sum[0]", 5)), *THIRD_BEGINS, task("sum[0]", 1),
     ChannelStateRestored(subtask="sum[0]", checkpoint=1, channels=IN_FLIGHT))  # fmt: skip

OTHERS_START: list[Line] = [
    task("source[0]", 1), task("source[1]", 1), task("source[2]", 1), task("sink[0]", 1), task("sink[1]", 1),
    task("sink[2]", 1),
]  # fmt: skip

OTHERS: list[Line] = [snapshot("source[0]"), snapshot("source[1]"), snapshot("sink[0]"), snapshot("sink[1]")]

# The first job is of two subtasks for each vertex, the second of one, the third of three; its sums hold this.
bad("rescaled-state-differs", "is wider and starts as one that never completed",
    submitted(), attempt(), *OTHERS, snapshot("sum[0]", state=summary(FIRST)), snapshot("sum[1]", state=summary(NONE)),
    published(1, path=PATH), completed(), *SECOND_BEGINS, snapshot("sum[0]", state=summary(SECOND)), *THIRD_BEGINS,
    *OTHERS_START, task("sum[0]", 1, state=summary(SECOND)), task("sum[1]", 1, state=summary(NONE)),
    task("sum[2]", 1, state=summary(NONE)), faults=(TO_1, TO_3))  # fmt: skip
near("rescaled-state-differs", "is wider and starts as the one that completed",
     submitted(), attempt(), *OTHERS, snapshot("sum[0]", state=summary(FIRST)), snapshot("sum[1]", state=summary(NONE)),
     published(1, path=PATH), completed(), *SECOND_BEGINS, snapshot("sum[0]", state=summary(SECOND)), *THIRD_BEGINS,
     *OTHERS_START, task("sum[0]", 1, state=summary(NONE)), task("sum[1]", 1, state=summary(FIRST)),
     task("sum[2]", 1, state=summary(NONE)), faults=(TO_1, TO_3))  # fmt: skip

# The third job starts after what the first two have recorded of their checkpoints 1.
bad_loud("started-empty", "starts empty where the second job held nothing",
         *FIRST_JOB, *SECOND_BEGINS, snapshot("sum[0]", state=summary([])), snapshot("source[0]", 1, (0, 4)),
         *THIRD_BEGINS, task("sum[0]", 1, state=summary(NONE)))  # fmt: skip
near_loud("started-empty", "starts empty where only the second job held anything",
          submitted(), attempt(), snapshot("sum[0]", state=summary([])), snapshot("source[0]", 1, (0, 4)),
          snapshot("sum[1]", state=summary(FIRST)), snapshot("source[0]", 1, (0, 4)), published(1, path=PATH),
          completed(), *SECOND_BEGINS, snapshot("sum[0]", state=summary(SECOND)), snapshot("source[0]", 1, (0, 4)),
          *THIRD_BEGINS, task("sum[0]", 1, state=summary(NONE)), task("sum[1]", 1, state=summary(FIRST)))  # fmt: skip

# --- RESCALE: a job of two subtasks for each vertex is to go on at three ----------------------------------------------

WIDER = FaultSpec("rescale", COORDINATOR, parameters={"parallelism": 3})
NARROWER = FaultSpec("rescale", COORDINATOR, parameters={"parallelism": 2})
BEYOND = FaultSpec("rescale", COORDINATOR, parameters={"parallelism": 129})
KILL = FaultSpec("kill")
SKEW_MS = 101
"""From here on nobody's clock shows the time of the fault."""

ACCEPTED: dict[int, list[Line]] = {
    n: [RescaleRequested(parallelism=n), RescaleAccepted(parallelism=n)] for n in (2, 3, 129)
}

bad, near = exhibits(
    "RESCALE", submitted(), attempt(parallelism=2), injected("rescale", "coordinator[0]"), faults=(WIDER,)
)

bad("not-required", "four are accepted where three were required",
    RescaleRequested(parallelism=3), RescaleAccepted(parallelism=4), attempt(1, parallelism=4))  # fmt: skip
bad("not-required", "the second order is taken for the first",
    ACCEPTED[3], attempt(1, parallelism=3), injected("rescale", "coordinator[0]", 1), ACCEPTED[3],
    faults=(WIDER, NARROWER))  # fmt: skip
near("not-required", "two orders come at once",
     injected("rescale", "coordinator[0]", 1), ACCEPTED[3], ACCEPTED[2], attempt(1, parallelism=2),
     faults=(WIDER, NARROWER))  # fmt: skip
near("not-required", "an order comes twice", ACCEPTED[3], RescaleRequested(parallelism=3), attempt(1, parallelism=3))
bad("not-required", "nobody accepts what is deployed",
    injected("kill", "worker[0]", 1), RescaleRequested(parallelism=3),
    RescaleRefused(parallelism=3, reason="so it is."), attempt(1, parallelism=3), faults=(WIDER, KILL))  # fmt: skip
near("not-required", "what was required is deployed", ACCEPTED[3], attempt(1, parallelism=3))

bad("not-taken", "the next attempt is as wide as the last", ACCEPTED[3], attempt(1, parallelism=2))
bad("not-taken", "a later coordinator has forgotten it",
    ACCEPTED[3], attempt(1, parallelism=3), died(), attempt(1, parallelism=2))  # fmt: skip
near("not-taken", "a later coordinator finds what was not accepted yet",
     RescaleRequested(parallelism=3), died(), attempt(1, parallelism=3))  # fmt: skip
near("not-taken", "a later coordinator finds nothing that was accepted",
     RescaleRequested(parallelism=3), died(), attempt(1, parallelism=2))  # fmt: skip

bad("above-max", "more subtasks than key groups", ACCEPTED[129], faults=(BEYOND,))
near("above-max", "more subtasks than key groups are refused",
     RescaleRequested(parallelism=129), RescaleRefused(parallelism=129, reason="so it is."),
     faults=(BEYOND,))  # fmt: skip

bad("refused-possible", "three of 128 are refused",
    RescaleRequested(parallelism=3), RescaleRefused(parallelism=3, reason="so it is."))  # fmt: skip
near("refused-possible", "the job accepts what it can", ACCEPTED[3], attempt(1, parallelism=3))
near("refused-possible", "one is refused that is none and another accepted",
     RescaleRequested(parallelism=129), RescaleRefused(parallelism=129, reason="so it is."),
     injected("rescale", "coordinator[0]", 1), ACCEPTED[3], attempt(1, parallelism=3),
     faults=(BEYOND, WIDER))  # fmt: skip

bad("counted-as-failure", "a failure is counted and nothing failed",
    ACCEPTED[3], failure("it is rescaled"), attempt(1, parallelism=3))  # fmt: skip
near("counted-as-failure", "a failure is counted before", failure("sum[0]"), ACCEPTED[3], attempt(1, parallelism=3))

bad("goes-on-as-before", "checkpoints go on at two",
    ACCEPTED[3], SKEW_MS, triggered(2), completed(2), triggered(3), completed(3))  # fmt: skip
near("goes-on-as-before", "one checkpoint more completes at two",
     ACCEPTED[3], SKEW_MS, triggered(2), completed(2), attempt(1, parallelism=3), triggered(3), completed(3),
     triggered(4), completed(4))  # fmt: skip
near("goes-on-as-before", "the worker that is missing comes late",
     ACCEPTED[3], triggered(2), completed(2), triggered(3), completed(3), at("worker-2.0", NodeStarted()),
     attempt(1, parallelism=3), triggered(4), completed(4), triggered(5), completed(5))  # fmt: skip

near("refused-possible", "what an operator holds back is not moved",
     RescaleRequested(parallelism=3), RescaleRefused(parallelism=3, reason="so it is."),
     injected("rescale", "coordinator[0]", 1), ACCEPTED[2], attempt(1, parallelism=2), faults=(WIDER, NARROWER),
     job=MINI_BATCH)  # fmt: skip
