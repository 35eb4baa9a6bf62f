"""The two programs: both right while nothing breaks them, and one of them right when it is killed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from holdfast.fixtures.systems.json_lines.deployment import STATE, JsonLinesDeployment
from holdfast.fixtures.systems.json_lines.stored_table import TABLE, records_held
from holdfast.fixtures.systems.json_lines.system import JsonLines, acknowledges_first, persists_first
from holdfast.fixtures.workloads.worked_example import WorkedExample
from holdfast.harness.adapter.committed_output import POLL_INTERVAL_MS
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import Event, InputAcknowledged, NodeDied, NodeStarted, ProgramReady, ReaderPolled
from holdfast.harness.model.evidence import Evidence
from holdfast.harness.model.plan import FaultSpec, Schedule, WorkloadSpec
from holdfast.harness.model.records import FoldRow
from holdfast.harness.model.target import Role, Target
from holdfast.harness.spi.controls.process import ProcessControl
from holdfast.harness.spi.system import GateReached, Recording
from holdfast.suites.selfcheck.replaced_runs import assert_passes, counting_run
from holdfast.suites.selfcheck.soon import SharedProcessor
from holdfast.suites.selfcheck.systems.driving import PLAN, drive, last_rows, model_row, model_rows, records

WORKER = Target(Role.WORKER, 0)
ACKNOWLEDGED = 4
BOTH = pytest.mark.parametrize("program", [acknowledges_first, persists_first])


def events(recording: Recording, kind: type[Event]) -> list[Event]:
    return [event for node in recording.nodes for event in node if type(event) is kind]


class Killer:
    """A step that kills the program so many times while it is at work: each life behind its fourth acknowledgement.

    Args:
        table: if given, only while more is acknowledged than it holds.
    """

    def __init__(self, times: int, table: Path | None = None) -> None:
        self._times = times
        self._table = table
        self._in_this_life: int | None = None
        self._acknowledged = [0, 0]

    def __call__(self, deployment: JsonLinesDeployment, happened: Sequence[Event | GateReached]) -> None:
        for event in happened:
            if isinstance(event, ProgramReady):
                self._in_this_life = 0
            elif isinstance(event, InputAcknowledged):
                self._acknowledged[event.partition] = event.next_offset
                self._in_this_life = None if self._in_this_life is None else self._in_this_life + 1
        if self._times and (self._in_this_life or 0) >= ACKNOWLEDGED and not self._persisted():
            self._times, self._in_this_life = self._times - 1, None
            deployment.controls[ProcessControl].kill(WORKER)

    def _persisted(self) -> bool:
        return self._table is not None and sum(records_held(self._table.parent, TABLE, 2)) >= sum(self._acknowledged)


@BOTH
def test_without_faults_the_table_is_that_of_the_model(program: Callable[[], JsonLines], tmp_path: Path) -> None:
    inputs = records()
    recording = drive(program(), inputs, tmp_path)
    assert last_rows(recording.output) == model_rows(inputs)
    assert recording.problem == ""


@BOTH
def test_the_worked_example_ends_at_forty_and_thirty_two(program: Callable[[], JsonLines], tmp_path: Path) -> None:
    recording = drive(program(), WorkedExample().generate({"resumes_ms": 300}, 0), tmp_path)
    assert {key: row.value for key, row in last_rows(recording.output).items()} == {"even": 40, "odd": 32}


def test_killed_the_program_that_acknowledges_first_loses_records(tmp_path: Path) -> None:
    inputs = records()
    recording = drive(acknowledges_first(), inputs, tmp_path, Killer(times=3, table=tmp_path / STATE / TABLE))
    assert events(recording, NodeDied)
    counted = sum(sum(row.counts) for row in last_rows(recording.output).values())
    assert counted < inputs.total_records
    assert last_rows(recording.output) != model_rows(inputs)


def test_killed_the_program_that_persists_first_loses_nothing(tmp_path: Path) -> None:
    inputs = records()
    recording = drive(persists_first(), inputs, tmp_path, Killer(times=3))
    assert events(recording, NodeDied)
    assert last_rows(recording.output) == model_rows(inputs)
    before: dict[str, int] = {}
    for row in recording.output.rows():
        assert isinstance(row, FoldRow)
        assert row == model_row(inputs, row.key, row.counts)
        assert sum(row.counts) > before.get(row.key, 0)
        before[row.key] = sum(row.counts)


def test_a_kill_is_recorded_with_the_life_that_follows(tmp_path: Path) -> None:
    recording = drive(persists_first(), records(), tmp_path, Killer(times=1))
    (died,) = events(recording, NodeDied)
    assert isinstance(died, NodeDied)
    assert (died.dead_node, died.cause, died.node) == ("worker-0.0", "kill", "harness")
    assert {event.node for event in events(recording, NodeStarted)} == {"reader.0", "worker-0.0", "worker-0.1"}


def test_everything_is_seen_at_the_boundary_and_often_enough(tmp_path: Path) -> None:
    system, shared = persists_first(), SharedProcessor()
    recording = drive(system, records(), tmp_path)
    shared_by = shared.close()
    recorded = [event for node in recording.nodes for event in node]
    assert {event.evidence for event in recorded} == {Evidence.BOUNDARY}
    assert {str(event.__struct_config__.tag) for event in recorded} <= set(system.evidence())
    (polled,) = events(recording, ReaderPolled)
    assert isinstance(polled, ReaderPolled)
    assert polled.interval_ms >= POLL_INTERVAL_MS, "not as measured"
    assert polled.polls * 100 * shared_by >= polled.time_ns / 1e6 - 1_000 * shared_by, "fewer than ten polls a second"


def test_a_pause_is_proved_by_the_silence_of_the_table(tmp_path: Path) -> None:
    paused = FaultSpec("pause", WORKER, Schedule(after_acknowledged=ACKNOWLEDGED), duration_ms=600)
    workload = WorkloadSpec("synthetic", {"records": 2_000, "preloaded_percent": 10, "records_per_second": 500})
    run = counting_run(replace(PLAN, workload=workload, faults=(paused,)), persists_first(), Tier.PROCESS, tmp_path)
    assert_passes(run)
    assert last_rows(run.history.output) == model_rows(run.history.inputs)
