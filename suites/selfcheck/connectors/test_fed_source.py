"""How records arrive at a source behind the SPI, and when its readers are polled in a simulated run."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdfast.fixtures.feeders import FEEDERS
from holdfast.fixtures.reference.connectors.source_sessions import HeldReader, SourceSessions
from holdfast.fixtures.reference.drivers.simulated.sources import FEED_NS, REST_NS, FedSource, SourceLog
from holdfast.fixtures.reference.drivers.source_place import SourceAppender, feeder_of
from holdfast.fixtures.reference.protocol.effects import Poll
from holdfast.fixtures.sources.log import LogSource
from holdfast.fixtures.sources.splits import Position
from holdfast.harness.adapter import feeder as base
from holdfast.harness.model.events import InputDelayed
from holdfast.harness.model.records import InputLog, Partition
from holdfast.harness.sim.kernel import MILLISECOND_NS, Kernel
from holdfast.harness.spi.source import Feeder, SourceContext
from holdfast.suites.selfcheck.connectors.inputs import TWO_PARTITIONS

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
        feeder = feeder_of([self.source.feeder()] * 2, inputs, tuple, lambda delayed: None, waits=False, falsified="")
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


NOW_MS = 70


class Noting:
    """A feeder that notes its calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, int]] = []
        self.falsified: list[str] = []
        self.closed = 0

    def append(self, partition: int, records: Sequence[tuple[bytes, int]]) -> None:
        self.calls.append((partition, len(records)))

    def falsify_positions(self, job: str) -> None:
        self.falsified.append(job)

    def close(self) -> None:
        self.closed += 1


def fed(
    covered: list[Sequence[int]], *, waits: bool, falsified: str = "", delays: list[InputDelayed] | None = None
) -> tuple[base.Feeder, Noting]:
    """A feeder of the input; what checkpoints cover is the last of a list, and delays are added to one."""
    noting = Noting()
    recorded: list[InputDelayed] = [] if delays is None else delays
    feeder = feeder_of(
        [noting, noting], TWO_PARTITIONS, lambda: covered[-1], recorded.append, waits=waits, falsified=falsified
    )
    feeder.preload()
    return feeder, noting


def test_a_call_waits_until_a_checkpoint_covers_the_ones_before_it() -> None:
    covered: list[Sequence[int]] = [()]
    feeder, noting = fed(covered, waits=True)
    feeder.advance(NOW_MS)
    assert noting.calls == [(0, 2), (1, 2)]
    covered.append((1, 2))
    feeder.advance(NOW_MS)
    assert noting.calls[2:] == [(1, 3)]
    covered.append((2, 5))
    feeder.advance(NOW_MS)
    assert (noting.calls[3:], feeder.exhausted) == ([(0, 2)], True)
    feeder.feed_markers()
    assert not feeder.exhausted
    covered.append((4, 5))
    feeder.advance(NOW_MS)
    assert (noting.calls[4:], feeder.exhausted) == ([(0, 1), (1, 1)], True)


def test_what_waited_is_recorded_when_it_arrives() -> None:
    covered: list[Sequence[int]] = [()]
    delays: list[InputDelayed] = []
    feeder, _ = fed(covered, waits=True, delays=delays)
    feeder.advance(NOW_MS)
    covered.append((1, 2))
    feeder.advance(NOW_MS)
    assert [delay.partition for delay in delays] == [1]
    assert delays[0].since_ns == NOW_MS * 1_000_000
    feeder.advance(NOW_MS)
    covered.append((2, 5))
    feeder.advance(NOW_MS)
    assert [delay.partition for delay in delays] == [1, 0]
    assert delays[1].since_ns == delays[0].since_ns, "both were due from the first time on"


def test_rows_need_no_order_so_nothing_waits() -> None:
    feeder, noting = fed([()], waits=False)
    feeder.advance(NOW_MS)
    assert (noting.calls[2:], feeder.exhausted) == ([(0, 2), (1, 3)], True)


def test_positions_outside_are_falsified_with_every_checkpoint() -> None:
    covered: list[Sequence[int]] = [()]
    feeder, noting = fed(covered, waits=True, falsified="job")
    feeder.advance(NOW_MS)
    assert noting.falsified == []
    covered.append((1, 1))
    feeder.advance(NOW_MS)
    feeder.advance(NOW_MS)
    assert noting.falsified == ["job"]


def test_one_feeder_of_several_partitions_is_closed_once() -> None:
    feeder, noting = fed([()], waits=False)
    feeder.close()
    assert noting.closed == 1


def test_an_error_of_its_author_is_one_sentence() -> None:
    class Broken(Noting):
        def append(self, partition: int, records: Sequence[tuple[bytes, int]]) -> None:
            raise KeyError("broken")

    broken = Broken()
    feeder = base.Feeder(TWO_PARTITIONS, SourceAppender([broken, broken], TWO_PARTITIONS))
    with pytest.raises(OSError, match="the feeder raised KeyError: 'broken'"):
        feeder.preload()


def test_no_row_of_a_table_gets_a_number_again(tmp_path: Path) -> None:
    """A queue that has forgotten its rows would skip those that come."""
    feeder: Feeder = FEEDERS["sqlite"](tmp_path)
    feeder.append(0, [(b"first", 0), (b"second", 1)])
    with sqlite3.connect(tmp_path / "records.db") as connection:
        connection.execute("DELETE FROM records")
    connection.close()
    feeder.append(0, [(b"third", 2)])
    with sqlite3.connect(tmp_path / "records.db") as connection:
        [(number,)] = connection.execute("SELECT id FROM records").fetchall()
    connection.close()
    feeder.close()
    assert number > 2
