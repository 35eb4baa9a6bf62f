"""Histories for STATE on windows, which hold two records of each of two partitions: checkpoint 1 stands at offset 8 of
partition 0 and at offset 6 of partition 1, and its watermark has passed window 0."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from holdfast.harness.model.capability import AT_LEAST_ONCE, EXACTLY_ONCE, Claims, Guarantee
from holdfast.harness.model.events import CheckpointAudited, CheckpointCompleted, StateSummary, SubtaskAudited
from holdfast.harness.model.history import History
from holdfast.harness.model.job import WATERMARK_DELAY_MS, WINDOW_MS
from holdfast.harness.model.jobs import WINDOW_SUM
from holdfast.harness.model.records import InputLog, Partition, WindowRow
from holdfast.suites.selfcheck.oracles.builder import exhibits, story
from holdfast.suites.selfcheck.oracles.legal import fold_row, summary

bad, near = exhibits("STATE")

Records = Sequence[tuple[int, int]]
POSITIONS = (8, 6)
STEP_MS = WINDOW_MS // 2
LATEST_MS = 7 * STEP_MS - WATERMARK_DELAY_MS
"""The watermark when all before the positions was read: in the middle of window 1."""
OPEN = [(partition, offset) for partition, end in enumerate(POSITIONS) for offset in range(2, end)]
"""The records of windows 1 to 3."""
A, B = ([each for each in OPEN if each[1] % 2 == remainder] for remainder in (0, 1))
"""Even offsets have key `a`, odd ones `b`."""


def _log() -> InputLog:
    """A record every half window; even offsets have key `a`, odd ones `b`, and the value of offset n is n + 1."""
    offsets = np.arange(10)
    return InputLog(("a", "b"), tuple(Partition(offsets % 2, offsets + 1, 10, event_step_ms=STEP_MS) for _ in "01"))


def holding(records: Records) -> StateSummary:
    """The state that holds these records, each in its own window."""
    windows: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for partition, offset in records:
        windows.setdefault(("ab"[offset % 2], offset // 2), []).append((partition, offset))
    rows = tuple(row(*window, held) for window, held in windows.items())
    return msgspec.structs.replace(summary(records), entries=None, windows=rows)


def row(key: str, window: int, records: Records) -> WindowRow:
    held = fold_row(key, records)
    return WindowRow(key, window, held.value, held.digest)


def read_back(
    *states: StateSummary, watermark_ms: int | None = LATEST_MS, claimed: frozenset[Guarantee] = EXACTLY_ONCE
) -> History:
    """One state by subtask."""
    completed = CheckpointCompleted(checkpoint=1, positions=POSITIONS, watermark_ms=watermark_ms)
    audited = [SubtaskAudited(checkpoint=1, subtask=f"sum[{index}]", state=state) for index, state in enumerate(states)]
    told = story(completed, CheckpointAudited(checkpoint=1), *audited, job=WINDOW_SUM, inputs=_log())
    # Nothing is claimed of output, because there is none.
    return History(told.plan, Claims(state=claimed), told.inputs, told.output, told.events, told.end)


def without(records: Records, *left_out: tuple[int, int]) -> Records:
    return [each for each in records if each not in left_out]


def hidden(state: StateSummary) -> StateSummary:
    """As it is told when there are too many windows to show."""
    return msgspec.structs.replace(state, windows=None)


@bad("state-missing")
def a_window_forgotten() -> History:
    return read_back(holding(without(A, (0, 4), (1, 4))), holding(B))


@bad("state-missing")
def a_record_of_a_window_dropped_as_if_it_were_late() -> History:
    return read_back(holding(without(A, (1, 2))), holding(B))


@bad("state-missing")
def windows_forgotten_among_too_many_to_show() -> History:
    return read_back(hidden(holding(A)), hidden(holding(B[:2])))


@near("state-missing")
def windows_that_are_over_are_not_there() -> History:
    return read_back(holding(A), holding(B))


@near("state-missing")
def a_subtask_without_windows() -> History:
    return read_back(holding(A + B), StateSummary(windows=()))


@near("state-missing")
def before_the_first_window_is_over_all_are_there() -> History:
    everything = [(partition, offset) for partition, end in enumerate(POSITIONS) for offset in range(end)]
    return read_back(holding(everything), StateSummary(windows=()), watermark_ms=0)


@bad("state-extra")
def a_record_of_a_window_twice() -> History:
    return read_back(holding([*A, A[0]]), holding(B))


@bad("state-extra")
def a_window_behind_the_positions() -> History:
    return read_back(holding([*A, (0, 8)]), holding(B))


@bad("state-extra")
def a_window_that_is_over_among_too_many_to_show() -> History:
    return read_back(hidden(holding([(0, 0), *A])), hidden(holding(B)))


@near("state-extra")
def as_many_windows_as_are_not_over() -> History:
    return read_back(holding(B), holding(A))


@near("state-extra")
def too_many_windows_to_show_decide_by_their_sum() -> History:
    return read_back(hidden(holding(A)), hidden(holding(B)))


@bad("key-wrong")
def records_of_two_windows_exchanged() -> History:
    held = {each.window: each for each in holding(A).windows or ()}
    exchanged = (msgspec.structs.replace(held[1], window=2), msgspec.structs.replace(held[2], window=1), held[3])
    return read_back(msgspec.structs.replace(holding(A), windows=exchanged), holding(B))


@bad("key-wrong")
def a_window_of_another_key() -> History:
    renamed = tuple(msgspec.structs.replace(each, key="b") for each in holding(A).windows or ())
    return read_back(msgspec.structs.replace(holding(A), windows=renamed), holding(B))


@near("key-wrong")
def a_window_of_a_key_in_two_subtasks() -> History:
    return read_back(holding(A[:1]), holding(A[1:] + B))


@near("key-wrong")
def values_of_windows_decide_where_there_is_no_digest() -> History:
    return read_back(*(_undigested(holding(records)) for records in (A, B)))


@bad("window-outlives")
def a_window_that_is_over_is_still_there() -> History:
    return read_back(holding([(0, 0), (1, 0), *A]), holding(B))


@bad("window-outlives")
def a_window_is_over_when_the_watermark_reaches_its_end() -> History:
    return read_back(holding([(0, 0), (1, 0), *A]), holding(B), watermark_ms=WINDOW_MS)


@near("window-outlives")
def a_window_that_ends_one_millisecond_behind_the_watermark() -> History:
    first = [(partition, offset) for partition in (0, 1) for offset in (0, 1)]
    return read_back(holding([*first, *A]), holding(B), watermark_ms=WINDOW_MS - 1)


@bad("watermark-ahead")
def a_watermark_that_no_record_has_reached() -> History:
    return read_back(holding(A), holding(B), watermark_ms=LATEST_MS + 1)


@near("watermark-ahead")
def a_watermark_of_the_batch_before() -> History:
    return read_back(holding(A), holding(B), watermark_ms=LATEST_MS - STEP_MS)


def no_watermark() -> History:
    """Nobody knows which windows are over."""
    return read_back(holding(A), holding(B[:2]), watermark_ms=None)


def one_subtask_of_windows_unread() -> History:
    return read_back(holding(A))


def outlived_under_at_least_once() -> History:
    """Nobody denies that the window is told again, and what it holds may hide a loss."""
    return read_back(holding([(0, 0), *A]), holding(B), claimed=AT_LEAST_ONCE)


def _undigested(state: StateSummary) -> StateSummary:
    windows = tuple(msgspec.structs.replace(each, digest=0) for each in state.windows or ())
    return msgspec.structs.replace(state, digest=0, windows=windows)
