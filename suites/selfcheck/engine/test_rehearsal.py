"""The run without a fault that comes before all others: what ends a certification, and what `holdfast doctor` shows."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from holdfast.faults import FAULTS
from holdfast.fixtures.workloads.synthetic import Synthetic
from holdfast.harness import cli
from holdfast.harness.commands import doctor
from holdfast.harness.commands.doctor_system import last_lines, shortened_plan
from holdfast.harness.engine.cases.case_run import CaseRun, run_until
from holdfast.harness.engine.cases.case_status import case_result
from holdfast.harness.engine.cases.swarm_case import rehearsals, why_blocked
from holdfast.harness.engine.cases.tally import Tally
from holdfast.harness.engine.certification import agenda, certify
from holdfast.harness.engine.certification import request as request_module
from holdfast.harness.engine.certification.certify import Certification
from holdfast.harness.engine.certification.limits import TimeLimit
from holdfast.harness.engine.certification.request import Request
from holdfast.harness.engine.errors import ForeignError
from holdfast.harness.engine.executor.phases import rehearsed
from holdfast.harness.engine.executor.run import NO_INPUT, NOTHING_RECORDED, run_plan, without_faults
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.interruption import Interruption
from holdfast.harness.model import profile
from holdfast.harness.model.capability import Claims
from holdfast.harness.model.case import Case, Tier
from holdfast.harness.model.history import RunEnd
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.journal import CaseResult, Journal, Status, Title
from holdfast.harness.model.plan import Bounds, Plan, WorkloadSpec
from holdfast.harness.model.records import CommittedRows, IdentityRow, InputLog, Output, Partition
from holdfast.harness.model.rule import Rule
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.oracles.shared.options import milliseconds
from holdfast.harness.spi.system import System
from holdfast.suites.selfcheck.engine.scripted import (
    Checkpoints,
    ScriptedOracle,
    ScriptedSystem,
    Silent,
    failed,
    plan,
    toolbox,
)


class Rehearsing(ScriptedSystem):
    """A scripted system whose expectations come from somebody else."""

    def rehearsals(self, tier: Tier) -> Sequence[Plan]:
        return (plan(),)


def put_to(system: System, *oracles: ScriptedOracle) -> tuple[CaseResult, Case, Tally]:
    [case] = rehearsals(system, Tier.SIM)
    tally = Tally()
    for finished in run_until(CaseRun(case, system, Tier.SIM, toolbox(*oracles)), 1):
        tally.add(finished.result)
    return case_result(case, Tier.SIM, 1, tally, (), {}), case, tally


def test_a_system_that_does_what_it_must_goes_on() -> None:
    result, case, tally = put_to(Rehearsing(Checkpoints()))
    assert (result.status, result.reason, tally.runs) == (Status.PASS, "", 1)
    assert not why_blocked(case, Tier.SIM, tally, Tier.SIM)
    assert rehearsals(ScriptedSystem(), Tier.SIM) == ()


def test_a_system_that_fails_without_a_fault_is_not_refuted() -> None:
    system = Rehearsing([failed(100, "no exchange rate.\n\tat Line.java")])
    result, case, tally = put_to(system, ScriptedOracle("PASSES"))
    assert (result.status, tally.runs) == (Status.INCONCLUSIVE, 1)
    assert result.reason == "without a fault, the job failed: no exchange rate"
    assert why_blocked(case, Tier.SIM, tally, Tier.SIM)
    assert not why_blocked(case, Tier.SIM, tally, Tier.SPARK)
    assert run_plan(plan(), system, toolbox()).history.end.problem == ""  # Outside a rehearsal it is LIVE that judges.


def test_checkpoints_that_never_come_are_named_after_one_run() -> None:
    result, _, tally = put_to(Rehearsing())
    assert (result.status, tally.runs) == (Status.INCONCLUSIVE, 1)
    assert result.reason == "without a fault, 0 of 2 checkpoints triggered after the heal completed"


def test_what_an_adapter_says_is_missing_is_the_reason() -> None:
    system = Rehearsing(Checkpoints())
    system.dead_after_ms = 50
    result, _, tally = put_to(system)
    assert (result.status, result.reason, tally.runs) == (Status.INCONCLUSIVE, "the adapter answered garbage", 1)


def test_a_system_that_breaks_is_refuted_after_one_run() -> None:
    class Breaking(Rehearsing):
        def claims(self, plan: Plan) -> Claims:
            raise RuntimeError("no claims")

    result, case, tally = put_to(Breaking(Checkpoints()))
    assert (result.status, tally.runs) == (Status.FAIL, 1)
    assert "no claims" in result.reason
    assert why_blocked(case, Tier.SIM, tally, Tier.SIM)


def test_a_contract_that_is_violated_without_a_fault_is_refuted_everywhere() -> None:
    result, case, tally = put_to(Rehearsing(Checkpoints()), ScriptedOracle("EXACT", Outcome.FAIL))
    assert (result.status, tally.runs) == (Status.FAIL, 1)
    assert result.reason == "the contract is violated without a fault: EXACT/clause"
    assert "violated without one" in why_blocked(case, Tier.SIM, tally, Tier.SPARK)


def test_an_oracle_that_cannot_tell_keeps_nobody_from_going_on() -> None:
    result, case, tally = put_to(Rehearsing(Checkpoints()), ScriptedOracle("STABLE", Outcome.INCONCLUSIVE))
    assert result.status is Status.INCONCLUSIVE
    assert tally.runs > 1  # A busy machine may do better the next time.
    assert not why_blocked(case, Tier.SIM, tally, Tier.SIM)


def test_output_that_nobody_saw_is_missing() -> None:
    column = np.arange(3)
    inputs, end = InputLog(("a", "b", "c"), (Partition(column, column, preloaded=3),)), RunEnd(reached=True)
    rows = Output((CommittedRows("a", 0, (IdentityRow(0, 0),)),))
    _, unseen = rehearsed(end, NOTHING_RECORDED, inputs, shows_rows=True)
    assert unseen.problem == "no output was seen, and 3 rows are due without a fault"
    told = replace(NOTHING_RECORDED, looked="folder out has no file")
    _, unseen = rehearsed(end, told, inputs, shows_rows=True)
    assert unseen.problem.endswith(" are due without a fault. What was seen: folder out has no file")
    late, _ = rehearsed(RunEnd(reached=False, reason="1 of 2 checkpoints"), told, inputs, shows_rows=True)
    assert late.problem == "without a fault, 1 of 2 checkpoints. What was seen: folder out has no file"
    seen = replace(NOTHING_RECORDED, output=rows)
    for recording, shows_rows in ((seen, True), (NOTHING_RECORDED, False)):
        assert rehearsed(end, recording, inputs, shows_rows=shows_rows) == (end, recording)
    judged = replace(NOTHING_RECORDED, wrote_nothing="the query wrote no row")
    assert rehearsed(end, judged, inputs, shows_rows=True) == (end, judged)
    nothing_due = replace(NOTHING_RECORDED, expected=NO_INPUT)
    assert rehearsed(end, nothing_due, inputs, shows_rows=True) == (end, nothing_due)


def certified(system: str, rehearsal: Plan, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Journal:
    """One case behind a rehearsal."""
    asked = next(each for each in registry.cases() if each.id == "recovery/crash-anywhere")
    first = replace(asked, id="rehearsal/sum", decides=(), windows=(), plan=rehearsal, runs=1, rehearsal=True)
    monkeypatch.setattr(certify, "cases_for", lambda *_: (replace(asked, runs=2), first))
    request = Request(command="test", system=system, folder=folder, tiers=frozenset({Tier.SIM}))
    return Certification(request, Silent(), Interruption()).run()


def calm() -> Plan:
    asked = next(each for each in registry.cases() if each.id == "recovery/crash-anywhere")
    return without_faults(asked.plan_for(1))


def test_a_certification_begins_with_the_rehearsal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = certified("reference", calm(), tmp_path, monkeypatch)
    assert [(each.case, each.status) for each in journal.cases] == [
        ("rehearsal/sum", Status.PASS),
        ("recovery/crash-anywhere", Status.PASS),
    ]


def test_nothing_is_run_behind_a_rehearsal_that_lacks_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = calm()
    late = replace(plan, bounds=replace(plan.bounds, liveness_ms=1))
    journal = certified("reference", late, tmp_path, monkeypatch)
    first, second = journal.cases
    assert (first.status, second.status) == (Status.INCONCLUSIVE, Status.UNTESTED)
    assert first.reason.startswith("without a fault, ")
    assert second.reason == "no fault was tried, because the run without one decides nothing (rehearsal/sum)"
    assert sum(tier.runs for tier in journal.tiers) == 1
    assert journal.certificate.title is Title.INCONCLUSIVE
    assert f"Case rehearsal/sum on sim is INCONCLUSIVE: {first.reason}." in journal.certificate.missing


def test_nothing_is_run_behind_a_rehearsal_that_refutes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = certified("reference+commits-on-barrier", calm(), tmp_path, monkeypatch)
    first, second = journal.cases
    assert (first.status, second.status) == (Status.FAIL, Status.UNTESTED)
    assert first.reason.startswith("the contract is violated without a fault: ")
    assert sum(tier.runs for tier in journal.tiers) == 1
    assert journal.certificate.title is Title.REFUSED


def test_what_tells_of_the_system_comes_before_what_tells_of_the_harness(tmp_path: Path) -> None:
    asked = next(each for each in registry.cases() if each.id == "recovery/crash-anywhere")
    plan = calm()
    cases = [
        replace(asked, id="a/drawn", plan=replace(plan, draw_seed=7)),
        replace(asked, id="b/control", plan=plan, refutes=frozenset({"EXACT/row-wrong"}), expected=Outcome.FAIL),
        replace(asked, id="c/long", plan=plan, runs=2),
        replace(asked, id="d/short", plan=plan, runs=1),
        replace(asked, id="e/rehearsal", plan=plan, rehearsal=True),
    ]
    request = Request(command="test", system="reference", folder=tmp_path, thorough=True)
    ordered = agenda.Agenda(request, cases).first()
    assert [case.id for case, tier in ordered if tier is Tier.SIM] == [
        "e/rehearsal", "d/short", "c/long", "b/control", "a/drawn",
    ]  # fmt: skip


class Watched(TimeLimit):
    """Remembers how much of the time was left to cases that wait."""

    halves: list[bool] = []

    @property
    def halved(self) -> bool:
        return self.__dict__["halved"]  # type: ignore[no-any-return]

    @halved.setter
    def halved(self, halved: bool) -> None:
        self.__dict__["halved"] = halved
        self.halves.append(halved)


@pytest.mark.parametrize("chosen", [{Tier.SIM}, {Tier.SIM, Tier.CONTAINERS}])
def test_no_time_is_left_to_a_tier_that_was_not_chosen(
    chosen: set[Tier], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = next(each for each in registry.cases() if each.id == "recovery/crash-anywhere")
    case = replace(asked, plan=calm(), runs=1, decides=(), windows=(), tiers=(Tier.SIM, Tier.CONTAINERS))
    monkeypatch.setattr(certify, "cases_for", lambda *_: (case,))
    monkeypatch.setattr(certify, "TimeLimit", Watched)
    for module in (agenda, request_module):
        monkeypatch.setattr(module, "lacking", lambda tier: "")
    monkeypatch.setattr(Watched, "halves", [])
    request = Request(
        command="t", system="reference", folder=tmp_path, tiers=frozenset(chosen), jobs=2, budget_s=0.0, thorough=True
    )
    Certification(request, Silent(), Interruption()).run()
    assert any(Watched.halves) is (Tier.CONTAINERS in chosen)


PERSISTS_NOTHING = """#!/bin/sh
read -r init
echo '{"type":"ready","version":1,"positions":[0,0]}'
echo >&2 'I am ready, and will never acknowledge.'
exec cat > /dev/null
"""
ENDS = """#!/bin/sh
echo >&2 'no table here'
exit 3
"""
SAYS = ("protocol", "claims", "offers")
SAID_ITSELF = {"reference": (), "persists-first": SAYS}


def examined(system: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, str]]:
    code = cli.execute(["doctor", system])
    return code, {line[:11].strip(): line[11:] for line in capsys.readouterr().out.splitlines()}


def program(text: str, folder: Path) -> str:
    path = folder / "program"
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return f"json-lines+{path}"


@pytest.mark.parametrize(
    ("absent", "words"),
    [
        ("", "services as plain processes are ready"),
        ("kafka, flink", "services as plain processes lack kafka, flink: holdfast services install"),
    ],
)
def test_services_without_docker_are_there_or_named_with_what_brings_them(
    absent: str, words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "missing_parts", lambda: absent)
    monkeypatch.setenv("COLUMNS", "120")
    assert cli.execute(["doctor"]) == 0
    assert f"no Docker       {words}\n" in capsys.readouterr().out


def test_what_is_plugged_in_is_counted_or_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert cli.execute(["doctor"]) == 0
    shown = {line[:16].strip(): line[16:] for line in capsys.readouterr().out.splitlines()}
    assert shown["faults"] == str(len(FAULTS))
    assert shown["oracles"] == str(len(registry.toolbox().oracles))
    assert shown["rules"] == str(len(registry.rules()))
    assert shown["state backends"] == "hashmap, named-files, rocksdb"
    assert shown["storages"] == "file, hdfs, memory, oss, s3"
    assert {"sink", "source", "checkpoint-storage"} < set(shown["kits"].split(", "))
    assert not {"histories", "deviations", "cases"} & shown.keys()


def test_a_package_that_cannot_be_loaded_is_named_in_its_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> tuple[Rule, ...]:
        raise ForeignError("entry point 'mine' of holdfast.suites: no table")

    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setitem(doctor._COUNTED, "rules", broken)
    assert cli.execute(["doctor"]) == 0
    assert "rules           entry point 'mine' of holdfast.suites: no table\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("system", "progress"), [("reference", "first checkpoint after"), ("persists-first", "first acknowledgement after")]
)
@pytest.mark.share(2)
def test_a_right_system_comes_to_the_end(system: str, progress: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = examined(system, capsys)
    assert code == 0
    assert list(said) == ["loads", *SAID_ITSELF[system], "runs", "progress", "survives"]
    assert re.fullmatch(r"pass without a fault \(\d+ s\)", said["runs"])
    assert said["progress"].startswith(progress)
    assert said["survives"].startswith("pass with a kill")


def test_one_that_loses_its_input_does_not_survive(capsys: pytest.CaptureFixture[str]) -> None:
    """However long it lives before it is killed; it says what it claims and offers."""
    code, said = examined("json-lines+loses-at-least-once", capsys)
    assert code == 1
    assert said["protocol"] == "JSON lines, version 2"
    assert said["claims"] == "at-least-once"
    assert said["offers"] == "checkpoints"
    assert re.fullmatch(r"pass without a fault \(\d+ s\)", said["runs"])
    assert said["survives"].startswith("fail with a kill")
    assert "NOLOSS/input-lost" in said["survives"]


def test_one_that_ends_at_once_shows_its_last_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = examined(program(ENDS, tmp_path), capsys)
    assert code == 2
    assert list(said) == ["loads", *SAYS, "runs", "log"]
    assert said["protocol"] == "JSON lines, version 1, because it ended without an answer (no table here)"
    assert said["runs"].startswith("inconclusive without a fault")
    assert said["log"] == "no table here"


def test_one_that_never_acknowledges_has_nothing_to_recover_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = examined(program(PERSISTS_NOTHING, tmp_path), capsys)
    assert code == 2
    assert said["log"] == "I am ready, and will never acknowledge."
    assert "survives" not in said


def test_the_log_is_found_in_a_folder_of_logs_or_beside_others(tmp_path: Path) -> None:
    (tmp_path / "work/output").mkdir(parents=True)
    (tmp_path / "work/output/part-0.json").write_text("of the output\n")
    (tmp_path / "work/empty.log").touch()
    assert last_lines(tmp_path) == []
    (tmp_path / "work/driver.log").write_text("".join(f"line {number}\n" for number in range(5)))
    assert last_lines(tmp_path) == ["line 2", "line 3", "line 4"]
    (tmp_path / "work/logs").mkdir()
    later = tmp_path / "work/logs/worker-0"
    later.write_text("Caused by: boom\n\tat a.b.C(C.java:1)\n\t... 34 more\nended\n")
    os.utime(later, (2**31, 2**31))
    assert last_lines(tmp_path) == ["Caused by: boom", "ended"]


def test_a_rehearsal_takes_the_least_time() -> None:
    """Whatever a system would be rehearsed with: in two portions, and watched no longer than its options need."""
    slow = WorkloadSpec("synthetic", {"records": 300, "preloaded_percent": 20, "records_per_second": 80})
    plan = Plan(
        system="any", job=KEYED_SUM, workload=slow, options={profile.INTERVAL: "500 ms"}, bounds=Bounds(settle_ms=600)
    )
    quick = shortened_plan(plan)
    partitions = Synthetic().generate(quick.workload.parameters, 1).partitions
    assert {(each.preloaded, each.records_per_second) for each in partitions} == {(30, 0)}
    assert milliseconds(quick, profile.INTERVAL, 0) <= quick.bounds.settle_ms < plan.bounds.settle_ms
    assert shortened_plan(replace(plan, options={})).options == {}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["doctor", "collections:Counter"], "is a Counter without name, subject"),
        (["doctor", "holdfast.fixtures.sinks.memory:MemorySink"], "a system is made without arguments"),
        (["doctor", "nothing"], "unknown system 'nothing'"),
        (["certify", "--state-backend", "collections:Counter"], "is a class without describe, restore"),
        (["certify", "--checkpoint-storage", "collections:Counter"], "is a class without describe, claim"),
        (["certify", "--sink", "collections:Counter"], "is a class without describe, begin"),
        (["certify", "--source", "collections:Counter"], "is a class without describe, enumerator"),
        (["certify", "--restart-strategy", "collections:Counter"], "is a class without describe, failed"),
    ],
)
def test_a_class_that_is_none_of_ours_is_one_sentence(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.execute(arguments) == cli.WRONG_USAGE
    error = capsys.readouterr().err
    assert sentence in error
    announced = error.count("; the report goes to ")  # A factory is loaded where its checks run.
    assert error.count("\n") == 1 + announced
