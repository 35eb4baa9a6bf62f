"""When a reader of a plugged source is polled in a simulated run: as records arrive, and hardly ever for nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from holdfast.fixtures.reference.connectors.source_appender import source_feeder
from holdfast.fixtures.reference.connectors.source_sessions import HeldReader, SourceSessions
from holdfast.fixtures.reference.drivers.simulated.fed_source import FEED_NS, REST_NS, FedSource
from holdfast.fixtures.reference.drivers.simulated.source_log import SourceLog
from holdfast.fixtures.reference.protocol.effects import Poll
from holdfast.fixtures.sources.log import LogSource
from holdfast.fixtures.sources.position import Position
from holdfast.harness.model.records import InputLog, Partition
from holdfast.harness.sim.kernel import MILLISECOND_NS, Kernel
from holdfast.harness.spi.source import SourceContext

LEFT, RIGHT = Poll(1, "left[0]"), Poll(1, "right[0]")
STARTS_MS = 100


class Host:
    """A worker that notes when its readers are polled, in milliseconds."""

    number = 1

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.polled: list[tuple[float, Poll]] = []

    def deliver(self, kind: int, event: Any) -> None:
        self.polled.append((self.kernel.now_ns / MILLISECOND_NS, event))


class Bench:
    """Two operators that each read a partition; records arrive in that of the first, one each 20 ms."""

    def __init__(self) -> None:
        none = np.zeros(3, dtype=np.int64)
        partitions = [
            Partition(none, none, 0, records_per_second=50, starts_ms=STARTS_MS),
            Partition(none[:0], none[:0], 0),
        ]
        inputs = InputLog(("a",), tuple(partitions))
        self.kernel = Kernel()
        self.host = Host(self.kernel)
        self.log = SourceLog(inputs, 1)
        self.source = LogSource(SourceContext(uri="memory:///fed-source", job="job", operator="left", attempt=1))
        feeder = source_feeder(
            [self.source.feeder()] * 2, inputs, tuple, lambda delayed: None, waits=False, falsified=""
        )
        self.fed = FedSource(self.sessions, feeder, ["left", "right"], self.kernel, self.log, lambda *_: None, 2)

    def sessions(self, now_ms: Any) -> SourceSessions:
        raise AssertionError("no process begins")

    def reader(self, poll: Poll, *, idle_polls: int = 1) -> HeldReader:
        """One that rests."""
        reader = HeldReader(poll.subtask, self.source.reader(0), lambda: 0)
        reader.idle_polls = idle_polls
        assert self.fed.rest(self.host, poll, reader, polled_ns=self.kernel.now_ns + 1)
        return reader

    def polled(self, until_ms: float) -> list[tuple[float, Poll]]:
        """Who is polled, and when."""
        self.kernel.run(int(until_ms * MILLISECOND_NS))
        return self.host.polled


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_a_reader_that_rests_is_polled_when_records_arrive_for_its_operator(bench: Bench) -> None:
    bench.fed.begin()
    bench.reader(LEFT, idle_polls=5)
    bench.reader(RIGHT, idle_polls=5)
    polled = bench.polled(STARTS_MS + 40)
    assert [poll for _, poll in polled] == [LEFT]
    assert STARTS_MS <= polled[0][0] <= STARTS_MS + 20 + FEED_NS / MILLISECOND_NS


def test_nothing_is_looked_for_between_the_arrivals(bench: Bench) -> None:
    bench.fed.begin()
    bench.kernel.run((STARTS_MS + 500) * MILLISECOND_NS)
    assert bench.kernel.dispatched <= 6


def test_a_faster_clock_lets_them_arrive_earlier(bench: Bench) -> None:
    bench.fed.begin()
    bench.reader(LEFT, idle_polls=5)
    bench.log.clock.change(0, 200)
    bench.fed.look_again()
    assert [poll for _, poll in bench.polled(STARTS_MS - 20)] == [LEFT]


def test_a_reader_that_is_given_splits_is_polled_at_once(bench: Bench) -> None:
    bench.reader(RIGHT).add([Position("partition-1").split])
    assert bench.polled(1) == [(0.0, RIGHT)]


def test_what_a_source_has_by_itself_is_looked_for_less_and_less_often(bench: Bench) -> None:
    bench.reader(RIGHT, idle_polls=0)
    rest_ms = REST_NS / MILLISECOND_NS
    assert bench.polled(10_000) == [(rest_ms, RIGHT)]
    bench.host.polled.clear()
    bench.reader(RIGHT, idle_polls=2)
    assert bench.polled(20_000) == [(10_000 + 4 * rest_ms, RIGHT)]


def test_what_arrives_between_a_poll_and_its_step_is_not_missed(bench: Bench) -> None:
    bench.fed.begin()
    bench.kernel.run((STARTS_MS + 30) * MILLISECOND_NS)
    reader = HeldReader(LEFT.subtask, bench.source.reader(0), lambda: 0)
    assert not bench.fed.rest(bench.host, LEFT, reader, polled_ns=STARTS_MS * MILLISECOND_NS // 2)
