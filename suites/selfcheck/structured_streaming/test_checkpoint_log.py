"""Checkpoints of a query, read from its folder: damage that is put back, retention, and the audit of state."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

import msgspec
import pytest

from holdfast.fixtures.pipelines.output.files import LocalFiles
from holdfast.fixtures.pipelines.rows.row_form import FIRST_WINDOW
from holdfast.fixtures.systems.structured_streaming.checkpoint_log import (
    CheckpointLog,
    DamagedFiles,
    LogWatch,
)
from holdfast.fixtures.systems.structured_streaming.controls import TopicRetention
from holdfast.fixtures.systems.structured_streaming.fetched_results import audit
from holdfast.fixtures.systems.structured_streaming.messages import Command, PartState, ReadState, Report, StateRead
from holdfast.fixtures.systems.structured_streaming.positions import OPAQUE, FileNotes, TopicNotes
from holdfast.fixtures.systems.structured_streaming.session import Session
from holdfast.fixtures.systems.structured_streaming.system import StructuredStreaming
from holdfast.harness.adapter.recorder import SOURCE, Recorder
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import (
    CheckpointAudited,
    CheckpointCompleted,
    CheckpointTriggered,
    Event,
    InputTruncated,
    ObjectDamaged,
    ObjectMended,
    SourceEmitted,
    StateSummary,
    SubtaskAudited,
)
from holdfast.harness.model.job import Vertex, VertexKind
from holdfast.harness.model.jobs import FORWARD
from holdfast.harness.model.plan import FaultSpec, Plan, WorkloadSpec
from holdfast.harness.model.records import WindowRow
from holdfast.harness.model.target import SOURCE_SYSTEM
from holdfast.harness.spi.controls.process import TargetAbsent
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
    notes = TopicNotes("topic", (5, 3))
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


STATE = b"0123456789"


class Checkpoint:
    """Of two micro-batches with a commit and one without, with state of each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "checkpoint"
        for batch in range(3):
            planned(self.folder, batch, [f"part-{batch}"])
            self.write(f"state/0/0/{batch + 1}.delta", STATE)
        for batch in range(2):
            committed(self.folder, batch)
        self.write("metadata", b"id")
        self.recorded: list[Event] = []
        files = LocalFiles(folder)
        self.log = CheckpointLog(files, "checkpoint", FileNotes(lambda name: (1,)), (0,))
        list(self.log.poll())
        self.damages = DamagedFiles(
            files, "checkpoint", self.log, lambda event, at_ns: self.recorded.append(event), lambda what: None
        )

    def write(self, path: str, content: bytes) -> None:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_bytes(content)

    def read(self, path: str) -> bytes | None:
        found = self.folder / path
        return found.read_bytes() if found.exists() else None


@pytest.mark.parametrize(
    ("part", "way", "path"),
    [
        ("metadata", "remove", "offsets/1"),
        ("metadata", "truncate", "offsets/1"),
        ("metadata", "flip", "offsets/1"),
        ("commit", "truncate", "commits/1"),
        ("commit", "flip", "commits/1"),
        ("state", "remove", "state/0/0/2.delta"),
        ("state", "flip", "state/0/0/2.delta"),
    ],
)
def test_a_file_of_the_last_commit_is_damaged_and_put_back(part: str, way: str, path: str, tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path)
    whole = checkpoint.read(path)
    assert whole is not None
    checkpoint.damages.damage(part, way)
    left = checkpoint.read(path)
    assert left != whole
    assert checkpoint.damages.acts
    if way == "flip":
        assert left is not None
        assert sum(one != other for one, other in zip(left, whole, strict=True)) == 1
    [damaged] = checkpoint.recorded
    assert isinstance(damaged, ObjectDamaged)
    assert (damaged.path, damaged.checkpoint, damaged.published) == (f"checkpoint/{path}", 2, (1, 2))
    assert (damaged.length, damaged.left) == (len(whole), None if left is None else len(left))
    checkpoint.damages.mend()
    assert checkpoint.read(path) == left, "nobody has read it yet"
    checkpoint.damages.notice()
    checkpoint.damages.tend()
    assert checkpoint.damages.mended()
    assert checkpoint.read(path) == whole
    checkpoint.damages.mend()
    assert [type(event) for event in checkpoint.recorded] == [ObjectDamaged, ObjectMended]


@pytest.mark.parametrize(("changed", "content"), [("metadata", b"of a query that began anew"), ("offsets/1", b"newer")])
def test_what_others_have_written_since_stays(changed: str, content: bytes, tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path)
    checkpoint.damages.damage("metadata", "truncate")
    left = checkpoint.read("offsets/1")
    checkpoint.write(changed, content)
    checkpoint.damages.notice()
    checkpoint.damages.mend()
    assert checkpoint.read("offsets/1") == (content if changed == "offsets/1" else left)
    mended = checkpoint.recorded[-1]
    assert isinstance(mended, ObjectMended)
    assert mended.length is None


def test_a_newer_commit_is_no_longer_waited_for(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path)
    checkpoint.damages.damage("metadata", "truncate")
    committed(checkpoint.folder, 2)
    list(checkpoint.log.poll())
    checkpoint.damages.tend()
    assert checkpoint.damages.acts, "the fault is not over"
    checkpoint.damages.mend()
    assert checkpoint.damages.mended()


def test_what_cannot_be_damaged_is_named(tmp_path: Path) -> None:
    damages = Checkpoint(tmp_path).damages
    with pytest.raises(ValueError, match="to remove a commit is the fault replay"):
        damages.damage("commit", "remove")
    with pytest.raises(ValueError, match="burn metadata is unknown"):
        damages.damage("metadata", "burn")
    damages.damage("state", "remove")
    with pytest.raises(OSError, match="a file is damaged already"):
        damages.damage("state", "remove")


