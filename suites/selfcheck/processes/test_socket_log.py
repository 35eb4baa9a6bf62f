"""A socket says everything once: what one process has read, or was told, no other can read."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from holdfast.fixtures.reference.connectors.source_log import UNKNOWN_LENGTH, PoisonedRecord
from holdfast.fixtures.reference.drivers.processes.file_log import FileAppender, PoisonPage, write_log
from holdfast.fixtures.reference.drivers.processes.socket_log import PORTS, SocketLog
from holdfast.fixtures.reference.drivers.processes.speakers import SocketAppender, Speakers
from holdfast.harness.adapter.feeder import Feeder
from holdfast.harness.adapter.network.acceptor import TOKEN_BYTES, make_token
from holdfast.harness.adapter.network.sockets import LOOPBACK, Address, call
from holdfast.suites.selfcheck.oracles.builder import input_log

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
