"""Checkpoints in a folder, and a savepoint of which nobody knows where it is."""

from __future__ import annotations

from pathlib import Path

from holdfast.fixtures.systems.flink.job_log import Dated
from holdfast.fixtures.systems.flink.log import Line
from holdfast.fixtures.systems.flink.master_log import MasterLog
from holdfast.fixtures.systems.flink.stored import StoredCheckpoints
from holdfast.harness.model.events import FileReference, SavepointCompleted

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
