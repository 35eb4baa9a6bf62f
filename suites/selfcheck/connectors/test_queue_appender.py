"""What appends to queues outlives a broker that is down, and nothing is fed meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.fixtures.reference.connectors.settings import QueueSettings
from holdfast.harness.adapter.feeder import Feeder
from holdfast.suites.selfcheck.connectors.inputs import TWO_PARTITIONS

module = pytest.importorskip("holdfast.fixtures.reference.connectors.queue_log")
SETTINGS = QueueSettings(run="run", host="h", port=1, user="u", password="p", partitions=2, ids=True)
LIMIT_S = 120


class Broker:
    """It is its own connection and channel; what a transaction does not commit is not there.

    Attributes:
        down: it answers nobody.
        there: the numbers of the records that it has.
        calls: how often it was connected to.
    """

    def __init__(self) -> None:
        self.down = False
        self.there: list[str] = []
        self.calls = 0
        self._open: list[str] = []

    def connect(self, settings: QueueSettings) -> Broker:
        self.calls += 1
        self.require_up()
        return self

    def channel(self) -> Broker:
        return self

    def tx_select(self) -> None:
        self._open = []

    def queue_declare(self, queue: str, durable: bool) -> None:
        assert durable

    def basic_publish(self, exchange: str, queue: str, body: bytes, properties: Any) -> None:
        self._open.append(body.decode().partition("\t")[0])

    def tx_commit(self) -> None:
        self.require_up()
        self.there += self._open
        self._open = []

    def close(self) -> None:
        self._open = []

    def require_up(self) -> None:
        if self.down:
            raise OSError("it does not answer")


class Time:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now_s = 1_000.0

    def monotonic(self) -> float:
        return self.now_s


@pytest.fixture
def stand(monkeypatch: pytest.MonkeyPatch) -> tuple[Broker, Time, Feeder]:
    broker, time = Broker(), Time()
    monkeypatch.setattr(module, "connection", broker.connect)
    monkeypatch.setattr(module, "time", time)
    return broker, time, Feeder(TWO_PARTITIONS, module.QueueAppender(SETTINGS))


def test_what_the_broker_did_not_take_is_appended_again(stand: tuple[Broker, Time, Feeder]) -> None:
    broker, time, feeder = stand
    feeder.preload()
    broker.down = True
    feeder.advance(0)
    assert (feeder.fed, feeder.exhausted) == ([2, 2], False)
    broker.down = False
    feeder.advance(0)
    assert feeder.fed == [2, 2], "it is left alone for a while"
    time.now_s += 1
    feeder.advance(0)
    assert (feeder.fed, feeder.exhausted) == ([4, 5], True)
    assert broker.there == ["0", "1", "0", "1", "2", "3", "2", "3", "4"]


def test_a_broker_that_is_silent_for_long_ends_the_run(stand: tuple[Broker, Time, Feeder]) -> None:
    broker, time, feeder = stand
    feeder.preload()
    feeder.advance(0)
    broker.down = True
    feeder.feed_markers()
    for _ in range(LIMIT_S):
        feeder.advance(0)
        time.now_s += 1
    assert broker.calls > 1
    time.now_s += 1
    with pytest.raises(OSError, match="does not answer"):
        feeder.advance(0)


def test_what_is_preloaded_must_be_there_at_once(stand: tuple[Broker, Time, Feeder]) -> None:
    broker, _, feeder = stand
    broker.down = True
    with pytest.raises(OSError, match=r"^the broker does not take records: it does not answer\.$"):
        feeder.preload()
