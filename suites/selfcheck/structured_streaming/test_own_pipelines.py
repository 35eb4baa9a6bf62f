"""A pipeline of somebody else in the place of ours: how it is judged, and what is said where it cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pytest

from holdfast.fixtures.pipelines.answer.expected_rows import ExpectedRows
from holdfast.fixtures.pipelines.loading import load
from holdfast.fixtures.systems.structured_streaming.system import StructuredStreaming
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.executor.markers import with_markers
from holdfast.harness.engine.executor.run import Run
from holdfast.harness.engine.site import registry
from holdfast.harness.model.capability import AT_LEAST_ONCE, EXACTLY_ONCE, Guarantee
from holdfast.harness.model.case import Tier
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM
from holdfast.harness.model.plan import Bounds, FaultSpec, Plan, Schedule, WorkloadSpec
from holdfast.harness.model.records import NO_PARTITION, IdentityColumns
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.selfcheck.replaced_runs import counting_run
from holdfast.suites.selfcheck.structured_streaming.own import appending, doubled

BUILD, STATE = "def build(spark, endpoints): pass\n", "def state(stored, partitions): pass\n"
PLAN = Plan(
    system="spark",
    job=FORWARD,
    workload=WorkloadSpec("synthetic", {"records": 600, "preloaded_percent": 20, "records_per_second": 120}),
    # In the second micro-batch: nothing arrives until the query runs again, so there is input in what is repeated.
    faults=(
        FaultSpec("replay", Target(Role.COORDINATOR), Schedule(after_checkpoint=1, at_event="checkpoint_triggered")),
    ),
    bounds=Bounds(safety_ms=90_000, liveness_ms=90_000, settle_ms=500),
)


def refusal(variant: str) -> str:
    with pytest.raises(UsageError) as refused:
        registry.system(f"spark+{variant}")
    return str(refused.value)


def module(folder: Path, text: str) -> str:
    path = folder / "pipeline.py"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("import nowhere", "does not import: ModuleNotFoundError: No module named 'nowhere'."),
        ("raise RuntimeError('not now')", "does not import: RuntimeError: not now."),
        ("def build(spark", "does not import: SyntaxError"),
        ("", "has no function build: write build(spark, endpoints) there."),
        (f"{BUILD}CONTRACT = 'table'", "CONTRACT of pipeline {} is 'table': use one of records, fold, window."),
        (f"{BUILD}{STATE}", "no CONTRACT that its state can be judged by: set CONTRACT to one of fold, window,"),
        (f"{BUILD}CONTRACT = 'records'\nGUARANTEE = 'most'", "is 'most': use one of exactly-once, at-least-once."),
    ],
)
def test_a_module_that_is_not_what_it_must_be_is_refused_in_one_sentence(
    text: str, sentence: str, tmp_path: Path
) -> None:
    path = module(tmp_path, text)
    assert sentence.format(repr(path)) in refusal(path)


def test_a_module_that_is_not_there(tmp_path: Path) -> None:
    assert "there is no file" in refusal(f"{tmp_path}/none.py")
    assert "pipeline 'nowhere.pipeline' does not import" in refusal("nowhere.pipeline")


@pytest.mark.parametrize(
    ("text", "supplied", "claimed"),
    [
        ("CONTRACT = 'fold'", "the output contract (fold)", EXACTLY_ONCE - {Guarantee.KEY_ORDER}),
        ("CONTRACT = 'records'\nGUARANTEE = 'at-least-once'", "the output contract (records)", AT_LEAST_ONCE),
        ("def expected(inputs): return []", "the expected rows", EXACTLY_ONCE - {Guarantee.KEY_ORDER}),
        ("", "no model of the output: only at-least-once on identity columns is judged", AT_LEAST_ONCE),
        ("GUARANTEE = 'exactly-once'", "no model of the output: only at-least-once", AT_LEAST_ONCE),
    ],
)
def test_what_a_module_says_decides_how_it_is_judged(
    text: str, supplied: str, claimed: frozenset[Guarantee], tmp_path: Path
) -> None:
    system = StructuredStreaming(module(tmp_path, BUILD + text))
    assert system.supplied_by_author[0].startswith(supplied)
    job = KEYED_SUM if "fold" in text else FORWARD
    plan = msgspec.structs.replace(PLAN, job=job)
    assert not system.objection(plan, Tier.SPARK)
    assert system.claims(plan).output == claimed
    other = msgspec.structs.replace(PLAN, job=FORWARD if job is KEYED_SUM else KEYED_SUM)
    assert "has no pipeline of contract" in system.objection(other, Tier.SPARK)


def test_state_is_judged_where_its_author_says_what_it_means(tmp_path: Path) -> None:
    path = module(tmp_path, f"{BUILD}{STATE}CONTRACT = 'fold'")
    system = StructuredStreaming(path)
    plan = msgspec.structs.replace(PLAN, job=KEYED_SUM)
    assert system.claims(plan).state == EXACTLY_ONCE
    assert system.supplied_by_author == ("the output contract (fold)", "what its state means")
    assert load(f"{path}:state").__name__ == "state"
    silent = StructuredStreaming(module(tmp_path, f"{BUILD}CONTRACT = 'fold'"))
    assert silent.claims(plan).state == frozenset()


def identities(decoder: ExpectedRows, *rows: Mapping[str, Any]) -> list[tuple[int, int]]:
    found = decoder.rows(pa.Table.from_pylist(list(rows)))
    assert isinstance(found, IdentityColumns)
    return [(row.partition, row.offset) for row in found]


def test_a_row_stands_for_its_place_among_those_expected() -> None:
    one, two = {"key": "a", "sum": 1}, {"key": "b", "sum": 2}
    decoder = ExpectedRows([one, two, one])
    assert decoder.due().lengths() == (3,)
    assert np.array_equal(decoder.due().partitions[0].key, [0, 1, 2])
    assert identities(decoder, one, two) == [(0, 0), (0, 1)]
    assert identities(decoder, one, one, {"key": "c", "sum": 1}) == [(0, 2), (0, 0), (NO_PARTITION, 0)]


def test_rows_that_need_a_marker_come_last() -> None:
    one, two = {"key": "a", "sum": 1}, {"key": "b", "sum": 2}
    decoder = ExpectedRows([one, two, one], regular=[two, one])
    assert identities(decoder, two, one, one) == [(0, 1), (0, 0), (0, 2)]
    assert decoder.due().partitions[0].markers == 1
    assert ExpectedRows([one], regular=[one]).due().partitions[0].markers == 0


def test_expected_rows_have_the_same_columns() -> None:
    with pytest.raises(ValueError, match="a row of columns sum and one of key: give each row the same columns"):
        ExpectedRows([{"key": "a"}, {"sum": 1}])


def executed(variant: str, folder: Path) -> Run:
    return counting_run(PLAN, registry.system(f"spark+{variant}"), Tier.SPARK, folder)


@pytest.mark.tier("spark")
def test_a_pipeline_is_judged_by_its_own_model(tmp_path: Path) -> None:
    run = executed(doubled.__name__, tmp_path)
    assert (run.outcome, run.reason) == (Outcome.PASS, "")
    [exact] = [verdict for verdict in run.verdicts if verdict.oracle == "EXACT"]
    assert exact.checked["input-missing"] == len(list(doubled.expected(inputs_of(run.history.plan)))) > 0


@pytest.mark.nightly
@pytest.mark.tier("spark")
def test_without_a_model_repeats_are_no_failure(tmp_path: Path) -> None:
    run = executed(str(Path(appending.__file__)), tmp_path)
    assert (run.outcome, run.reason) == (Outcome.PASS, "")
    [noloss] = [verdict for verdict in run.verdicts if verdict.oracle == "NOLOSS"]
    assert any("more than one row, and exactly-once was not claimed" in note for note in noloss.information)
    assert not any(verdict.oracle == "EXACT" for verdict in run.verdicts)


def inputs_of(plan: Plan) -> Any:
    """Of the run that counts: one that replaces another has other random numbers."""
    workload = registry.toolbox().workloads[plan.workload.name]
    return with_markers(workload.generate(plan.workload.parameters, plan.run_seed), plan.job)
