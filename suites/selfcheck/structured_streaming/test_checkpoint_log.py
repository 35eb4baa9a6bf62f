"""Checkpoints, as they are read from the folder of a query."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.fixtures.pipelines.output.files import LocalFiles
from holdfast.fixtures.systems.structured_streaming.checkpoint_log import CheckpointLog, FileNotes, LogWatch, TopicNotes
from holdfast.harness.adapter.recorder import SOURCE, Recorder
from holdfast.harness.model.events import CheckpointCompleted, CheckpointTriggered, SourceEmitted
from holdfast.suites.selfcheck.structured_streaming.spark_files import committed, planned


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "checkpoint"


@pytest.fixture
def log(tmp_path: Path) -> CheckpointLog:
    return CheckpointLog(LocalFiles(tmp_path), "checkpoint", FileNotes(lambda name: (int(name), 2 * int(name))), (0, 0))


def seen(log: CheckpointLog) -> list[tuple[str, int]]:
    events = list(log.poll())
    assert all(isinstance(event, CheckpointTriggered | CheckpointCompleted) for event in events)
    return [
        ("completed" if isinstance(event, CheckpointCompleted) else "triggered", event.checkpoint)  # type: ignore[attr-defined]
        for event in events
    ]


def test_a_query_that_has_not_begun(log: CheckpointLog) -> None:
    assert seen(log) == []
    assert (log.committed, log.planned, log.positions) == (None, None, (0, 0))


def test_a_batch_is_triggered_then_completed_once(log: CheckpointLog, folder: Path) -> None:
    planned(folder, 0, ["3"])
    assert seen(log) == [("triggered", 1)]
    assert seen(log) == []
    committed(folder, 0)
    assert seen(log) == [("completed", 1)]
    assert seen(log) == []
    assert (log.committed, log.positions) == (0, (3, 6))


def test_what_happened_between_two_polls_is_told_in_order(log: CheckpointLog, folder: Path) -> None:
    for batch in range(2):
        planned(folder, batch, [str(batch + 1)])
        committed(folder, batch)
    planned(folder, 2, ["4", "5"])
    assert seen(log) == [("triggered", 1), ("triggered", 2), ("triggered", 3), ("completed", 1), ("completed", 2)]
    assert log.span(2) == ((2, 4), (5, 10))
    assert log.positions == (2, 4)


def test_an_entry_of_the_source_may_be_compacted(log: CheckpointLog, folder: Path) -> None:
    planned(folder, 9, ["7", "8"], compact=True)
    committed(folder, 9)
    assert seen(log) == [("triggered", 10), ("completed", 10)]
    assert log.positions == (8, 16)


def test_temporary_files_and_checksums_are_no_entries(log: CheckpointLog, folder: Path) -> None:
    planned(folder, 0, ["1"])
    (folder / "offsets" / ".1.3f2a.tmp").touch()
    (folder / "offsets" / ".0.crc").touch()
    assert seen(log) == [("triggered", 1)]


def test_a_commit_that_is_taken_back_completes_again(log: CheckpointLog, folder: Path) -> None:
    for batch in range(2):
        planned(folder, batch, [str(batch + 1)])
        committed(folder, batch)
    seen(log)
    (folder / "commits" / ".1.crc").touch()
    log.take_back()
    assert sorted(path.name for path in (folder / "commits").iterdir()) == ["0"]
    assert log.committed == 0
    assert seen(log) == []
    committed(folder, 1)
    assert seen(log) == [("completed", 2)]


def test_nothing_can_be_taken_back_before_the_first_commit(log: CheckpointLog) -> None:
    with pytest.raises(OSError, match="no micro-batch was committed yet"):
        log.take_back()


def test_a_commit_is_not_taken_back_in_front_of_a_batch_that_is_not_finished(log: CheckpointLog, folder: Path) -> None:
    """Spark goes on from the last batch that it has planned: the one before would not run again."""
    for batch in range(2):
        planned(folder, batch, [str(batch + 1)])
    committed(folder, 0)
    seen(log)
    with pytest.raises(OSError, match="micro-batch 1 is not finished, so that micro-batch 0 would not run again"):
        log.take_back()
    assert [path.name for path in (folder / "commits").iterdir()] == ["0"]


def test_the_telling_batches_are_those_that_input_tells_apart_and_spark_still_keeps(
    log: CheckpointLog, folder: Path
) -> None:
    for batch, files in enumerate(["1", "2", "2", "3", "3", "3"]):
        planned(folder, batch, [files])
        committed(folder, batch)
    planned(folder, 6, ["4"])
    assert log.telling(limit=3, retained=100) == ()
    seen(log)
    assert log.telling(limit=9, retained=100) == (0, 2, 5)
    assert log.telling(limit=2, retained=100) == (2, 5)
    assert log.telling(limit=9, retained=4) == (2, 5)
    assert log.telling(limit=9, retained=1) == (5,)


def test_batches_behind_restarts_tell_more_than_old_ones(log: CheckpointLog, folder: Path) -> None:
    log.restarted()  # Nothing is committed yet: nothing is restored.
    for batch in range(20):
        planned(folder, batch, [str(batch)])
        committed(folder, batch)
        seen(log)
        if batch in {2, 6}:
            log.restarted()
    assert log.telling(limit=8, retained=100) == (3, 4, 7, 8, 16, 17, 18, 19)
    assert log.telling(limit=4, retained=100) == (7, 8, 18, 19)
    assert log.telling(limit=8, retained=12) == (8, *range(13, 20))
    assert log.telling(limit=1, retained=100) == (19,)


def test_the_watermark_that_a_batch_runs_at_is_told_and_tells_batches_apart(log: CheckpointLog, folder: Path) -> None:
    for batch, (files, watermark_ms) in enumerate([("1", 0), ("1", 0), ("1", 500), ("2", 500)]):
        planned(folder, batch, [files], watermark_ms=watermark_ms)
        committed(folder, batch)
    watermarks_ms = [event.watermark_ms for event in log.poll() if isinstance(event, CheckpointCompleted)]
    assert watermarks_ms == [0, 0, 500, 500]
    assert log.telling(limit=9, retained=100) == (1, 2, 3)


def test_of_a_topic_messages_behind_the_last_record_do_not_count(tmp_path: Path) -> None:
    notes = TopicNotes((5, 3))
    assert notes.positions(LocalFiles(tmp_path), "checkpoint", 0, {"topic": {"0": 4, "1": 3}}) == (4, 3)
    assert notes.positions(LocalFiles(tmp_path), "checkpoint", 0, {"topic": {"0": 9, "1": 3}}) == (5, 3)


def test_what_a_micro_batch_reads_and_that_it_is_done_again(tmp_path: Path) -> None:
    files, recorder, driver = LocalFiles(tmp_path), Recorder(), ["coordinator.0"]
    log = CheckpointLog(files, "checkpoint", FileNotes(lambda name: (int(name[-1]), 3)), (0, 0))
    watch = LogWatch(log, "source[0]", recorder, lambda: driver[0])
    planned(tmp_path / "checkpoint", 0, ["part-5"])
    committed(tmp_path / "checkpoint", 0)
    watch.look()
    driver[0] = "coordinator.1"
    log.take_back()
    committed(tmp_path / "checkpoint", 0)
    watch.record()
    assert watch.commits == 2
    read = [event for event in recorder.nodes[SOURCE] if isinstance(event, SourceEmitted)]
    assert [(event.partition, event.first_offset, event.next_offset) for event in read] == [(0, 0, 5), (1, 0, 3)]
    assert [type(event) for event in recorder.nodes["coordinator.0"]] == [CheckpointTriggered, CheckpointCompleted]
    assert [type(event) for event in recorder.nodes["coordinator.1"]] == [CheckpointCompleted]
