"""A quick certificate runs the cheapest cases that decide every rule; a thorough one runs all; how they compare."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

from holdfast.harness.engine.cases.case import not_applicable
from holdfast.harness.engine.cases.case_status import case_not_run, case_result
from holdfast.harness.engine.cases.swarm_case import SWARM_ID, cases_for
from holdfast.harness.engine.certification.agenda import (
    DRAWN_PLANS,
    LEAST_S,
    Pair,
    cost_s,
    examples,
    left_out,
    select,
)
from holdfast.harness.engine.certification.certify import Certification
from holdfast.harness.engine.certification.kit_journal import parts_of
from holdfast.harness.engine.certification.kit_run import KitQueue, KitRequest, KitRun
from holdfast.harness.engine.certification.request import Request
from holdfast.harness.engine.certification.worker import Assignment, CaseEnded
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.interruption import Interruption
from holdfast.harness.model.case import Case, Decision, Tier, Window
from holdfast.harness.model.certificate import LeftOut, Scope
from holdfast.harness.model.journal import Journal, Status
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.selfcheck import blindness
from holdfast.suites.selfcheck.blindness import Refusal, drawn, refusal, share, variants
from holdfast.suites.selfcheck.engine.results import case
from holdfast.suites.selfcheck.engine.scripted import Silent
from holdfast.suites.spec.costs import load_costs

SIM, PROCESS = Tier.SIM, Tier.PROCESS
MOST_OF_A_RUN = 400_000
"""Bytes of a stored run of a short case: of 40 MB for a certificate, runs of all areas and tiers may have half."""


def named(name: str, *decides: Decision, **changes: object) -> Case:
    return msgspec.structs.replace(case(), id=name, decides=decides, **{"windows": (), **changes})


def deciding(rule: str, clause: str = "order", mutant: str = "A3") -> Decision:
    return Decision(rule, "CUT", (clause,), mutant)


def chosen(pairs: Iterable[Pair], costs: dict[tuple[str, Tier], float] | None = None) -> list[tuple[str, Tier]]:
    return [(each.id, tier) for each, tier in select(list(pairs), costs or {})]


def test_of_two_cases_that_decide_the_same_the_cheaper_runs() -> None:
    pairs = [(named("a/dear", deciding("BAR-01")), SIM), (named("a/cheap", deciding("BAR-01")), SIM)]
    assert chosen(pairs, {("a/dear", SIM): 9.0, ("a/cheap", SIM): 0.5}) == [("a/cheap", SIM)]
    assert chosen(pairs, {("a/dear", SIM): 0.5, ("a/cheap", SIM): 9.0}) == [("a/dear", SIM)]


@pytest.mark.parametrize(
    "only",
    [
        named("a/only", deciding("BAR-02")),
        named("a/only", deciding("BAR-01", clause="loss")),
        named("a/only", deciding("BAR-01", mutant="A4")),
        named("a/only", deciding("BAR-01"), windows=(Window.READ_AGAIN,)),
    ],
    ids=["rule", "clause", "variant", "window"],
)
def test_what_only_an_expensive_case_decides_keeps_it(only: Case) -> None:
    pairs = [(named("a/cheap", deciding("BAR-01")), SIM), (only, SIM)]
    assert ("a/only", SIM) in chosen(pairs, {("a/cheap", SIM): 0.01, ("a/only", SIM): 500.0})


@pytest.mark.parametrize(
    "idle",
    [
        named("a/idle", deciding("BAR-01", mutant="A4"), mutant_plan=case().plan),
        named("a/idle", deciding("BAR-01", mutant="history:loss")),
    ],
    ids=["plan-of-its-own", "hand-made"],
)
def test_a_wrong_variant_that_no_run_of_the_case_refutes_is_no_reason_to_run_it(idle: Case) -> None:
    pairs = [(named("a/cheap", deciding("BAR-01")), SIM), (idle, SIM)]
    assert chosen(pairs, {("a/cheap", SIM): 0.01, ("a/idle", SIM): 5.0}) == [("a/cheap", SIM)]


def test_a_further_tier_runs_what_only_it_decides_and_each_area_and_kind_of_fault_once() -> None:
    both = [named(f"a/both-{n}", deciding(f"BAR-0{n}")) for n in (1, 2)]
    only = named("a/only", deciding("STO-01"))
    found = chosen([*((each, SIM) for each in both), *((each, PROCESS) for each in both), (only, PROCESS)])
    assert {name for name, tier in found if tier is SIM} == {"a/both-1", "a/both-2"}
    on_process = [name for name, tier in found if tier is PROCESS]
    assert "a/only" in on_process
    assert len(on_process) == 2
    # Where there is no simulator the first tier decides everything.
    assert len(chosen([(each, PROCESS) for each in both])) == 2


def test_cases_that_decide_no_rule_run_on_their_first_tier_and_one_control_on_each() -> None:
    controls = [named(f"a/control-{n}", expected=Outcome.FAIL) for n in (1, 2)]
    free = named("a/free")
    rehearsal = named("a/rehearsal", rehearsal=True)
    cases = (*controls, free, rehearsal)
    found = chosen([(each, tier) for tier in (SIM, PROCESS) for each in cases])
    assert found == [
        ("a/control-1", SIM), ("a/free", SIM), ("a/rehearsal", SIM), ("a/control-1", PROCESS), ("a/rehearsal", PROCESS)
    ]  # fmt: skip


def test_a_new_case_has_the_cost_of_as_many_average_runs() -> None:
    new = named("a/new", deciding("BAR-01"), runs=4)
    assert cost_s({("a/old", PROCESS): 12.0}, new, PROCESS) > cost_s({}, new, SIM) >= LEAST_S
    assert cost_s({("a/new", SIM): 7.0}, new, SIM) == 7.0
    assert left_out([(new, SIM), (new, PROCESS)], {("a/new", SIM): 7.0, ("a/new", PROCESS): 1.5}) == (
        LeftOut(SIM, 1, 7.0),
        LeftOut(PROCESS, 1, 1.5),
    )


@pytest.mark.parametrize("system", ["reference", "spark", "flink", "acknowledges-first"])
def test_the_chosen_cases_decide_whatever_all_decide(system: str) -> None:
    under_test = registry.system(system)
    everything = [
        (each, tier)
        for each in cases_for(under_test)
        for tier in each.tiers
        if not not_applicable(each, under_test, tier)
    ]
    for tiers in ({SIM}, {PROCESS}, {SIM, PROCESS}, set(Tier)):
        pairs = [(each, tier) for each, tier in everything if tier in tiers]
        few = select(pairs, registry.case_costs())
        assert _decided(few) == _decided(pairs)
        assert {each.id for each, _ in few} >= {
            each.id for each, _ in pairs if not each.decides and each.plan_for(1).draw_seed
        }
        assert len(few) <= len(pairs)


def _decided(pairs: Iterable[Pair]) -> set[tuple[str, str, str]]:
    return {(each.rule, each.oracle, clause) for case, _ in pairs for each in case.decides for clause in each.clauses}


def journal_of(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *cases: Case, costs: dict[tuple[str, Tier], float], **changes: object
) -> tuple[dict[str, Status], Journal]:
    """Statuses of what a certificate of the reference ran on the simulator, where there are these cases alone."""
    monkeypatch.setattr("holdfast.harness.engine.certification.certify.cases_for", lambda *_: cases)
    monkeypatch.setattr(registry, "cases", lambda: cases)
    monkeypatch.setattr(registry, "case_costs", lambda: costs)
    folder.mkdir(exist_ok=True)
    request = Request(command="t", system="reference", folder=folder, tiers=frozenset({SIM}), **changes)  # type: ignore[arg-type]
    journal = Certification(request, Silent(), Interruption()).run()
    statuses = {each.case: each.status for each in journal.cases if each.tier is SIM}
    assert all(each.wall_ms > 0 for each in journal.cases if each.status is Status.PASS)
    return statuses, journal


def registered(name: str) -> Case:
    return next(each for each in registry.cases() if each.id == name)


def test_a_quick_certificate_says_what_it_left_out_and_its_rules_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cheap = registered("transactions/order")
    dear = msgspec.structs.replace(cheap, id="transactions/dear")
    costs = {(cheap.id, SIM): 0.2, (dear.id, SIM): 60.0}
    quick, journal = journal_of(tmp_path / "quick", monkeypatch, cheap, dear, costs=costs)
    assert quick == {cheap.id: Status.PASS}
    assert (journal.certificate.scope, journal.certificate.left_out) == (Scope.QUICK, (LeftOut(SIM, 1, 60.0),))
    rules = {each.rule.id: each.status for each in journal.rules}
    assert {rules[each.rule] for each in cheap.decides} == {Status.PASS}

    thorough, journal = journal_of(tmp_path / "thorough", monkeypatch, cheap, dear, costs=costs, thorough=True)
    assert thorough == {cheap.id: Status.PASS, dear.id: Status.PASS}
    assert (journal.certificate.scope, journal.certificate.left_out) == (Scope.THOROUGH, ())

    area = frozenset({cheap.decides[0].rule.partition("-")[0]})
    narrowed, journal = journal_of(tmp_path / "narrowed", monkeypatch, cheap, dear, costs=costs, areas=area)
    assert narrowed == thorough
    assert (journal.certificate.scope, journal.certificate.left_out) == (Scope.NARROWED, ())


def test_what_was_left_out_runs_if_the_chosen_case_does_not_apply_after_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan whose fault finds nothing to strike shows so only when it runs."""
    dear = registered("transactions/order")
    cheap = msgspec.structs.replace(dear, id="transactions/cheap")
    monkeypatch.setattr(
        "holdfast.harness.engine.certification.certify.case_result",
        lambda case, *given: (
            case_not_run(case, given[0], Status.NOT_APPLICABLE, "it has none")
            if case is cheap
            else case_result(case, *given)
        ),
    )
    statuses, journal = journal_of(
        tmp_path, monkeypatch, cheap, dear, costs={(cheap.id, SIM): 0.2, (dear.id, SIM): 60.0}
    )
    assert statuses == {cheap.id: Status.NOT_APPLICABLE, dear.id: Status.PASS}
    assert journal.certificate.left_out == ()


