"""Every kind of system has wrong ones that lose, double, reorder and forget once they have restored something, and each
is refuted by what it does to the output, where the right one passes and has restored something, too."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from holdfast.harness.engine.cases.case import is_control
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.executor.windows import windows_hit
from holdfast.harness.engine.site import registry
from holdfast.harness.model.jobs import FORWARD
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.conformance.plans import RESTORED
from holdfast.suites.conformance.recovery import TWO_KILLS

TOOLS = registry.toolbox()
SUMS, RECORDS = TWO_KILLS, replace(TWO_KILLS, job=FORWARD)
WRONG = {"loses", "doubles", "reorders", "forgets"}
OF_THE_REFERENCE: Mapping[str, Mapping[str, tuple[str, Plan, str]]] = {
    "source": {
        "loses": ("source-skips-one", RECORDS, "input-missing"),
        "doubles": ("source-repeats-one", RECORDS, "row-repeated"),
        "reorders": ("rereads-backwards", RECORDS, "order-broken"),
        "forgets": ("source-follows-published-positions", RECORDS, "input-missing"),
    },
    "sink": {
        "loses": ("aborts-completed-transactions", RECORDS, "input-missing"),
        "doubles": ("keeps-buffer-after-restore", RECORDS, "row-repeated"),
        "reorders": ("turns-buffer-after-restore", SUMS, "counts-stepped-back"),
        "forgets": ("forgets-recovered-transactions", RECORDS, "input-missing"),
    },
    "stored state": {
        "loses": ("stores-earlier-state", SUMS, "row-wrong"),
        "doubles": ("records-old-position", SUMS, "row-wrong"),
        "forgets": ("starts-empty", SUMS, "counts-stepped-back"),
    },
}
"""By part of it that an author may supply; then the variant, a plan, and the clause of EXACT. State has no order; that
of what was in flight has a case of its own (`restores-in-flight-late`)."""
TRIALS = [
    pytest.param(*trial, id=f"{kind}-{what}")
    for kind, controls in OF_THE_REFERENCE.items()
    for what, trial in controls.items()
]
ELSEWHERE = {
    "programs": {what: f"programs/{what}-after-restore-control" for what in WRONG},
    "structured-streaming": {
        **{what: f"structured-streaming/{what}-after-restore" for what in WRONG - {"doubles"}},
        "doubles": "structured-streaming/replayed-sums-appended",
    },
}
"""By area, the cases that are negative controls; they run where their system does."""


def test_every_kind_of_system_has_all_kinds_of_wrong_ones() -> None:
    kinds = [*OF_THE_REFERENCE.items(), *ELSEWHERE.items()]
    assert {kind: WRONG - set(controls) for kind, controls in kinds if WRONG - set(controls)} == {
        "stored state": {"reorders"}
    }
    controls = {case.id for case in registry.cases() if is_control(case)}
    assert controls.issuperset(case for cases in ELSEWHERE.values() for case in cases.values())


@pytest.mark.parametrize(("variant", "plan", "clause"), TRIALS)
def test_the_wrong_one_is_refuted(variant: str, plan: Plan, clause: str) -> None:
    run = run_plan(plan, registry.system(f"reference+{variant}"), TOOLS)
    [exact] = [verdict for verdict in run.verdicts if verdict.oracle == "EXACT"]
    assert clause in {anomaly.clause for anomaly in exact.anomalies}


@pytest.mark.parametrize("plan", [SUMS, RECORDS], ids=["sums", "records"])
def test_the_right_one_passes_and_has_restored_something(plan: Plan) -> None:
    run = run_plan(plan, registry.system("reference"), TOOLS)
    assert (run.outcome, run.reason) == (Outcome.PASS, "")
    assert windows_hit(run.history) >= set(RESTORED)
