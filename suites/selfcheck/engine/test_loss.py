"""Loss is judged from input, its markers, committed output and the settle window, not from what the system reports."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from holdfast.faults.process import kill
from holdfast.fixtures.mutants.directed import MUTANTS
from holdfast.fixtures.workloads.synthetic import Synthetic
from holdfast.harness.engine.executor.run import MARKER_KEY, Run, run_plan, with_markers
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.swarm.draw import draw_plan
from holdfast.harness.model.events import SourceEmitted
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import DIAMOND, JOIN, KEYED_SUM, PIPELINE, SELF_JOIN, STEPS, bounded
from holdfast.harness.model.plan import Bounds
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.verdict import Outcome, Verdict
from holdfast.harness.oracles.output.settle_window import lengthened, needed_after_end_ms, needed_ms
from holdfast.harness.oracles.shared.lineage import expected_rows, keyed_input
from holdfast.suites.conformance.plans import WORKERS, plan

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


INPUTS = Synthetic().generate({"records": 40, "partitions": 4}, 1)


@pytest.mark.parametrize("job", [KEYED_SUM, DIAMOND, STEPS, SELF_JOIN, JOIN, PIPELINE], ids=lambda job: job.name)
def test_each_partition_has_a_marker_that_reaches_the_output(job: Job) -> None:
    inputs = with_markers(INPUTS, job)
    first = INPUTS.lengths()
    assert all(inputs.keys[key] == MARKER_KEY for each in inputs.partitions for key in each.key[each.regular :])
    if job in (DIAMOND, STEPS):
        copies = 2 if job is STEPS else 1
        reached = {partition for partition, offset in expected_rows(job, inputs) if offset >= first[partition] * copies}
    else:
        lanes = keyed_input(job, inputs).lanes
        reached = {lane.partition for lane in lanes if (lane.origins >= first[lane.partition]).any()}
    assert reached == {0, 1, 2, 3}


def test_a_bounded_partition_has_none() -> None:
    assert with_markers(INPUTS, bounded(KEYED_SUM)) is INPUTS
    half = with_markers(INPUTS, bounded(JOIN, "left"))
    assert [each.markers for each in half.partitions] == [0, 1, 0, 1]


def test_without_markers_the_input_is_as_it_was() -> None:
    inputs = with_markers(INPUTS, STEPS).without_markers()
    assert inputs.lengths() == INPUTS.lengths()
    assert [each.value.tolist() for each in inputs.partitions] == [each.value.tolist() for each in INPUTS.partitions]


def test_markers_arrive_when_the_faults_are_healed() -> None:
    broken = plan(kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=2))
    run = run_plan(broken, registry.system("reference"), registry.toolbox())
    assert run.outcome is Outcome.PASS
    partitions, healed_ns = run.history.inputs.partitions, run.history.end.healed_ns
    late = [
        event.time_ns
        for event in run.history.of(SourceEmitted)
        if event.next_offset > partitions[event.partition].regular
    ]
    assert len(late) >= len(partitions)
    assert min(late) >= healed_ns > 0
