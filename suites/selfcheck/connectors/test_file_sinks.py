"""The sink into files of a file system: what a crash leaves between two steps of it, and who is fenced."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from holdfast.fixtures.reference.connectors.transaction_files import KafkaSink, PlainKafkaSink
from holdfast.fixtures.reference.drivers.simulated.storage import Lane, Stop
from holdfast.fixtures.reference.protocol.storage.files import WatchedFiles
from holdfast.fixtures.reference.protocol.storage.operation import UNWATCHED, Watched
from holdfast.fixtures.reference.protocol.storage.operation import Outcome as Ending
from holdfast.fixtures.sinks.files import FileSink, FilesOf
from holdfast.fixtures.storages.file_system import FileMedium
from holdfast.fixtures.storages.on_disk import DiskFiles
from holdfast.harness.sim.disk import SimulatedDisk
from holdfast.harness.spi.errors import Fenced, Transient
from holdfast.harness.spi.file_system import FileSystem
from holdfast.harness.spi.sink import Committable, OutcomeKind, Row, SinkContext
from holdfast.suites.selfcheck.storing import TestWorld

VISIBLE = "job.sink-0.000001.0000.000007"


class Place:
    """Where attempts of one operator write."""

    def __init__(self, files_of: FilesOf) -> None:
        self.files_of = files_of
        self.files = files_of("job.sink-0")

    def begun(
        self, attempt: int, *restored: Committable, arrive: Callable[[str], None] = lambda step: None
    ) -> FileSink:
        context = SinkContext(uri="", job="job", operator="sink-0", attempt=attempt, arrive=arrive)
        sink = FileSink(context, self.files_of)
        sink.begin(restored, now_ms=0)
        return sink

    def prepared(self, sink: FileSink, checkpoint: int = 7) -> Committable:
        """One row."""
        writer = sink.writer(0, now_ms=0)
        writer.write([Row(b"key", b"%d" % checkpoint)], now_ms=0)
        [committable] = writer.prepare(checkpoint, now_ms=0)
        return committable

    def paths(self) -> list[str]:
        """What is there, but for attempts."""
        return [path for path in self.files.paths("") if not path.startswith("_attempts/")]


@pytest.fixture(params=["real", "simulated"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "real":
        return Place(lambda folder: FileMedium(tmp_path, folder))
    disk, numbers = SimulatedDisk(), iter(range(1_000))
    return Place(lambda folder: DiskFiles(disk, f"writer-{next(numbers)}", folder))


def kinds(sink: FileSink, *committables: Committable) -> list[OutcomeKind]:
    return [outcome.kind for outcome in sink.commit(committables, now_ms=0)]


def test_a_file_appears_whole_with_its_commit_and_once(place: Place) -> None:
    sink = place.begun(1)
    committable = place.prepared(sink)
    assert place.paths() == [f"_prepared/1/{VISIBLE}"]
    assert kinds(sink, committable) == [OutcomeKind.COMMITTED]
    assert kinds(sink, committable) == [OutcomeKind.ALREADY]
    assert place.paths() == [VISIBLE]
    assert b"".join(place.files.read(VISIBLE, 0, 100)) == b"key\t7\n"


class DiedError(Exception):
    """The process is gone."""


def test_who_dies_between_both_steps_leaves_both_and_a_commit_again_removes(place: Place) -> None:
    steps: list[str] = []

    def arrive(step: str) -> None:
        steps.append(step)
        if steps[-1:] == ["remove"] and "commit" in steps:
            raise DiedError

    sink = place.begun(1, arrive=arrive)
    committable = place.prepared(sink)
    with pytest.raises(DiedError):
        kinds(sink, committable)
    assert place.paths() == [f"_prepared/1/{VISIBLE}", VISIBLE]
    next_one = place.begun(2, committable)
    assert kinds(next_one, committable) == [OutcomeKind.ALREADY]
    assert place.paths() == [VISIBLE]


def test_a_start_keeps_what_is_restored_and_removes_the_rest(place: Place) -> None:
    sink = place.begun(1)
    kept, orphan = place.prepared(sink, 7), place.prepared(sink, 8)
    next_one = place.begun(2, kept)
    assert place.paths() == [f"_prepared/1/{VISIBLE}"]
    assert kinds(next_one, kept, orphan) == [OutcomeKind.COMMITTED, OutcomeKind.FAILED]


class HeldFiles:
    """A file system on which something happens once, when an upload has begun and its content is written."""

    def __init__(self, files: FileSystem, happens: Iterator[Callable[[], object]]) -> None:
        self._files = files
        self._happens = happens

    def __getattr__(self, name: str) -> Any:
        return getattr(self._files, name)

    def begin(self, path: str) -> Any:
        upload = self._files.begin(path)
        if not path.startswith("_attempts/"):
            publish = upload.publish

            def published() -> None:
                next(self._happens, lambda: None)()
                publish()

            upload.publish = published  # type: ignore[method-assign]
        return upload


def held(place: Place, *happens: Callable[[], object]) -> Place:
    return Place(lambda folder: HeldFiles(place.files_of(folder), iter(happens)))


def test_who_is_superseded_in_the_middle_of_a_first_phase_has_no_effect(place: Place) -> None:
    old = held(place, lambda: place.begun(2))
    with pytest.raises(Fenced, match="attempt 2 of job has begun"):
        place.prepared(old.begun(1))
    assert place.paths() == []


def test_who_is_superseded_in_the_middle_of_a_commit_has_no_effect(place: Place) -> None:
    committable = place.prepared(place.begun(1))
    old = held(place, lambda: place.begun(2))
    with pytest.raises(Fenced, match="attempt 2 of job has begun"):
        kinds(old.begun(1, committable), committable)
    assert place.paths() == []


def test_a_commit_that_the_start_of_its_own_attempt_elsewhere_has_ended_goes_on(place: Place) -> None:
    committable = place.prepared(place.begun(1))
    same = held(place, lambda: place.begun(1, committable))
    assert kinds(same.begun(1, committable), committable) == [OutcomeKind.COMMITTED]
    assert place.paths() == [VISIBLE]


def test_a_commit_that_is_ended_twice_is_to_be_repeated(place: Place) -> None:
    committable = place.prepared(place.begun(1))
    again = [lambda: place.begun(1, committable)] * 2
    with pytest.raises(Transient, match="given up"):
        kinds(held(place, *again).begun(1, committable), committable)
    assert place.paths() == [f"_prepared/1/{VISIBLE}"]


def test_of_two_who_commit_the_same_one_is_first(place: Place) -> None:
    committable = place.prepared(place.begun(1))
    other = place.begun(1, committable)
    both = held(place, lambda: kinds(other, committable))
    assert kinds(both.begun(1, committable), committable) == [OutcomeKind.ALREADY]
    assert place.paths() == [VISIBLE]


def watched(place: Place, world: Watched) -> Place:
    return Place(lambda folder: WatchedFiles(place.files_of(folder), world))


def test_a_gate_holds_a_commit_within_its_publication_and_behind_it(place: Place) -> None:
    world, seen = TestWorld(), []
    gated = watched(place, world)
    sink = gated.begun(1)
    committable = gated.prepared(sink)
    world.hold = lambda: seen.append(place.paths())
    assert kinds(sink, committable) == [OutcomeKind.COMMITTED]
    assert seen == [[f"_prepared/1/{VISIBLE}"], [f"_prepared/1/{VISIBLE}", VISIBLE]]


@pytest.mark.parametrize(("holds", "left"), [(1, ["append", "sync", "rename", "remove"]), (2, ["remove"])])
def test_who_dies_where_a_gate_holds_a_commit_leaves_a_share_of_the_rest(holds: int, left: list[str]) -> None:
    disk, world = SimulatedDisk(), TestWorld()
    place = watched(Place(lambda folder: DiskFiles(disk, "writer", folder)), world)
    sink = place.begun(1)
    committable = place.prepared(sink)

    def stage() -> Ending:
        sink.commit([committable], now_ms=0)
        return ()

    lane = Lane(stage)
    world.hold = lane.hold
    for _ in range(holds):
        assert lane.go_on() is Stop.MIDDLE
    world.hold = None
    changes = disk.followed(lane.go_on)
    assert [each.method.__name__ for each in changes] == left


class Broker:
    """A broker in memory that knows one attempt (KafkaCommitter)."""

    def __init__(self) -> None:
        self.attempt = 0
        self.visible: dict[str, bytes] = {}

    def committed(self, operator: str, attempt: int) -> Collection[str]:
        if attempt < self.attempt:
            raise Fenced(f"attempt {attempt} of {operator} is fenced")
        self.attempt = attempt
        return self.visible

    @contextmanager
    def transaction(self, operator: str, attempt: int, name: str, content: bytes) -> Iterator[None]:
        self.committed(operator, attempt)
        yield
        self.committed(operator, attempt)
        self.visible[name] = content

    def publish(self, operator: str, name: str, content: bytes, sent: Callable[[], None]) -> None:
        assert name not in self.visible
        sent()
        self.visible[name] = content


NAME = "sink[0]-000001-000007"


class Topic(Place):
    """The same, where files are published in a topic."""

    broker = Broker()
    world: Watched = UNWATCHED

    def begun(
        self, attempt: int, *restored: Committable, arrive: Callable[[str], None] = lambda step: None
    ) -> KafkaSink:
        context = SinkContext(uri="", job="job", operator="sink-0", attempt=attempt, arrive=arrive)
        sink = KafkaSink(context, self.files_of, cast("Any", self.broker), self.world)
        sink.begin(restored, now_ms=0)
        return sink


@pytest.fixture
def topic(place: Place) -> Topic:
    topic = Topic(place.files_of)
    topic.broker = Broker()
    return topic


def test_a_topic_shows_a_file_once_it_is_committed(topic: Topic) -> None:
    sink = topic.begun(1)
    committable = topic.prepared(sink)
    assert (topic.paths(), topic.broker.visible) == ([f"_prepared/1/{NAME}"], {})
    assert kinds(sink, committable) == [OutcomeKind.COMMITTED]
    assert kinds(sink, committable) == [OutcomeKind.ALREADY]
    assert (topic.paths(), topic.broker.visible) == ([], {NAME: b"7"})


def test_what_the_broker_has_is_not_published_again_by_who_finds_it_prepared(topic: Topic) -> None:
    def arrive(step: str) -> None:
        if step == "remove" and topic.broker.visible:
            raise DiedError

    sink = topic.begun(1, arrive=arrive)
    committable = topic.prepared(sink)
    with pytest.raises(DiedError):
        kinds(sink, committable)
    assert kinds(topic.begun(2, committable), committable) == [OutcomeKind.ALREADY]
    assert (topic.paths(), topic.broker.visible) == ([], {NAME: b"7"})


def test_who_stands_in_the_middle_of_a_commit_is_fenced_by_the_broker(topic: Topic) -> None:
    superseded: list[FileSink] = []
    world = topic.world = TestWorld()
    sink = topic.begun(1)
    world.hold = lambda: superseded.append(topic.begun(2))
    with pytest.raises(Fenced, match="is fenced"):
        kinds(sink, topic.prepared(sink))
    assert (topic.paths(), topic.broker.visible) == ([], {})


def test_what_is_not_there_is_lost(topic: Topic) -> None:
    sink = topic.begun(1)
    kept, orphan = topic.prepared(sink, 7), topic.prepared(sink, 8)
    assert kinds(topic.begun(2, kept), orphan, kept) == [OutcomeKind.FAILED, OutcomeKind.COMMITTED]


def test_without_transactions_rows_are_in_the_topic_when_they_are_prepared(place: Place) -> None:
    broker = Broker()
    context = SinkContext(uri="", job="job", operator="sink-0", attempt=1)
    held: list[dict[str, bytes]] = []
    world = SimpleNamespace(hold=lambda: held.append(dict(broker.visible)))
    sink = PlainKafkaSink(context, place.files_of, cast("Any", broker), cast("Any", world))
    sink.begin((), now_ms=0)
    writer = sink.writer(0, now_ms=0)
    writer.write([Row(b"key", b"7")], now_ms=0)
    assert writer.prepare(7, now_ms=0) == ()
    assert (place.paths(), broker.visible) == ([], {NAME: b"7"})
    assert held == [{}], "a gate holds what is on its way"
