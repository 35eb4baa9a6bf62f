"""Jobs of other shapes, and jars of somebody else: names of their parts, what is refused, and how they are judged."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from holdfast.fixtures.pipelines.output.folder_output import VisibleFiles
from holdfast.fixtures.services.processes.installation import FLINK, compiled, place
from holdfast.fixtures.systems.flink.cluster import end_warm_cluster
from holdfast.fixtures.systems.flink.connectors import PartFiles
from holdfast.fixtures.systems.flink.jar_system import JarOnFlink, flink
from holdfast.fixtures.systems.flink.job_log import Dated
from holdfast.fixtures.systems.flink.log import Line, Tasks
from holdfast.fixtures.systems.flink.master_log import MasterLog
from holdfast.fixtures.systems.flink.our_job import objection_to_job
from holdfast.fixtures.systems.flink.stored import StoredCheckpoints
from holdfast.fixtures.systems.flink.system import Flink
from holdfast.fixtures.systems.flink.worker_log import WorkerLog
from holdfast.harness.adapter.reader import Row
from holdfast.harness.engine.cases.case_run import run_case
from holdfast.harness.engine.site import registry
from holdfast.harness.model import events
from holdfast.harness.model.capability import AT_MOST_ONCE, Guarantee
from holdfast.harness.model.case import Tier
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
from holdfast.harness.model.journal import Status
from holdfast.harness.model.plan import Plan, WorkloadSpec
from holdfast.harness.model.records import FoldRow, IdentityRow, WindowRow
from holdfast.suites.conformance.flink.jars import CASES
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
    assert objection_to_job(job) == ""


@pytest.mark.parametrize(("job", "why"), [(TOP_SUM, "kind top-sum"), (IDLE_SPLITS, "has idleness_ms")])
def test_other_jobs_are_refused_with_the_reason(job: Job, why: str) -> None:
    assert why in objection_to_job(job)


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


SOURCES = Path(__file__).with_name("jars")
DECLARED = SOURCES / "orders.py"


def declared(folder: Path, more: str = "") -> str:
    """The path of a jar, with its module beside it."""
    (folder / "orders.jar").touch()
    (folder / "orders.py").write_text(DECLARED.read_text() + more)
    return str(folder / "orders.jar")


@pytest.mark.parametrize(
    ("more", "claimed", "supplied"),
    [
        ("\ndel UNIQUE\nINVARIANTS = {'some rows': bool}\n", frozenset(), "invariant 'some rows'"),
        ("\nGUARANTEE = 'at-most-once'\n", AT_MOST_ONCE, "the unique key (order_id)"),
    ],
)
def test_a_jar_is_judged_by_what_its_module_declares(
    more: str, claimed: frozenset[Guarantee], supplied: str, tmp_path: Path
) -> None:
    system = JarOnFlink(declared(tmp_path, more))
    [plan] = system.rehearsals(Tier.PROCESS)
    assert system.claims(plan).output == claimed
    assert system.supplied_by_author == (supplied,)


def test_a_jar_is_named_by_its_path_and_a_version_may_stand_in_front(tmp_path: Path) -> None:
    jar = declared(tmp_path)
    assert isinstance(flink(jar), JarOnFlink)
    older = flink(f"1.20+{jar}")
    assert older.name == f"flink+1.20+{jar}"
    assert older.versions(Tier.PROCESS)["flink"] == "1.20.3"
    assert type(flink("keeps-in-field")) is Flink
    assert registry.needs_trust(f"flink+{jar}", repeats=False)
    assert not registry.needs_trust("flink+1.20+keeps-in-field", repeats=True)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "makes no records: write SCHEMA and generate"),
        (f"{DECLARED.read_text()}\ndel UNIQUE", "nothing says what is expected"),
        (f"{DECLARED.read_text()}\ndel UNIQUE\ndef batch(spark, inputs): ...", "which Spark would run"),
        (f"{DECLARED.read_text()}\nOUTPUT = {{'kind': 'topic'}}", "is no folder of files"),
    ],
)
def test_what_cannot_be_judged_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    jar = declared(tmp_path)
    (tmp_path / "orders.py").write_text(text)
    with pytest.raises(ValueError, match=sentence.replace("(", "[(]")):
        flink(jar)
    (tmp_path / "orders.py").unlink()
    with pytest.raises(ValueError, match="a jar needs a module of its name beside it"):
        flink(jar)


def test_it_claims_what_its_module_declares_and_runs_no_other_plan(tmp_path: Path) -> None:
    sums, records = (Plan(system="flink", job=job, workload=WorkloadSpec("synthetic")) for job in (KEYED_SUM, FORWARD))
    own = flink(declared(tmp_path))
    assert Guarantee.NO_DUPLICATE in own.claims(records).output
    assert "judged by contract records, and not fold" in own.objection(sums, Tier.PROCESS)
    modest = flink(declared(tmp_path, '\nGUARANTEE = "at-least-once"\n'))
    assert Guarantee.NO_DUPLICATE not in modest.claims(records).output


def test_a_part_of_a_file_sink_counts_as_soon_as_its_name_does_not_hide_it() -> None:
    tree = dict.fromkeys(
        ("2026-01-01--10/part-a-0", "2026-01-01--10/.part-a-1.inprogress.b", "_staging/x", "part-b"), ()
    )
    assert VisibleFiles().units(tree) == {each: [each] for each in ("2026-01-01--10/part-a-0", "part-b")}


@pytest.fixture(scope="module")
def _cluster() -> Iterator[None]:
    if reason := Flink().lacking():
        pytest.skip(reason)
    yield
    end_warm_cluster()


def built(main: str, folder: Path) -> str:
    """A jar of one program, with its module beside it."""
    jar = folder / "orders.jar"
    classes = compiled(SOURCES / f"{main}.java", place(FLINK))
    with zipfile.ZipFile(jar, "w") as made:
        made.writestr("META-INF/MANIFEST.MF", f"Manifest-Version: 1.0\nMain-Class: {main}\n")
        for path in classes.rglob("*.class"):
            made.write(path, path.relative_to(classes).as_posix())
    shutil.copy(DECLARED, folder)
    return str(jar)


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.xdist_group("flink")
@pytest.mark.usefixtures("_cluster")
@pytest.mark.parametrize(("main", "status", "runs"), [("Orders", Status.PASS, 3), ("WrongOrders", Status.FAIL, 1)])
def test_a_right_jar_passes_and_a_wrong_one_is_refuted(main: str, status: Status, runs: int, tmp_path: Path) -> None:
    """Of the wrong one each row is a file, which takes long to read: the run with two kills is enough."""
    case = replace(CASES[0], runs=runs)
    result = run_case(f"flink+{built(main, tmp_path)}", case, Tier.PROCESS, folder=tmp_path / "runs")
    assert result.status is status, result.reason
    assert ("EXACT/row-repeated" in result.reason) is (status is Status.FAIL)
