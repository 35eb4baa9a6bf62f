"""Systems side by side: verdicts and times of the same plans in one table, and `holdfast matrix`."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from holdfast.harness import cli
from holdfast.harness.cli.application import app
from holdfast.harness.commands.compare import plans_of, rows_of
from holdfast.harness.commands.matrix import Certified, matrix
from holdfast.harness.engine.artefacts.json_files import write_journal, write_plan
from holdfast.harness.engine.cases.side_by_side import read_options, setup_of
from holdfast.harness.engine.errors import NotApplicable, UsageError
from holdfast.harness.engine.plans.validate import fit_to_system
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.views.recovery import checkpoints_ms, read_again
from holdfast.harness.model.capability import Claims
from holdfast.harness.model.case import Tier
from holdfast.harness.model.compared_systems import ComparedRun, ComparedSystems, Matrix, MatrixCell
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import (
    AttemptStarted,
    CheckpointCompleted,
    CheckpointTriggered,
    Event,
    FaultHealed,
    FaultInjected,
    SourceEmitted,
)
from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.journal import Journal, Recovery, Status
from holdfast.harness.model.plan import Plan, Topology, WorkloadSpec
from holdfast.harness.model.records import InputLog, Output
from holdfast.harness.model.verdict import Outcome
from holdfast.reports import html, view
from holdfast.reports import matrix as reports
from holdfast.reports.comparison import ComparisonPicture, picture
from holdfast.reports.comparison import rows_of as drawn_rows
from holdfast.suites import bench
from holdfast.suites.selfcheck.reports import journals

KILLED = Recovery(0, "kill worker", "worker 0", 120.0, 340.0)
NEVER = Recovery(1, "kill worker", "worker 1", None, None)
PASSED = ComparedRun("kill", "reference", Tier.PROCESS, Outcome.PASS, "", (KILLED, NEVER), (40,), (5.0, 7.0))
REFUTED = ComparedRun("kill", "flink", Tier.PROCESS, Outcome.FAIL, "EXACT/row-wrong", (), (), (50.0,))
ELSEWHERE = ComparedRun("rocks", "flink", Tier.PROCESS, None, "it has no such backend")
PLANS = Path(bench.__file__).with_name("plans")
ALL = ComparedSystems("holdfast compare", (PASSED, REFUTED, ELSEWHERE))


def fed(time_ms: int, partition: int, first: int, end: int) -> Event:
    event = SourceEmitted(subtask="source[0]", partition=partition, first_offset=first, next_offset=end)
    event.time_ns = time_ms * 1_000_000
    return event


def at(time_ms: int, event: Event) -> Event:
    event.time_ns = time_ms * 1_000_000
    return event


def history(*events: Event) -> History:
    plan = Plan(job=KEYED_SUM, workload=WorkloadSpec("synthetic"))
    return History(plan, Claims(), InputLog((), ()), Output(), events, RunEnd(reached=True))


def kill(time_ms: int) -> Event:
    return at(time_ms, FaultInjected(fault=0, fault_kind="kill", target="worker[0]"))


def completed(time_ms: int, checkpoint: int, *positions: int) -> Event:
    return at(time_ms, CheckpointCompleted(checkpoint=checkpoint, positions=positions))


def attempt(time_ms: int, restored: int | None) -> Event:
    return at(time_ms, AttemptStarted(restored_checkpoint=restored))


def test_what_was_fed_before_the_fault_and_is_not_covered_is_read_again() -> None:
    begun = attempt(0, None), fed(10, 0, 0, 50), fed(20, 1, 0, 30), completed(30, 1, 50, 10)
    assert read_again(history(*begun, kill(40), attempt(60, 1))) == (20,)
    later = fed(50, 1, 30, 90)
    assert read_again(history(*begun, kill(40), later, attempt(60, 1))) == (20,), "the later ones were counted"
    assert read_again(history(*begun, attempt(60, 1))) == (), "a restart without a fault was counted"
    assert read_again(history(*begun, kill(40), attempt(60, None))) == (), "a restart from the beginning was counted"


def test_a_checkpoint_lasts_from_its_trigger_to_its_completion() -> None:
    triggered = at(10, CheckpointTriggered(checkpoint=1, participants=()))
    never = at(20, CheckpointTriggered(checkpoint=2, participants=()))
    assert checkpoints_ms(history(triggered, never, completed(25, 1))) == (15.0,)


def test_under_back_pressure_those_checkpoints_count_that_begin_while_it_lasts() -> None:
    slow = FaultInjected(fault=0, fault_kind="slow-task", target="task[2]", may_cause=(Consequence.SLOWS_TASK,))
    healed = FaultHealed(fault=0, fault_kind="slow-task", target="task[2]")
    begun = [at(time_ms, CheckpointTriggered(checkpoint=time_ms, participants=())) for time_ms in (10, 30, 60)]
    events = [at(20, slow), at(50, healed), *begun, completed(12, 10), completed(90, 30), completed(61, 60)]
    assert checkpoints_ms(history(*events)) == (60.0,)


def test_the_table_has_a_row_for_each_plan_and_system_and_tells_what_does_not_apply() -> None:
    assert [row[:3] for row in rows_of(ALL)[1:]] == [
        ("kill", "reference", "pass"),
        ("kill", "flink", "fail"),
        ("rocks", "flink", "does not apply"),
    ]
    assert rows_of(ALL)[1][3:] == ("120 (1)", "340 (1)", "40 (1)", "6 (2)")
    assert rows_of(ALL)[2][3:] == ("-", "-", "-", "50 (1)")


def test_the_picture_has_a_dot_for_each_value_and_no_row_for_what_does_not_apply(tmp_path: Path) -> None:
    assert [(row.plan, row.system) for row in drawn_rows(ALL)] == [("kill", "reference"), ("kill", "flink")]
    drawn = ComparisonPicture().render(ALL, tmp_path).read_text()
    assert drawn.count("<circle") == 6
    assert "median 6 of 2" in drawn
    assert "rocks" not in drawn
    places = [float(x) for x in re.findall(r'cx="([\d.]+)"', drawn)]
    assert places[-1] > places[-2] > places[-3], "the slowest checkpoint is not the one to the right"
    assert ">flink (fail)<" in drawn
    assert ">reference<" in drawn


def test_nothing_measured_is_drawn_too() -> None:
    assert "<circle" not in picture(ComparedSystems("", (ELSEWHERE,)))


def test_plans_have_the_names_of_their_files_and_each_name_once(tmp_path: Path) -> None:
    plan = Plan(job=KEYED_SUM, workload=WorkloadSpec("synthetic"))
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        write_plan(tmp_path / place / "kill.json", plan)
    assert list(plans_of([tmp_path / "one"])) == ["kill"]
    with pytest.raises(UsageError, match="the same name"):
        plans_of([tmp_path / "one", tmp_path / "two" / "kill.json"])
    with pytest.raises(UsageError, match="holds no plan"):
        plans_of([tmp_path])


def test_the_plans_beside_the_benchmarks_apply_to_the_reference_runtime() -> None:
    plans = plans_of([PLANS])
    assert len(plans) >= 4
    for name in ("default", "tuned"):
        assert read_options(PLANS / f"{name}.yaml")
    for plan in plans.values():
        tuned = replace(plan, options={**plan.options, **read_options(PLANS / "tuned.yaml")})
        assert fit_to_system(plan, registry.system("reference"), Tier.PROCESS).faults
        assert fit_to_system(tuned, registry.system("reference"), Tier.PROCESS).options == tuned.options


def test_the_command_compares_on_the_simulator(tmp_path: Path) -> None:
    write_plan(tmp_path / "quiet.json", Plan(job=KEYED_SUM, workload=WorkloadSpec("synthetic", {"records": 100})))
    out = tmp_path / "out"
    words = ["compare", "reference", "reference+A3", "--tier", "sim", "--plans", str(tmp_path), "--out", str(out)]
    result = CliRunner().invoke(app, words)
    assert "reference+A3" in result.stdout, result.output
    assert {path.name for path in next(out.iterdir()).iterdir()} == {"comparison.json", "comparison.svg", "runs"}


@pytest.mark.parametrize("width", [1, 3, 4, 7])
def test_a_plan_keeps_its_width_where_the_system_can_have_it(width: int) -> None:
    plan = Plan(job=KEYED_SUM, workload=WorkloadSpec("synthetic"), topology=Topology(parallelism=width))
    assert fit_to_system(plan, registry.system("reference"), Tier.SIM).topology.parallelism == width


def test_a_system_is_named_with_the_options_of_a_file_and_runs_where_it_can(tmp_path: Path) -> None:
    file = tmp_path / "tuned.yaml"
    file.write_text("# sooner\nheartbeat.timeout: 2 s  # of a death\n\nstate.backend.type: rocksdb\n")
    tuned = setup_of(f"reference={file}", None)
    assert (tuned.name, tuned.tier) == ("reference tuned", Tier.PROCESS)
    assert tuned.options == {"heartbeat.timeout": "2 s", "state.backend.type": "rocksdb"}
    plain = setup_of("reference", Tier.SIM)
    assert (plain.name, plain.tier, plain.options) == ("reference", Tier.SIM, {})


@pytest.mark.parametrize(
    ("text", "why"), [("", "holds no option"), ("heartbeat:\n  timeout: 2 s\n", ":1 is 'heartbeat:'")]
)
def test_a_file_without_options_is_refused(text: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "tuned.yaml"
    file.write_text(text)
    with pytest.raises(UsageError, match=why):
        setup_of(f"reference={file}", None)


def test_an_option_that_a_system_has_not_is_no_reason_to_forget_those_that_it_has() -> None:
    """Only of a system that has none at all they are left out."""
    plan = Plan(job=KEYED_SUM, workload=WorkloadSpec("synthetic"), options={"execution.checkpointing.interval": "1 s"})
    unheard = replace(plan, options={**plan.options, "no.such.option": "1"})
    with pytest.raises(NotApplicable, match=r"no\.such\.option"):
        fit_to_system(unheard, registry.system("spark"), Tier.SPARK)


def test_systems_of_one_name_are_refused(tmp_path: Path) -> None:
    write_plan(tmp_path / "quiet.json", Plan(job=KEYED_SUM, workload=WorkloadSpec("synthetic")))
    result = CliRunner().invoke(app, ["compare", "reference", "reference", "--plans", str(tmp_path)])
    assert isinstance(result.exception, UsageError)
    assert "the same name" in str(result.exception)


def stored(folder: Path, *certificates: tuple[str, Journal]) -> Path:
    for name, journal in certificates:
        (folder / name).mkdir(parents=True)
        write_journal(folder / name / "results.json", journal)
        (folder / name / "report.html").touch()
    return folder


def table(*found: Journal) -> Matrix:
    return matrix([Certified(each, f"folder-{number}", "") for number, each in enumerate(found)])


def test_each_cell_counts_the_rules_of_its_certificate() -> None:
    partial, refused = journals.partial(), journals.refused()
    made = table(partial, refused)
    assert [each.title for each in made.columns] == [partial.certificate.title, refused.certificate.title]
    for row in made.rows:
        for journal, cell in zip((partial, refused), row.cells, strict=True):
            rules = [each for each in view.rules(journal) if each.rule.area == row.area]
            assert sum(cell.counts.values()) == len(rules)
            assert cell.refuted == tuple(each.rule.id for each in rules if each.status is Status.FAIL)
    wanted = {area.code for journal in (partial, refused) for area in view.areas(journal)}
    assert wanted <= {row.area for row in made.rows}


@pytest.mark.parametrize(
    ("counts", "worst"),
    [
        ({}, None),
        ({Status.NOT_APPLICABLE: 2}, Status.NOT_APPLICABLE),
        ({Status.NOT_APPLICABLE: 2, Status.PASS: 1}, Status.PASS),
        ({Status.FAIL: 1, Status.NOT_APPLICABLE: 2}, Status.FAIL),
    ],
)
def test_what_does_not_apply_is_not_the_worst_of_an_area(counts: dict[Status, int], worst: Status | None) -> None:
    assert MatrixCell(counts).worst is worst


def test_a_cell_leads_to_its_rules_and_a_refuted_rule_to_its_finding() -> None:
    journal = journals.refused()
    unknown = msgspec.structs.replace(journal, findings=())
    for each in (journal, unknown):
        page = reports.page(matrix([Certified(each, "a", "a/report.html")]))
        led = re.findall(r'href="a/report\.html#([^"]+)"', page)
        report = html.page(each)
        assert {f"area-{area.code}" for area in view.areas(each)} <= set(led)
        assert [place for place in led if f'id="{place}"' not in report] == []
    table_of = table(journal)
    refuted = {rule: cell.findings[rule] for row in table_of.rows for cell in row.cells for rule in cell.refuted}
    assert refuted
    assert all(rule in journal.findings[number - 1].rules for rule, number in refuted.items())
    assert "href" not in reports.page(table_of)


def test_a_cell_says_how_many_rules_are_open() -> None:
    cell = MatrixCell({Status.FAIL: 1, Status.INCONCLUSIVE: 2, Status.UNTESTED: 3, Status.PASS: 4}, ("BAR-01",))
    assert reports.others(cell) == "2 inconclusive, 3 untested"
    assert reports.others(MatrixCell({Status.PASS: 4})) == reports.others(MatrixCell({Status.UNTESTED: 4})) == ""


def test_the_command_takes_certificates_and_folders_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nights = stored(tmp_path / "nights", ("2-b", journals.partial()), ("10-c", journals.partial()))
    alone = stored(tmp_path, ("alone", journals.refused())) / "alone"
    (nights / "latest").symlink_to("10-c")
    out = tmp_path / "out"
    assert cli.execute(["matrix", str(alone), str(nights), "--out", str(out)]) == 0
    assert capsys.readouterr().out.startswith("3 certificates: ")
    found = msgspec.json.decode((out / "matrix.json").read_bytes(), type=Matrix)
    names = [each.name for each in found.columns]
    assert names == [journals.refused().system, *(f"{journals.partial().system}, {each}" for each in ("2-b", "10-c"))]
    for column in found.columns:
        assert (out / column.report).is_file()
        assert f'href="{column.report}"' in (out / "matrix.html").read_text()
    assert len(list((out / "badges").iterdir())) == 3


def test_a_folder_without_a_certificate_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["matrix", str(tmp_path), "--out", str(tmp_path / "out")]) == cli.WRONG_USAGE
    assert "holds no certificate: name folders with results.json" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_nothing_of_a_hostile_journal_acts() -> None:
    made = table(journals.hostile(), journals.empty())
    page = reports.page(made)
    assert "<script" not in page
    assert "default-src 'none'" in page
    lines = [line for line in reports.markdown(made).splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {len(made.columns) + 2}
    for badge in reports.badges(made).values():
        assert ElementTree.fromstring(badge).tag.endswith("svg")


def test_a_badge_says_the_title_to_those_who_cannot_see_it() -> None:
    made = table(journals.refused())
    [badge] = reports.badges(made).values()
    assert f"<title>{journals.refused().system}: {journals.refused().heading}</title>" in badge
    assert json.loads(msgspec.json.encode(made))["columns"][0]["title"] == "REFUSED"
