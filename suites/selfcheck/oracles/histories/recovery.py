"""Histories for COORD: what an attempt begins from."""

from __future__ import annotations

from holdfast.harness.model.events import AttemptStarted, NodeDied, TaskStarted
from holdfast.harness.model.history import History
from holdfast.suites.selfcheck.oracles.builder import at, exhibits
from holdfast.suites.selfcheck.oracles.histories.coordinator_lines import (
    ALL,
    aborted,
    acked,
    failed_over,
    published,
    story,
    triggered,
    whole,
)

bad, near = exhibits("COORD")


@bad("restored-not-latest")
def restores_older() -> History:
    return story(whole(1), whole(2), failed_over(), AttemptStarted(restored_checkpoint=1))


@bad("restored-not-latest")
def restores_nothing() -> History:
    return story(whole(1), failed_over(), AttemptStarted())


@bad("restored-not-latest")
def restores_what_never_was() -> History:
    return story(whole(1), failed_over(), AttemptStarted(restored_checkpoint=2))


@bad("restored-not-latest")
def goes_back_behind_a_restored_one() -> History:
    return story(
        whole(1), triggered(2), acked(2, *ALL), published(2), NodeDied(dead_node="coordinator", cause="killed"),
        AttemptStarted(restored_checkpoint=2), failed_over(), AttemptStarted(restored_checkpoint=1),
    )  # fmt: skip


@near("restored-not-latest")
def restores_latest() -> History:
    return story(
        whole(1), triggered(2), aborted(2, "task failure"), failed_over(), AttemptStarted(restored_checkpoint=1)
    )


@near("restored-not-latest")
def restores_published_but_not_completed() -> History:
    return story(
        whole(1), triggered(2), acked(2, *ALL), published(2), NodeDied(dead_node="coordinator", cause="killed"),
        AttemptStarted(restored_checkpoint=2),
    )  # fmt: skip


def _restart(*restored: int | None) -> History:
    """The attempt restores checkpoint 1, its tasks what is given."""
    tasks = [TaskStarted(subtask=name, restored_checkpoint=each) for name, each in zip(ALL, restored, strict=True)]
    return story(whole(1), failed_over(), AttemptStarted(restored_checkpoint=1), tasks)


@bad("tasks-restored-differently")
def task_restores_nothing() -> History:
    return _restart(1, None, 1)


@near("tasks-restored-differently")
def tasks_restore_the_same() -> History:
    return _restart(1, 1, 1)


@bad("started-late-attempt")
def attempt_number_drawn_again() -> History:
    return story(failed_over(), at("", AttemptStarted(), attempt=1))


@near("started-late-attempt")
def attempt_number_left_out() -> History:
    return story(failed_over(), at("", AttemptStarted(), attempt=3))
