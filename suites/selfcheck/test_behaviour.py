"""Stored plans lead to what they led to, and plans that once raised an alarm of ours fail no more."""

from __future__ import annotations

import lzma
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from holdfast.harness.engine.artefacts.json_files import read_plan_file
from holdfast.harness.engine.cases.results import run_result
from holdfast.harness.engine.cases.swarm_case import SWARM_ID
from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.exploration.drawn_chunk import alarm_of
from holdfast.harness.engine.site import registry
from holdfast.harness.model.configuration import Origin, Setting
from holdfast.harness.model.events import JobConfigured
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.verdict import NOTHING_TO_DECIDE, Anomaly, Outcome, Verdict
from holdfast.suites.bench import behaviour as module
from holdfast.suites.bench.behaviour import (
    FIELDS,
    FILE,
    SHARES,
    Stored,
    differences,
    drawn,
    main,
    now,
    packed,
    stored,
    stored_scope,
)
from holdfast.suites.bench.block import Scope, behaviour, run_judged, whole_scope

OTHER = {"findings": ("CUT/record-after-barrier",)}


@pytest.fixture
def one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Stored:
    """The only plan of a file that takes the place of the stored one."""
    [plan, *_], scope = stored(), stored_scope()
    monkeypatch.setattr(module, "FILE", tmp_path / FILE.name)
    module.FILE.write_bytes(packed(scope, [plan]))
    return plan


def otherwise(plan: Stored, field: str) -> Stored:
    """A plan that is said to have led elsewhere."""
    return replace(plan, behaviour=replace(plan.behaviour, **{field: OTHER.get(field, "0")}))


