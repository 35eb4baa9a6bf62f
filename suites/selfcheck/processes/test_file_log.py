"""The logs that sources read: due records, the same range the same, and from a socket everything once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from holdfast.fixtures.reference.connectors.source_log import UNKNOWN_LENGTH, PoisonedRecord
from holdfast.fixtures.reference.drivers.processes.file_log import FileAppender, FileLog, PoisonPage, write_log
from holdfast.fixtures.reference.drivers.processes.socket_log import PORTS, SocketAppender, SocketLog, Speakers
from holdfast.harness.adapter.feeder import Arrived, Feeder, arrived
from holdfast.harness.adapter.network.acceptor import TOKEN_BYTES, make_token
from holdfast.harness.adapter.network.sockets import LOOPBACK, Address, call
from holdfast.harness.model.records import InputLog, Partition
from holdfast.suites.selfcheck.oracles.builder import input_log


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


INPUTS = input_log(10, 10)
"""All of both partitions is there at once; the first comes over a socket."""
LIMIT_S = 30.0
TOKEN = make_token()


class Stand:
    """A feeder and the logs that it feeds."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.refused = 0
        write_log(folder, INPUTS)
        self.speakers = Speakers(folder, INPUTS.partitions, [0], TOKEN, self._refuse)
        self.logs: list[SocketLog] = []
        self.feeder = Feeder(INPUTS, SocketAppender(FileAppender(folder), self.speakers))
        self.feeder.fed = [each.preloaded for each in INPUTS.partitions]

    def _refuse(self) -> None:
        self.refused += 1

    def log(self) -> SocketLog:
        """That of another process."""
        self.logs.append(SocketLog(self.folder, TOKEN))
        return self.logs[-1]

    def close(self) -> None:
        for log in self.logs:
            log.close()
        self.speakers.close()

    def read(self, log: SocketLog, offset: int, records: int) -> tuple[int, list[int]]:
        """Offset and values of what is read next, or the offset that is next."""
        until_s = time.monotonic() + LIMIT_S
        while time.monotonic() < until_s:
            self.feeder.advance(0)
            found, _, values = log.read(0, offset, records)
            if len(values) or found != offset:
                return found, values.tolist()
        raise AssertionError("nothing is said")


@pytest.fixture
def stand(tmp_path: Path) -> Iterator[Stand]:
    made = Stand(tmp_path)
    yield made
    made.close()


def test_records_come_in_order_and_are_as_they_are_in_the_input(stand: Stand) -> None:
    log = stand.log()
    assert stand.read(log, 0, 4) == (0, [1, 2, 3, 4])
    assert stand.read(log, 4, 100) == (4, [5, 6, 7, 8, 9, 10])
    assert stand.feeder.exhausted


def test_who_asks_for_something_else_hears_what_comes_next(stand: Stand) -> None:
    log = stand.log()
    stand.read(log, 0, 4)
    assert stand.read(log, 0, 4) == (4, [])
    assert stand.read(log, 4, 1) == (4, [5])


def test_what_was_said_to_one_process_is_not_said_to_another(stand: Stand) -> None:
    stand.read(stand.log(), 0, 4)
    assert stand.read(stand.log(), 4, 4) == (10, [])


def test_nothing_is_said_while_nobody_listens(stand: Stand) -> None:
    stand.feeder.advance(0)
    assert not stand.feeder.exhausted
    assert stand.read(stand.log(), 0, 1) == (0, [1])


def test_a_closed_socket_is_an_error_and_the_next_read_connects_anew(stand: Stand) -> None:
    log = stand.log()
    stand.read(log, 0, 1)
    successor = stand.log()
    stand.read(successor, 1, 1)
    log.read(0, 1, 100)  # what it was told before
    with pytest.raises(OSError, match="was closed"):
        log.read(0, 10, 1)
    assert stand.read(log, 1, 1) == (10, [])


def test_a_poisoned_record_stops_the_reader_in_front_of_it(stand: Stand) -> None:
    PoisonPage(stand.folder).poison(0, 2, recoverable=True)
    log = stand.log()
    assert stand.read(log, 0, 4) == (0, [1, 2])
    with pytest.raises(PoisonedRecord):
        stand.read(log, 2, 4)


def test_other_partitions_are_files(stand: Stand) -> None:
    log = stand.log()
    assert log.read(1, 3, 2)[2].tolist() == [4, 5]
    assert log.length(1) == 10
    assert log.length(0) == UNKNOWN_LENGTH


def test_who_is_not_of_the_run_takes_nothing(stand: Stand) -> None:
    """Else what it was told would be lost, as a record is said once."""
    log = stand.log()
    stand.read(log, 0, 1)
    port = int(np.fromfile(stand.folder / PORTS, dtype=np.int64)[0])
    with call(Address(LOOPBACK, port), bytes(TOKEN_BYTES), LIMIT_S) as stranger:
        stand.read(log, 1, 1)
        assert stranger.recv(1) == b""
    assert stand.refused == 1
