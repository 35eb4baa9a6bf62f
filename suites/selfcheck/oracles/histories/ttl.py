"""Histories for TTL: state of key a, which lives for 60 ms of processing time behind its last write."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.harness.model.events import JobSubmitted, KeysLookedUp
from holdfast.harness.model.history import History
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import DEBOUNCE, THROTTLE
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits, in_real_time, input_log, story
from holdfast.suites.selfcheck.oracles.histories.rescaled_restore import WIDER
from holdfast.suites.selfcheck.oracles.histories.time import cut, started
from holdfast.suites.selfcheck.oracles.output_builder import identities, units

bad, near = exhibits("TTL")
bad_rows, near_rows = exhibits("EXACT")


class Look(NamedTuple):
    """Key a is looked up.

    Attributes:
        at_ms: when.
        found: whether there is state.
        says_ms: the time that the subtask tells; None: that.
        subtask: which.
        offset: of the record for which it is looked up.
    """

    at_ms: int
    found: bool
    says_ms: int | None = None
    subtask: str = "sum[0]"
    offset: int = 0


def expiring(*steps: Line | Look, job: Job = THROTTLE, rescaled: bool = False, rows: tuple[str, ...] = ()) -> History:
    """These steps, each lookup at its time. Every event takes a millisecond."""
    lines: list[Line] = []
    now_ms = 0.0
    for step in steps:
        if isinstance(step, Look):
            says_ms = step.at_ms if step.says_ms is None else step.says_ms
            lines.append(step.at_ms - 1 - now_ms)
            lines.append(KeysLookedUp(subtask=step.subtask, now_ms=says_ms, found=(("a", 0, step.offset, step.found),)))
            now_ms = step.at_ms
        else:
            lines.append(step)
            now_ms += len(step) if isinstance(step, list) else 1
    shown = units(identities(*rows)) if rows else ()
    return story(*lines, job=job, faults=(WIDER,) if rescaled else (), inputs=input_log(3), units=shown)


@near("expired-returned")
def it_has_just_expired() -> History:
    return expiring(started(), Look(10, False), Look(70, False))


@bad("expired-returned")
def it_is_found_when_it_expires() -> History:
    return expiring(started(), Look(10, False), Look(70, True))


@near("forgotten-early")
def it_lives_for_a_last_millisecond() -> History:
    return expiring(started(), Look(10, False), Look(69, True))


@bad("forgotten-early")
def it_is_gone_a_millisecond_early() -> History:
    return expiring(started(), Look(10, False), Look(69, False))


@bad("expired-returned")
def it_was_never_written() -> History:
    return expiring(started(), Look(10, True))


@bad("expired-returned")
def a_read_begins_its_time_anew() -> History:
    return expiring(started(), Look(10, False), Look(50, True), Look(80, True))


@near("forgotten-early")
def a_read_begins_its_time_anew_where_it_is_to() -> History:
    return expiring(started(), Look(10, False), Look(50, True), Look(80, True), job=DEBOUNCE)


@bad("forgotten-early")
def a_read_does_not_begin_its_time_anew() -> History:
    return expiring(started(), Look(10, False), Look(50, True), Look(80, False), job=DEBOUNCE)


@bad("expired-returned")
def a_restore_begins_its_time_anew() -> History:
    return expiring(started(), Look(10, False), cut(), started(1), Look(75, True))


@near("expired-returned")
def a_restore_keeps_its_expiry() -> History:
    return expiring(started(), Look(10, False), cut(), started(1), Look(69, True), Look(70, False))


@bad("forgotten-early")
def a_restore_forgets_what_lives() -> History:
    return expiring(started(), Look(10, False), cut(), started(1), Look(30, False))


@near("expired-returned")
def what_was_written_behind_the_cut_is_gone() -> History:
    return expiring(started(), cut(), Look(10, False), started(1), Look(30, False))


@bad("forgotten-early")
def whoever_owns_it_now_does_not_find_it() -> History:
    goes_on = JobSubmitted(attempt=1_000, path="chk-1", checkpoint=1)
    lines = (JobSubmitted(), started(), Look(10, False), cut(), goes_on, started(1, 3, attempt=1_001))
    return expiring(*lines, Look(30, False, subtask="sum[2]"), rescaled=True)


@bad("clock-wrong")
def it_reads_another_clock() -> History:
    return expiring(started(), Look(10, False, says_ms=3_600_010))


@bad("clock-wrong")
def its_clock_goes_back() -> History:
    return in_real_time(expiring(started(), Look(10, False), Look(20, True, says_ms=9)))


@near("clock-wrong")
def a_clock_stands_still() -> History:
    return expiring(started(), Look(10, False), Look(11, True, says_ms=10))


@near("clock-wrong")
def another_clock_in_real_time() -> History:
    return in_real_time(expiring(started(), Look(10, False, says_ms=4), Look(90, False, says_ms=64)))


# --- the rows of what was handed on ----------------------------------------------------------------------------------


def shown(*rows: str) -> History:
    """Of offsets 0 and 2, which have key a, the latter is dropped by the first attempt, and handed on by the second."""
    first = started(), Look(10, False), cut(), Look(30, True, offset=2)
    return expiring(*first, started(1), Look(90, False, offset=2), rows=rows)


@near_rows("row-unknown")
def what_the_last_attempt_has_handed_on() -> History:
    return shown("0:0", "0:1", "0:2")


@bad_rows("input-missing")
def a_row_is_lost_that_was_handed_on() -> History:
    return shown("0:0", "0:1")


@bad_rows("row-unknown")
def a_row_of_a_record_that_was_dropped() -> History:
    return expiring(started(), Look(10, False), Look(30, True, offset=2), rows=("0:0", "0:1", "0:2"))


@near_rows("input-missing")
def a_record_that_was_dropped_has_no_row() -> History:
    return expiring(started(), Look(10, False), Look(30, True, offset=2), rows=("0:0", "0:1"))