@pytest.mark.share(3)
@pytest.mark.parametrize("part", [f"{number}/250" for number in range(0, 30, 10)])
def test_stored_plans_lead_where_they_led(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--part", part]) == 0, capsys.readouterr().out
    assert capsys.readouterr().out.startswith("8 runs, ")


@pytest.mark.parametrize("field", FIELDS)
def test_what_differs_is_told_and_may_be_allowed(field: str, one: Stored, capsys: pytest.CaptureFixture[str]) -> None:
    module.FILE.write_bytes(packed(stored_scope(), [otherwise(one, field)]))
    assert main([]) == 1
    assert f"\n{field}: 1 plans differ, such as swarm 1\n" in capsys.readouterr().out
    assert main(["--may", *(each for each in FIELDS if each != field)]) == 1
    assert main(["--may", field]) == 0


def test_what_is_recorded_is_what_the_plans_lead_to_now(one: Stored) -> None:
    module.FILE.write_bytes(packed(Scope({}, frozenset()), [otherwise(one, "trace")]))
    assert main(["--record"]) == 0
    assert module.FILE.read_bytes() == packed(whole_scope(), [replace(one, behaviour=now(one, whole_scope()))])
    assert main([]) == 0


def test_plans_are_compared_in_the_scope_that_is_stored_with_them(one: Stored) -> None:
    scope = Scope({}, frozenset())
    module.FILE.write_bytes(packed(scope, [replace(one, behaviour=now(one, scope))]))
    assert main([]) == 0
    module.FILE.write_bytes(packed(whole_scope(), [replace(one, behaviour=now(one, scope))]))
    assert main([]) == 1


def test_each_mix_has_its_share_and_each_plan_its_name() -> None:
    plans = stored()
    assert Counter(each.mix for each in plans) == SHARES
    assert len({each.name for each in plans}) == len(plans)


def test_equal_plans_give_equal_bytes() -> None:
    plans, scope = stored()[::100], stored_scope()
    assert packed(scope, plans) == packed(scope, plans)
    lines = lzma.decompress(packed(scope, plans)).splitlines()
    assert set(lines) < set(lzma.decompress(FILE.read_bytes()).splitlines())


def test_a_drawn_plan_leads_twice_to_the_same_and_another_one_elsewhere() -> None:
    one, other = (each for each, _ in zip(drawn("b"), range(2), strict=False))
    again = now(one, whole_scope())
    assert again == one.behaviour
    digests = [field for field in FIELDS if len(getattr(again, field)) > len("inconclusive")]
    assert len(digests) == 4
    assert all(getattr(again, field) != getattr(other.behaviour, field) for field in digests)


@pytest.fixture
def run() -> Run:
    """What the first stored plan leads to."""
    return run_judged(msgspec.json.decode(stored()[0].plan, type=Plan))


def judged(run: Run, *verdicts: Verdict) -> Run:
    """A run with other verdicts, or with more."""
    return replace(run, verdicts=tuple(({each.oracle: each for each in (*run.verdicts, *verdicts)}).values()))


def test_a_clause_that_came_later_makes_no_difference_unless_it_refutes(run: Run) -> None:
    scope = whole_scope()
    before = behaviour(run, scope)
    silent = next(each for each in run.verdicts if each.reason == NOTHING_TO_DECIDE)
    decided = next(each for each in run.verdicts if each.checked)
    for verdict in (
        replace(silent, outcome=Outcome.PASS, checked={"later": 1}, reason=""),
        replace(decided, checked=decided.checked | {"later": 1}),
        Verdict("LATER", Outcome.PASS, checked={"later": 1}),
    ):
        clauses = {verdict.oracle: scope.clauses.get(verdict.oracle, frozenset()) | {"later"}}
        after = judged(run, verdict)
        assert behaviour(after, scope) == before
        assert behaviour(after, replace(scope, clauses=scope.clauses | clauses)).verdicts != before.verdicts
        refuted = replace(verdict, outcome=Outcome.FAIL, anomalies=(Anomaly("later", "It is broken."),))
        assert behaviour(judged(run, refuted), scope).findings == (f"{verdict.oracle}/later",)


def test_a_count_of_each_clause_of_the_scope_makes_a_difference(run: Run) -> None:
    before = behaviour(run, whole_scope())
    for verdict in run.verdicts:
        for clause, times in verdict.checked.items():
            for checked in (times + 1, 0):
                after = judged(run, replace(verdict, checked=verdict.checked | {clause: checked}))
                assert behaviour(after, whole_scope()).verdicts != before.verdicts


def test_an_option_that_came_later_makes_no_difference(run: Run) -> None:
    scope = whole_scope()
    before = behaviour(run, scope)
    [configured] = run.history.of(JobConfigured)
    reported = configured.configuration
    configured.configuration = replace(reported, settings=(*reported.settings, Setting("later", "1", Origin.DEFAULT)))
    assert behaviour(run, scope) == before
    assert behaviour(run, replace(scope, options=scope.options | {"later"})).events != before.events
    for at, setting in enumerate(reported.settings):
        settings = (*reported.settings[:at], replace(setting, value="other"), *reported.settings[at + 1 :])
        configured.configuration = replace(reported, settings=settings)
        assert behaviour(run, scope).events != before.events
    [config] = [each for each in run.verdicts if each.oracle == "CONFIG"]
    assert set(config.checked.values()) == {1}, "what is in force is compared once, however many options there are"


def test_a_comparison_of_other_plans_is_refused() -> None:
    [plan, *_] = stored()
    with pytest.raises(ValueError, match="different plans"):
        differences({plan.name: plan.behaviour}, {})


@pytest.mark.parametrize("part", ["2", "2/2", "-1/2"])
def test_what_is_no_part_is_refused(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([f"--part={part}"])
    assert f"{part} is no part: write K/N" in capsys.readouterr().err


def test_an_exception_that_is_handled_behind_a_run_is_told() -> None:
    [plan, *_] = stored()
    seed = msgspec.json.decode(plan.plan, type=Plan).draw_seed
    try:
        raise ValueError("of a run")
    except ValueError:
        with pytest.raises(RuntimeError, match=f"seed {seed}: ValueError"):
            now(plan, stored_scope())
    now(plan, stored_scope())


PLANS = sorted((Path(__file__).parent / "alarms").glob("*.json"))


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_it_raises_no_alarm(path: Path) -> None:
    run = run_plan(read_plan_file(path), registry.system("reference"), registry.toolbox())
    assert not alarm_of(run_result(run, SWARM_ID, 0, 0.0))


def test_there_are_some() -> None:
    assert PLANS
