"""A log says everything in order, and a torn last line is accepted of the dead only."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from holdfast.fixtures.reference.drivers.processes.event_log import decode_event, read_log
from holdfast.harness.adapter.recorder import Lines, LogFile, Recorder, log_path
from holdfast.harness.model.events import BarrierSent, CheckpointTriggered, Event, NodeDied, NodeStarted


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
