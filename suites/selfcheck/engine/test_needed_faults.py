"""A refuted plan is run again without its faults, and with each alone: the finding says which it needs."""

from __future__ import annotations

import pytest

from holdfast.faults.process import kill, pause
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.exploration import needed_faults as module
from holdfast.harness.engine.exploration.needed_faults import needed_faults
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.views.finding import NOT_TRIED, finding_of
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec, Plan
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.conformance.plans import WORKERS, plan

KILL = kill(WORKERS[1], after_checkpoint=2)
PAUSE = pause(WORKERS[0], 30, after_checkpoint=1)


def sentence(system: str, *faults: FaultSpec) -> str:
    """What is said of a run of this variant, which is refuted."""
    tools, under_test = registry.toolbox(), registry.system(system)
    run = run_plan(plan(*faults, system=system), under_test, tools)
    assert run.outcome is Outcome.FAIL, run.reason
    return needed_faults(run, under_test, tools).words


@pytest.mark.parametrize("faults", [(KILL,), (PAUSE, KILL)])
def test_a_variant_that_is_wrong_without_any(faults: tuple[FaultSpec, ...]) -> None:
    assert sentence("reference+E1", *faults) == "needs no fault"


def test_a_variant_that_restores_wrongly_needs_the_death() -> None:
    assert sentence("reference+H2", KILL) == "needs kill of worker 1"
    assert sentence("reference+H2", PAUSE, KILL) == "needs kill of worker 1"


def test_what_neither_leads_to_alone_needs_both(monkeypatch: pytest.MonkeyPatch) -> None:
    tools, under_test = registry.toolbox(), registry.system("reference+H2")
    run = run_plan(plan(PAUSE, KILL, system="reference+H2"), under_test, tools)
    monkeypatch.setattr(module, "attempted", lambda candidate, system, tools: None)
    assert needed_faults(run, under_test, tools).words == "needs both: pause of worker 0 and kill of worker 1"


@pytest.mark.parametrize(
    ("first", "words"), [(1, "kill of worker 1 after checkpoint 1 and kill of worker 1 after checkpoint 2"),
                         (2, "kill of worker 1 after checkpoint 2, twice")],
)  # fmt: skip
def test_faults_of_the_same_words_are_told_apart(first: int, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tools, under_test = registry.toolbox(), registry.system("reference+H2")
    faults = kill(WORKERS[1], after_checkpoint=first), KILL
    run = run_plan(plan(*faults, system="reference+H2"), under_test, tools)
    monkeypatch.setattr(module, "attempted", lambda candidate, system, tools: None)
    needed = needed_faults(run, under_test, tools)
    assert needed.words == f"needs both: {words}"
    assert needed.faults == frozenset({0, 1})


def test_a_plan_that_ends_by_its_faults_is_not_tried_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without them the job does not end so, whatever is wrong."""
    tools, under_test = registry.toolbox(), registry.system("reference+E1")
    run = run_plan(plan(KILL, system="reference+E1", expected_end=ExpectedEnd.FAILED), under_test, tools)
    assert run.outcome is Outcome.FAIL
    monkeypatch.setattr(module, "attempted", lambda candidate, system, tools: pytest.fail("tried"))
    assert needed_faults(run, under_test, tools) is NOT_TRIED


def test_nothing_is_said_of_what_passed_or_has_no_fault() -> None:
    tools, under_test = registry.toolbox(), registry.system("reference")

    def said(chosen: Plan) -> str:
        return needed_faults(run_plan(chosen, under_test, tools), under_test, tools).words

    assert said(plan(KILL)) == said(plan()) == ""


def test_the_finding_says_it_in_the_line_of_its_moment() -> None:
    tools, under_test = registry.toolbox(), registry.system("reference+H2")
    run = run_plan(plan(KILL, kill(WORKERS[0], after_checkpoint=3), system="reference+H2"), under_test, tools)
    found = finding_of("", run.history, run.verdicts, tools.oracles, None, needed_faults(run, under_test, tools))
    assert found is not None
    assert found.when.endswith("; needs one of: kill of worker 1, kill of worker 0")
