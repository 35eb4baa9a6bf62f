"""Uploads and streams of state, operations that stand in their middle, and what a dying process still changes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from threading import Event, Thread
from zlib import crc32

import pytest

from holdfast.fixtures.backends.hashmap import HashMapBackend
from holdfast.fixtures.backends.operator_state import OperatorStateBackend
from holdfast.fixtures.reference.drivers.simulated.storage import Lane, Stop, on_simulator
from holdfast.fixtures.reference.protocol.storage.files import Files, WatchedFiles
from holdfast.fixtures.reference.protocol.storage.operation import UNWATCHED, Outcome, Watched
from holdfast.fixtures.reference.protocol.storage.staged_streams import PreloadedStreams, StagedStreams, StoredState
from holdfast.fixtures.reference.protocol.tasks.state_handler import StateHandler, StateSnapshot
from holdfast.fixtures.reference.protocol.tasks.uploads import StateUpload
from holdfast.fixtures.storages.on_disk import Disk, DiskFiles
from holdfast.harness.model.events import FileReference
from holdfast.harness.sim.disk import FileChange, SimulatedDisk
from holdfast.harness.spi.errors import Damaged
from holdfast.harness.spi.state import Cancelled, StateDescriptor, StateKind
from holdfast.harness.spi.storage import CheckpointStreamFactory, Scope
from holdfast.suites.selfcheck.operators.test_operator_state import CONTEXT
from holdfast.suites.selfcheck.storing import TestWorld

PATH, CONTENT = "job/record", b"12345678"
UPLOAD = "_uploads/worker-1"


def files_on(disk: Disk, world: Watched = UNWATCHED) -> Files:
    return Files(WatchedFiles(DiskFiles(disk, "worker"), world))


def changes_of_a_publication(disk: SimulatedDisk) -> list[FileChange]:
    def publish() -> None:
        files_on(disk).publish(PATH, CONTENT)
        assert disk.read(PATH) == CONTENT

    changes = disk.followed(publish)
    assert not disk.exists(PATH)
    return changes


def test_a_dying_process_changes_a_copy() -> None:
    disk = SimulatedDisk()
    changes = changes_of_a_publication(disk)
    assert disk.files == {}
    assert [each.method.__name__ for each in changes] == ["create", "append", "sync", "rename"]


def test_what_failed_on_the_copy_is_no_change() -> None:
    disk = SimulatedDisk()
    disk.create("a")

    def change() -> None:
        with pytest.raises(FileExistsError):
            disk.create("a")
        disk.append("a", b"x")

    changes = disk.followed(change)
    assert [each.method.__name__ for each in changes] == ["append"]


@pytest.mark.parametrize(
    ("share", "left"),
    [
        (0.0, {}),
        (0.12, {UPLOAD: b""}),
        (0.21, {UPLOAD: b""}),
        (0.4, {UPLOAD: CONTENT[:3]}),
        (0.6, {UPLOAD: CONTENT[:7]}),
        (0.67, {UPLOAD: CONTENT}),
        (0.88, {UPLOAD: CONTENT}),
        (0.999, {PATH: CONTENT}),
    ],
)
def test_a_crash_leaves_a_share(share: float, left: dict[str, bytes]) -> None:
    disk = SimulatedDisk()
    disk.crash(changes_of_a_publication(disk), share)
    assert disk.files == left


def publication(disk: SimulatedDisk) -> Lane:
    """A lane that publishes a file."""
    world = TestWorld()

    def stage() -> Outcome:
        files_on(disk, world).publish(PATH, CONTENT)
        return ()

    lane = Lane(stage)
    world.hold = lane.hold
    return lane


def test_an_operation_stands_in_its_middle_and_goes_on() -> None:
    lane = publication(disk := SimulatedDisk())
    assert lane.go_on() is Stop.MIDDLE
    assert disk.files == {UPLOAD: CONTENT[:4]}
    assert lane.go_on() == ()
    assert disk.files == {PATH: CONTENT}


def test_a_held_operation_of_a_dead_process_ends_on_a_copy() -> None:
    before = threading.active_count()
    lane = publication(disk := SimulatedDisk())
    lane.go_on()
    changes = disk.followed(lane.go_on)
    assert disk.files == {UPLOAD: CONTENT[:4]}
    assert [each.method.__name__ for each in changes] == ["append", "sync", "rename"]
    for thread in threading.enumerate():
        if thread.name == "lane":
            thread.join(10)
    assert threading.active_count() <= before


def test_what_a_stage_raises_comes_out_where_it_is_called() -> None:
    def stage() -> Outcome:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Lane(stage).go_on()


def test_what_belongs_to_a_task_is_called_by_its_thread_with_its_answer_and_error() -> None:
    """A backend that is promised one thread was called by another one wherever a gate was armed."""
    called: list[threading.Thread] = []

    def call() -> str:
        called.append(threading.current_thread())
        if len(called) == 2:
            raise RuntimeError("refused")
        return "answer"

    def stage() -> Outcome:
        assert threading.current_thread() not in called
        assert on_simulator(call) == "answer"
        with pytest.raises(RuntimeError, match="refused"):
            on_simulator(call)
        lane.hold()
        return ()

    lane = Lane(stage)
    assert lane.go_on() is Stop.MIDDLE
    assert called == [threading.current_thread()] * 2
    assert lane.go_on() == ()
    assert on_simulator(lambda: threading.current_thread()) is threading.current_thread()


SUMS = StateDescriptor(name="sums", kind=StateKind.VALUE)
NOTHING = StoredState(None, None)


class Scripted(StateSnapshot):
    """A snapshot whose upload is what a test says."""

    def __init__(self, act: Callable[[Cancelled], None]) -> None:
        super().__init__(StateHandler(), None, None)
        self.act = act

    def upload(self, streams: CheckpointStreamFactory, cancelled: Cancelled) -> StoredState:
        self.act(cancelled)
        return super().upload(streams, cancelled)


def streams() -> StagedStreams:
    return StagedStreams(lambda scope, name: f"{scope}/{name}")


def raising(error: Exception) -> Scripted:
    def act(cancelled: Cancelled) -> None:
        raise error

    return Scripted(act)


def test_what_was_given_up_before_it_began_is_not_uploaded() -> None:
    upload = StateUpload(raising(AssertionError("it was uploaded")))
    assert upload.give_up()
    assert upload.run(streams()) is None


def test_while_it_runs_it_is_not_released_and_hears_that_nobody_waits() -> None:
    began, go_on, heard = Event(), Event(), []

    def act(cancelled: Cancelled) -> None:
        began.set()
        go_on.wait()
        heard.append(cancelled())
        raise CancelledError

    upload = StateUpload(Scripted(act))
    answers: list[StoredState | None] = []
    thread = Thread(target=lambda: answers.append(upload.run(streams())))
    thread.start()
    began.wait()
    assert not upload.give_up()
    go_on.set()
    thread.join()
    assert (heard, answers) == ([True], [None])
    assert upload.give_up()


def test_an_upload_of_what_was_released_fails_as_a_store_does() -> None:
    with pytest.raises(OSError, match="was released"):
        StateUpload(raising(RuntimeError("the snapshot was released."))).run(streams())


def test_whoever_waits_is_answered() -> None:
    assert StateUpload(Scripted(lambda cancelled: None)).run(streams()) == NOTHING


def test_a_subtask_keeps_both_kinds_of_state() -> None:
    keyed, operator = HashMapBackend(CONTEXT), OperatorStateBackend(CONTEXT)
    handler = StateHandler(keyed, operator)
    keyed.table(SUMS).put(2, b"", [(b"k", b"v")], now_ms=0)
    first, second = handler.snapshot(1), handler.snapshot(2)
    assert first is not None
    assert second is not None
    assert handler.open_snapshots == 2
    staged = streams()
    stored = first.upload(staged, lambda: False)
    first.release()
    first.release()
    assert handler.open_snapshots == 1
    assert stored.keyed is not None
    assert stored.operator is not None
    restored = StateHandler(HashMapBackend(CONTEXT), OperatorStateBackend(CONTEXT))
    contents = {path: bytes(file.content) for path, file in staged.files.items()}
    restored.restore((stored.keyed,), (stored.operator,), PreloadedStreams(contents))
    assert restored.stored == {2}


def test_what_a_snapshot_costs_is_told_where_the_backend_tells_it() -> None:
    backend = HashMapBackend(CONTEXT)
    table = backend.table(SUMS)
    taken = StateHandler(backend).snapshot(1)
    assert taken is not None
    table.put(2, b"", [(b"k", b"v"), (b"l", b"v")], now_ms=0)
    kept = taken.kept()
    assert kept is not None
    assert (kept.kept_entries, kept.page_entries) == (2, 1)
    assert StateSnapshot(StateHandler(), None, None).kept() is None


def test_state_that_the_subtask_does_not_have_is_refused() -> None:
    stored = StateHandler(HashMapBackend(CONTEXT)).snapshot(1)
    assert stored is not None
    keyed, _ = stored.upload(streams(), lambda: False)
    assert keyed is not None
    with pytest.raises(ValueError, match="of a kind that the subtask has not"):
        StateHandler().restore((keyed,), (), PreloadedStreams({}))


def test_behind_its_end_a_subtask_hears_of_no_checkpoint() -> None:
    backend = HashMapBackend(CONTEXT)
    handler = StateHandler(backend)
    handler.confirmed(1)
    handler.close()
    handler.confirmed(2)
    handler.aborted(3)
    with pytest.raises(RuntimeError, match="closed"):
        backend.confirmed(2)


STREAM_PATH = "exclusive/a"
STORED = FileReference(STREAM_PATH, 6, crc32(b"abcdef"))


def staged() -> StagedStreams:
    return StagedStreams(lambda scope, name: f"{scope}/{name}")


def commit(streams: StagedStreams, *pieces: bytes) -> FileReference:
    stream = streams.create(Scope.EXCLUSIVE, "a", b"token")
    for piece in pieces:
        stream.write(piece)
    return stream.commit()


def test_a_file_is_there_once_it_is_committed() -> None:
    streams = staged()
    stream = streams.create(Scope.EXCLUSIVE, "a", b"token")
    stream.write(b"abc")
    assert not streams.files
    stream.write(b"def")
    assert stream.commit() == STORED
    assert {path: bytes(file.content) for path, file in streams.files.items()} == {STREAM_PATH: b"abcdef"}


def test_committed_again_it_is_the_same_file() -> None:
    streams = staged()
    assert commit(streams, b"abcdef") == commit(streams, b"abc", b"def") == STORED
    with pytest.raises(FileExistsError, match="other content"):
        commit(streams, b"abcdeg")


def test_of_a_cancelled_file_nothing_is_left() -> None:
    streams = staged()
    stream = streams.create(Scope.EXCLUSIVE, "a", b"token")
    stream.write(b"abc")
    stream.cancel()
    stream.cancel()
    with pytest.raises(RuntimeError, match="cancelled"):
        stream.commit()
    assert not streams.files


def test_what_is_staged_can_be_read_and_given_up() -> None:
    streams = staged()
    commit(streams, b"abcdef")
    assert b"".join(streams.read(STORED, 2, 3)) == b"cde"
    assert streams.delete([STORED]) == ()
    with pytest.raises(FileNotFoundError):
        streams.read(STORED)


def test_a_name_is_one_segment() -> None:
    with pytest.raises(ValueError, match="segment"):
        staged().create(Scope.EXCLUSIVE, "sum[0]", b"")


def test_a_restore_reads_the_whole_or_a_range() -> None:
    streams = PreloadedStreams({STREAM_PATH: b"abcdef"})
    assert b"".join(streams.read(STORED)) == b"abcdef"
    assert b"".join(streams.read(STORED, 1, 0)) == b""
    assert b"".join(streams.read(STORED, 4)) == b"ef"
    with pytest.raises(ValueError, match="not within"):
        streams.read(STORED, 4, 3)


@pytest.mark.parametrize("content", [b"abcdeg", b"abc"])
def test_a_whole_file_that_is_not_what_was_written_is_damaged(content: bytes) -> None:
    with pytest.raises(Damaged):
        PreloadedStreams({STREAM_PATH: content}).read(STORED)


def test_a_restore_finds_only_what_was_read_and_writes_nothing() -> None:
    streams = PreloadedStreams({})
    with pytest.raises(FileNotFoundError):
        streams.read(STORED)
    with pytest.raises(RuntimeError, match="writes no files"):
        streams.create(Scope.SHARED, "a", b"")
    with pytest.raises(RuntimeError, match="deletes no files"):
        streams.delete([STORED])
