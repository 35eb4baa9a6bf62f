"""Markers: behind every unbounded partition, one that reaches each output at least, and none before the heal."""

from __future__ import annotations

import pytest

from holdfast.faults.process import kill
from holdfast.fixtures.workloads.synthetic import Synthetic
from holdfast.harness.engine.executor.markers import MARKER_KEY, with_markers
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.events import SourceEmitted
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import DIAMOND, JOIN, KEYED_SUM, PIPELINE, SELF_JOIN, STEPS, bounded
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.oracles.shared.lineage import expected_rows, keyed_input
from holdfast.suites.conformance.plans import WORKERS, plan

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
