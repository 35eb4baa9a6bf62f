"""The file log lets records arrive when they are due, and reads the same range the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from holdfast.fixtures.reference.drivers.processes.file_log import FileAppender, FileLog, write_log
from holdfast.harness.adapter.feeder import Arrived, Feeder, arrived
from holdfast.harness.model.records import InputLog, Partition


def partition(length: int, **arrival: int) -> Partition:
    return Partition(key=np.arange(length) % 3, value=np.arange(length) * 10, **{"preloaded": 0, **arrival})


@pytest.fixture
def inputs() -> InputLog:
    partitions = (partition(100, preloaded=40, starts_ms=50, records_per_second=1000), partition(0), partition(5))
    return InputLog(keys=("a", "", "c"), partitions=partitions)


def test_only_what_has_arrived_can_be_read(tmp_path: Path, inputs: InputLog) -> None:
    write_log(tmp_path, inputs)
    log = FileLog(tmp_path)
    assert log.keys == ("a", "", "c")
    assert [log.end_offset(index) for index in range(log.partition_count)] == [40, 0, 0]
    first, key, value = log.read(0, 38, 1000)
    assert first == 38
    assert (key.tolist(), value.tolist()) == ([2, 0], [380, 390])
    assert not key.flags.owndata, "reading must not copy"
    assert [len(column) for column in log.read(0, 40, 1000)[1:]] == [0, 0]


def feeder_of(folder: Path, inputs: InputLog) -> Feeder:
    """Of a log that was written with what is preloaded."""
    feeder = Feeder(inputs, FileAppender(folder))
    feeder.fed = [each.preloaded for each in inputs.partitions]
    return feeder


def test_what_arrives_shows_at_once_to_who_has_it_mapped(tmp_path: Path, inputs: InputLog) -> None:
    write_log(tmp_path, inputs)
    log = FileLog(tmp_path)
    appender = FileAppender(tmp_path)
    assert appender.append(0, 40, Arrived(inputs, 0, 40, 50)) == 10
    assert appender.append(2, 0, Arrived(inputs, 2, 0, 5)) == 5
    assert appender.available == [log.end_offset(index) for index in range(3)] == [50, 0, 5]
    assert [len(column) for column in log.read(0, 45, 3)[1:]] == [3, 3]


def test_a_record_that_would_lie_elsewhere_is_refused(tmp_path: Path, inputs: InputLog) -> None:
    write_log(tmp_path, inputs)
    with pytest.raises(OSError, match=r"^record 41 of partition 0 would be record 40 of its log\.$"):
        FileAppender(tmp_path).append(0, 41, Arrived(inputs, 0, 41, 50))


def test_records_arrive_by_the_clock_and_never_go_back(tmp_path: Path, inputs: InputLog) -> None:
    write_log(tmp_path, inputs)
    log = FileLog(tmp_path)
    feeder = feeder_of(tmp_path, inputs)
    feeder.advance(80)
    assert log.end_offset(0) == 70
    feeder.advance(60)
    assert log.end_offset(0) == 70
    feeder.advance(60, arrival_ms=105)
    assert log.end_offset(0) == 95, "a surge lets them arrive before their time"
    assert not feeder.exhausted
    feeder.advance(10**6)
    assert feeder.exhausted


def test_markers_arrive_behind_the_rest_when_the_faults_are_healed(tmp_path: Path) -> None:
    column = np.arange(6, dtype=np.int64)
    inputs = InputLog(("a",), (Partition(column * 0, column, preloaded=2, markers=2),))
    write_log(tmp_path, inputs)
    log = FileLog(tmp_path)
    feeder = feeder_of(tmp_path, inputs)
    feeder.advance(0)
    assert (log.end_offset(0), feeder.exhausted) == (4, True)
    feeder.feed_markers()
    assert not feeder.exhausted
    feeder.advance(0)
    assert (log.end_offset(0), feeder.exhausted) == (6, True)


@pytest.mark.parametrize(
    ("now_ms", "expected"), [(0, 40), (49.9, 40), (50, 40), (51, 41), (60.5, 50), (110, 100), (10_000, 100)]
)
def test_when_records_are_due(inputs: InputLog, now_ms: float, expected: int) -> None:
    assert arrived(inputs.partitions[0], now_ms, healed=True) == expected


def test_without_a_rate_everything_is_there_at_the_start(inputs: InputLog) -> None:
    assert arrived(partition(7, preloaded=2, starts_ms=5), 4.9, healed=True) == 2
    assert arrived(partition(7, preloaded=2, starts_ms=5), 5, healed=True) == 7


def test_a_log_without_partitions_is_empty(tmp_path: Path) -> None:
    write_log(tmp_path, InputLog(keys=(), partitions=()))
    assert FileLog(tmp_path).partition_count == 0
