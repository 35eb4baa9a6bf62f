"""Loss is judged from input, committed output and the settle window: the system under test need not report its end."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from holdfast.fixtures.mutants.directed import MUTANTS
from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.swarm.draw import draw_plan
from holdfast.harness.model.plan import Bounds
from holdfast.harness.model.verdict import Outcome, Verdict
from holdfast.harness.oracles.output.settle_window import lengthened, needed_after_end_ms, needed_ms
from holdfast.suites.conformance.plans import plan

(ABORTS,) = (mutant for mutant in MUTANTS if mutant.name == "aborts-completed-transactions")


@pytest.fixture(scope="module")
def run() -> Run:
    return run_plan(ABORTS.plan, registry.system(ABORTS.system), registry.toolbox())


def verdict_of(run: Run, oracle: str) -> Verdict:
    return next(verdict for verdict in run.verdicts if verdict.oracle == oracle)


@pytest.mark.parametrize("oracle", ["EXACT", "NOLOSS"])
def test_aborted_transactions_of_a_completed_checkpoint_are_loss(run: Run, oracle: str) -> None:
    (anomaly,) = verdict_of(run, oracle).anomalies
    assert anomaly.message.startswith("32 records have no row: offset 23 of partition 0")
    assert not run.history.end.reached


def test_the_runtime_itself_loses_nothing_there() -> None:
    judged = run_plan(ABORTS.plan, registry.system("reference"), registry.toolbox())
    assert (judged.outcome, judged.reason) == (Outcome.PASS, "")


def test_a_run_that_is_interrupted_after_the_heal_loses_nothing() -> None:
    calls: list[str] = []

    def not_interrupted() -> str:
        calls.append("")
        return ""

    system, tools = registry.system(ABORTS.system), registry.toolbox()
    run_plan(ABORTS.plan, system, tools, interrupted=not_interrupted)
    left = iter(calls[10:])
    cut = run_plan(
        ABORTS.plan, system, tools, interrupted=lambda: "" if next(left, None) is not None else "interrupted by a user"
    )
    assert cut.history.end.problem == "interrupted by a user"
    assert not cut.history.end.settled
    assert not verdict_of(cut, "EXACT").anomalies
    assert "cut short" in verdict_of(cut, "NOLOSS").reason


def test_the_settle_window_is_longer_than_the_timeouts_that_a_plan_states() -> None:
    options = {
        "execution.checkpointing.interval": "1 s",
        "execution.checkpointing.timeout": "30 s",
        "heartbeat.timeout": "5 s",
        "restart-strategy.type": "exponential-delay",
        "restart-strategy.exponential-delay.max-backoff": "10 s",
    }
    stated = replace(plan(), options=options, bounds=Bounds(1_000, 2_000, 100))
    assert needed_after_end_ms(stated) == 6_000
    assert needed_ms(stated) == 46_000
    assert lengthened(stated) == Bounds(1_000, 40_000, 6_000)
    patient = replace(stated, bounds=Bounds(1_000, 50_000, 7_000))
    assert lengthened(patient) == patient.bounds


@pytest.mark.parametrize("seed", range(1, 60))
def test_drawn_plans_watch_long_enough(seed: int) -> None:
    drawn = draw_plan(seed)
    assert lengthened(drawn) == drawn.bounds
