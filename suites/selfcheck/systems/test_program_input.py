"""The feeder sends what has arrived, within its window, and again what was not answered for."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from holdfast.fixtures.systems.json_lines.messages import Ack
from holdfast.fixtures.systems.json_lines.program_input import BATCH_RECORDS, ProgramInput
from holdfast.harness.adapter.feeder import PATIENCE_MS, WINDOW_RECORDS, WINDOW_SHARE
from holdfast.harness.model.records import InputLog, Partition


def feeder(count: int, preloaded: int, starts_ms: int = 0, records_per_second: int = 0) -> ProgramInput:
    values = np.arange(count, dtype=np.int64)
    return ProgramInput(InputLog(("k",), (Partition(values * 0, values, preloaded, starts_ms, records_per_second),)))


def sent(source: ProgramInput, now_ms: float) -> list[int]:
    """Values sent now; a value is its offset."""
    values = []
    for message in source.due(now_ms):
        assert message.records[0][1] == message.offset
        assert len(message.records) <= BATCH_RECORDS
        values += [value for _, value in message.records]
    return values


def test_preloaded_records_come_first_and_the_rest_at_its_time() -> None:
    source = feeder(10, preloaded=3, starts_ms=100)
    assert sent(source, 0) == [0, 1, 2]
    assert source.next_ms(0) == 100
    assert sent(source, 99) == []
    assert sent(source, 100) == [3, 4, 5, 6, 7, 8, 9]
    assert source.next_ms(100) == float("inf")


def test_the_rest_arrives_at_its_pace() -> None:
    source = feeder(10, preloaded=2, starts_ms=100, records_per_second=100)
    assert sent(source, 0) == [0, 1]
    assert source.next_ms(100) == 110
    assert sent(source, 109) == []
    assert sent(source, 135) == [2, 3, 4]
    assert sent(source, 1_000) == [5, 6, 7, 8, 9]


def test_markers_wait_until_the_faults_are_healed() -> None:
    values = np.arange(5, dtype=np.int64)
    source = ProgramInput(InputLog(("k",), (Partition(values * 0, values, 1, 100, markers=2),)))
    assert sent(source, 100) == [0, 1, 2]
    assert source.next_ms(100) == float("inf")
    source.feed_markers()
    assert sent(source, 100) == [3, 4]
    assert not source.drained


def test_the_window_bounds_what_is_unanswered() -> None:
    source = feeder(1_600, preloaded=1_600)
    assert len(sent(source, 0)) == 1_600 // WINDOW_SHARE
    assert sent(source, 0) == []
    source.take(Ack(0, 39), 0)
    assert sent(source, 0) == list(range(100, 140))


def test_a_program_that_waits_for_more_records_gets_more_of_them() -> None:
    source = feeder(2 * WINDOW_RECORDS, preloaded=2 * WINDOW_RECORDS)
    first = len(sent(source, 0))
    assert source.next_ms(0) == PATIENCE_MS
    assert sent(source, PATIENCE_MS - 1) == []
    assert len(sent(source, PATIENCE_MS)) == 7 * first
    assert source.next_ms(PATIENCE_MS) == 2 * PATIENCE_MS
    assert first * 8 + len(sent(source, 1_000 * PATIENCE_MS)) == WINDOW_RECORDS
    source.take(Ack(0, 8 * first - 1), 1_000 * PATIENCE_MS)
    source.take(Ack(0, WINDOW_RECORDS - 1), 1_000 * PATIENCE_MS)
    assert len(sent(source, 1_000 * PATIENCE_MS)) == first, "an answer sets it back"


def test_after_a_death_everything_behind_the_last_answer_is_sent_again() -> None:
    source = feeder(10, preloaded=10)
    sent(source, 0)
    source.take(Ack(0, 3), 0)
    source.rewind()
    assert sent(source, 0) == [4, 5, 6, 7, 8, 9]


def test_what_is_sent_again_shares_a_batch_with_what_is_new() -> None:
    """Whoever passes over a whole batch, because it has the first record, loses the others."""
    source = feeder(1_600, preloaded=1_600)
    (first,) = source.due(0)
    source.take(Ack(0, 39), 0)
    source.rewind()
    (again,) = source.due(0)
    assert again.offset == 40
    assert again.offset + len(again.records) == 2 * len(first.records)
    source.take(Ack(0, 199), 0)
    assert sent(source, 0) == list(range(200, 300))


def test_no_life_cuts_batches_where_the_one_before_did() -> None:
    source = feeder(2 * WINDOW_RECORDS, preloaded=2 * WINDOW_RECORDS)
    ends = []
    for _ in range(9):
        ends.append({each.offset + len(each.records) for each in source.due(0)})
        source.rewind()
    for before, after in pairwise(ends):
        assert not before & after


def test_it_is_drained_when_everything_is_answered_for() -> None:
    source = feeder(10, preloaded=10)
    sent(source, 0)
    source.take(Ack(0, 8), 0)
    assert not source.drained
    source.take(Ack(0, 9), 0)
    source.take(Ack(0, 2), 0)
    assert source.drained
