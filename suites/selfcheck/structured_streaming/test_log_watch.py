"""What a run records of the checkpoints of a query."""

from __future__ import annotations

from pathlib import Path

from holdfast.fixtures.pipelines.output.files import LocalFiles
from holdfast.fixtures.systems.structured_streaming.checkpoint_log import CheckpointLog, FileNotes
from holdfast.fixtures.systems.structured_streaming.log_watch import LogWatch
from holdfast.harness.adapter.recorder import SOURCE, Recorder
from holdfast.harness.model.events import CheckpointCompleted, CheckpointTriggered, SourceEmitted
from holdfast.suites.selfcheck.structured_streaming.spark_files import committed, planned


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
