"""What a certification shows while it runs, in a log: areas that are over, what was refuted, and how much is left."""

from __future__ import annotations

import io
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from holdfast.harness.commands import progress
from holdfast.harness.commands.progress import CaseProgress
from holdfast.harness.commands.time_left import TYPICAL_RUN_S, TimeLeft
from holdfast.harness.engine.cases.case_status import case_not_run, case_result
from holdfast.harness.engine.certification.request import Request
from holdfast.harness.model.case import Tier
from holdfast.harness.model.status import Status
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.selfcheck.engine.results import case, result, tally
from holdfast.suites.selfcheck.engine.scripted import ScriptedOracle
from holdfast.suites.selfcheck.engine.test_findings import LOSS, kept

REQUEST = Request(command="", system="scripted", folder=Path("out/now"))
ONE, TWO, OTHER = (case(id=name) for name in ("area/one", "area/two", "other/one"))


def log(*, quiet: bool = False) -> tuple[CaseProgress, io.StringIO]:
    stream = io.StringIO()
    return CaseProgress(Console(file=stream, width=200), REQUEST, quiet=quiet), stream


def ended(observer: CaseProgress, which: object = ONE, **fields: object) -> None:
    over = case_result(which, Tier.SIM, 1, tally(result()), [ScriptedOracle("CUT")], {})  # type: ignore[arg-type]
    observer.end(msgspec.structs.replace(over, **fields))


def test_an_area_is_one_line_when_all_of_its_cases_are_over() -> None:
    observer, stream = log()
    observer.expect([(ONE, Tier.SIM), (TWO, Tier.SIM), (OTHER, Tier.SIM)])
    for each in (ONE, TWO):
        assert stream.getvalue() == ""
        observer.begin(each.id, Tier.SIM, 1)
        observer.ran(result(case=each.id), None)
        ended(observer, each)
    assert stream.getvalue() == "PASS           area: 2 cases (2 pass), 2 runs\n"


def test_areas_of_which_nothing_ran_are_not_listed() -> None:
    observer, stream = log()
    observer.expect([(ONE, Tier.SIM)])
    observer.end(case_not_run(ONE, Tier.SIM, Status.NOT_APPLICABLE, "it lacks everything"))
    observer.end(case_not_run(TWO, Tier.PROCESS, Status.UNTESTED, "nobody expected it"))
    assert stream.getvalue() == ""


def test_a_log_says_every_now_and_then_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = [0.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now_s[0])
    observer, stream = log()
    observer.expect([(ONE, Tier.SIM), (OTHER, Tier.SIM)])
    for at_s in (1.0, 16.0, 17.0):
        now_s[0] = at_s
        observer.ran(result(case=ONE.id), None)
    assert stream.getvalue() == "0 of 2 cases, 2 runs\n"
    now_s[0] = 40.0
    ended(observer)
    assert stream.getvalue().splitlines()[-1].startswith("1 of 2 cases, 3 runs, about ")
    assert stream.getvalue().splitlines()[-1].endswith(" s left")


def test_what_is_refuted_is_said_once_for_each_kind() -> None:
    observer, stream = log()
    observer.expect([(ONE, Tier.SIM)])
    for number in range(3):
        observer.ran(result(case=ONE.id), kept(number, LOSS, case=ONE.id))
    assert stream.getvalue() == "REFUTED  area/one on sim: Data loss: 12 records have no row\n"


def test_quiet_is_quiet() -> None:
    observer, stream = log(quiet=True)
    observer.expect([(ONE, Tier.SIM)])
    observer.ran(result(case=ONE.id), kept(0, LOSS, case=ONE.id))
    ended(observer)
    assert stream.getvalue() == ""


def test_runs_that_do_not_count_are_still_to_come(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = [0.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now_s[0])
    observer, stream = log()
    observer.expect([(ONE, Tier.SIM), (OTHER, Tier.SIM)])
    observer.begin(ONE.id, Tier.SIM, 1)
    observer.begin(OTHER.id, Tier.SIM, 2)
    now_s[0] = 10.0
    observer.ran(result(case=ONE.id), None)
    ended(observer)
    for at_s in (20.0, 30.0, 40.0, 50.0):
        now_s[0] = at_s
        observer.ran(result(case=OTHER.id, outcome=Outcome.INCONCLUSIVE), None)
    lines = [line for line in stream.getvalue().splitlines() if "of 2 cases" in line]
    assert [line.rpartition(", ")[2] for line in lines] == ["about 20 s left"] * 2
    observer.ran(result(case=OTHER.id), None)
    now_s[0] = 70.0
    observer.ran(result(case=OTHER.id, outcome=Outcome.INCONCLUSIVE), None)
    assert stream.getvalue().endswith("1 of 2 cases, 7 runs, about 10 s left\n")


def test_a_case_that_is_over_takes_no_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = [0.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now_s[0])
    observer, stream = log()
    observer.expect([(ONE, Tier.SIM), (OTHER, Tier.SIM)])
    observer.begin(ONE.id, Tier.SIM, 1)
    for at_s in (10.0, 20.0, 30.0, 40.0):  # three more than it demands
        now_s[0] = at_s
        observer.ran(result(case=ONE.id, outcome=Outcome.INCONCLUSIVE), None)
    now_s[0] = 60.0
    ended(observer)
    assert stream.getvalue().splitlines()[-1] == "1 of 2 cases, 4 runs, about 15 s left"


def test_the_time_left_follows_from_what_runs_took() -> None:
    left = TimeLeft(side_by_side=False, budget_s=None)
    left.expect("area/one", Tier.SIM, 11)
    left.expect("area/one", Tier.PROCESS, 2)
    assert left.estimate_s(0.0) == pytest.approx(11 * TYPICAL_RUN_S[Tier.SIM] + 2 * TYPICAL_RUN_S[Tier.PROCESS])
    left.began(Tier.SIM, 1.0)
    for at_s in (1.1, 5.0):  # two workers: the first two runs end almost together
        left.ran(Tier.SIM, at_s)
    left.expect("area/one", Tier.SIM, 9)
    assert left.estimate_s(5.0) == pytest.approx(9 * 2.0 + 2 * TYPICAL_RUN_S[Tier.PROCESS])


def test_a_budget_is_the_time_left() -> None:
    left = TimeLeft(side_by_side=True, budget_s=30.0)
    left.expect("area/one", Tier.SIM, 11)
    assert (left.estimate_s(10.0), left.estimate_s(31.0)) == (20.0, 0.0)
