"""Programs that are wrong once they have restored something are refuted, whatever language they are written in and
however slow they are; right ones pass, with the windows that were hit."""

from __future__ import annotations

import shutil
from itertools import count
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from holdfast.fixtures.systems.json_lines.gates import Gates
from holdfast.fixtures.systems.json_lines.messages import Ack
from holdfast.fixtures.systems.json_lines.stored_table import records_held
from holdfast.harness import cli
from holdfast.harness.engine.cases.case_run import run_case
from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.executor.windows import windows_hit
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import NodeDied
from holdfast.harness.model.journal import Journal, Status, Title
from holdfast.harness.model.plan import Gate, Plan
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.model.window import Window
from holdfast.suites.conformance.delivery import READ_AHEAD
from holdfast.suites.conformance.programs import CASES, KILLED, UNHEARD
from holdfast.suites.selfcheck.replaced_runs import counting_run
from holdfast.suites.selfcheck.systems import strangers

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


def executed(system: str, chosen: Plan, folder: Path, *windows: Window) -> Run:
    return counting_run(chosen, registry.system(system), Tier.PROCESS, folder, *windows)


def stranger(name: str) -> str:
    return f"json-lines+{Path(strangers.__file__).parent / name}.py"


def clauses(run: Run) -> set[str]:
    return {f"{verdict.oracle}/{anomaly.clause}" for verdict in run.verdicts for anomaly in verdict.anomalies}


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
    run = executed(f"json-lines+{program}", UNHEARD, tmp_path, *SENT_AGAIN)
    assert run.outcome is outcome, run.reason
    if outcome is Outcome.FAIL:
        assert "EXACT/row-wrong" in clauses(run)
    else:
        assert windows_hit(run.history) >= SENT_AGAIN
        assert run.history.end.faults_landed == (True,) * 4


@pytest.mark.parametrize("program", [pytest.param("sleepy", marks=pytest.mark.nightly), "eager"])
def test_a_right_program_passes_however_slow_or_eager_it_is(program: str, tmp_path: Path) -> None:
    run = executed(stranger(program), UNHEARD, tmp_path, *SENT_AGAIN)
    assert (run.outcome, run.reason) == (Outcome.PASS, "")
    assert windows_hit(run.history) >= SENT_AGAIN


@pytest.mark.parametrize(
    ("program", "chosen", "clause"),
    [("remembers_few", UNHEARD, "EXACT/row-wrong"), ("answers_for_more", KILLED, "EXACT/row-wrong")],
)
@pytest.mark.nightly
def test_a_wrong_program_of_another_kind_is_refuted(program: str, chosen: Plan, clause: str, tmp_path: Path) -> None:
    assert clause in clauses(executed(stranger(program), chosen, tmp_path))


@pytest.mark.nightly
def test_a_wrong_digest_is_no_loss_and_deaths_of_its_own_are_counted(tmp_path: Path) -> None:
    run = executed(stranger("other_digest"), KILLED, tmp_path)
    assert clauses(run) == {"EXACT/digest-wrong", "NOLOSS/digest-wrong"}
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
