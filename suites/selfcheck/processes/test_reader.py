"""What the harness reads of running processes: each committed unit once, and each log in order."""

from __future__ import annotations

import os
import time
import zlib
from pathlib import Path

import msgspec
import numpy as np
import pytest

from holdfast.fixtures.reference.connectors.rows import count_rows, encode_rows, load_rows, no_rows
from holdfast.fixtures.reference.connectors.units import FolderUnits
from holdfast.fixtures.reference.drivers.processes import reader
from holdfast.fixtures.reference.drivers.processes.life import Program, decode_event, read_log
from holdfast.fixtures.reference.drivers.processes.reader import CommittedFolder, ReaderSettings
from holdfast.fixtures.reference.drivers.processes.supervisor import Supervisor
from holdfast.harness.adapter.polled_output import IDLE_PER_LOOK, Watch
from holdfast.harness.adapter.recorder import Lines, LogFile, Recorder, log_path
from holdfast.harness.model.capability import Evidence
from holdfast.harness.model.events import (
    BarrierSent,
    CheckpointTriggered,
    Event,
    NodeDied,
    NodeStarted,
    ReaderPolled,
    RowsChanged,
    RowsVisible,
)
from holdfast.harness.model.job import Contract
from holdfast.harness.model.records import FoldColumns, FoldRow, IdentityColumns, IdentityRow

LIMIT_S = 30.0


def commit(folder: Path, name: str, rows: int, *, first: int = 0) -> bytes:
    offsets = np.arange(first, first + rows)
    hidden = folder.parent / name
    content = encode_rows([IdentityColumns(np.zeros(rows, dtype=np.int64), offsets)])
    hidden.write_bytes(content)
    hidden.rename(folder / name)
    return content


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "committed"
    folder.mkdir()
    return folder


def test_each_unit_is_seen_once_in_the_order_of_its_commit(folder: Path) -> None:
    output = CommittedFolder(folder)
    content = commit(folder, "b", 3)
    assert output.poll() == [RowsVisible(name="b", poll=0, records=3, checksum=zlib.crc32(content))]
    assert output.poll() == []
    commit(folder, "z", 1)
    os.utime(folder / "b")  # its time changed, its content did not
    commit(folder, "a", 2)
    assert [(event.name, event.records) for event in output.poll() if isinstance(event, RowsVisible)] in (
        [("z", 1), ("a", 2)],
        [("a", 2), ("z", 1)],  # where the file system's clock is too coarse to tell
    )
    assert output.poll(final=True) == []


def test_a_changed_unit_is_noticed_once(folder: Path) -> None:
    output = CommittedFolder(folder)
    commit(folder, "a", 3)
    output.poll()
    commit(folder, "a", 3, first=100)
    assert output.poll() == [RowsChanged(name="a", poll=1, vanished=False)]
    assert output.poll(final=True) == []


def test_a_vanished_unit_is_noticed_once_and_when_it_comes_back_unchanged_not_again(folder: Path) -> None:
    output = CommittedFolder(folder)
    commit(folder, "a", 3)
    output.poll()
    (folder / "a").unlink()
    assert output.poll() == [RowsChanged(name="a", poll=1, vanished=True)]
    assert output.poll() == []
    commit(folder, "a", 3)
    assert output.poll() == []


