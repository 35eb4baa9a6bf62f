"""What a dying process would still change, and operations that stand in their middle."""

from __future__ import annotations

import threading

import pytest

from holdfast.fixtures.reference.drivers.simulated.lane import Lane, Stop, on_simulator
from holdfast.fixtures.reference.protocol.storage.files import Files, WatchedFiles
from holdfast.fixtures.reference.protocol.storage.operation import Outcome
from holdfast.fixtures.reference.protocol.storage.storage_world import UNWATCHED, Watched
from holdfast.fixtures.storages.on_disk import Disk, DiskFiles
from holdfast.harness.sim.disk import FileChange, SimulatedDisk
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


def test_an_operation_stands_in_its_middle_and_goes_on() -> None:
    disk, world = SimulatedDisk(), TestWorld()

    def stage() -> Outcome:
        files_on(disk, world).publish(PATH, CONTENT)
        return ()

    lane = Lane(stage)
    world.hold = lane.hold
    assert lane.go_on() is Stop.MIDDLE
    assert disk.files == {UPLOAD: CONTENT[:4]}
    assert lane.go_on() == ()
    assert disk.files == {PATH: CONTENT}


def test_a_held_operation_of_a_dead_process_ends_on_a_copy() -> None:
    disk, world = SimulatedDisk(), TestWorld()

    def stage() -> Outcome:
        files_on(disk, world).publish(PATH, CONTENT)
        return ()

    before = threading.active_count()
    lane = Lane(stage)
    world.hold = lane.hold
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
