"""What sources note in the log of a query: forms that are known, and any other, which is taken as it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.fixtures.pipelines.rows.row_form import EVENT_START_MS
from holdfast.fixtures.systems.structured_streaming.checkpoint_log import (
    LEAST_STILL_MS,
    STILL_TRIGGERS,
    CheckpointLog,
    LogWatch,
    Rest,
)
from holdfast.fixtures.systems.structured_streaming.positions import OPAQUE, FileNotes, SourceNotes, TopicNotes
from holdfast.harness.adapter.recorder import SOURCE, Recorder
from holdfast.harness.model.events import CheckpointCompleted, CheckpointTriggered, SourceEmitted

INPUT = {"part-000000.json": (2, 1), "part-000001.json": (5, 3)}
NOTHING = (0, 0)
OF_FILES: SourceNotes = FileNotes(lambda name: INPUT.get(name, OPAQUE))
OF_A_TOPIC: SourceNotes = TopicNotes("input", (5, 3))
DELTA = '{"sourceVersion":1,"reservoirId":"4c2a","reservoirVersion":3,"index":-1,"isStartingVersion":false}'
ICEBERG = '{"version":1,"snapshot_id":7071,"position":4,"scan_all_files":false}'


class Written:
    """Files of a query, by hand."""

    look_interval_ms = 0

    def __init__(self) -> None:
        self.content: dict[str, bytes] = {}

    def tree(self, folder: str) -> Mapping[str, tuple[int, ...]]:
        return {path.removeprefix(f"{folder}/"): () for path in self.content if path.startswith(f"{folder}/")}

    def read(self, path: str) -> bytes:
        if path not in self.content:
            raise FileNotFoundError(path)
        return self.content[path]

    def write(self, path: str, content: bytes) -> None:
        self.content[path] = content

    def delete(self, path: str) -> None:
        self.content.pop(path, None)

    def uri(self, path: str) -> str:
        return f"file:///{path}"

    def planned(self, batch: int, *lines: str, watermark_ms: int = 0) -> None:
        """A micro-batch has begun; `lines`: what its sources note."""
        metadata = json.dumps({"batchWatermarkMs": EVENT_START_MS + watermark_ms})
        self.write(f"checkpoint/offsets/{batch}", "\n".join(["v1", metadata, *lines]).encode())

    def committed(self, batch: int) -> None:
        """It is done."""
        self.write(f"checkpoint/commits/{batch}", b"v1\n{}")

    def logged(self, source: int, entry: int, *names: str) -> str:
        """The log of a file source names some files; what the source notes then."""
        paths = [json.dumps({"path": f"file:///somewhere/{name}"}) for name in names]
        self.write(f"checkpoint/sources/{source}/{entry}", "\n".join(["v1", *paths]).encode())
        return json.dumps({"logOffset": entry})


@pytest.fixture
def files() -> Written:
    return Written()


def log_of(files: Written, notes: SourceNotes = OF_FILES) -> CheckpointLog:
    return CheckpointLog(files, "checkpoint", notes, NOTHING)


def read(files: Written, *lines: str, notes: SourceNotes = OF_FILES) -> tuple[int, ...]:
    """The positions of a micro-batch that is begun and done."""
    files.planned(0, *lines, watermark_ms=70)
    files.committed(0)
    log = log_of(files, notes)
    triggered, completed = log.poll()
    assert isinstance(triggered, CheckpointTriggered)
    assert isinstance(completed, CheckpointCompleted)
    assert completed.watermark_ms == 70
    assert (completed.positions, log.opaque) == (log.positions, log.positions == OPAQUE)
    assert log.with_input == (log.positions != NOTHING)
    return log.positions


@pytest.mark.parametrize("notes", [OF_FILES, OF_A_TOPIC], ids=["files", "topic"])
@pytest.mark.parametrize(
    "offset",
    [
        '{"line": 7}', "7", '"7"', "null", "true", "[]", "{}", "[1, 2]", DELTA, ICEBERG,
        '{"logOffset": 3}', '{"logOffset": "0"}', '{"logOffset": -1}', f'{{"logOffset": {"9" * 400}}}',
        '{"input": null}', '{"input": {"0": 4}}', '{"input": {"0": 4, "1": "3"}}', '{"input": {"0": 4, "1": true}}',
        '{"others": {"0": 4, "1": 3}}', '{"logOffset"', "no JSON", "[" * 100_000, "9" * 10_000,
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else None,
)  # fmt: skip
def test_any_other_form_is_opaque(files: Written, notes: SourceNotes, offset: str) -> None:
    assert read(files, offset, notes=notes) == OPAQUE


def test_files_of_the_input_are_known_and_no_others(files: Written) -> None:
    assert read(files, files.logged(0, 1, "part-000000.json", "part-000001.json")) == (5, 3)
    assert read(files, files.logged(0, 2, "part-000000.json", "part-00000-4c2a.json")) == OPAQUE
    assert read(files, files.logged(0, 3)) == OPAQUE


@pytest.mark.parametrize(
    "entry", [b"", b"v1", b"v1\nno JSON", b"v1\n7", b'v1\n{"path": 7}', b'v1\n{"file": ""}', b"\xff"]
)
def test_an_entry_of_a_log_that_names_nothing_is_opaque(files: Written, entry: bytes) -> None:
    files.write("checkpoint/sources/0/0", entry)
    assert read(files, '{"logOffset": 0}') == OPAQUE


def test_of_a_source_that_reads_several_topics_the_input_counts(files: Written) -> None:
    assert read(files, '{"others": {"0": 9}, "input": {"0": 4, "1": 9, "2": 1}}', notes=OF_A_TOPIC) == (4, 3)


def test_beside_a_source_of_another_form_nothing_is_known(files: Written) -> None:
    known = files.logged(1, 0, "part-000001.json")
    assert read(files, '{"line": 7}', known) == OPAQUE
    assert read(files, "-", known) == NOTHING, "a source that has nothing yet has read nothing"
    assert read(files, known, known) == (5, 3), "one source that is read twice has one log"


@pytest.mark.parametrize("content", [b"", b"v1", b"v1\n", b"v1\n7\n7", b"v2\n{}\n{}", b"\xff\xfe"])
def test_an_entry_that_says_nothing_is_opaque_too(files: Written, content: bytes) -> None:
    files.write("checkpoint/offsets/0", content)
    log = log_of(files)
    assert [type(event) for event in log.poll()] == [CheckpointTriggered]
    files.committed(0)
    [completed] = log.poll()
    assert isinstance(completed, CheckpointCompleted)
    assert (completed.positions, completed.watermark_ms) == (OPAQUE, 0)


_NAMES = st.sampled_from(["logOffset", "input", "0", "1", "line", "batchWatermarkMs"])
_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(_NAMES, inner),
    max_leaves=8,
)


@given(values=st.lists(_VALUES, max_size=4), notes=st.sampled_from([OF_FILES, OF_A_TOPIC]))
def test_no_value_is_one_that_the_log_cannot_take(values: list[Any], notes: SourceNotes) -> None:
    files = Written()
    files.logged(0, 0, "part-000000.json")
    files.write("checkpoint/offsets/0", "\n".join(["v1", *map(json.dumps, values)]).encode())
    files.committed(0)
    assert [type(event) for event in log_of(files, notes).poll()] == [CheckpointTriggered, CheckpointCompleted]


@given(content=st.binary() | st.text().map(str.encode), entry=st.binary())
def test_no_bytes_are_some_that_the_log_cannot_take(content: bytes, entry: bytes) -> None:
    files = Written()
    files.write("checkpoint/sources/0/0", entry)
    for batch, written in enumerate([content, b"v1\n" + content, b"v1\n{}\n" + content, b'v1\n{}\n{"logOffset":0}']):
        files.write(f"checkpoint/offsets/{batch}", written)
        files.committed(batch)
    assert len(list(log_of(files).poll())) == 8


def test_what_is_opaque_is_compared_and_the_order_of_keys_says_nothing(files: Written) -> None:
    for batch, line in enumerate(['{"a": 1, "b": 2}', '{"b": 2, "a": 1}', '{"b": 2, "a": 2}']):
        files.planned(batch, line)
        files.committed(batch)
    log = log_of(files)
    assert len(list(log.poll())) == 6
    assert log.with_input == 2
    assert log.telling(limit=9, retained=100) == (1, 2)


def test_beside_what_is_opaque_files_without_records_are_nothing_new(files: Written) -> None:
    for batch, name in enumerate(["part-000000.json", "part-000000.json", "part-000001.json"]):
        files.planned(batch, '{"line": 7}', files.logged(1, batch, name))
        files.committed(batch)
    log = log_of(files)
    assert len(list(log.poll())) == 6
    assert log.with_input == 2


def test_no_record_is_said_to_be_read_where_nobody_knows(files: Written) -> None:
    recorder = Recorder()
    watch = LogWatch(log_of(files), "source[0]", recorder, lambda: "coordinator.0")
    files.planned(0, files.logged(0, 0, "part-000000.json"))
    files.planned(1, '{"line": 7}')
    files.planned(2, files.logged(0, 2, "part-000001.json"))
    watch.record()
    read = [event for event in recorder.nodes[SOURCE] if isinstance(event, SourceEmitted)]
    assert [(event.partition, event.first_offset, event.next_offset) for event in read] == [(0, 0, 2), (1, 0, 1)]


class Resting:
    """A query whose positions nobody knows.

    Args:
        trigger_ms: how often a micro-batch begins.
    """

    def __init__(self, trigger_ms: int = 100) -> None:
        self.files = Written()
        self._log = log_of(self.files)
        self.rest = Rest(self._log, trigger_ms)

    def see(self, now_ms: float, *, fed: bool = True) -> None:
        """A look, at a time of the run."""
        list(self._log.poll())
        self.rest.look(now_ms, fed=fed)

    def batch(self, number: int, line: str) -> None:
        """One that is begun and done."""
        self.files.planned(number, line)
        self.files.committed(number)


def test_a_query_is_at_rest_when_it_has_read_nothing_new_for_a_while() -> None:
    query = Resting()
    query.batch(0, '{"line": 3}')
    query.see(0)
    assert not query.rest.reached(LEAST_STILL_MS - 1)
    query.see(LEAST_STILL_MS)
    assert query.rest.reached(LEAST_STILL_MS)


def test_a_micro_batch_that_reads_nothing_new_ends_no_rest() -> None:
    query = Resting()
    query.batch(0, '{"line": 3}')
    query.see(0)
    query.batch(1, '{"line": 3}')
    query.see(LEAST_STILL_MS)
    assert query.rest.reached(LEAST_STILL_MS)


def test_a_query_that_reads_is_not_at_rest_before_its_commit_nor_right_behind_it() -> None:
    query = Resting()
    query.batch(0, '{"line": 3}')
    query.see(0)
    query.files.planned(1, '{"line": 4}')
    query.see(10)
    assert not query.rest.reached(10 + 10 * LEAST_STILL_MS)
    query.files.committed(1)
    query.see(20)
    assert not query.rest.reached(19 + LEAST_STILL_MS)
    assert query.rest.reached(20 + LEAST_STILL_MS)


def test_a_query_that_does_not_run_or_lacks_input_is_not_at_rest() -> None:
    query = Resting()
    query.see(0)
    assert not query.rest.reached(LEAST_STILL_MS), "it has committed nothing"
    query.batch(0, '{"line": 3}')
    query.see(0, fed=False)
    assert not query.rest.reached(LEAST_STILL_MS)
    query.see(LEAST_STILL_MS)
    assert not query.rest.reached(2 * LEAST_STILL_MS - 1), "what came last has had no time to be read"
    assert query.rest.reached(2 * LEAST_STILL_MS)


def test_where_micro_batches_are_rare_a_query_is_waited_for_longer() -> None:
    query = Resting(trigger_ms=10 * LEAST_STILL_MS)
    query.batch(0, '{"line": 3}')
    query.see(0)
    assert not query.rest.reached(10 * LEAST_STILL_MS)
    assert query.rest.reached(STILL_TRIGGERS * 10 * LEAST_STILL_MS)
