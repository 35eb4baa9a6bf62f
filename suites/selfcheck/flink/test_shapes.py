"""Jobs of other shapes: what their tasks, channels, ends and rows are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.fixtures.systems.flink.connectors import PartFiles
from holdfast.fixtures.systems.flink.job_log import Dated
from holdfast.fixtures.systems.flink.log import Line
from holdfast.fixtures.systems.flink.master_log import MasterLog
from holdfast.fixtures.systems.flink.our_job import uncompiled
from holdfast.fixtures.systems.flink.stored import StoredCheckpoints
from holdfast.fixtures.systems.flink.tasks import Tasks
from holdfast.fixtures.systems.flink.worker_log import WorkerLog
from holdfast.harness.adapter.reader import Row
from holdfast.harness.model import events
from holdfast.harness.model.job import Contract, Job
from holdfast.harness.model.jobs import (
    FORWARD,
    IDLE_SPLITS,
    JOBS,
    KEYED_SUM,
    MINI_BATCH,
    REDUCED,
    TOP_SUM,
    TUMBLING_SUM,
    TWO_PIPELINES,
    UNION,
    bounded,
)
from holdfast.harness.model.records import FoldRow, IdentityRow, WindowRow
from holdfast.suites.conformance.flink.shapes import TWO_WAYS

JOBS_OF_FLINK = [job for job in JOBS.values() if job != MINI_BATCH]
JOB = "70ef2f4c6ca3df65e5942306612d1ef9"
COORDINATOR, GRAPH = "org.CheckpointCoordinator", "org.ExecutionGraph"
EXECUTOR, SNAPSHOTS = "org.TaskExecutor", "org.SubtaskCheckpointCoordinatorImpl"
VERTEX = {"source": "a" * 32, "map": "b" * 32, "sink: Committer": "c" * 32}


def a_master(job: Job) -> MasterLog:
    return MasterLog(JOB, StoredCheckpoints(Path("/cp"), Path("/sp"), JOB), tasks=Tasks(job), partitions=2)


def switched(vertex: str, index: int, to: str, attempt: int = 0) -> Line:
    name = f"Source: {vertex}" if vertex == "source" else vertex
    run = f"{'d' * 32}_{VERTEX[vertex]}_{index}_{attempt}"
    return Line(t=0.0, c=GRAPH, m=f"{name} ({index + 1}/2) ({run}) switched from CREATED to {to}.")


def begun(master: MasterLog, *subtasks: tuple[str, int], attempt: int = 0) -> list[object]:
    number = "No checkpoint found during restore." if not attempt else f"Restoring job {JOB} from Checkpoint 3 @ 1"
    lines = [
        Line(t=0.0, c=COORDINATOR, m=number),
        *(switched(*each, "SCHEDULED", attempt) for each in subtasks),
        *(switched(*each, "RUNNING", attempt) for each in subtasks),
    ]
    found = (found for line in lines for found in master.events(line))
    return [each.event if isinstance(each, Dated) else each for each in found]


def test_channels_follow_from_the_edges_of_the_job() -> None:
    union, forward = Tasks(UNION), Tasks(FORWARD)
    assert union.outputs("Source: right", 1, 2) == ["right[1]->union[0]", "right[1]->union[1]"]
    assert union.input("union[0]", 1, 1) == "right[1]->union[0]"
    assert union.inputs("union[1]", 2) == [f"{name}[{i}]->union[1]" for name in ("left", "right") for i in range(2)]
    assert forward.outputs("Source: source", 1, 2) == ["source[1]->map[1]"]
    assert forward.input("map[1]", 0, 0) == "source[1]->map[1]"
    assert Tasks(KEYED_SUM).outputs("sum -> sink: Writer -> sink: Committer", 0, 2) == []


@pytest.mark.parametrize("job", [*JOBS_OF_FLINK, bounded(UNION), REDUCED, TUMBLING_SUM])
def test_jobs_are_compiled_whose_vertices_have_operators(job: Job) -> None:
    assert uncompiled(job) == ""


@pytest.mark.parametrize(("job", "why"), [(TOP_SUM, "kind top-sum"), (IDLE_SPLITS, "has idleness_ms")])
def test_other_jobs_are_refused_with_the_reason(job: Job, why: str) -> None:
    assert why in uncompiled(job)


@pytest.mark.parametrize(
    ("contract", "line", "row"),
    [
        (Contract.FOLD, "k\t5\t18446744073709551615\t1\t2", FoldRow("k", 5, (1, 2), 2**64 - 1)),
        (Contract.RECORDS, "1\t30", IdentityRow(1, 30)),
        (Contract.WINDOW, "k\t4\t7\t9", WindowRow("k", 4, 7, 9)),
    ],
)
def test_a_line_is_a_row_of_its_contract(contract: Contract, line: str, row: Row, tmp_path: Path) -> None:
    (tmp_path / "part-0").write_text(f"{line}\n{line}")
    assert PartFiles(str(tmp_path), contract).new_rows() == [("part-0:0", row)], "the second line is not whole"


@pytest.mark.parametrize("contract", [Contract.RECORDS, Contract.WINDOW])
def test_a_line_of_another_contract_is_refused(contract: Contract, tmp_path: Path) -> None:
    (tmp_path / "part-0").write_text("k\t5\t1\t1\t2\n")
    with pytest.raises(ValueError, match="a row is"):
        PartFiles(str(tmp_path), contract).new_rows()


def test_a_region_is_all_that_is_connected() -> None:
    assert Tasks(FORWARD).region("map[1]", 2) == ("map[1]", "sink[1]", "source[1]")
    assert Tasks(FORWARD).region("sink: Committer[1]", 2) == ("map[1]", "sink[1]", "source[1]")
    assert Tasks(FORWARD).region("", 2) == ()
    left = [f"left-{vertex}[{index}]" for vertex in ("map", "sink", "source") for index in (0, 1)]
    assert Tasks(TWO_PIPELINES).region("left-sink[0]", 2) == tuple(left)


def test_a_failure_of_a_region_is_counted_of_its_attempt_and_one_of_all_of_none() -> None:
    """The first region fails in its first attempt, behind the restart of the second one."""
    master = a_master(FORWARD)
    all_of_them = [(vertex, index) for vertex in ("source", "map") for index in (0, 1)]
    begun(master, *all_of_them)
    begun(master, ("source", 1), ("map", 1), attempt=1)
    run = f"{'d' * 32}_{VERTEX['map']}_0_0"
    for tasks, subtasks in ((2, ("map[0]", "sink[0]", "source[0]")), (4, ())):
        failed = Line(t=0.0, c="org.JobMaster", m=f"{tasks} tasks will be restarted to recover the failed task {run}.")
        [counted] = master.events(failed)
        assert isinstance(counted, events.FailureCounted)
        assert (counted.subtask, counted.subtasks, counted.attempt) == ("map[0]", subtasks, 1)


def test_gates_are_in_the_order_in_which_flink_connects_vertices() -> None:
    """What is behind a vertex is connected before it: here the way over the filter."""
    ways = Tasks(TWO_WAYS)
    assert ways.inputs("sum[0]", 1) == ["even[0]->sum[0]", "source[0]->sum[0]"]
    assert ways.input("sum[0]", 1, 1) == "source[1]->sum[0]"
    assert ways.outputs("Source: source", 0, 1) == ["source[0]->sum[0]", "source[0]->even[0]"]


def test_an_attempt_of_one_region_names_its_subtasks_and_one_of_all_names_none() -> None:
    master = a_master(FORWARD)
    whole, _ = begun(master, ("source", 0), ("source", 1), ("map", 0), ("map", 1), ("sink: Committer", 0))
    part, running = begun(master, ("source", 1), ("map", 1), ("sink: Committer", 0), attempt=1)
    again, _ = begun(master, ("source", 0), ("source", 1), ("map", 0), ("map", 1), attempt=2)
    attempts = [each for each in (whole, part, again) if isinstance(each, events.AttemptStarted)]
    assert [each.subtasks for each in attempts] == [(), ("map[1]", "source[1]"), ()]
    assert isinstance(running, events.JobSwitched)


def test_a_task_that_has_finished_takes_part_in_no_checkpoint() -> None:
    master = a_master(FORWARD)
    begun(master, ("source", 0), ("map", 0))
    [finished] = master.events(switched("source", 0, "FINISHED"))
    assert isinstance(finished, events.FinishReceived)
    assert finished.subtask == "source[0]"
    triggered = f"Triggering checkpoint 1 (type=Checkpoint) @ 1 for job {JOB}."
    _, checkpoint = master.events(Line(t=0.0, c=COORDINATOR, m=triggered))
    assert isinstance(checkpoint, events.CheckpointTriggered)
    assert checkpoint.participants == ("map[0]",)
    master.ended.update({0: 300})
    master.positions[1] = {1: 7}
    [completed] = master.events(Line(t=0.0, c=COORDINATOR, m=f"Completed checkpoint 1 for job {JOB} (1 bytes)."))
    assert isinstance(completed, Dated)
    assert isinstance(completed.event, events.CheckpointCompleted)
    assert completed.event.positions == (300, 7)


def test_an_attempt_whose_tasks_were_never_to_run_has_not_started() -> None:
    master = a_master(FORWARD)
    lines = [
        Line(t=0.0, c=COORDINATOR, m=f"Restoring job {JOB} from Savepoint 3 @ 1"),
        Line(t=0.0, c=GRAPH, m=f"Job r ({JOB}) switched from state CREATED to FAILED."),
    ]
    [failed] = [event for line in lines for event in master.events(line)]
    assert isinstance(failed, events.JobSwitched)


def heard(log: WorkerLog, *lines: tuple[str, str]) -> list[events.Event]:
    return [event for logger, text in lines for _, event in log.events(Line(t=0.0, c=logger, m=text))]


def test_the_end_of_a_source_is_what_it_has_read_finish_and_its_exit() -> None:
    job = bounded(FORWARD)
    received = "Received task Source: source (1/2)#0 (x), deploy"
    report = '{"event":"finished","vertex":"source","subtask":0,"attempt":-1,"positions":{"0":30}}'
    over = "Source: source (1/2)#0 (x) switched from RUNNING to FINISHED."
    master = a_master(job)
    finished, ended = heard(WorkerLog(master, job), (EXECUTOR, received), ("holdfast", report), ("org.Task", over))
    assert isinstance(finished, events.OperatorFinished)
    assert finished.positions == ((0, 30),)
    assert isinstance(ended, events.SubtaskFinished)
    assert master.ended == {0: 30}
    silent = WorkerLog(master, job)
    assert heard(silent, (EXECUTOR, received), ("org.Task", over)) == [], "it was restored as finished"


def test_the_end_of_an_input_is_one_of_each_of_its_channels() -> None:
    report = '{"event":"ended","vertex":"sum","subtask":1,"attempt":0}'
    received = "Received task sum (2/2)#0 (x), deploy"
    found = heard(WorkerLog(a_master(REDUCED), REDUCED), (EXECUTOR, received), ("holdfast", report))
    channels = [each.channel for each in found if isinstance(each, events.EndOfDataReceived)]
    assert channels == ["source[0]->sum[1]", "source[1]->sum[1]"]


def test_held_rows_are_keys_of_a_snapshot() -> None:
    reduced = WorkerLog(a_master(REDUCED), REDUCED)
    [held] = heard(
        reduced,
        (EXECUTOR, "Received task reduce (1/2)#0 (x), deploy"),
        ("holdfast", '{"event":"snapshot","vertex":"reduce","subtask":0,"attempt":0,"checkpoint":4,"held":5}'),
        (SNAPSHOTS, "reduce (1/2)#0 - finished synchronous part of checkpoint 4. unaligned : false"),
    )
    assert isinstance(held, events.SnapshotTaken)
    assert held.state is not None
    assert held.state.keys == 5
