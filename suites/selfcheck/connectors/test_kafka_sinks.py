"""Sinks and the committed reader on a real broker: transactions, fences, undecided commits, and what a reader sees."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from holdfast.fixtures.reference.connectors.connected import object_files
from holdfast.fixtures.reference.connectors.rows import encode_rows, load_rows
from holdfast.fixtures.reference.connectors.settings import Connectors
from holdfast.fixtures.reference.connectors.transaction_files import KafkaSink, PlainKafkaSink, as_one_row
from holdfast.fixtures.reference.connectors.units import TopicUnits
from holdfast.fixtures.reference.protocol.effects import AbortTransactions, Commit, Precommit
from holdfast.fixtures.reference.protocol.effects.tasks import Promised
from holdfast.fixtures.reference.protocol.storage.file_layout import COMMITTED
from holdfast.fixtures.reference.protocol.storage.sink_system import Sinks
from holdfast.fixtures.sinks.files import PREPARED, FilesOf
from holdfast.harness.model.events import Event, RowsChanged, RowsVisible
from holdfast.harness.model.job import Contract, Job
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM
from holdfast.harness.model.records import FoldColumns, FoldRow, IdentityColumns, IdentityRow
from holdfast.harness.spi.sink import Sink, SinkContext
from holdfast.suites.selfcheck.storing import TestWorld

if TYPE_CHECKING:
    from holdfast.fixtures.services.polled_topic import PolledTopic

pytestmark = pytest.mark.tier("containers")
LIMIT_S = 10.0
SINK, OTHER_SINK = "sink[0]", "sink[1]"


class Sinking:
    """The sinks of one process.

    Attributes:
        broker: that the rows go to.
        world: whose gate may hold a commit.
    """

    def __init__(self, make: Callable[[SinkContext], Sink], broker: Any, world: TestWorld) -> None:
        self.broker = broker
        self.world = world
        self._sink = Sinks(make, "", as_one_row, lambda: 0)

    def precommit(self, subtask: str, checkpoint: int, content: bytes, *, attempt: int = 1) -> Promised:
        """What the checkpoint promises."""
        transaction = name(subtask, checkpoint, attempt)
        committables = self._sink.precommit(Precommit(attempt, subtask, transaction, checkpoint, ()), content)
        return ((transaction, committables),)

    def commit(self, subtask: str, attempt: int, promised: Promised) -> bool:
        [(transaction, committables)] = promised
        return self._sink.commit(Commit(attempt, subtask, transaction, committables, promised))

    def abort(self, subtask: str, attempt: int, promised: Promised = ()) -> None:
        self._sink.abort(AbortTransactions(attempt, subtask, promised))


def name(subtask: str, checkpoint: int, attempt: int = 1) -> str:
    return f"{subtask}-{attempt:06d}-{checkpoint:06d}"


def rows_of(connectors: Connectors) -> FilesOf:
    """The files of an operator, as a run has them."""
    files_in = object_files(connectors, LIMIT_S)
    return lambda folder: files_in(COMMITTED + folder)


def committer_of(connectors: Connectors, kind: str = "KafkaSink", job: Job = FORWARD) -> Sinking:
    from holdfast.fixtures.reference.connectors.kafka_output import KafkaCommitter

    committer, files_of = KafkaCommitter(connectors, job, LIMIT_S), rows_of(connectors)
    world = TestWorld()
    return Sinking(lambda context: KINDS[kind](context, files_of, committer, world), committer, world)


class NeverRemoves(KafkaSink):
    """Whoever uses it dies before it removes anything."""

    def step(self, name: str, effect: Callable[[], Any]) -> Any:
        return None if name == "remove" else super().step(name, effect)


KINDS = {kind.__name__: kind for kind in (KafkaSink, NeverRemoves, PlainKafkaSink)}


def pending(connectors: Connectors) -> list[str]:
    """Names of what is prepared."""
    return sorted(path.rpartition("/")[2] for path in rows_of(connectors)("").paths("") if f"/{PREPARED}/" in path)


def output_of(connectors: Connectors, folder: Path, contract: Contract = Contract.RECORDS) -> PolledTopic:
    from holdfast.fixtures.reference.connectors.kafka_output import kafka_output

    folder.mkdir(exist_ok=True)
    return kafka_output(TopicUnits(connectors.kafka_bootstrap, connectors.output_topic, contract, str(folder)))


def rows(first: int, count: int) -> bytes:
    return encode_rows([IdentityColumns(np.zeros(count, dtype=np.int64), np.arange(first, first + count))])


def seen(output: PolledTopic, units: int = 1) -> list[tuple[str, int]]:
    """Names and lengths of the units that became visible, when there are so many."""
    return [(event.name, event.records) for event in poll_until(output, units) if isinstance(event, RowsVisible)]


def poll_until(output: PolledTopic, events: int) -> list[Event]:
    found, deadline_s = output.poll(), time.monotonic() + LIMIT_S
    while len(found) < events and time.monotonic() < deadline_s:
        found += output.poll()
    return found


def test_a_transaction_is_invisible_until_its_commit_and_then_whole(connectors: Connectors, tmp_path: Path) -> None:
    committer, output = committer_of(connectors), output_of(connectors, tmp_path)
    promised = committer.precommit(SINK, 1, rows(0, 5_000))
    assert output.poll() == []
    assert committer.commit(SINK, 1, promised) is False
    assert seen(output) == [(name(SINK, 1), 5_000)]
    assert list(load_rows(tmp_path / name(SINK, 1), Contract.RECORDS))[-1] == IdentityRow(0, 4_999)
    assert pending(connectors) == []
    assert output.poll(final=True) == []


def test_rows_of_a_fold_come_out_as_they_went_in(connectors: Connectors, tmp_path: Path) -> None:
    committer, output = committer_of(connectors, job=KEYED_SUM), output_of(connectors, tmp_path, Contract.FOLD)
    digest = np.array([2**64 - 1, 0], dtype=np.uint64)
    fold = FoldColumns(("a", "ü"), np.array([1, 0]), np.array([-3, 1 << 62]), np.array([[1, 2], [3, 4]]), digest)
    committer.commit(SINK, 1, committer.precommit(SINK, 1, encode_rows([fold])))
    assert seen(output) == [(name(SINK, 1), 2)]
    expected = [FoldRow("ü", -3, (1, 2), 2**64 - 1), FoldRow("a", 1 << 62, (3, 4), 0)]
    assert list(load_rows(tmp_path / name(SINK, 1), Contract.FOLD)) == expected


def test_a_later_attempt_commits_what_is_missing_and_nothing_twice(connectors: Connectors, tmp_path: Path) -> None:
    first = committer_of(connectors)
    one, two = (first.precommit(SINK, checkpoint, rows(checkpoint * 10, 10)) for checkpoint in (1, 2))
    first.commit(SINK, 1, one)
    second = committer_of(connectors)
    second.abort(SINK, 2, one + two)
    assert second.commit(SINK, 2, one) is True
    assert second.commit(SINK, 2, two) is False
    assert second.commit(SINK, 2, two) is True
    names = [unit for unit, _ in seen(output_of(connectors, tmp_path), 2)]
    assert names == [name(SINK, 1), name(SINK, 2)]


def test_what_no_checkpoint_promises_is_thrown_away(connectors: Connectors) -> None:
    first = committer_of(connectors)
    kept, orphan = first.precommit(SINK, 1, rows(0, 1)), first.precommit(SINK, 2, rows(0, 1))
    first.precommit(OTHER_SINK, 2, rows(0, 1))
    second = committer_of(connectors)
    second.abort(SINK, 2, kept)
    assert pending(connectors) == [name(SINK, 1), name(OTHER_SINK, 2)]
    with pytest.raises(OSError, match="are lost"):
        second.commit(SINK, 2, orphan)
    assert second.commit(SINK, 2, kept) is False  # the session is not over


def test_a_zombie_is_fenced_in_the_middle_of_its_commit(connectors: Connectors, tmp_path: Path) -> None:
    """It has sent its rows and stands still; its successor publishes them; then it goes on."""
    zombie, successor = committer_of(connectors), committer_of(connectors)
    one, two = (zombie.precommit(SINK, checkpoint, rows(0, 3)) for checkpoint in (1, 2))
    stands, goes_on = threading.Event(), threading.Event()
    refused: list[OSError] = []

    def middle() -> None:
        stands.set()
        goes_on.wait(LIMIT_S)

    def commit() -> None:
        try:
            zombie.commit(SINK, 1, one)
        except OSError as error:
            refused.append(error)

    zombie.world.hold = middle
    thread = threading.Thread(target=commit)
    thread.start()
    assert stands.wait(LIMIT_S)
    successor.abort(SINK, 2, one)
    assert successor.commit(SINK, 2, one) is False
    goes_on.set()
    thread.join(LIMIT_S)
    assert len(refused) == 1
    assert "fenced" in str(refused[0])
    with pytest.raises(OSError, match="fenced"):
        zombie.commit(SINK, 1, two)
    assert seen(output_of(connectors, tmp_path)) == [(name(SINK, 1), 3)]


class _LosesAnswer:
    """A producer whose commit takes effect and is not answered."""

    def __init__(self, producer: Any) -> None:
        self._producer = producer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._producer, name)

    def commit_transaction(self, limit_s: float) -> None:
        from confluent_kafka import KafkaError, KafkaException

        self._producer.commit_transaction(limit_s)
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT))


def test_a_commit_whose_answer_was_lost_is_found_in_the_control_topic(connectors: Connectors, tmp_path: Path) -> None:
    first = committer_of(connectors)
    promised = first.precommit(SINK, 1, rows(0, 3))
    [session] = first.broker._sessions.values()
    session.producer = _LosesAnswer(session.producer)
    for _ in range(2):
        with pytest.raises(OSError, match="is not known to be committed"):
            first.commit(SINK, 1, promised)
    second = committer_of(connectors)
    second.abort(SINK, 2, promised)
    assert second.commit(SINK, 2, promised) is True
    assert seen(output_of(connectors, tmp_path)) == [(name(SINK, 1), 3)]


def test_what_a_commit_has_left_behind_goes_with_the_next_start(connectors: Connectors) -> None:
    """Its sink died after the commit and before it threw the rows away."""
    first = committer_of(connectors, "NeverRemoves")
    first.commit(SINK, 1, first.precommit(SINK, 1, rows(0, 3)))
    assert pending(connectors) == [name(SINK, 1)]
    committer_of(connectors).abort(SINK, 2)
    assert pending(connectors) == []


def test_an_older_attempt_in_the_same_process_is_refused(connectors: Connectors) -> None:
    committer = committer_of(connectors)
    promised = committer.precommit(SINK, 1, rows(0, 3))
    committer.abort(SINK, 2, promised)
    with pytest.raises(OSError, match=r"attempt 1 of sink\[0\] is fenced: attempt 2 has begun\."):
        committer.commit(SINK, 1, promised)


def test_at_least_once_is_visible_with_its_precommit_and_again_with_the_next(
    connectors: Connectors, tmp_path: Path
) -> None:
    committer, output = committer_of(connectors, "PlainKafkaSink"), output_of(connectors, tmp_path)
    assert committer.precommit(SINK, 1, rows(0, 3)) == ((name(SINK, 1), ()),)
    assert sum(records for _, records in seen(output)) == 3
    committer.precommit(SINK, 1, rows(0, 3), attempt=2)
    assert sum(records for _, records in seen(output)) == 3
    committer.abort(SINK, 3)
    assert output.poll(final=True) == []


# --- the reader -------------------------------------------------------------------------------------------------------


def publish(connectors: Connectors, transaction: str, values: list[bytes], *, commit: bool = True) -> None:
    """A transaction as anybody could write it."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": connectors.kafka_bootstrap, "transactional.id": connectors.run})
    producer.init_transactions(LIMIT_S)
    producer.begin_transaction()
    for value in values:
        producer.produce(connectors.output_topic, value, partition=1, headers=[("transaction", transaction.encode())])
    producer.flush(LIMIT_S)
    if commit:
        producer.commit_transaction(LIMIT_S)
    else:
        producer.abort_transaction(LIMIT_S)


