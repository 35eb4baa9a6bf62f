"""The offset of a record is its place, on each appender that knows places: else nothing is taken, or the run ends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdfast.fixtures.pipelines.input.feeder import FedRecords, InputFiles
from holdfast.fixtures.pipelines.input.incoming import Incoming
from holdfast.fixtures.reference.drivers.processes.file_log import FileAppender, write_log
from holdfast.fixtures.systems.flink.connectors import Files
from holdfast.harness.adapter.feeder import Appender, Arrived, Feeder
from holdfast.harness.model.job import Contract
from holdfast.harness.model.records import InputLog, Partition

_NUMBERS = np.arange(9, dtype=np.int64)
INPUTS = InputLog(("a", "b"), (Partition(_NUMBERS % 2, _NUMBERS * 10, preloaded=0, records_per_second=1000),) * 2)


def log_of_reference(folder: Path) -> Appender:
    write_log(folder, INPUTS)
    return FileAppender(folder)


MADE: dict[str, Callable[[Path], Appender]] = {
    "log of the reference": log_of_reference,
    "log of Flink": lambda folder: Files(folder, Contract.RECORDS),
    "files of a query": lambda folder: InputFiles(FedRecords(INPUTS, Incoming(), 1), folder / "input"),
}


@pytest.mark.parametrize("kind", MADE)
def test_a_record_goes_to_its_place_or_nowhere(kind: str, tmp_path: Path) -> None:
    appender = MADE[kind](tmp_path)
    assert appender.append(1, 0, Arrived(INPUTS, 1, 0, 4)) == 4
    assert appender.settle() == 0
    for first in (0, 3, 5):
        with pytest.raises(OSError, match=rf"^record {first} of partition 1 would be (record|line) 4 of its "):
            appender.append(1, first, Arrived(INPUTS, 1, first, 9))
    assert appender.append(1, 4, Arrived(INPUTS, 1, 4, 9)) == 5
    assert appender.append(0, 0, Arrived(INPUTS, 0, 0, 1)) == 1


def test_records_are_made_as_they_are_asked_for() -> None:
    assert [*Arrived(INPUTS, 0, 3, 6)] == [("b", 30), ("a", 40), ("b", 50)]
    assert len(Arrived(INPUTS, 0, 3, 6)) == 3
    count = 25_000
    numbers = np.arange(count, dtype=np.int64)
    log = InputLog(("a",), (Partition(numbers * 0, numbers, preloaded=0),))
    assert [value for _, value in Arrived(log, 0, 5, count)] == [*range(5, count)]


class Message:
    """What a broker says of a message."""

    def __init__(self, offset: int) -> None:
        self._offset = offset

    def offset(self) -> int:
        return self._offset


class Refusal:
    """Why a broker does not take a message."""

    def str(self) -> str:
        return "Broker: Message size too large"


class Broker:
    """A producer of a broker that takes messages with the next poll, one behind the other.

    Attributes:
        room: how many messages the client can hold.
        ahead: how many messages somebody else wrote in front.
        refuses: the broker takes none.
        taken: the offsets and values that lie in the topic.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        assert settings["enable.idempotence"]
        self.room, self.ahead, self.refuses = 100, 0, False
        self.taken: list[tuple[int, bytes | None]] = []
        self._held: list[tuple[bytes | None, Callable[..., None]]] = []

    def produce(
        self, topic: str, *, key: bytes | None, value: bytes | None, partition: int, on_delivery: Callable[..., None]
    ) -> None:
        if len(self._held) == self.room:
            raise BufferError
        self._held.append((value, on_delivery))

    def poll(self, limit_s: float) -> None:
        held, self._held = self._held, []
        for value, delivered in held:
            offset = len(self.taken) + self.ahead
            if self.refuses:
                delivered(Refusal(), Message(-1))
            else:
                self.taken.append((offset, value))
                delivered(None, Message(offset))

    def flush(self, limit_s: float) -> int:
        self.poll(limit_s)
        return 0

    def purge(self) -> None:
        self._held.clear()


@pytest.fixture
def topic(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Any, Broker, Feeder]]:
    """An appender to a topic, the producer behind it, and a feeder of nine records."""
    module = pytest.importorskip("holdfast.fixtures.services.topics")

    def made(**options: Any) -> tuple[Any, Broker, Feeder]:
        brokers: list[Broker] = []

        def producer(settings: dict[str, Any]) -> Broker:
            brokers.append(Broker(settings))
            return brokers[-1]

        monkeypatch.setattr(module, "Producer", producer)
        appender = module.TopicAppender(
            {}, "input", lambda partition, first, records: ((None, str(value).encode()) for _, value in records),
            **options,
        )  # fmt: skip
        return appender, brokers[0], Feeder(InputLog(INPUTS.keys, INPUTS.partitions[:1]), appender)

    return made


def test_a_topic_holds_each_record_at_its_offset(topic: Callable[..., tuple[Any, Broker, Feeder]]) -> None:
    _, broker, feeder = topic()
    feeder.advance(2)
    feeder.advance(100)
    assert broker.taken == [(each, str(each * 10).encode()) for each in range(9)]
    assert feeder.exhausted


def test_what_the_client_has_no_room_for_comes_with_the_next_step(
    topic: Callable[..., tuple[Any, Broker, Feeder]],
) -> None:
    _, broker, feeder = topic()
    broker.room = 4
    for expected in (4, 8, 9):
        feeder.advance(100)
        assert feeder.fed == [expected]
    assert len(broker.taken) == 9


def test_one_who_waits_for_room_leaves_nothing_for_the_next_step(
    topic: Callable[..., tuple[Any, Broker, Feeder]],
) -> None:
    _, broker, feeder = topic(room_s=0.01)
    broker.room = 4
    feeder.advance(100)
    assert len(broker.taken) == 9


def test_a_refused_record_ends_the_run(topic: Callable[..., tuple[Any, Broker, Feeder]]) -> None:
    appender, broker, feeder = topic()
    broker.refuses = True
    sentence = r"^topic input does not take a record: Broker: Message size too large\.$"
    with pytest.raises(OSError, match=sentence):
        feeder.advance(100)
    assert not feeder.exhausted, "nobody may take these records for lost"
    with pytest.raises(OSError, match=sentence):
        appender.settle()


def test_a_record_that_lies_elsewhere_ends_the_run(topic: Callable[..., tuple[Any, Broker, Feeder]]) -> None:
    _, broker, feeder = topic()
    broker.ahead = 1
    with pytest.raises(
        OSError, match=r"^record 0 of partition 0 lies at offset 1 of topic input: somebody else writes"
    ):
        feeder.advance(100)
    _, broker, feeder = topic(misplaced="record {offset} of partition {partition} is message {place} of its topic.")
    broker.ahead = 1
    with pytest.raises(OSError, match=r"^record 0 of partition 0 is message 1 of its topic\.$"):
        feeder.advance(100)


def test_what_is_no_record_has_no_place(topic: Callable[..., tuple[Any, Broker, Feeder]]) -> None:
    appender, broker, _ = topic()
    appender.mark(1)
    broker.ahead = 7
    assert appender.settle() == 0
    assert broker.taken == [(7, None)]