def test_a_change_behind_an_unchanged_face_is_found_by_the_final_read(folder: Path) -> None:
    output = CommittedFolder(folder)
    content = commit(folder, "a", 3)
    output.poll()
    before = os.stat(folder / "a")
    with (folder / "a").open("r+b") as file:
        file.seek(len(content) // 2)
        file.write(b"?")
    os.utime(folder / "a", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert output.poll() == []
    assert output.poll(final=True) == [RowsChanged(name="a", poll=2, vanished=False, final=True)]


def test_a_torn_unit_counts_without_rows_and_becoming_whole_is_a_change(folder: Path) -> None:
    output = CommittedFolder(folder)
    content = commit(folder, "a", 3)
    (folder / "b").write_bytes(content[: len(content) // 2])
    assert {event.name: event.records for event in output.poll() if isinstance(event, RowsVisible)} == {"a": 3, "b": 0}
    (folder / "b").write_bytes(content)
    assert output.poll() == [RowsChanged(name="b", poll=1, vanished=False)]


def test_the_process_tells_what_it_sees_and_ends_with_a_final_read(supervisor: Supervisor, folder: Path) -> None:
    def arguments(node: str) -> bytes:
        return msgspec.msgpack.encode(
            ReaderSettings(FolderUnits(str(folder)), str(supervisor.events_folder), node, interval_ms=2, started_ns=0)
        )

    supervisor.launch("reader", Program(reader.ENTRY, arguments, respawns=False))
    commit(folder, "a", 3)
    assert supervisor.wait_for(lambda: len(supervisor.happened) == 2, LIMIT_S)
    started, visible = supervisor.happened
    assert isinstance(started, NodeStarted)
    assert isinstance(visible, RowsVisible)
    assert (visible.node, visible.records, visible.evidence) == ("reader.0", 3, Evidence.BOUNDARY)
    supervisor.stop(["reader"])
    assert supervisor.problem == ""
    recorded = read_log(log_path(supervisor.events_folder, "reader.0"), died=False)
    polled = recorded[-1]
    assert [type(event) for event in recorded] == [NodeStarted, RowsVisible, ReaderPolled]
    assert isinstance(polled, ReaderPolled)
    assert polled.polls > 1
    assert polled.interval_ms >= 1


class Laborious:
    """An output of which each look takes the processor for a while."""

    TAKES_NS = 3_000_000

    def __init__(self) -> None:
        self.polls = self.blind_ns = 0

    def poll(self, *, final: bool = False) -> list[Event]:
        began_ns = time.thread_time_ns()
        while time.thread_time_ns() - began_ns < self.TAKES_NS:
            pass
        self.polls += 1
        return []


def test_who_looks_at_much_looks_less_often_and_owns_up_to_the_gap() -> None:
    watch = Watch(Laborious(), 1)
    for _ in range(2):
        began_ns = time.monotonic_ns()
        watch.look()
        assert watch.due_ns >= began_ns + (1 + IDLE_PER_LOOK) * Laborious.TAKES_NS
        time.sleep(max(0.0, (watch.due_ns - time.monotonic_ns()) / 1e9))
    _, polled = watch.finish()
    assert len(polled.gaps) == 2


def test_rows_of_contract_fold_round_trip(tmp_path: Path) -> None:
    digest = np.array([5, 2**64 - 1], dtype=np.uint64)
    batch = FoldColumns(("", "AA", "B"), np.array([1, 0]), np.array([-7, 8]), np.array([[1, 2], [3, 4]]), digest)
    content = encode_rows([batch, batch])
    (tmp_path / "unit").write_bytes(content)
    rows = [FoldRow("AA", -7, (1, 2), 5), FoldRow("", 8, (3, 4), 2**64 - 1)]
    assert list(load_rows(tmp_path / "unit", Contract.FOLD)) == rows * 2
    assert count_rows(content) == 4


def test_rows_of_contract_records_round_trip(tmp_path: Path) -> None:
    (tmp_path / "unit").write_bytes(encode_rows([IdentityColumns(np.array([1, 1]), np.array([8, 9]))]))
    assert list(load_rows(tmp_path / "unit", Contract.RECORDS)) == [IdentityRow(1, 8), IdentityRow(1, 9)]


@pytest.mark.parametrize("contract", list(Contract))
def test_a_broken_unit_is_an_error_and_has_no_rows(tmp_path: Path, contract: Contract) -> None:
    (tmp_path / "unit").write_bytes(b"ARROW1 and then nothing")
    with pytest.raises(ValueError, match="unit"):
        load_rows(tmp_path / "unit", contract)
    assert list(no_rows(contract)) == []


def write(folder: Path) -> Path:
    recorder = Recorder(Lines({"worker-1.0": LogFile(folder, "worker-1.0")}), time.monotonic_ns())
    recorder.record_step("worker-1.0", [NodeStarted()])
    recorder.record_step("worker-1.0", [BarrierSent(attempt=2, channel="a[0]->b[0]", checkpoint=5), NodeStarted()])
    recorder.record_step("worker-1.0", [])
    recorder.close()
    return log_path(folder, "worker-1.0")


def test_events_come_back_stamped_and_in_order(tmp_path: Path) -> None:
    events = read_log(write(tmp_path), died=False)
    assert [(event.node, event.sequence) for event in events] == [("worker-1.0", number) for number in range(3)]
    barrier = events[1]
    assert isinstance(barrier, BarrierSent)
    assert (barrier.attempt, barrier.channel, barrier.checkpoint) == (2, "a[0]->b[0]", 5)
    assert 0 <= events[0].time_ns <= events[1].time_ns == events[2].time_ns < 60e9, "not since the start of the run"


def test_only_watched_kinds_are_told_and_only_after_they_were_written(tmp_path: Path) -> None:
    reported = []

    def tell(line: bytes) -> None:
        assert line in log_path(tmp_path, "node").read_bytes()
        reported.append(line)

    recorder = Recorder(Lines({"node": LogFile(tmp_path, "node")}, tell))
    recorder.record_step(
        "node", [BarrierSent(channel="a[0]->b[0]", checkpoint=5), CheckpointTriggered(checkpoint=1, participants=())]
    )
    assert len(reported) == 1
    recorder.close()


def test_the_torn_last_line_of_the_dead_is_left_out(tmp_path: Path) -> None:
    path = write(tmp_path)
    path.write_bytes(path.read_bytes()[:-9])
    assert len(read_log(path, died=True)) == 2
    with pytest.raises(ValueError, match=r"line 3: the line is torn and the node did not die"):
        read_log(path, died=False)


def test_anything_else_is_refused_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1][:-9] + b"\n" + lines[2])
    with pytest.raises(ValueError, match=r"worker-1\.0\.jsonl, line 2"):
        read_log(path, died=True)


def test_a_life_writes_its_own_log(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(FileExistsError):
        LogFile(tmp_path, "worker-1.0")


def steps() -> list[tuple[str, list[Event], int | None]]:
    """Of two nodes: a step of two events, one that was decided earlier, one of the harness."""
    return [
        ("worker-1.0", [NodeStarted(), BarrierSent(attempt=2, channel="a[0]->b[0]", checkpoint=5)], 70),
        ("harness", [NodeDied(dead_node="worker-1.0", cause="kill")], 80),
        ("worker-1.0", [CheckpointTriggered(checkpoint=1, participants=())], 75),
    ]


def test_both_sinks_keep_the_same_history(tmp_path: Path) -> None:
    reported: list[bytes] = []
    memory = Recorder(started_ns=50)
    files = Recorder(Lines({node: LogFile(tmp_path, node) for node in ("worker-1.0", "harness")}, reported.append), 50)
    for recorder in (memory, files):
        for node, events, at_ns in steps():
            recorder.record_step(node, events, at_ns=at_ns)
        recorder.close()
    read = {path.stem: read_log(path, died=False) for path in sorted(tmp_path.iterdir())}
    assert memory.nodes == read
    assert [(event.sequence, event.time_ns) for event in read["worker-1.0"]] == [(0, 20), (1, 20), (2, 25)]
    assert memory.happened() == [decode_event(line) for line in reported], "the engine hears of other events"
    assert not memory.happened(), "it hears of them again"
    assert not files.nodes
    assert not files.happened()