ROW = b'{"partition":0,"offset":7}'


def test_the_reader_sees_a_transaction_that_is_published_twice_as_two_units(
    connectors: Connectors, tmp_path: Path
) -> None:
    output = output_of(connectors, tmp_path)
    publish(connectors, "t-1-1", [ROW])
    assert seen(output) == [("t-1-1", 1)]
    publish(connectors, "t-1-1", [ROW])
    publish(connectors, "t-1-1", [ROW])
    found = seen(output)
    assert found in ([("t-1-1#2", 1), ("t-1-1#3", 1)], [("t-1-1#2", 1)])
    assert list(load_rows(tmp_path / "t-1-1#2", Contract.RECORDS)) == [IdentityRow(0, 7)]


def test_the_reader_sees_nothing_of_an_aborted_transaction(connectors: Connectors, tmp_path: Path) -> None:
    output = output_of(connectors, tmp_path)
    publish(connectors, "t-1-1", [ROW], commit=False)
    publish(connectors, "t-2-1", [ROW, ROW])
    assert seen(output) == [("t-2-1", 2)]
    assert output.poll(final=True) == []


def test_what_is_no_row_is_a_unit_without_rows(connectors: Connectors, tmp_path: Path) -> None:
    publish(connectors, "t-1-1", [ROW, b'{"partition":0}'])
    assert seen(output_of(connectors, tmp_path)) == [("t-1-1", 0)]


