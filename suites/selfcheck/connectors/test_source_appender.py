"""What lets records arrive at a source behind the SPI."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from holdfast.fixtures.feeders import FEEDERS
from holdfast.fixtures.reference.connectors.source_appender import SourceAppender, source_feeder
from holdfast.harness.adapter import feeder as base
from holdfast.harness.model.events import InputDelayed
from holdfast.harness.spi.source import Feeder
from holdfast.suites.selfcheck.connectors.inputs import TWO_PARTITIONS

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
    feeder = source_feeder(
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
