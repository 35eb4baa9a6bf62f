"""A program's input, acknowledgement gates and store: what is sent again, counted once, and put back."""

from __future__ import annotations

from itertools import count, pairwise
from pathlib import Path
from unittest.mock import create_autospec

import numpy as np
import pytest

from holdfast.fixtures.reference.connectors.source_log import ArrivalClock
from holdfast.fixtures.systems.json_lines.gates import ACKNOWLEDGE, Gates
from holdfast.fixtures.systems.json_lines.life import BATCH_RECORDS, ProgramInput
from holdfast.fixtures.systems.json_lines.messages import Ack
from holdfast.fixtures.systems.json_lines.store import STATE, Store
from holdfast.fixtures.systems.json_lines.workers import Workers
from holdfast.harness.adapter.damaged_file import TRUNCATE
from holdfast.harness.adapter.feeder import PATIENCE_MS, WINDOW_RECORDS, WINDOW_SHARE
from holdfast.harness.adapter.recorder import HARNESS, Recorder
from holdfast.harness.model.events import ObjectMended, RecoveryFailed
from holdfast.harness.model.plan import Gate
from holdfast.harness.model.records import InputLog, Partition
from holdfast.harness.model.target import Role, Target


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


WORKER = Target(Role.WORKER)
FIRST, SECOND, THIRD = (Ack(0, offset) for offset in range(3))


def test_what_one_gate_has_released_counts_for_another_once() -> None:
    gates = Gates(count(1))
    first, third = (gates.arm(Gate(ACKNOWLEDGE, WORKER, occurrence)) for occurrence in (1, 3))
    assert gates.hold(FIRST, "worker-0.0")
    assert gates.hold(SECOND, "worker-0.0")
    passed = [answer for answer in gates.release(first) if not gates.hold(answer, "worker-0.0")]
    assert passed == [FIRST, SECOND]
    assert gates.hold(THIRD, "worker-0.0")
    assert [reached.gate for reached in gates.reached()] == [first, third]


def test_two_gates_may_wait_for_the_same_acknowledgement() -> None:
    gates = Gates(count(1))
    one, other = (gates.arm(Gate(ACKNOWLEDGE, WORKER)) for _ in range(2))
    assert gates.hold(FIRST, "worker-0.0")
    assert [gates.hold(answer, "worker-0.0") for answer in gates.release(one)] == [True]
    assert gates.release(other) == [FIRST]
    assert not gates.hold(FIRST, "worker-0.0")


CONTENT = b"0123456789"


class Stand:
    def __init__(self, folder: Path) -> None:
        self.file = folder / "store" / "table"
        self.file.parent.mkdir()
        self.file.write_bytes(CONTENT)
        self.workers = create_autospec(Workers, instance=True)
        self.workers.ready = self.workers.beginning = False
        self.recorder = Recorder()
        self.store = Store(self.file.parent, folder / "damages", self.recorder, self.workers)
        self.store.damage(STATE, TRUNCATE)

    def put_back(self) -> bool:
        return self.file.read_bytes() == CONTENT


@pytest.fixture
def stand(tmp_path: Path) -> Stand:
    return Stand(tmp_path)


def test_it_is_killed_and_its_file_is_put_back_once_it_has_refused_that(stand: Stand) -> None:
    stand.workers.kill.assert_called_once_with()
    stand.store.mend()
    assert not stand.put_back(), "nobody has read it"
    assert stand.store.refuses("torn")
    stand.store.tend()
    assert stand.put_back()
    kinds = [type(event) for event in stand.recorder.nodes[HARNESS]]
    assert kinds[-2:] == [RecoveryFailed, ObjectMended]
    assert not stand.store.refuses("torn")


def test_a_life_that_begins_is_waited_for(stand: Stand) -> None:
    """It may have read what was left, and may end of that a moment later."""
    assert stand.store.refuses("torn")
    stand.workers.beginning = True
    stand.store.mend()
    assert not stand.put_back()
    assert stand.store.refuses("torn"), "it ends of that"
    stand.workers.beginning = False
    stand.store.tend()
    assert stand.put_back()


def test_one_that_starts_on_it_has_recovered(stand: Stand) -> None:
    stand.workers.ready = True
    stand.store.mend()
    assert stand.store.mended()
    assert not stand.put_back()
    [mended] = [event for event in stand.recorder.nodes[HARNESS] if isinstance(event, ObjectMended)]
    assert mended.length is None


def test_a_surge_moves_what_comes_and_not_what_has_come() -> None:
    clock = ArrivalClock()
    clock.change(100, 300)
    assert [clock.reading_ns(at) for at in (100, 110, 120)] == [100, 130, 160]
    clock.change(120, 100)
    assert [clock.reading_ns(at) for at in (120, 130)] == [160, 170]


def test_a_time_is_reached_when_it_is_shown() -> None:
    clock = ArrivalClock()
    clock.change(100, 300)
    for arrival in range(100, 200):
        reached = clock.reached_ns(arrival)
        assert clock.reading_ns(reached) >= arrival > clock.reading_ns(reached - 1)
