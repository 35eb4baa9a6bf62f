"""Files under Flink's checkpoints: which are found, damaged and put back, and what is ordered of the file system."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.fixtures.host.kept_file import KeptFile, keep
from holdfast.fixtures.systems.flink import stored
from holdfast.fixtures.systems.flink.job_log import Dated
from holdfast.fixtures.systems.flink.log import Line
from holdfast.fixtures.systems.flink.master_log import MasterLog
from holdfast.fixtures.systems.flink.orders import (
    OF_STORAGE,
    PUBLISH,
    WRITE,
    Orders,
    SlowTasks,
    parse_obeyed_order,
    subtask_in,
    unsupported,
)
from holdfast.fixtures.systems.flink.stored import DamagedCheckpoint, StoredCheckpoints
from holdfast.harness.model.events import (
    Event,
    FileReference,
    ObjectDamaged,
    ObjectMended,
    SavepointCompleted,
    StorageFailed,
    StorageSlowed,
)
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Plan, WorkloadSpec
from holdfast.harness.model.target import Role, Target
from holdfast.harness.spi.controls.process import TargetAbsent

OLDER, NEWEST, UNFINISHED = 9, 10, 11


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two checkpoints, and one that has no metadata yet."""
    for checkpoint in (OLDER, NEWEST, UNFINISHED):
        place = tmp_path / "job" / f"chk-{checkpoint}"
        place.mkdir(parents=True)
        (place / "a").write_bytes(b"0123456789")
        if checkpoint != UNFINISHED:
            (place / "_metadata").write_bytes(b"m")
    return tmp_path


def of(folder: Path, recorded: list[Event]) -> DamagedCheckpoint:
    return DamagedCheckpoint(
        lambda: StoredCheckpoints(folder, folder / "savepoints", "job"),
        lambda event, at_ns: recorded.append(event),
        lambda what: None,
    )


@pytest.mark.parametrize(("way", "left"), [("remove", None), ("truncate", b"01234")])
def test_the_newest_is_damaged_and_mended(folder: Path, way: str, left: bytes | None) -> None:
    recorded: list[Event] = []
    damaged, path = of(folder, recorded), folder / "job" / f"chk-{NEWEST}" / "a"
    damaged.damage("state", way)
    assert (path.read_bytes() if path.exists() else None) == left
    assert not damaged.mended()
    [event] = recorded
    assert isinstance(event, ObjectDamaged)
    assert (event.checkpoint, event.published, event.length) == (NEWEST, (OLDER, NEWEST), 10)
    assert event.left == (None if left is None else len(left))
    with pytest.raises(OSError, match="damaged already"):
        damaged.damage("state", way)
    damaged.mend()
    damaged.mend()
    assert path.read_bytes() == b"0123456789"
    assert damaged.mended()
    assert recorded[1:] == [ObjectMended(path=str(path), length=10)]


def test_of_a_checkpoint_that_is_gone_nothing_is_put_back(folder: Path) -> None:
    recorded: list[Event] = []
    damaged, place = of(folder, recorded), folder / "job" / f"chk-{NEWEST}"
    damaged.damage("state", "remove")
    (place / "_metadata").unlink()
    place.rmdir()
    damaged.mend()
    assert not place.exists()
    assert recorded[1:] == [ObjectMended(path=str(place / "a"), length=None)]


def test_what_nobody_reads_again_or_cannot_notice_is_no_damage(folder: Path) -> None:
    for part, way in (("metadata", "remove"), ("state", "flip")):
        with pytest.raises(TargetAbsent, match="is unknown"):
            of(folder, []).damage(part, way)


