"""Pipelines as teams write them, judged as their files say: the right one of a pair passes, its wrong twin is refuted
by the clause that its file names, and output where nobody looks is no loss."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import msgspec
import pytest

from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.fault_fate import FaultFate
from holdfast.harness.model.jobs import FORWARD
from holdfast.harness.model.plan import Bounds, FaultSpec, Plan, Schedule, WorkloadSpec
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.selfcheck.replaced_runs import assert_passes, counting_run, reader_was_slow
from holdfast.suites.selfcheck.structured_streaming import pipelines

PLAN = Plan(
    system="spark",
    job=FORWARD,
    workload=WorkloadSpec(
        "synthetic", {"records": 400, "keys": 6, "partitions": 2, "preloaded_percent": 20, "records_per_second": 60}
    ),
    options={"execution.checkpointing.interval": "500 ms"},
    # In the second micro-batch: nothing arrives until the query runs again, so there is input in what is repeated.
    faults=(FaultSpec("replay", COORDINATOR, Schedule(after_checkpoint=1, at_event="checkpoint_triggered")),),
    bounds=Bounds(safety_ms=120_000, liveness_ms=120_000, settle_ms=600),
)
ON_SPARK = (
    ("inserted_rows", "upserted_rows"),
    ("appended_always", "appended_once"),
    ("overwritten_partitions", "overwritten_batches"),
    ("added_totals", "upserted_totals"),
)
AMONG_CONTAINERS = (
    ("appended_always", "appended_once"),
    ("overwritten_partitions", "overwritten_batches"),
    ("published_under_a_claim", "published"),
    ("transactions_without_batch", "transactions"),
)


def executed(name: str, tier: Tier, folder: Path) -> Run:
    system = registry.system(f"spark+{pipelines.__name__}.{name}")
    return run_plan(PLAN, system, registry.toolbox(), tier, folder)


def clauses(run: Run) -> set[str]:
    return {f"{verdict.oracle}/{each.clause}" for verdict in run.verdicts for each in verdict.anomalies}


def judged_as_said(wrong: str, right: str, tier: Tier, folder: Path, plan: Plan = PLAN) -> None:
    for name in (wrong, right):
        (folder / name).mkdir()
        system = f"spark+{pipelines.__name__}.{name}"
        run = counting_run(msgspec.structs.replace(plan, system=system), registry.system(system), tier, folder / name)
        said = import_module(f"{pipelines.__name__}.{name}").__doc__ or ""
        named = re.match(r"Wrong, (\S+):", said)
        assert bool(named) is (name == wrong)
        if named:
            # The clause shows what the fault did. Whether that counts as landed hangs on when the reader saw rows.
            fates = set(run.history.end.fault_fates)
            assert run.outcome is Outcome.FAIL, run.reason
            assert fates <= {FaultFate.LANDED, FaultFate.WITHOUT_EFFECT}, run.reason
            assert named[1] in clauses(run)
        else:
            assert_passes(run)
            decided = {verdict.oracle for verdict in run.verdicts if verdict.outcome is Outcome.PASS}
            assert reader_was_slow(run) or decided & {"EXACT", "NOLOSS"}
            assert reader_was_slow(run) or "STABLE" in decided


@pytest.mark.nightly
@pytest.mark.tier("spark")
@pytest.mark.parametrize(("wrong", "right"), ON_SPARK)
def test_a_pair(wrong: str, right: str, tmp_path: Path) -> None:
    judged_as_said(wrong, right, Tier.SPARK, tmp_path)


@pytest.mark.nightly
@pytest.mark.tier("containers")
@pytest.mark.parametrize(("wrong", "right"), AMONG_CONTAINERS)
def test_a_pair_among_containers(wrong: str, right: str, tmp_path: Path) -> None:
    judged_as_said(wrong, right, Tier.CONTAINERS, tmp_path)


@pytest.mark.nightly
@pytest.mark.tier("spark")
def test_output_that_nobody_looked_at_is_not_lost(tmp_path: Path) -> None:
    run = executed("elsewhere", Tier.SPARK, tmp_path)
    assert run.outcome is Outcome.INCONCLUSIVE
    assert re.match(r"no output was seen, though the query committed \d+ micro-batches with input: folder", run.reason)
    assert "was looked at for parquet files, committed by automatic; it has" in run.reason
    assert ".json" in run.reason
    assert "Declare in OUTPUT what the pipeline writes to" in run.reason


def test_a_pipeline_says_where_it_cannot_run() -> None:
    topic = registry.system(f"spark+{pipelines.__name__}.published")
    table = registry.system(f"spark+{pipelines.__name__}.upserted_rows")
    kafka = msgspec.structs.replace(PLAN, options={**PLAN.options, "sink.connector": "kafka"})
    assert "has no broker on tier spark: use containers" in topic.objection(PLAN, Tier.SPARK)  # type: ignore[attr-defined]
    assert "a file that only its driver program would see" in table.objection(PLAN, Tier.CONTAINERS)  # type: ignore[attr-defined]
    assert "has no pipeline of contract records into kafka" in table.objection(kafka, Tier.SPARK)  # type: ignore[attr-defined]