def test_where_there_is_no_state(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path)
    for each in (checkpoint.folder / "state" / "0" / "0").iterdir():
        each.unlink()
    with pytest.raises(OSError, match="micro-batch 1 has no file of state"):
        checkpoint.damages.damage("state", "flip")
    assert not checkpoint.damages.acts


PLAN = Plan(
    system="spark",
    job=FORWARD,
    workload=WorkloadSpec("synthetic"),
    faults=(FaultSpec("truncate", SOURCE_SYSTEM),),
)
ARRIVED = 12


@pytest.mark.parametrize(
    ("partition", "beyond", "asked"),
    [(-1, 0, {0: 5, 1: 9}), (1, -2, {1: 7}), (0, -7, {0: 0}), (-1, 20, {0: 25, 1: 29})],
)
def test_what_is_left_begins_where_the_last_commit_ends(partition: int, beyond: int, asked: dict[int, int]) -> None:
    recorded: list[InputTruncated] = []
    wanted: list[Mapping[int, int]] = []

    def remove(ends: Mapping[int, int]) -> Mapping[int, int]:
        wanted.append(ends)
        return {each: min(end, ARRIVED) for each, end in ends.items()}

    retention = TopicRetention(remove, lambda: (5, 9), recorded.append, lambda what: None)
    retention.truncate(partition, beyond)
    assert wanted == [asked]
    left = {event.partition: event.next_offset for event in recorded}
    assert left == {each: min(end, ARRIVED) for each, end in asked.items()}
    retention.restore("truncate", (partition, beyond, False))
    assert retention.whole("truncate", (partition, beyond, False))


def test_of_a_topic_nothing_is_removed_where_nobody_knows_what_was_read() -> None:
    wanted: list[Mapping[int, int]] = []

    def remove(ends: Mapping[int, int]) -> Mapping[int, int]:
        wanted.append(ends)
        return ends

    retention = TopicRetention(remove, lambda: OPAQUE, lambda event: None, lambda what: None)
    for partition in (-1, 0):
        with pytest.raises(TargetAbsent, match="does not say in a known form how far the topic was read"):
            retention.truncate(partition, 0)
    assert not wanted


def test_nobody_removes_files() -> None:
    system = StructuredStreaming()
    assert "the input is in files; set source.connector to kafka." in system.objection(PLAN, Tier.SPARK)


SUM, WINDOWS = Vertex("sum", VertexKind.KEYED_SUM), Vertex("sum", VertexKind.WINDOW_SUM)
COMMAND = ReadState("query", "module:function", "file:///checkpoint", 2, (0, 2, 3))


class Driver:
    """A session whose driver program answers one thing."""

    def __init__(self, answer: StateRead | None, *, usable: bool = True) -> None:
        self.usable, self.dead, self.ended = usable, False, False
        self._answer = answer
        self.asked: list[Command] = []

    def send(self, command: Command) -> None:
        self.asked.append(command)

    def hear(self) -> list[Report]:
        if self._answer is None:
            self.dead = True
            return []
        return [self._answer]

    def wait(self, limit_s: float) -> None: ...

    def end(self) -> None:
        self.ended = True


def test_a_partition_that_holds_nothing_is_empty_and_a_batch_that_was_not_read_is_not_told() -> None:
    part = PartState(0, 1, keys=1, records=2, value=-3, digest=-1, entries={"a": -3})
    driver = Driver(StateRead("query", (0,), (part,), {3: "[CANNOT_LOAD_STATE_STORE] 3.delta does not exist."}))
    events, unread = audit(cast("Session", driver), COMMAND, SUM)
    assert not unread
    assert driver.asked == [COMMAND]
    assert events == [
        CheckpointAudited(checkpoint=1),
        SubtaskAudited(checkpoint=1, subtask="sum[0]", state=StateSummary(entries={})),
        SubtaskAudited(checkpoint=1, subtask="sum[1]", state=StateSummary(1, 2, -3, 2**64 - 1, {"a": -3})),
        CheckpointAudited(checkpoint=4, problem="[CANNOT_LOAD_STATE_STORE] 3.delta does not exist."),
    ]


def test_windows_are_told_with_their_digests_as_spark_cannot_carry_them() -> None:
    part = PartState(0, 0, keys=1, records=2, value=-3, digest=-1, windows=(WindowRow("a", FIRST_WINDOW + 4, -3, -1),))
    events, _ = audit(cast("Session", Driver(StateRead("query", (0,), (part,)))), COMMAND, WINDOWS)
    held = StateSummary(1, 2, -3, 2**64 - 1, windows=(WindowRow("a", 4, -3, 2**64 - 1),))
    assert events == [
        CheckpointAudited(checkpoint=1),
        SubtaskAudited(checkpoint=1, subtask="sum[0]", state=held),
        SubtaskAudited(checkpoint=1, subtask="sum[1]", state=StateSummary(windows=())),
    ]


def test_a_driver_that_dies_or_cannot_be_used_says_nothing() -> None:
    dying, paused = Driver(None), Driver(None, usable=False)
    assert audit(cast("Session", dying), COMMAND, SUM) == ([], "the driver program died over it.")
    assert dying.ended
    assert audit(cast("Session", paused), COMMAND, SUM) == ([], "the driver program had ended, or stood still.")
    assert not paused.asked


def test_state_that_is_read_nowhere_is_told_and_nothing_to_read_is_not() -> None:
    failing = Driver(StateRead("query", unread="AnalysisException: no data source statestore"))
    assert audit(cast("Session", failing), COMMAND, SUM) == ([], "AnalysisException: no data source statestore.")
    assert audit(cast("Session", failing), msgspec.structs.replace(COMMAND, batches=()), SUM) == ([], "")