def test_a_tier_without_a_case_that_applies_says_what_keeps_most_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd, *others = (msgspec.structs.replace(case(), id=f"a/{n}", windows=()) for n in range(3))
    monkeypatch.setattr(
        "holdfast.harness.engine.certification.agenda.why_not_applicable",
        lambda case, *_: "it has no gates" if case.id == odd.id else "it is not installed",
    )
    statuses, journal = journal_of(tmp_path, monkeypatch, odd, *others, costs={}, thorough=True)
    assert set(statuses.values()) == {Status.NOT_APPLICABLE}
    (reason,) = (each.reason for each in journal.tiers if each.tier is SIM)
    assert reason == "no case runs there, most often because of this: it is not installed"


@pytest.mark.parametrize(("thorough", "demanded"), [(False, DRAWN_PLANS), (True, 300)])
def test_a_quick_certificate_draws_a_hundred_plans(
    thorough: bool, demanded: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swarm = next(each for each in cases_for(registry.system("reference")) if each.id == SWARM_ID)
    monkeypatch.setattr(
        "holdfast.harness.engine.certification.certify.execute", lambda *_: iter([CaseEnded(histories="")])
    )
    monkeypatch.setattr("holdfast.harness.engine.certification.certify.cases_for", lambda *_: (swarm,))
    request = Request(command="t", system="reference", folder=tmp_path, tiers=frozenset({SIM}), thorough=thorough)
    journal = Certification(request, Silent(), Interruption()).run()
    assert [each.runs_demanded for each in journal.cases] == [demanded]


def test_recorded_costs_are_of_cases_and_parts_that_exist_on_their_tier() -> None:
    known = {(each.id, tier) for each in cases_for(registry.system("reference"), Tier) for tier in each.tiers}
    parts = parts_of(registry.system("reference"))
    kits = {(KitRequest(each.contract, each.factory, "", location=each.location).name, SIM) for each in parts}
    assert load_costs().keys() <= known | kits
    assert registry.case_costs() == load_costs()
    assert all(seconds >= 0 for seconds in load_costs().values())


def test_of_each_area_and_tier_the_cheapest_case_is_the_example() -> None:
    both = named("a/both", deciding("BAR-01"), deciding("STO-01"))
    cheap, dear = named("a/cheap", deciding("BAR-02")), named("a/dear", deciding("STO-02"))
    costs = {("a/both", SIM): 2.0, ("a/cheap", SIM): 1.0, ("a/dear", SIM): 9.0, ("a/both", PROCESS): 5.0}
    found = examples([(both, SIM), (cheap, SIM), (dear, SIM), (both, PROCESS), (named("a/control"), SIM)], costs)
    assert found == {("a/cheap", SIM), ("a/both", SIM), ("a/both", PROCESS)}


def test_one_passing_run_of_an_area_is_stored_and_the_others_are_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A certificate of the reference used to take 600 MB, nearly all of it runs that passed."""
    cases = [registered(name) for name in ("barriers/alignment", "barriers/no-deadlock", "transactions/order")]
    sizes = []
    for keep_all in (False, True):
        folder = tmp_path / ("all" if keep_all else "few")
        (folder / "runs").mkdir(parents=True)
        _, journal = journal_of(folder, monkeypatch, *cases, costs={}, thorough=True, keep_all=keep_all)
        stored = {each.name for each in (folder / "runs").iterdir()}
        assert {each.id for each in journal.runs if each.artefacts} == stored
        listed = [each for each in journal.runs if each.tier is SIM]
        assert {each.case for each in listed} == {each.id for each in cases}
        lines = [each for each in listed if not each.artefacts]
        assert not any(each.verdicts or each.timeline for each in lines)
        assert bool(lines) is not keep_all
        sizes.append(sum(each.stat().st_size for each in (folder / "runs").rglob("*") if each.is_file()))
        areas = {each.rule.partition("-")[0] for case in cases for each in case.decides}
        assert len(stored) <= (len(cases) if keep_all else len(areas))
        assert keep_all or sizes[-1] < len(stored) * MOST_OF_A_RUN
    assert sizes[0] < sizes[1]


def test_kits_run_between_written_cases_and_drawn_plans_the_longest_first() -> None:
    runs = [KitRun(KitRequest("source", name, "")) for name in ("a:A", "b:B")]
    runs[0].restore(runs[0].waiting[0])
    case = Assignment("a/case", SIM, 1, 0)
    order = [key for key, _ in KitQueue(runs, str).between(iter([("written", case)]), iter([("drawn", case)]))]
    assert order == ["written", runs[1], runs[0], "drawn"]


def test_variants_are_drawn_by_seed_and_each_once() -> None:
    assert drawn(1, 60) == drawn(1, 60)
    assert drawn(1, 60) != drawn(2, 60)
    assert len(set(drawn(1, 60))) == 60
    assert sorted(drawn(3, 10_000)) == variants()


@pytest.mark.parametrize("variant", ["reference+A3", "reference+H7"])
def test_a_variant_that_a_decision_names_is_refused_by_a_quick_certificate(variant: str) -> None:
    assert refusal(variant).quick


def test_what_the_choice_misses_is_found_by_the_rest_and_counts_as_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    variant = "reference+H7"
    finder = refusal(variant).quick
    cases = [each for each in registry.cases() if each.id in (finder, "barriers/alignment")]

    def blind(pairs: list[tuple[Case, Tier]], costs: object) -> list[tuple[Case, Tier]]:
        return [(case, tier) for case, tier in pairs if case.id != finder]

    monkeypatch.setattr(blindness, "cases_for", lambda system: cases)
    monkeypatch.setattr(blindness, "select", blind)
    missed = refusal(variant)
    assert missed == Refusal(variant, thorough=finder)
    assert share([missed]) == 0.0
    assert share([missed, Refusal("reference+A3", quick="a/case"), Refusal("reference+B1")]) == 0.5
    assert share([Refusal("reference+B1")]) == 1.0
    assert "MISSED" in str(missed)
