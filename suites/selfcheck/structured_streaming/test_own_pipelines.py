"""A pipeline of somebody else in the place of ours: its rehearsal, its verdict, what is said if there is none."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pytest

from holdfast.fixtures.pipelines.answer.expected_answer import ExpectedRows
from holdfast.fixtures.pipelines.declaration import declaration_of
from holdfast.fixtures.pipelines.loading import Code, carried, code_of, load, renamed
from holdfast.fixtures.systems.structured_streaming.session import Session
from holdfast.fixtures.systems.structured_streaming.system import StructuredStreaming
from holdfast.harness.engine.cases.case_run import run_case
from holdfast.harness.engine.cases.swarm_case import rehearsals
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.executor.run import Run, run_plan, with_markers
from holdfast.harness.engine.site import registry
from holdfast.harness.model.capability import AT_LEAST_ONCE, EXACTLY_ONCE, Guarantee
from holdfast.harness.model.case import Tier
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM
from holdfast.harness.model.journal import CaseResult, Status
from holdfast.harness.model.plan import Bounds, FaultSpec, Plan, Schedule, WorkloadSpec
from holdfast.harness.model.records import NO_PARTITION, IdentityColumns
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.selfcheck.replaced_runs import counting_run, named_clauses
from holdfast.suites.selfcheck.structured_streaming import pipelines
from holdfast.suites.selfcheck.structured_streaming.own import appending, doubled
from holdfast.suites.selfcheck.structured_streaming.test_output_pairs import PLAN

BUILD, STATE = "def build(spark, endpoints): pass\n", "def state(stored, partitions): pass\n"
OWN_PLAN = Plan(
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
        (
            f"{BUILD}CONTRACT = 'records'\nGUARANTEE = 'most'",
            "is 'most': use one of exactly-once, at-least-once, at-",
        ),
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
    plan = msgspec.structs.replace(OWN_PLAN, job=job)
    assert not system.objection(plan, Tier.SPARK)
    assert system.claims(plan).output == claimed
    other = msgspec.structs.replace(OWN_PLAN, job=FORWARD if job is KEYED_SUM else KEYED_SUM)
    assert "has no pipeline of contract" in system.objection(other, Tier.SPARK)


def test_state_is_judged_where_its_author_says_what_it_means(tmp_path: Path) -> None:
    path = module(tmp_path, f"{BUILD}{STATE}CONTRACT = 'fold'")
    system = StructuredStreaming(path)
    plan = msgspec.structs.replace(OWN_PLAN, job=KEYED_SUM)
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
    return counting_run(OWN_PLAN, registry.system(f"spark+{variant}"), Tier.SPARK, folder)


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


FAILED = "the contract is violated without a fault: LIVE/failed-by-itself$"


def rehearsed(name: str, folder: Path, tier: Tier = Tier.SPARK) -> CaseResult:
    """Of a pipeline beside these tests, or of a file."""
    system = f"spark+{name}" if name.endswith(".py") else f"spark+{pipelines.__name__}.{name}"
    [case] = rehearsals(registry.system(system), tier)
    result = run_case(system, case, tier, folder=folder)
    assert result.runs_passed + result.runs_failed + result.runs_inconclusive >= 1
    return result


def said(result: CaseResult, status: Status, reason: str) -> None:
    assert result.status is status, result.reason
    assert re.match(reason, result.reason), result.reason
    assert (result.runs_failed, result.runs_inconclusive) == ((1, 0) if status is Status.FAIL else (0, 1))


def test_only_pipelines_of_others_are_rehearsed() -> None:
    for name in ("spark", "spark+appends-in-foreach-batch"):
        assert rehearsals(registry.system(name), Tier.SPARK) == ()


@pytest.mark.tier("spark")
@pytest.mark.nightly
def test_output_that_is_never_written_is_missing(tmp_path: Path) -> None:
    said(
        rehearsed("never_written", tmp_path),
        Status.INCONCLUSIVE,
        r"no output was seen, though the query committed \d+ micro-batches with input: folder output was looked at",
    )


@pytest.mark.tier("spark")
def test_a_contract_that_is_not_met_is_refuted(tmp_path: Path) -> None:
    said(
        rehearsed("unmet_contract", tmp_path),
        Status.FAIL,
        "the contract is violated without a fault: EXACT/input-missing",
    )


@pytest.mark.nightly
@pytest.mark.tier("spark")
def test_a_query_that_fails_by_itself_is_refuted(tmp_path: Path) -> None:
    said(rehearsed("failing", tmp_path), Status.FAIL, FAILED)


@pytest.mark.nightly
@pytest.mark.tier("spark")
@pytest.mark.parametrize(
    ("name", "clause"),
    [
        ("misplaced_checkpoint", "PLACE/not-written, PLACE/written-elsewhere"),
        ("shared_checkpoint", "PLACE/folder-shared"),
    ],
)
def test_a_checkpoint_in_the_wrong_place_is_refuted_by_name(name: str, clause: str, tmp_path: Path) -> None:
    said(rehearsed(name, tmp_path), Status.FAIL, f"the contract is violated without a fault: {clause}")


@pytest.mark.nightly
@pytest.mark.tier("spark")
@pytest.mark.parametrize(
    "name", ["local_checkpoint", "own_checkpoints", "sessions_right", "nested_right", "inserted_rows"]
)
def test_a_right_one_goes_on(name: str, tmp_path: Path) -> None:
    result = rehearsed(name, tmp_path)
    assert result.runs_passed or "reader-too-slow" in result.reason, result.reason


@pytest.mark.nightly
@pytest.mark.tier("containers")
def test_a_checkpoint_on_a_local_disk_is_missing_among_containers(tmp_path: Path) -> None:
    said(
        rehearsed("local_checkpoint", tmp_path, Tier.CONTAINERS),
        Status.INCONCLUSIVE,
        r"no checkpoint was written in s3a://\S+, and the query cannot write one where it wants to .*: it keeps its "
        "checkpoint elsewhere; ",
    )
    [log] = tmp_path.rglob("driver.log")  # Though the driver program lives on, for the next run
    assert "Spark" in log.read_text()


@pytest.mark.nightly
@pytest.mark.tier("containers")
def test_what_the_image_lacks_is_named(tmp_path: Path) -> None:
    """The machine of the tests has it."""
    path = tmp_path / "orders.py"
    text = Path(import_module(f"{pipelines.__name__}.sessions_right").__file__ or "").read_text()
    path.write_text(text.replace("def build(spark, endpoints):\n", "def build(spark, endpoints):\n    import rich\n"))
    said(
        rehearsed(str(path), tmp_path, Tier.CONTAINERS),
        Status.INCONCLUSIVE,
        "the environment lacks something: package 'rich' is not installed where the pipeline runs",
    )


SHOP = Path(pipelines.__path__[0]) / "shop"
RIGHT, WRONG = SHOP / "orders_right.py", SHOP / "orders_wrong.py"
REPEATED = "EXACT/row-repeated"


@pytest.fixture(autouse=True)
def modules_are_imported_afresh() -> Iterator[None]:
    before = list(sys.path)
    yield
    sys.path[:] = before
    for name in ("orders_right", "rates_of_shop", "taxes_of_shop"):
        sys.modules.pop(name, None)


def shop(folder: Path, py_files: str) -> Path:
    """A copy of the shop with another list."""
    copy = shutil.copytree(SHOP, folder / "shop", ignore=shutil.ignore_patterns("__pycache__"))
    text = (copy / RIGHT.name).read_text().replace('["taxes/taxes_of_shop.py"]', py_files)
    (copy / RIGHT.name).write_text(text)
    return copy / RIGHT.name


def test_a_module_may_import_what_its_list_names() -> None:
    assert declaration_of(str(RIGHT)).files == (str(SHOP / "taxes" / "taxes_of_shop.py"),)


@pytest.mark.parametrize(
    ("py_files", "sentence"),
    [
        ('["taxes/none.py"]', r"names 'taxes/none.py', and there is no file '.*taxes/none.py': correct it"),
        ('"taxes/taxes_of_shop.py"', r"is 'taxes/taxes_of_shop.py': use a list of texts"),
        ('sorted(["taxes/taxes_of_shop.py"])', r"is .*sorted\(.*: use a list of texts"),
        ("[]", "does not import: ModuleNotFoundError: No module named 'taxes_of_shop'"),
    ],
)
def test_a_list_that_cannot_be_used_is_refused_in_one_sentence(py_files: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=sentence):
        declaration_of(str(shop(tmp_path, py_files)))


def test_what_travels_keeps_its_place(tmp_path: Path) -> None:
    (tmp_path / "exchange").mkdir()
    path = shop(tmp_path, '["../elsewhere/library.zip", "taxes/taxes_of_shop.py"]')
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "library.zip").write_bytes(b"zip")
    package = path.parent / "package_of_shop"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (path.parent / "orders.csv").write_text("not code")
    code = code_of(str(path))
    copy = carried(code, tmp_path / "exchange")
    folder = Path(copy.reference).parent
    assert {each.name for each in folder.iterdir()} == {
        "orders_right.py", "orders_wrong.py", "package_of_shop", "rates_of_shop.py", "taxes"
    }  # fmt: skip
    assert [Path(each).relative_to(folder.parent) for each in copy.files] == [
        Path("elsewhere/library.zip"), Path("shop/taxes/taxes_of_shop.py")
    ]  # fmt: skip
    assert carried(code, None) == code
    assert carried(code, tmp_path / "exchange") == copy
    path.write_text(path.read_text() + "# changed\n")
    assert carried(code, tmp_path / "exchange").reference != copy.reference  # It is imported once in a driver's life.
    assert renamed(f"{code.reference}:state", code.reference, copy) == f"{copy.reference}:state"
    assert renamed("module:state", code.reference, copy) == "module:state"


def test_an_installed_module_travels_with_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "team_of_shop"
    package.mkdir()
    for name in ("__init__", "orders", "library"):
        (package / f"{name}.py").write_text(BUILD)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "exchange").mkdir()
    copy = carried(code_of("team_of_shop.orders"), tmp_path / "exchange")
    assert copy.reference == "team_of_shop.orders"
    [folder] = map(Path, copy.files)
    assert folder.is_relative_to(tmp_path / "exchange")
    assert {path.name for path in folder.iterdir()} >= {"__init__.py", "orders.py", "library.py"}
    ours = Code(f"{pipelines.__name__}.join_right")
    assert carried(ours, tmp_path / "exchange") == ours  # Containers have our packages.


def test_a_life_of_a_driver_program_has_modules_of_one_place() -> None:
    class Counting(Session):
        ends = 0
        dead = False

        def end(self) -> None:
            self.ends += 1

    session = Counting(host=None)  # type: ignore[arg-type]
    for home, ends in (("", 0), ("/a", 0), ("", 0), ("/a", 0), ("/b", 1), ("/b", 1), ("/a", 2)):
        session.serve((home,) if home else ())
        assert session.ends == ends
    assert Code("/a/one.py").home == Code("/a/two.py").home == ("/a",)
    assert Code("/a/one.py", ("/b/library.zip",)).home == ("/a", "/b/library.zip")
    assert Code("package.module").home == ()


def test_a_place_whose_name_holds_a_colon_is_one_place() -> None:
    """It was taken for two, and for another one that is named so."""
    assert Code("/a:/b/one.py").home != Code("/a/one.py", ("/b",)).home


def judged(path: Path, tier: Tier, folder: Path) -> tuple[Outcome, str, set[str]]:
    folder.mkdir()
    run = run_plan(PLAN, registry.system(f"spark+{path}"), registry.toolbox(), tier, folder)
    return run.outcome, run.reason, named_clauses(run)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "tier",
    [pytest.param(tier, marks=pytest.mark.tier(tier.value)) for tier in (Tier.SPARK, Tier.CONTAINERS)],
)
def test_a_pair_that_imports_is_judged_rightly(tier: Tier, tmp_path: Path) -> None:
    outcome, reason, _ = judged(RIGHT, tier, tmp_path / "right")
    assert (outcome, reason) == (Outcome.PASS, "")
    outcome, reason, found = judged(WRONG, tier, tmp_path / "wrong")
    assert outcome is Outcome.FAIL, reason
    assert REPEATED in found
