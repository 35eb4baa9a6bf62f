"""The one list of what was seen of a job and where somebody looked."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.fixtures.pipelines.output.files import LocalFiles
from holdfast.fixtures.systems.structured_streaming.checkpoint_log import CheckpointLog
from holdfast.fixtures.systems.structured_streaming.positions import FileNotes
from holdfast.fixtures.systems.structured_streaming.seen import progress, rows_in_words, seen


@pytest.mark.parametrize(
    ("begun", "done", "words"),
    [
        ((), (), "has no micro-batch in offsets"),
        ((0,), (), "has micro-batches 0 in offsets, none in commits"),
        (range(6), range(5), "has micro-batches 0 to 5 in offsets, those of 0 to 4 in commits"),
        ((0, 1, 3), (0, 3), "has micro-batches 0 to 1, 3 in offsets, those of 0, 3 in commits"),
    ],
)
def test_micro_batches_are_told_by_number(begun: range, done: range, words: str) -> None:
    assert progress(begun, done) == words


def test_output_that_was_seen_is_told_in_rows_and_parts() -> None:
    assert rows_in_words(1, 1) == "the output had 1 row in 1 part"
    assert rows_in_words(412, 6) == "the output had 412 rows in 6 parts"


def test_one_list_names_output_checkpoint_and_logs(tmp_path: Path) -> None:
    log = CheckpointLog(LocalFiles(tmp_path), "checkpoint", FileNotes(lambda _: (0,)), (0,))
    looked = seen("folder out has no file", "file:/run/checkpoint", log, "the log of the driver", "")
    assert looked == (
        "folder out has no file",
        "checkpoint folder file:/run/checkpoint has no micro-batch in offsets",
        "no error of the job in the log of the driver",
    )
    failed = seen("", "", log, "the log of the driver", "KeyError: 'EUR' (orders.py, line 7)")
    assert failed[-1] == "the first error in the log of the driver: KeyError: 'EUR' (orders.py, line 7)"
