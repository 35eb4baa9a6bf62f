"""A source of somebody else's feeds the reference runtime, and is judged under faults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast.faults.input import surge, truncate
from holdfast.faults.process import kill
from holdfast.faults.user import rescale
from holdfast.harness.engine.cases.case_run import run_case
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.capability import Capability, Guarantee
from holdfast.harness.model.case import Case, Tier, Window
from holdfast.harness.model.jobs import FORWARD, IDLE_SPLITS, KEYED_SUM, TUMBLING_SUM, bounded
from holdfast.harness.model.plan import ExpectedEnd, Topology
from holdfast.harness.model.status import Status
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.certify import source as kit_of_sources
from holdfast.suites.certify.connector_kit import HERE
from holdfast.suites.certify.source import under_faults
from holdfast.suites.certify.source.under_faults import (
    BUSY,
    CASES,
    SourceKit,
    Trial,
    not_for,
    trial,
    tried_under_faults,
)
from holdfast.suites.conformance.plans import WORKERS, plan
from holdfast.suites.selfcheck.processes import hanging_sources
from holdfast.suites.selfcheck.replaced_runs import assert_passes, counting_run, named_clauses

FILES = "holdfast.fixtures.sources.files:FileSource"
QUEUE = "holdfast.fixtures.sources.sqlite_queue:QueueTable"
OURS = "holdfast.suites.selfcheck.processes.unknown_source:UnknownSource"
TAKING = "holdfast.suites.selfcheck.processes.unknown_source:TakingQueue"
MEMORY = "holdfast.fixtures.sources.log:LogSource"
WRONG_LOGS = "holdfast.suites.selfcheck.processes.unknown_source:"
LOSING = "holdfast.fixtures.sources.log:QueueSource@memory:///losing"
EARLIEST = "holdfast.fixtures.mutants.sources.enumerators:StartsAtTheEarliest"
WRONG = "holdfast.fixtures.mutants.sources.plugged:"
RESTARTED = (kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=2))
BY_ID = {case.id: case for case in CASES}
REFUTED = {
    "PositionsAhead": "source/rows-under-faults",
    "SplitsGivenTwice": "source/rows-under-faults",
    "RestartsWhereItWas": "source/rows-under-faults",
    "BeginsAtTheBatch": "source/rows-under-faults",
    "StateOfNothing": "source/sums-under-faults",
    "TimesLostOnRestore": "source/windows-under-faults",
    "EndsWithOneSplit": "source/ends-under-faults",
    "TakesNothingBack": "source/one-reader",
    "AcknowledgesWithTheSnapshot": "source/behind-the-snapshot",
    "SplitsLostOnRestore": "source/rows-under-faults",
    "RescaledAnew": "source/rescaled-job",
}
"""By wrong source, the case that refutes it."""
TIERS = (Tier.SIM, pytest.param(Tier.PROCESS, marks=(pytest.mark.tier("process"), pytest.mark.nightly)))


def plugged(source: str) -> Any:
    return registry.system(f"reference+source={source}")


@pytest.mark.parametrize(
    ("variant", "said"),
    [
        ("source=no_such_module:Source", "source 'no_such_module:Source' cannot be loaded: No module named"),
        ("source=holdfast.fixtures.sources.files:quote_from_bytes", "cannot be loaded"),
        (f"source={FILES}@kafka://broker/topic", "URI 'kafka://broker/topic' names no folder"),
    ],
)
def test_what_cannot_be_plugged_in_is_one_sentence(variant: str, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        registry.system(f"reference+{variant}")
    assert said in str(raised.value)


def test_it_runs_on_the_simulator_and_on_processes_and_lacks_what_acts_on_our_log() -> None:
    files = plugged(FILES)
    assert set(files.capabilities) == {Tier.SIM, Tier.PROCESS}
    lacking = {Capability.TRUNCATE_INPUT, Capability.LOSE_SPLITS}
    assert not any(lacking & offered for offered in files.capabilities.values())
    for source, ends in ((FILES, True), (QUEUE, False)):
        assert (Capability.BOUNDED_INPUT in plugged(source).capabilities[Tier.SIM]) is ends
    assert (files.supplied_by_author, plugged(OURS).supplied_by_author) == (("source",), ("source", "feeder"))


def test_no_order_is_claimed_and_what_cannot_be_read_again_may_be_lost() -> None:
    assert plugged(FILES).claims(plan(job=FORWARD)).output == {Guarantee.NO_LOSS, Guarantee.NO_DUPLICATE}
    assert plugged(LOSING).claims(plan(job=FORWARD)).output == {Guarantee.NO_DUPLICATE}
    assert plugged(MEMORY).claims(plan(job=FORWARD)).output == set(Guarantee)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (plan(options={"source.connector": "kafka"}), "source files is plugged in, which is another one"),
        (plan(truncate(after_checkpoint=1)), "truncate acts on the log of the harness"),
        (plan(job=IDLE_SPLITS), "source tells that splits are idle, and a source is plugged in"),
    ],
)
def test_what_it_cannot_take_part_in_is_said(asked: Any, said: str) -> None:
    assert said in plugged(FILES).objection(asked, Tier.PROCESS)
    assert said in plugged(FILES).objection(asked, Tier.SIM)


def test_it_starts_at_the_latest_if_it_declares_that() -> None:
    latest = plan(options={"scan.startup.mode": "latest-offset"})
    said = "source documents is plugged in, which does not declare latest: start at the earliest."
    assert plugged(OURS).objection(latest, Tier.SIM) == said
    assert plugged(FILES).objection(latest, Tier.SIM) == ""


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize(
    ("source", "outcome"), [(FILES, Outcome.PASS), (QUEUE, Outcome.PASS), (EARLIEST, Outcome.FAIL)]
)
def test_a_job_that_starts_at_the_latest_reads_what_arrives_then(
    source: str, outcome: Outcome, tier: Tier, tmp_path: Path
) -> None:
    latest = plan(*RESTARTED, job=FORWARD, options={"scan.startup.mode": "latest-offset"})
    run = counting_run(latest, plugged(source), tier, tmp_path)
    assert run.outcome is outcome, run.reason


@pytest.mark.parametrize("tier", TIERS)
def test_a_job_whose_input_ends_finishes(tier: Tier, tmp_path: Path) -> None:
    ending = plan(job=bounded(KEYED_SUM), expected_end=ExpectedEnd.FINISHED)
    assert_passes(counting_run(ending, plugged(FILES), tier, tmp_path))
    assert "source needs bounded, which source sqlite-queue does not" in plugged(QUEUE).objection(ending, tier)


def test_event_times_need_input_that_is_read_again() -> None:
    said = "sum takes event times in their order, and source queue loses some of its input."
    assert plugged(LOSING).objection(plan(job=TUMBLING_SUM), Tier.SIM) == said
    assert plugged(FILES).objection(plan(job=TUMBLING_SUM), Tier.SIM) == ""


def test_a_source_whose_input_lies_in_memory_is_tried_on_the_simulator() -> None:
    assert trial(FILES, HERE) == Trial(Tier.PROCESS)
    assert trial(MEMORY, HERE) == Trial(Tier.SIM)
    tried = list(SourceKit().under_faults(MEMORY, frozenset()))
    assert len(tried) == len(CASES)
    assert {(check.status, check.tier) for check in tried} == {(Status.PASS, Tier.SIM)}


def test_a_source_that_keeps_another_process_from_ending_ends_the_look(monkeypatch: pytest.MonkeyPatch) -> None:
    hanging = hanging_sources.__name__
    assert trial(f"{hanging}:LeavesAThread", HERE) == Trial(Tier.PROCESS)
    monkeypatch.setattr(under_faults, "PROBE_LIMIT_S", 2.0)
    reason = "another process that looks does not end within 2 s"
    assert trial(f"{hanging}:LooksForEver", HERE) == Trial(why_not=reason, known=False)
    case = next(iter(BY_ID.values()))
    [check] = tried_under_faults("nonsense", [case], frozenset(), seed=1, supplied=(), why_not=reason, known=False)
    assert (check.status, check.reason) == (Status.INCONCLUSIVE, reason)


def test_what_cannot_be_read_again_is_not_awaited_to_be_and_what_can_is() -> None:
    assert not_for(QUEUE, HERE) == {}
    alone = not_for(TAKING, HERE)
    assert set(alone) == {case.id for case in CASES if Window.READ_AGAIN in case.windows} != set()
    case = BY_ID["source/behind-the-snapshot"]
    [check] = tried_under_faults("nonsense", [case], frozenset(), seed=1, supplied=(), why_not="", not_for=alone)
    assert (check.status, check.reason) == (Status.NOT_APPLICABLE, alone[case.id])


def test_the_kit_accepts_what_cannot_be_read_again() -> None:
    verdicts = list(kit_of_sources.certify(TAKING))
    assert {verdict.status for verdict in verdicts} == {Status.PASS, Status.NOT_APPLICABLE}
    assert "E2E-05/at-most-once" in {each.check.id for each in verdicts if each.status is Status.PASS}


def test_simulated_runs_of_a_plan_are_equal_though_each_has_a_folder_of_its_own(tmp_path: Path) -> None:
    source = plugged(f"{FILES}@{tmp_path.as_uri()}")
    runs = [run_plan(plan(*RESTARTED, job=KEYED_SUM), source, registry.toolbox(), Tier.SIM) for _ in range(2)]
    assert [run.outcome for run in runs] == [Outcome.PASS] * 2
    assert runs[0].trace_hash == runs[1].trace_hash
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.tier("process")
def test_what_a_restore_has_lost_holds_up_no_later_input(tmp_path: Path) -> None:
    result = run_case(f"reference+source={TAKING}", BY_ID["source/sums-under-faults"], Tier.PROCESS, folder=tmp_path)
    assert result.status is Status.PASS, result.reason


@pytest.mark.tier("process")
@pytest.mark.nightly
def test_no_case_that_applies_refutes_what_cannot_be_read_again() -> None:
    verdicts = {check.id: check.status for check in SourceKit().under_faults(TAKING, frozenset())}
    assert verdicts.pop("REC-02/behind-the-snapshot") is Status.NOT_APPLICABLE
    assert verdicts.pop("E2E-05/windows-under-faults") is Status.NOT_APPLICABLE
    assert verdicts.pop("E2E-05/ends-under-faults") is Status.NOT_APPLICABLE
    assert set(verdicts.values()) == {Status.PASS}


@pytest.mark.tier("process")
@pytest.mark.parametrize(
    ("source", "job"), [(FILES, KEYED_SUM), (QUEUE, FORWARD), pytest.param(OURS, KEYED_SUM, marks=pytest.mark.nightly)]
)
def test_a_right_one_is_exact_under_faults(source: str, job: Any, tmp_path: Path) -> None:
    run = counting_run(plan(*RESTARTED, job=job), plugged(source), Tier.PROCESS, tmp_path, Window.RESTORED_STATE)
    verdicts = {verdict.oracle: verdict for verdict in run.verdicts}
    assert not [verdict for verdict in run.verdicts if verdict.outcome is Outcome.FAIL]
    assert verdicts["EXACT"].outcome is Outcome.PASS


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("source", [FILES, QUEUE, OURS])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
@pytest.mark.share(2)
def test_no_case_refutes_a_right_one(source: str, case: Case, tier: Tier, tmp_path: Path) -> None:
    result = run_case(f"reference+source={source}", case, tier if tier in case.tiers else Tier.SIM, folder=tmp_path)
    ends = case.id == "source/ends-under-faults"
    expected = Status.PASS if source == FILES or not ends else Status.NOT_APPLICABLE
    assert result.status is expected, result.reason


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize(("source", "case"), REFUTED.items())
def test_a_wrong_one_is_refuted_by_its_case(source: str, case: str, tier: Tier, tmp_path: Path) -> None:
    tiers = BY_ID[case].tiers
    on = tier if tier in tiers else Tier.SIM
    result = run_case(f"reference+source={WRONG}{source}", BY_ID[case], on, folder=tmp_path)
    assert result.status is Status.FAIL, result.reason


def test_where_a_source_stands_is_judged_if_its_splits_are_the_partitions(tmp_path: Path) -> None:
    run = counting_run(plan(*RESTARTED, job=KEYED_SUM), plugged(MEMORY), Tier.SIM, tmp_path)
    assert_passes(run)
    judged = judged_by(run)
    assert {"CUT/source-position", "RESTORE/position-differs", "RESTORE/read-elsewhere"} <= judged
    assert {f"COORD/{clause}" for clause in ("split-lost", "split-twice", "split-mistaken")} <= judged


def test_where_a_split_ended_is_known_at_another_parallelism(tmp_path: Path) -> None:
    """One ends long before the others, and a snapshot holds it no more."""
    short = {"partitions": 5, "records": 1600, "idle_partition": 0, "idle_records": 8}
    ending = plan(
        rescale(3, after_checkpoint=1),
        job=bounded(KEYED_SUM),
        topology=Topology(2),
        records=short,
        expected_end=ExpectedEnd.FINISHED,
    )
    run = counting_run(ending, plugged(MEMORY), Tier.SIM, tmp_path)
    assert_passes(run)
    assert {"COORD/split-lost", "RESTORE/rescaled-positions-differ"} <= judged_by(run)


def judged_by(run: Run) -> set[str]:
    """The clauses that had something to decide."""
    return {f"{each.oracle}/{clause}" for each in run.verdicts for clause, count in each.checked.items() if count}


@pytest.mark.parametrize(
    ("source", "clause"),
    [
        ("ResumesLate", "CUT/source-position"),
        ("GivesTwice", "COORD/split-twice"),
        ("ForgetsSplits", "COORD/split-lost"),
    ],
)
def test_a_wrong_one_of_these_is_refuted_by_where_it_stands(source: str, clause: str, tmp_path: Path) -> None:
    run = counting_run(plan(*RESTARTED, job=KEYED_SUM), plugged(WRONG_LOGS + source), Tier.SIM, tmp_path)
    refuted = named_clauses(run)
    assert clause in refuted, refuted


def test_a_surge_on_the_simulator_lets_its_input_come_early(tmp_path: Path) -> None:
    surged = plan(surge(400, 150, after_checkpoint=1), job=FORWARD, records=BUSY)
    run = counting_run(surged, plugged(FILES), Tier.SIM, tmp_path)
    assert_passes(run)


@pytest.mark.tier("process")
def test_a_wrong_one_is_refuted(tmp_path: Path) -> None:
    run = counting_run(plan(*RESTARTED, job=FORWARD), plugged(WRONG + "SplitsGivenTwice"), Tier.PROCESS, tmp_path)
    named = named_clauses(run)
    assert "EXACT/row-repeated" in named, run.reason


def test_each_case_names_a_wrong_source_that_it_refutes() -> None:
    named = {(decision.wrong_system.rpartition(":")[2], case.id) for case in CASES for decision in case.decides}
    assert named <= set(REFUTED.items())
    assert {case for _, case in named} == set(BY_ID)
