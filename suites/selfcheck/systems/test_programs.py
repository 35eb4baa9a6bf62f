"""Programs: the right ones pass, killed or slow; those that are wrong once they have restored something are refuted."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from importlib import resources
from itertools import count
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from holdfast.fixtures.systems.json_lines.deployment import STATE, JsonLinesDeployment
from holdfast.fixtures.systems.json_lines.gates import Gates
from holdfast.fixtures.systems.json_lines.messages import Ack
from holdfast.fixtures.systems.json_lines.store import TABLE, records_held
from holdfast.fixtures.systems.json_lines.system import JsonLines, acknowledges_first, persists_first
from holdfast.fixtures.workloads.worked_example import WorkedExample
from holdfast.harness import cli
from holdfast.harness.adapter.committed_output import POLL_INTERVAL_MS
from holdfast.harness.engine.artefacts.json_files import read_plan
from holdfast.harness.engine.cases.case_run import run_case
from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.executor.windows import windows_hit
from holdfast.harness.engine.plans.validate import check_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.capability import Evidence
from holdfast.harness.model.case import Tier, Window
from holdfast.harness.model.events import Event, InputAcknowledged, NodeDied, NodeStarted, ProgramReady, ReaderPolled
from holdfast.harness.model.journal import Journal, Status, Title
from holdfast.harness.model.plan import FaultSpec, Gate, Plan, Schedule, WorkloadSpec
from holdfast.harness.model.records import FoldRow
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.oracles.output.exact import ExactOracle
from holdfast.harness.oracles.output.noloss import NoLossOracle
from holdfast.harness.spi.controls.process import ProcessControl
from holdfast.harness.spi.system import GateReached, Recording
from holdfast.suites.conformance.programs import CASES, KILLED, UNHEARD
from holdfast.suites.conformance.transactions import READ_AHEAD
from holdfast.suites.selfcheck.replaced_runs import assert_passes, counting_run, named_clauses
from holdfast.suites.selfcheck.soon import SharedProcessor
from holdfast.suites.selfcheck.systems import strangers
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


def executed(plan_file: str, folder: Path) -> Run:
    """A plan of `fixtures/systems/plans`, run as the command line runs it, and judged by its output."""
    path = resources.files("holdfast.fixtures.systems") / "plans" / plan_file
    plan = read_plan(path.read_bytes(), str(path))
    system = registry.system(plan.system)
    tools = msgspec.structs.replace(registry.toolbox(), oracles=(ExactOracle(), NoLossOracle()))
    check_plan(plan, system, Tier.PROCESS, tools)
    return counting_run(plan, system, Tier.PROCESS, folder, tools=tools)


def test_the_claim_of_the_program_that_acknowledges_first_is_refuted(tmp_path: Path) -> None:
    run = executed("kill.json", tmp_path)
    assert run.outcome is Outcome.FAIL
    named = {anomaly.clause for verdict in run.verdicts for anomaly in verdict.anomalies}
    assert named >= {"row-wrong", "input-missing", "input-lost"}


def test_the_claim_of_the_twin_is_not(tmp_path: Path) -> None:
    run = executed("kill-twin.json", tmp_path)
    assert (run.outcome, run.reason) == (Outcome.PASS, "")
    assert run.history.end.faults_landed == (True, True, True)
    assert all(
        verdict.checked["input-missing" if verdict.oracle == "EXACT" else "input-lost"] for verdict in run.verdicts
    )


def test_both_plans_are_the_same_but_for_the_system() -> None:
    folder = resources.files("holdfast.fixtures.systems") / "plans"
    first, twin = (read_plan((folder / name).read_bytes(), name) for name in ("kill.json", "kill-twin.json"))
    assert (first.system, twin.system) == ("acknowledges-first", "persists-first")
    assert msgspec.structs.replace(first, system=twin.system) == twin


@pytest.mark.parametrize("program", ["acknowledges_first", "persists_first"])
def test_a_program_shares_no_code_with_anybody(program: str) -> None:
    path = resources.files("holdfast.fixtures.systems") / "programs" / f"{program}.py"
    imported = [line for line in path.read_text().splitlines() if line.startswith(("import ", "from "))]
    modules = {line.split()[1].partition(".")[0] for line in imported}
    assert modules <= {"collections", "json", "os", "select", "sys", "time", "typing"}


WITH_NODE = (
    pytest.mark.nightly,
    pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js on the PATH"),
)
GATE = Gate("acknowledge", Target(Role.WORKER, 0))
SENT_AGAIN = {Window.RESTORED_STATE, Window.SENT_AGAIN, Window.SENT_WITH_NEW}
IN_THE_REFERENCE = {
    "doubles": "source-repeats-one",
    "loses": "source-skips-one",
    "reorders": "rereads-backwards",
    "forgets": "starts-empty",
}


def executed_with_lives(system: str, chosen: Plan, folder: Path, *windows: Window) -> Run:
    return counting_run(chosen, registry.system(system), Tier.PROCESS, folder, *windows)


def stranger(name: str) -> str:
    return f"json-lines+{Path(strangers.__file__).parent / name}.py"


def test_the_program_that_doubles_after_a_restore_is_refuted_with_the_rules_of_its_case(tmp_path: Path) -> None:
    """It passed everything: nothing was persisted before a kill, so nothing was ever restored."""
    found = run_case("json-lines+doubles-after-restore", CASES[0], Tier.PROCESS, folder=tmp_path)
    assert found.status is Status.FAIL
    passed = dict.fromkeys(("E2E-04", "REC-04"), Status.PASS)
    assert found.rules == {"E2E-02": Status.FAIL, "REC-03": Status.FAIL, **passed}


@pytest.mark.nightly
def test_its_certificate_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    system = "json-lines+doubles-after-restore"
    narrowed = ["--tier", "process", "--rule", "REC-03", "--jobs", "1"]
    assert cli.execute(["certify", system, *narrowed, "--out", str(tmp_path)]) == 1
    journal = msgspec.json.decode((tmp_path / "latest" / "results.json").read_bytes(), type=Journal)
    assert journal.certificate.title is Title.REFUSED
    assert {each.rule.id for each in journal.rules if each.status is Status.FAIL} == {"E2E-02", "REC-03"}
    assert f"REFUSED on process  {system}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("program", "outcome"),
    [
        ("persists-first", Outcome.PASS),
        pytest.param("persists-first.js", Outcome.PASS, marks=WITH_NODE),
        pytest.param("doubles-after-restore.js", Outcome.FAIL, marks=WITH_NODE),
    ],
)
@pytest.mark.nightly
def test_its_twins_hit_what_it_is_wrong_in(program: str, outcome: Outcome, tmp_path: Path) -> None:
    run = executed_with_lives(f"json-lines+{program}", UNHEARD, tmp_path, *SENT_AGAIN)
    assert run.outcome is outcome, run.reason
    if outcome is Outcome.FAIL:
        assert "EXACT/row-wrong" in named_clauses(run)
    else:
        assert windows_hit(run.history) >= SENT_AGAIN
        assert run.history.end.faults_landed == (True,) * 4


@pytest.mark.parametrize("program", [pytest.param("sleepy", marks=pytest.mark.nightly), "eager"])
def test_a_right_program_passes_however_slow_or_eager_it_is(program: str, tmp_path: Path) -> None:
    run = executed_with_lives(stranger(program), UNHEARD, tmp_path, *SENT_AGAIN)
    assert (run.outcome, run.reason) == (Outcome.PASS, "")
    assert windows_hit(run.history) >= SENT_AGAIN


@pytest.mark.parametrize(
    ("program", "chosen", "clause"),
    [("remembers_few", UNHEARD, "EXACT/row-wrong"), ("answers_for_more", KILLED, "EXACT/row-wrong")],
)
@pytest.mark.nightly
def test_a_wrong_program_of_another_kind_is_refuted(program: str, chosen: Plan, clause: str, tmp_path: Path) -> None:
    assert clause in named_clauses(executed_with_lives(stranger(program), chosen, tmp_path))


@pytest.mark.nightly
def test_a_wrong_digest_is_no_loss_and_deaths_of_its_own_are_counted(tmp_path: Path) -> None:
    run = executed_with_lives(stranger("other_digest"), KILLED, tmp_path)
    assert named_clauses(run) == {"EXACT/digest-wrong", "NOLOSS/digest-wrong"}
    message = next(verdict for verdict in run.verdicts if verdict.oracle == "EXACT").anomalies[0].message
    assert message.startswith("your digest is wrong, the value and the counts are right: key ")
    assert "Check your hash: that of partition 1, offset " in message
    died = [each for each in run.history.of(NodeDied) if each.cause == "exit code 1: out of patience"]
    notes = [note for verdict in run.verdicts if verdict.oracle == "LIVE" for note in verdict.information]
    times = f"{len(died)} time{'s' * (len(died) > 1)}"
    assert notes == [f"worker-0 died {times} by itself, the last time with exit code 1: out of patience"]


@pytest.mark.parametrize("variant", IN_THE_REFERENCE.values(), ids=IN_THE_REFERENCE)
def test_the_reference_has_a_variant_of_each_kind_that_is_wrong_after_a_restore(variant: str) -> None:
    run = run_plan(READ_AHEAD, registry.system(f"reference+{variant}"), registry.toolbox())
    assert run.outcome is Outcome.FAIL
    assert (Window.READ_AGAIN in windows_hit(run.history)) is (variant != "starts-empty")


def test_behind_an_acknowledgement_that_is_held_all_are() -> None:
    gates, answers = Gates(count(1)), [Ack(0, offset) for offset in range(5)]
    assert not gates.hold(answers[0], "worker-0.0")
    number = gates.arm(replace(GATE, occurrence=2))
    assert [gates.hold(answer, "worker-0.0") for answer in answers[1:]] == [False, True, True, True]
    [reached] = gates.reached()
    assert (reached.gate, reached.node, reached.precision) == (number, "worker-0.0", "boundary")
    assert gates.release(number + 1) == []
    assert gates.release(number) == answers[2:]
    assert not gates.release(number)
    assert not gates.reached()


def test_what_is_held_is_lost_with_the_program_and_a_gate_that_is_disarmed_holds_nothing() -> None:
    gates = Gates(count(1))
    number = gates.arm(GATE)
    assert gates.hold(Ack(0, 1), "worker-0.0")
    gates.forget()
    assert gates.release(number) == []
    gates.disarm(gates.arm(GATE))
    assert not gates.hold(Ack(0, 1), "worker-0.1")


def test_the_records_that_a_table_holds_are_counted_by_partition(tmp_path: Path) -> None:
    table = tmp_path / "table.json"
    assert records_held(tmp_path, "table.json", 2) == (0, 0)
    table.write_text('{"rows": [["a", 1, [1, 2], 3], ["b", 1, [4, 0], 3]], "mine": 7}')
    assert records_held(tmp_path, "table.json", 2) == (5, 2)
    (tmp_path / "table-1.json").write_text('{"rows": [["a", 1, ["0", 3], "3"]]}')
    assert records_held(tmp_path, "table*.json", 2) == (5, 5)
    (tmp_path / "table-1.json").unlink()
    table.write_text('{"rows": [["a", 1, [1')
    assert records_held(tmp_path, "table*.json", 2) == (0, 0)
