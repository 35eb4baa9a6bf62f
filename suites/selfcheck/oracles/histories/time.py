"""Histories for TIME: timers of a delayed sum that are set, restored and taken."""

from __future__ import annotations

from holdfast.harness.model.capability import AT_LEAST_ONCE, EXACTLY_ONCE, Guarantee
from holdfast.harness.model.events import (
    AttemptStarted,
    CheckpointCompleted,
    Event,
    JobSubmitted,
    RecordsDropped,
    SnapshotTaken,
    SourceEmitted,
    TaskStarted,
    TimersFired,
    TimersSet,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import DELAYED_SUM, SLIDING_SUM, TUMBLING_SUM
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits, in_real_time, story
from holdfast.suites.selfcheck.oracles.histories.rescaled_restore import WIDER

bad, near = exhibits("TIME")

A, B, LATER = ("a", 20), ("b", 25), ("a", 60)


def started(checkpoint: int | None = None, width: int = 2, attempt: int = 0) -> list[Event]:
    """An attempt begins; 0: the next one."""
    tasks = [TaskStarted(subtask=f"sum[{index}]", restored_checkpoint=checkpoint) for index in range(width)]
    return [AttemptStarted(restored_checkpoint=checkpoint, attempt=attempt), *tasks]


def sets(*timers: tuple[str, int], subtask: str = "sum[0]") -> TimersSet:
    return TimersSet(subtask=subtask, timers=timers)


def takes(time_ms: int, *timers: tuple[str, int], subtask: str = "sum[0]", final: bool = False) -> TimersFired:
    return TimersFired(subtask=subtask, time_ms=time_ms, timers=timers, final=final)


def cut(checkpoint: int = 1) -> list[Event]:
    """Both subtasks take a snapshot, which completes."""
    taken = [SnapshotTaken(subtask=f"sum[{index}]", checkpoint=checkpoint) for index in range(2)]
    return [*taken, CheckpointCompleted(checkpoint=checkpoint)]


def delayed(*lines: Line) -> History:
    return story(*lines, job=DELAYED_SUM)


def rescaled(*lines: Line) -> History:
    """The same job goes on at parallelism 3 with what a waited for at the first checkpoint."""
    goes_on = JobSubmitted(attempt=1_000, path="chk-1", checkpoint=1)
    lines = (JobSubmitted(), started(), sets(A), cut(), goes_on, started(1, 3, attempt=1_001), *lines)
    return story(*lines, job=DELAYED_SUM, faults=(WIDER,))


@bad("timer-lost")
def a_restored_timer_is_passed_over() -> History:
    return delayed(started(), sets(A), cut(), started(1), sets(LATER), takes(60, LATER))


@bad("timer-lost")
def nothing_takes_it_until_the_run_ends() -> History:
    return delayed(started(), sets(A, B), takes(22, A))


@bad("timer-lost")
def whoever_owns_it_now_does_not_take_it() -> History:
    return rescaled(sets(B, subtask="sum[2]"), takes(25, B, subtask="sum[2]"))


@near("timer-lost")
def a_timer_set_behind_the_restored_cut_is_gone() -> History:
    return delayed(started(), sets(A), cut(), sets(B), started(1), takes(20, A))


@near("timer-lost")
def a_timer_is_not_due_yet() -> History:
    return delayed(started(), sets(A, ("b", 2_000)), takes(20, A))


@near("timer-lost")
def the_machine_may_have_been_busy() -> History:
    return in_real_time(nothing_takes_it_until_the_run_ends())


@bad("timer-repeated")
def it_is_taken_and_left_where_it_is() -> History:
    return delayed(started(), sets(A), takes(20, A), takes(21, A))


@bad("timer-repeated")
def a_restored_timer_is_taken_twice() -> History:
    return delayed(started(), sets(A), cut(), started(1), takes(20, A), takes(20, A))


@bad("timer-repeated")
def it_is_set_again_once_and_taken_twice() -> History:
    return delayed(started(), sets(A), takes(20, A), sets(A), takes(20, A), takes(21, A))


@near("timer-repeated")
def it_is_set_again_for_the_same_time() -> History:
    return delayed(started(), sets(A), takes(20, A), sets(A), takes(20, A))


@bad("timer-lost")
def it_is_set_again_and_never_taken() -> History:
    return delayed(started(), sets(A, LATER), takes(20, A), sets(A), takes(60, LATER))


@near("timer-repeated")
def it_was_taken_behind_the_restored_cut() -> History:
    return delayed(started(), sets(A), cut(), takes(20, A), started(1), takes(20, A))


@near("timer-repeated")
def a_key_has_another_timer_later() -> History:
    return delayed(started(), sets(A), takes(20, A), sets(LATER), takes(60, LATER))


@bad("timer-unknown")
def it_was_set_behind_the_restored_cut() -> History:
    return delayed(started(), cut(), sets(A), started(1), takes(20, A))


@bad("timer-unknown")
def it_was_taken_before_the_restored_cut() -> History:
    return delayed(started(), sets(A), takes(20, A), cut(), started(1), takes(20, A))


@near("timer-unknown")
def another_subtask_owns_it_now() -> History:
    return rescaled(takes(20, A, subtask="sum[2]"))


@bad("timer-early")
def it_is_taken_a_little_before_its_time() -> History:
    return delayed(started(), sets(A), takes(19, A))


@near("timer-early")
def exactly_its_time_is_not_early() -> History:
    return delayed(started(), sets(A), takes(20, A))


@near("timer-early")
def nothing_is_waited_for_where_the_input_has_ended() -> History:
    return delayed(started(), sets(A), takes(5, A, final=True))


def dropped(offset: int, window: int, watermark_ms: int) -> History:
    """The second of two splits, each of ten records 10 ms apart, is in the window that begins at 40 ms with offset 4;
    windows do not overlap. It is told only when its first record comes."""
    late = RecordsDropped(subtask="sum[0]", records=((1, offset, window, watermark_ms),))
    return story(started(), late, job=TUMBLING_SUM)


@bad("dropped-early")
def a_silent_split_holds_nobody() -> History:
    return dropped(0, 0, 60)


@bad("dropped-early")
def its_own_split_is_still_in_the_window() -> History:
    return dropped(4, 1, 80)


def straggler(offset: int, window: int) -> History:
    """Each seventh record is 90 ms earlier than its place. A window takes records until the watermark has passed its
    end by 20 ms, and that stays 20 ms behind."""
    late = RecordsDropped(subtask="sum[0]", records=((1, offset, window, 500),))
    return story(started(), late, job=SLIDING_SUM)


@bad("dropped-early")
def it_comes_within_the_lateness_that_is_allowed() -> History:
    return straggler(6, -1)


@near("dropped-early")
def its_own_split_had_passed_the_window() -> History:
    return straggler(6, -2)


def read_again(read: int, claimed: frozenset[Guarantee]) -> History:
    """An attempt read so many records of the second split. The next one drops its fourth, whose window ends at 40 ms,
    with a watermark beyond that."""
    emitted = SourceEmitted(subtask="source[0]", partition=1, first_offset=0, next_offset=read)
    late = RecordsDropped(subtask="sum[0]", records=((1, 3, 0, 50),))
    return story(started(), emitted, cut(), started(1), late, job=TUMBLING_SUM, claimed=claimed)


@bad("dropped-early")
def it_was_not_read_beyond_the_window_before() -> History:
    return read_again(4, AT_LEAST_ONCE)


@bad("dropped-early")
def nothing_is_restored_that_lies_ahead_where_nothing_may_be_repeated() -> History:
    return read_again(9, EXACTLY_ONCE)


@near("dropped-early")
def the_restored_watermark_lies_ahead_of_what_is_read_again() -> History:
    return read_again(9, AT_LEAST_ONCE)
