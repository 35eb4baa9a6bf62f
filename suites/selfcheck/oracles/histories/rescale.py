"""Histories for RESCALE: a job of two subtasks for each vertex is to go on at three."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import MINI_BATCH
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.selfcheck.oracles.builder import Line, at, exhibits, injected, story

bad, near = exhibits("RESCALE")

WIDER = FaultSpec("rescale", COORDINATOR, parameters={"parallelism": 3})
NARROWER = FaultSpec("rescale", COORDINATOR, parameters={"parallelism": 2})
BEYOND = FaultSpec("rescale", COORDINATOR, parameters={"parallelism": 129})
KILL = FaultSpec("kill")
SKEW_MS = 101
"""From here on nobody's clock shows the time of the fault."""


def told(*lines: Line, faults: tuple[FaultSpec, ...] = (WIDER,), **fields: object) -> History:
    """The job runs at two subtasks when the fault acts."""
    return story(
        events.JobSubmitted(),
        events.AttemptStarted(parallelism=2),
        injected("rescale", "coordinator[0]"),
        *lines,
        faults=faults,
        **fields,  # type: ignore[arg-type]
    )


def requested(parallelism: int = 3) -> events.RescaleRequested:
    return events.RescaleRequested(parallelism=parallelism)


def accepted(parallelism: int = 3) -> list[Line]:
    return [requested(parallelism), events.RescaleAccepted(parallelism=parallelism)]


def refused(parallelism: int = 3) -> list[Line]:
    return [requested(parallelism), events.RescaleRefused(parallelism=parallelism, reason="so it is.")]


def deployed(parallelism: int = 3) -> events.AttemptStarted:
    return events.AttemptStarted(parallelism=parallelism, restored_checkpoint=1)


def completed(*checkpoints: int) -> list[Line]:
    return [
        line
        for checkpoint in checkpoints
        for line in (
            events.CheckpointTriggered(checkpoint=checkpoint, participants=()),
            events.CheckpointCompleted(checkpoint=checkpoint),
        )
    ]


@bad("not-required")
def four_are_accepted_where_three_were_required() -> History:
    return told(requested(), events.RescaleAccepted(parallelism=4), deployed(4))


@bad("not-required")
def the_second_order_is_taken_for_the_first() -> History:
    return told(
        *accepted(), deployed(), injected("rescale", "coordinator[0]", 1), *accepted(), faults=(WIDER, NARROWER)
    )


@near("not-required")
def two_orders_come_at_once() -> History:
    return told(
        injected("rescale", "coordinator[0]", 1), *accepted(), *accepted(2), deployed(2), faults=(WIDER, NARROWER)
    )


@near("not-required")
def an_order_comes_twice() -> History:
    return told(*accepted(), requested(), deployed())


@bad("not-required")
def nobody_accepts_what_is_deployed() -> History:
    return told(injected("kill", "worker[0]", 1), *refused(), deployed(), faults=(WIDER, KILL))


@near("not-required")
def what_was_required_is_deployed() -> History:
    return told(*accepted(), deployed())


@bad("not-taken")
def the_next_attempt_is_as_wide_as_the_last() -> History:
    return told(*accepted(), deployed(2))


@bad("not-taken")
def a_later_coordinator_has_forgotten_it() -> History:
    return told(
        *accepted(),
        deployed(),
        events.NodeDied(dead_node="coordinator", cause="kill"),
        deployed(2),
    )


@near("not-taken")
def a_later_coordinator_finds_what_was_not_accepted_yet() -> History:
    return told(requested(), events.NodeDied(dead_node="coordinator", cause="kill"), deployed())


@near("not-taken")
def a_later_coordinator_finds_nothing_that_was_accepted() -> History:
    return told(requested(), events.NodeDied(dead_node="coordinator", cause="kill"), deployed(2))


@bad("above-max")
def more_subtasks_than_key_groups() -> History:
    return told(*accepted(129), faults=(BEYOND,))


@near("above-max")
def more_subtasks_than_key_groups_are_refused() -> History:
    return told(*refused(129), faults=(BEYOND,))


@bad("refused-possible")
def three_of_128_are_refused() -> History:
    return told(*refused())


@near("refused-possible")
def the_job_accepts_what_it_can() -> History:
    return told(*accepted(), deployed())


@near("refused-possible")
def one_is_refused_that_is_none_and_another_accepted() -> History:
    return told(
        *refused(129), injected("rescale", "coordinator[0]", 1), *accepted(), deployed(), faults=(BEYOND, WIDER)
    )


@bad("counted-as-failure")
def a_failure_is_counted_and_nothing_failed() -> History:
    return told(*accepted(), events.FailureCounted(cause="it is rescaled"), deployed())


@near("counted-as-failure")
def a_failure_is_counted_before() -> History:
    return told(events.FailureCounted(cause="sum[0]"), *accepted(), deployed())


@bad("goes-on-as-before")
def checkpoints_go_on_at_two() -> History:
    return told(*accepted(), SKEW_MS, *completed(2, 3))


@near("goes-on-as-before")
def one_checkpoint_more_completes_at_two() -> History:
    return told(*accepted(), SKEW_MS, *completed(2), deployed(), *completed(3, 4))


@near("goes-on-as-before")
def the_worker_that_is_missing_comes_late() -> History:
    return told(
        *accepted(),
        *completed(2, 3),
        at("worker-2.0", events.NodeStarted()),
        deployed(),
        *completed(4, 5),
    )


@near("refused-possible")
def what_an_operator_holds_back_is_not_moved() -> History:
    return told(
        *refused(),
        injected("rescale", "coordinator[0]", 1),
        *accepted(2),
        deployed(2),
        faults=(WIDER, NARROWER),
        job=MINI_BATCH,
    )
