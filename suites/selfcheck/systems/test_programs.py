"""The two programs: both right while nothing breaks them, and one of them right when it is killed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.faults.process import Pause
from holdfast.fixtures.systems.json_lines.committed_output import POLL_INTERVAL_MS
from holdfast.fixtures.systems.json_lines.deployment import JsonLinesDeployment
from holdfast.fixtures.systems.json_lines.system import JsonLines, acknowledges_first, persists_first
from holdfast.fixtures.workloads.worked_example import WorkedExample
from holdfast.harness.model.capability import Claims
from holdfast.harness.model.events import Event, FaultHealed, FaultInjected, NodeDied, NodeStarted, ReaderPolled
from holdfast.harness.model.evidence import Evidence
from holdfast.harness.model.history import History, RunEnd, causal_order
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.records import FoldRow
from holdfast.harness.model.target import Role, Target
from holdfast.harness.spi.controls.process import ProcessControl
from holdfast.harness.spi.system import Recording
from holdfast.suites.selfcheck.systems.driving import PLAN, drive, last_rows, model_row, model_rows, records

WORKER = Target(Role.WORKER, 0)
BOTH = pytest.mark.parametrize("program", [acknowledges_first, persists_first])


def events(recording: Recording, kind: type[Event]) -> list[Event]:
    return [event for node in recording.nodes for event in node if type(event) is kind]


def killer(times: int) -> Callable[[JsonLinesDeployment], None]:
    """A step that kills the program so many times while it is at work."""
    killed = 0

    def step(deployment: JsonLinesDeployment) -> None:
        nonlocal killed
        if (
            killed < times
            and deployment.now_ms >= 300 * (killed + 1)
            and deployment.controls[ProcessControl].alive(WORKER)
        ):
            killed += 1
            deployment.controls[ProcessControl].kill(WORKER)

    return step


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
    recording = drive(acknowledges_first(), inputs, tmp_path, killer(times=3))
    counted = sum(sum(row.counts) for row in last_rows(recording.output).values())
    assert counted < inputs.total_records
    assert last_rows(recording.output) != model_rows(inputs)


def test_killed_the_program_that_persists_first_loses_nothing(tmp_path: Path) -> None:
    inputs = records()
    recording = drive(persists_first(), inputs, tmp_path, killer(times=3))
    assert last_rows(recording.output) == model_rows(inputs)
    before: dict[str, int] = {}
    for row in recording.output.rows():
        assert isinstance(row, FoldRow)
        assert row == model_row(inputs, row.key, row.counts)
        assert sum(row.counts) > before.get(row.key, 0)
        before[row.key] = sum(row.counts)


def test_a_kill_is_recorded_with_the_life_that_follows(tmp_path: Path) -> None:
    recording = drive(persists_first(), records(), tmp_path, killer(times=1))
    (died,) = events(recording, NodeDied)
    assert isinstance(died, NodeDied)
    assert (died.dead_node, died.cause, died.node) == ("worker-0.0", "kill", "harness")
    assert {event.node for event in events(recording, NodeStarted)} == {"reader.0", "worker-0.0", "worker-0.1"}


def test_everything_is_seen_at_the_boundary_and_often_enough(tmp_path: Path) -> None:
    system = persists_first()
    recording = drive(system, records(), tmp_path)
    recorded = [event for node in recording.nodes for event in node]
    assert {event.evidence for event in recorded} == {Evidence.BOUNDARY}
    assert {str(event.__struct_config__.tag) for event in recorded} <= set(system.evidence())
    (polled,) = events(recording, ReaderPolled)
    assert isinstance(polled, ReaderPolled)
    assert polled.interval_ms >= POLL_INTERVAL_MS, "not as measured"
    assert polled.polls * 100 >= polled.time_ns / 1e6 - 1_000, "fewer than ten polls a second"


def test_a_pause_is_proved_by_the_silence_of_the_table(tmp_path: Path) -> None:
    spec = FaultSpec("pause", WORKER, duration_ms=400)
    pause, inputs = Pause(), records()
    stage = 0

    def step(deployment: JsonLinesDeployment) -> None:
        nonlocal stage
        controls = deployment.controls[ProcessControl]
        if stage == 0 and deployment.now_ms >= 400 and controls.alive(WORKER):
            deployment.record(FaultInjected(fault=0, fault_kind="pause", target=str(WORKER)))
            pause.inject(controls, spec)
            assert not controls.alive(WORKER)
            stage = 1
        elif stage == 1 and deployment.now_ms >= 800:
            pause.undo(controls, spec)
            assert pause.healed(controls, spec)
            deployment.record(FaultHealed(fault=0, fault_kind="pause", target=str(WORKER)))
            stage = 2

    recording = drive(persists_first(), inputs, tmp_path, step)
    plan = PLAN.__class__(job=PLAN.job, workload=PLAN.workload, faults=(spec,))
    ordered = causal_order(recording.nodes)
    history = History(plan, Claims(), inputs, recording.output, ordered, RunEnd(reached=True))
    assert stage == 2
    assert pause.landed(history, 0)
    assert last_rows(recording.output) == model_rows(inputs)
