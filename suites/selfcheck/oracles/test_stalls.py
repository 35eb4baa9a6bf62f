"""Bounds in real time are longer by what the machine is known to have kept waiting, and by nothing else."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from holdfast.harness.model.events import CheckpointStatistics, MachineStalled
from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.oracles.shared.stalls import Stalls
from holdfast.suites.selfcheck.oracles.builder import BY_NAME, EXHIBITS, MS, story
from holdfast.suites.selfcheck.oracles.histories.metrics import Report, reported

LATE = (
    "coord/not-expired/expires-late-though-it-had-two-turns",
    "coord/not-expired/never-expires-in-real-time",
    "coord/slot-not-freed/nothing-after-abort",
    "queue/queued-too-long/six-times-the-target",
    "snapshot/stood-while-uploading/stands-during-every-upload",
    "cut/source-stalled/stalls-in-every-alignment",
    "savepoint/not-stopped/the-job-runs-on",
)
"""Histories in which somebody is late."""


def stalled(history: History, since_ns: int, until_ns: int) -> History:
    """The same, on a machine that let nobody run between two times."""
    stall = MachineStalled(since_ns=since_ns, stalled_ns=until_ns - since_ns)
    stall.node, stall.time_ns = "harness", until_ns
    events = sorted([*history.events, stall], key=lambda event: event.time_ns)
    end = replace(history.end, real_time=True)
    return History(history.plan, history.claims, history.inputs, history.output, events, end)


@pytest.mark.parametrize("name", LATE)
def test_who_waited_for_the_machine_was_not_late(name: str) -> None:
    oracle, history = BY_NAME[EXHIBITS[name].oracle], EXHIBITS[name].history()
    end_ns = max(history.end.ended_ns, history.events[-1].time_ns)
    assert not oracle.judge(stalled(history, 0, end_ns)).anomalies


@pytest.mark.parametrize("name", LATE)
def test_who_had_run_before_was_late(name: str) -> None:
    """The stall was over before anything happened."""
    oracle, history = BY_NAME[EXHIBITS[name].oracle], EXHIBITS[name].history()
    found = oracle.judge(stalled(history, 0, history.events[0].time_ns)).anomalies
    assert {anomaly.clause for anomaly in found} == {EXHIBITS[name].clause}


def in_turns(history: History, length_ms: int, share: float) -> History:
    """The same, on a machine that lets everybody wait for a share of each such stretch."""
    last_ns, length_ns = history.events[-1].time_ns, length_ms * MS
    stalls = []
    for until_ns in range(length_ns, last_ns + length_ns, length_ns):
        stalls.append(MachineStalled(since_ns=until_ns - length_ns, stalled_ns=int(share * length_ns)))
        stalls[-1].node, stalls[-1].time_ns = "harness", until_ns
    events = sorted([*history.events, *stalls], key=lambda event: event.time_ns)
    end = replace(history.end, real_time=True)
    return History(history.plan, history.claims, history.inputs, history.output, events, end)


@pytest.mark.parametrize(("share", "late"), [(0.4, True), (0.6, False)])
def test_a_stall_is_taken_off_a_wait_once(share: float, late: bool) -> None:
    """A batch waits for 600 ms, and 200 ms are allowed. Each end is known up to 50 ms. Without the share of 700 ms it
    is late; without that of the 200 ms around both ends once more it was not."""
    found = BY_NAME["QUEUE"].judge(in_turns(EXHIBITS[LATE[3]].history(), 10, share)).anomalies
    assert {anomaly.clause for anomaly in found} == ({"queued-too-long"} if late else set())


def stretch(until_ms: int, since_ms: int, stalled_ms: int) -> MachineStalled:
    event = MachineStalled(since_ns=since_ms * MS, stalled_ns=stalled_ms * MS)
    event.time_ns = until_ms * MS
    return event


@pytest.mark.parametrize(
    ("since_ms", "until_ms", "within_ms"),
    [(0, 200, 50), (0, 50, 0), (105, 110, 5), (100, 130, 30), (110, 200, 40), (180, 200, 0)],
    ids=["all", "before", "a part", "one and a part", "the rest", "behind"],
)
def test_what_overlaps_counts_and_no_more_than_it_lasts(since_ms: int, until_ms: int, within_ms: int) -> None:
    history = story()
    history.events = [stretch(120, 100, 20), stretch(160, 120, 30)]
    assert Stalls(history).within_ns(since_ms * MS, until_ms * MS) == within_ms * MS


def test_stretches_that_overlap_count_once() -> None:
    history = story()
    history.events = [stretch(120, 100, 20), stretch(140, 90, 50)]
    assert Stalls(history).within_ns(0, 200 * MS) == 40 * MS


def test_without_a_measurement_there_is_none() -> None:
    assert not Stalls(story())
    assert Stalls(story()).within_ns(0, 10**12) == 0


def test_a_report_may_be_as_late_as_its_coordinator_waited() -> None:
    """It read its clock 100 ms before it recorded anything, in a time in which it was let to run, or not."""

    def read_early(report: Report) -> Report:
        if isinstance(report, CheckpointStatistics):
            return replace(report, triggered_ms=report.triggered_ms - 100)
        return report

    history = story(*reported(read_early), end=RunEnd(reached=True), real_time=True)
    first_ns, last_ns = history.events[0].time_ns, history.events[-1].time_ns
    metrics = BY_NAME["METRICS"]
    assert not metrics.judge(stalled(history, first_ns - 200 * MS, last_ns)).anomalies
    assert metrics.judge(stalled(history, first_ns - 1_000 * MS, first_ns - 900 * MS)).anomalies