def test_without_a_checkpoint_nothing_is_damaged(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no checkpoint is stored yet"):
        of(tmp_path, []).damage("state", "remove")


@pytest.mark.parametrize("way", ["remove", "truncate"])
def test_a_file_that_flink_deletes_meanwhile_is_not_damaged(
    folder: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The event would excuse what Flink itself has lost."""
    recorded: list[Event] = []
    damaged, path = of(folder, recorded), folder / "job" / f"chk-{NEWEST}" / "a"

    def keep_and_delete(path: Path) -> KeptFile:
        kept = keep(path)
        path.unlink()
        return kept

    monkeypatch.setattr(stored, "keep", keep_and_delete)
    with pytest.raises(FileNotFoundError):
        damaged.damage("state", way)
    assert not recorded
    assert not path.exists()
    assert damaged.mended()


JOB = "70ef2f4c6ca3df65e5942306612d1ef9"
COORDINATOR, STATISTICS = "org.CheckpointCoordinator", "org.CheckpointStatsTracker"


def reads_nothing_else(folder: Path) -> tuple[FileReference, ...]:
    """As of objects: what is not below the folder of a run is no place there."""
    folder.relative_to("/run")
    return (FileReference(f"{folder}/_metadata", 1, 0),)


def completed(*before: tuple[str, str]) -> tuple[MasterLog, SavepointCompleted]:
    stored = StoredCheckpoints(Path("/run/checkpoints"), Path("/run/savepoints"), JOB, reads_nothing_else)
    master = MasterLog(JOB, stored)
    lines = (
        (
            COORDINATOR,
            f"Triggering checkpoint 4 (type=SavepointType{{name='Savepoint', formatType=CANONICAL}}) @ 1795 "
            f"for job {JOB}.",
        ),
        *before,
        (COORDINATOR, f"Completed checkpoint 4 for job {JOB} (7739 bytes, checkpointDuration=1525 ms)."),
    )
    events = [event for c, m in lines for event in master.events(Line(t=0.0, c=c, m=m))]
    shown = [event.event for event in events if isinstance(event, Dated)]
    [found] = [event for event in shown if isinstance(event, SavepointCompleted)]
    return master, found


def test_a_savepoint_without_a_path_has_no_files_and_is_none_to_go_on_from() -> None:
    master, found = completed()
    assert (found.path, found.files) == ("", ())
    assert master.left is None


def test_a_savepoint_with_a_path_has_both() -> None:
    named = f'CheckpointStatistics (for jobID={JOB}, checkpointId=4) = {{"external_path":"file:/run/savepoints/s-1"}}'
    master, found = completed((STATISTICS, named))
    assert master.left == (4, "/run/savepoints/s-1/_metadata")
    assert [file.path for file in found.files] == ["/run/savepoints/s-1/_metadata"]


def test_nothing_is_read_of_an_unknown_place() -> None:
    assert StoredCheckpoints(Path("/a"), Path("/b"), JOB, reads_nothing_else).files("") == ()


def test_a_file_is_listed_once_however_often_its_folder_was_requested(tmp_path: Path) -> None:
    (tmp_path / "s" / "inner").mkdir(parents=True)
    (tmp_path / "s" / "inner" / "_metadata").write_bytes(b"m")
    stored = StoredCheckpoints(tmp_path / "c", tmp_path / "s", JOB)
    stored.request(tmp_path / "s" / "inner")
    stored.request(tmp_path / "s" / "inner")
    stored.request(None)
    assert stored.savepoints == f"{tmp_path / 's'}/"
    assert [file.path for file in stored.listed()] == [str(tmp_path / "s" / "inner" / "_metadata")]


def test_each_order_is_for_one_call_or_for_all_and_undone_by_itself(tmp_path: Path) -> None:
    folder = tmp_path / "orders"
    orders = Orders(folder)
    orders.fail(WRITE, 2, after_effect=False)
    orders.slow(PUBLISH, 200, 0)
    assert sorted(path.name for path in folder.iterdir()) == [
        f"{PUBLISH}.200.all-2",
        f"{WRITE}.fail.0",
        f"{WRITE}.fail.1",
    ]
    (folder / f"{WRITE}.fail.0").unlink()  # As a call that obeys.
    assert not orders.whole(WRITE)
    orders.restore(WRITE)
    assert orders.whole(WRITE)
    assert not orders.whole(PUBLISH, delay_ms=200)
    orders.restore(PUBLISH, delay_ms=200)
    orders.restore(PUBLISH, delay_ms=200)
    assert not list(folder.iterdir())


def test_equal_orders_for_all_calls_that_overlap_are_undone_one_by_one(tmp_path: Path) -> None:
    folder = tmp_path / "orders"
    orders = Orders(folder)
    for _ in range(2):
        orders.slow(PUBLISH, 200, 0)
    orders.restore(PUBLISH, delay_ms=200)
    assert len(list(folder.iterdir())) == 1
    assert not orders.whole(PUBLISH, delay_ms=200)
    orders.restore(PUBLISH, delay_ms=200)
    assert not list(folder.iterdir())


@pytest.mark.parametrize(("given", "name"), [((True, False), "after_effect"), ((False, True), "answer_lost")])
def test_a_parameter_that_it_does_not_have_is_named(given: tuple[bool, bool], name: str) -> None:
    problem = unsupported(WRITE, after_effect=given[0], answer_lost=given[1])
    assert problem.startswith(f"{name} is 1: Flink's storage")


@pytest.mark.parametrize(("operation", "after_effect"), [("pre-commit", False), (WRITE, True)])
def test_what_it_cannot_do_is_not_done(tmp_path: Path, operation: str, after_effect: bool) -> None:
    orders = Orders(tmp_path / "orders")
    with pytest.raises(TargetAbsent, match="Flink's storage"):
        orders.fail(operation, 1, after_effect=after_effect)
    assert orders.whole(operation)


def test_a_line_is_a_refusal_or_a_delay() -> None:
    path = "/run/checkpoints/70ef/chk-12/a0b1"
    refused = parse_obeyed_order(Line(t=0.0, c=OF_STORAGE, m=f"{WRITE} fail {path}"))
    assert isinstance(refused, StorageFailed)
    assert (refused.operation, refused.path, refused.checkpoint, refused.injected) == (WRITE, path, 12, True)
    slowed = parse_obeyed_order(Line(t=0.0, c=OF_STORAGE, m=f"{WRITE} 300 {path}"))
    assert isinstance(slowed, StorageSlowed)
    assert slowed.delay_ms == 300
    with pytest.raises(ValueError, match="writes 'nonsense'"):
        parse_obeyed_order(Line(t=0.0, c=OF_STORAGE, m="nonsense"))


def test_a_sum_is_slow_by_an_order_of_its_own_and_nothing_else_is(tmp_path: Path) -> None:
    tasks = SlowTasks(Orders(tmp_path / "orders"), Plan(job=KEYED_SUM, workload=WorkloadSpec("synthetic")))
    sum_1 = Target(Role.TASK, 3)
    tasks.slow(sum_1, 50)
    assert [path.name for path in (tmp_path / "orders").iterdir()] == ["process-sum[1].50.all-0"]
    assert not tasks.whole(sum_1, 50)
    tasks.restore(sum_1, 50)
    assert tasks.whole(sum_1, 50)
    assert not list((tmp_path / "orders").iterdir())
    with pytest.raises(TargetAbsent, match="operators by key alone can be slow"):
        tasks.slow(Target(Role.TASK, 0), 50)
    reported = parse_obeyed_order(Line(t=0.0, c=OF_STORAGE, m="process-sum[1] 50 sum[1]"))
    assert isinstance(reported, StorageSlowed)
    assert (subtask_in(reported), reported.delay_ms) == ("sum[1]", 50)