def test_what_vanishes_is_noticed_at_the_final_read(connectors: Connectors, tmp_path: Path) -> None:
    from confluent_kafka import TopicPartition
    from confluent_kafka.admin import AdminClient

    output = output_of(connectors, tmp_path)
    publish(connectors, "t-1-1", [ROW])
    publish(connectors, "t-1-2", [ROW])
    assert [event.name for event in poll_until(output, 2) if isinstance(event, RowsVisible)] == ["t-1-1", "t-1-2"]
    admin = AdminClient({"bootstrap.servers": connectors.kafka_bootstrap})
    for answer in admin.delete_records([TopicPartition(connectors.output_topic, 1, 2)]).values():
        answer.result(LIMIT_S)
    (changed,) = output.poll(final=True)
    assert isinstance(changed, RowsChanged)
    assert (changed.name, changed.vanished, changed.final) == ("t-1-1", True, True)


def test_what_only_the_final_read_sees_is_marked(connectors: Connectors, tmp_path: Path) -> None:
    output, other = output_of(connectors, tmp_path), output_of(connectors, tmp_path / "other")
    output.poll()
    publish(connectors, "t-1-1", [ROW])
    assert seen(other) == [("t-1-1", 1)]  # an answered commit can still be on its way to the readers
    (visible,) = output.poll(final=True)
    assert isinstance(visible, RowsVisible)
    assert (visible.name, visible.final) == ("t-1-1", True)
