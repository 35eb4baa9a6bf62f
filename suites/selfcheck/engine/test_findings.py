"""A finding names the worst damage, the clause that was broken first, a moment, and the faults that it needs."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import pytest

from holdfast.faults.process import kill, pause
from holdfast.harness.engine.cases.case_status import case_result
from holdfast.harness.engine.certification.certificate import rule_results
from holdfast.harness.engine.certification.findings import findings
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.exploration import shrink as module
from holdfast.harness.engine.exploration.shrink import needed_faults
from holdfast.harness.engine.plans.words import setting_in_words
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.views.finding import NOT_TRIED, Needed, finding_of
from holdfast.harness.model.capability import Claims
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import CheckpointTriggered, Event, FaultInjected, TransactionAborted
from holdfast.harness.model.finding import Command, Finding
from holdfast.harness.model.history import History, RunEnd
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.journal import RunResult
from holdfast.harness.model.plan import ExpectedEnd, FaultSpec, Plan, WorkloadSpec
from holdfast.harness.model.records import InputLog, Output
from holdfast.harness.model.rule import Subject
from holdfast.harness.model.status import Status
from holdfast.harness.model.target import COORDINATOR, Role, Target
from holdfast.harness.model.verdict import Anomaly, Damage, Moment, Outcome, Verdict
from holdfast.harness.oracles import ORACLES
from holdfast.harness.oracles.damages import DAMAGES, VAGUE, damage_of
from holdfast.harness.oracles.findings import Findings
from holdfast.suites.conformance.plans import WORKERS, plan
from holdfast.suites.selfcheck.engine.results import DECISION, case, missed, result, tally
from holdfast.suites.selfcheck.engine.scripted import ScriptedOracle
from holdfast.suites.selfcheck.engine.test_certificate import rule

MS = 1_000_000
TRIGGERED = CheckpointTriggered(node="coordinator.0", sequence=0, time_ns=5 * MS, checkpoint=3, participants=())
KILLED = FaultInjected(
    node="harness.0", sequence=0, time_ns=40 * MS, fault=0, fault_kind="kill", target="worker[1]"
)  # fmt: skip
ABORTED = TransactionAborted(node="worker-0.0", sequence=0, time_ns=65 * MS, subtask="sink[0]", transaction="t-1")


def history(*events: Event) -> History:
    faults = FaultSpec("kill", Target(Role.WORKER, 1)), FaultSpec("pause", Target(Role.WORKER, 0))
    plan = Plan(job=KEYED_SUM, workload=WorkloadSpec("synthetic"), faults=faults)
    return History(plan, Claims(), InputLog((), ()), Output(), events, RunEnd(reached=True))


def verdict(oracle: str, clause: str, message: str, *witness: Event) -> Verdict:
    judged = Findings(oracle, {clause: "what it means"})
    judged.violated(clause, message, *witness)
    return judged.verdict()


LOSS = verdict("EXACT", "input-missing", "12 records have no row")
STALL = verdict("LIVE", "end-not-reached", "the job is not running", TRIGGERED)
REPORT = verdict("METRICS", "counts-wrong", "the report counts 2 checkpoints of 3", TRIGGERED)
TRANSACTION = verdict("TXN", "not-committed", "t-1 is never committed", TRIGGERED, ABORTED)


def found(*verdicts: Verdict) -> Finding:
    finding = finding_of("r-1", history(TRIGGERED, KILLED, ABORTED), verdicts, ORACLES, Command("replay", "f/runs/r-1"))
    assert finding is not None
    return finding


def test_the_worst_damage_is_named_and_the_first_broken_clause_explains_it() -> None:
    finding = found(STALL, REPORT, LOSS, TRANSACTION)
    assert (finding.damage, finding.what) == (Damage.LOSS, "Data loss: 12 records have no row")
    assert finding.cause is not None
    assert finding.cause.name == "TXN/not-committed"
    assert finding.why.startswith(
        "sink transactions (TXN/not-committed): a transaction that a completed checkpoint promises is never"
    )
    assert [each.name for each in finding.consequences] == [
        "EXACT/input-missing", "METRICS/counts-wrong", "LIVE/end-not-reached"
    ]  # fmt: skip


def test_an_oracle_that_is_not_known_here_is_called_by_its_name() -> None:
    finding = finding_of("r-1", history(TRIGGERED, ABORTED), [TRANSACTION], [], None)
    assert finding is not None
    assert finding.why == "TXN/not-committed: t-1 is never committed"


def test_a_moment_is_told_by_fault_checkpoint_and_time() -> None:
    finding = found(LOSS, TRANSACTION)
    assert finding.at_ms == 60
    assert finding.when == (
        "60 ms into the run, 25 ms after faults[0] (kill of worker 1), before the first complete checkpoint"
    )
    assert found(STALL).when == "0 ms into the run, before any fault, at checkpoint 3"
    assert found(LOSS).when == "seen when the run was over, after 1 fault, the last one kill of worker 1"
    assert found(LOSS).at_ms is None


def test_one_time_is_not_told_twice() -> None:
    at_once = history(TRIGGERED, msgspec.structs.replace(KILLED, time_ns=5 * MS), ABORTED)
    finding = finding_of("r-1", at_once, [TRANSACTION], ORACLES, None)
    assert finding is not None
    assert finding.when == (
        "60 ms into the run, which began with faults[0] (kill of worker 1), before the first complete checkpoint"
    )


@pytest.mark.parametrize(
    ("needed", "when"),
    [
        (Needed("needs no fault", frozenset()), "before the first complete checkpoint; needs no fault"),
        (Needed("needs kill", frozenset({0})), "25 ms after faults[0] (kill of worker 1), before the first complete"),
        (Needed("needs pause", frozenset({1})), "before any fault that it needs, before the first complete"),
    ],
)  # fmt: skip
def test_a_moment_is_told_from_the_faults_that_are_needed(needed: Needed, when: str) -> None:
    finding = finding_of("r-1", history(TRIGGERED, KILLED, ABORTED), [TRANSACTION], ORACLES, None, needed)
    assert finding is not None
    assert finding.when.startswith(f"60 ms into the run, {when}")


def test_what_ran_is_told_without_its_faults() -> None:
    rescale = FaultSpec("rescale", COORDINATOR, parameters={"parallelism": 3})
    options = {"execution.checkpointing.interval": "40 ms", "execution.checkpointing.mode": "EXACTLY_ONCE"}
    plan = Plan(job=KEYED_SUM, workload=WorkloadSpec("synthetic"), faults=(rescale, rescale), options=options)
    assert setting_in_words(plan) == "keyed-sum, parallelism from 2 to 3; execution.checkpointing.interval=40 ms"
    assert found(LOSS).setting == "keyed-sum, parallelism 2; default options"


def test_missing_progress_is_a_cause_only_where_nothing_else_broke() -> None:
    assert (found(STALL).damage, found(STALL).consequences) == (Damage.NEVER_RECOVERED, ())
    assert found(STALL).what == "Never recovered: the job is not running"
    assert found(STALL, TRANSACTION).what == "Broken transaction: t-1 is never committed"
    assert found(STALL, REPORT).what == "Never recovered: the job is not running"
    late = found(STALL, LOSS).cause
    assert late is not None
    assert late.name == "EXACT/input-missing"


@pytest.mark.parametrize(
    ("vague", "exact"),
    [
        (("REACH", "file-missing"), ("RETAIN", "deleted-after-end")),
        (("STATE", "state-unreadable"), ("SNAPSHOT", "aborted-file-left")),
        (("COUNT", "refused-by-store"), ("REACH", "file-missing")),
        (("METRICS", "checkpoint-misreported"), ("COUNT", "refused-by-store")),
        (("PROGRESS", "no-checkpoint-begun"), ("METRICS", "checkpoint-misreported")),
    ],
)
def test_what_names_the_broken_promise_is_the_cause_however_early_it_shows_in_vaguer_words(
    vague: tuple[str, str], exact: tuple[str, str]
) -> None:
    early, late = verdict(*vague, "the vague one", TRIGGERED), verdict(*exact, "the exact one", ABORTED)
    finding = found(early, late)
    assert finding.cause is not None
    assert (finding.cause.name, [each.name for each in finding.consequences]) == ("/".join(exact), ["/".join(vague)])
    alone = found(early).cause
    assert alone is not None
    assert alone.name == "/".join(vague)


def test_of_two_exact_clauses_the_one_that_was_broken_first_is_the_cause() -> None:
    late = verdict("RETAIN", "deleted-after-end", "the second", ABORTED)
    finding = found(late, verdict("TXN", "aborted-late", "the first", TRIGGERED))
    assert finding.cause is not None
    assert finding.cause.name == "TXN/aborted-late"


@pytest.mark.parametrize("names", VAGUE)
def test_every_vague_name_is_that_of_an_oracle_a_clause_or_a_damage(names: frozenset[str]) -> None:
    oracles = {oracle.name: oracle.clauses for oracle in ORACLES}
    for name in names - set(Damage):
        oracle, _, clause = name.partition("/")
        assert oracle in oracles
        assert not clause or clause in oracles[oracle]


def test_a_claim_that_is_not_kept_is_told_as_a_claim() -> None:
    finding = found(LOSS, verdict("CONFIG", "claimed-too-much", "exactly-once is claimed for output", TRIGGERED))
    assert finding.damage is Damage.OVERCLAIM
    assert finding.what == "Claims more than it keeps: exactly-once is claimed for output"
    assert found(LOSS).damage is Damage.LOSS


def test_an_anomaly_carries_the_event_that_broke_its_clause() -> None:
    (anomaly,) = TRANSACTION.anomalies
    assert anomaly.at == Moment("worker-0.0", 0, 65 * MS)
    assert LOSS.anomalies[0].at is None


def test_identical_anomalies_are_counted() -> None:
    judged = Findings("EXACT", {"row-wrong": "w"})
    for key in ("a", "b", "b"):
        judged.violated("row-wrong", f"key {key}", damage=Damage.DUPLICATE)
    finding = found(judged.verdict())
    assert finding.what == "Duplicate: key a (1 more like it)"
    assert finding.cause is not None
    assert (finding.cause.message, finding.cause.more) == ("key a", ("key b",))
    assert finding.cause.times == 3


def test_a_wrong_digest_is_no_loss() -> None:
    finding = found(verdict("NOLOSS", "digest-wrong", "your digest is wrong, the value and the counts are right"))
    assert finding.damage is Damage.WRONG_DIGEST
    assert finding.what.startswith("Wrong digest: your digest is wrong")


@pytest.mark.parametrize("oracle", ["EXACT", "NOLOSS", "NOREPEAT"])
def test_a_total_that_is_too_high_is_no_loss(oracle: str) -> None:
    finding = found(verdict(oracle, "value-wrong", "1 row has other values than expected of the key: row (total=3)"))
    assert finding.damage is Damage.WRONG_VALUE
    assert finding.what.startswith("Wrong value: 1 row has other values than expected of the key")


def test_a_missing_row_beside_a_wrong_value_is_a_loss() -> None:
    assert found(verdict("NOLOSS", "value-wrong", "1 row has other values"), LOSS).what.startswith("Data loss: ")


def test_no_anomaly_is_no_finding() -> None:
    assert finding_of("r-1", history(), (Verdict("CUT", Outcome.PASS),), ORACLES, None) is None


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: oracle.name)
def test_every_clause_has_a_damage(oracle: object) -> None:
    name, clauses = oracle.name, oracle.clauses  # type: ignore[attr-defined]
    known = {key.partition("/")[2] for key in DAMAGES if key.startswith(f"{name}/")}
    assert known <= set(clauses)
    if name not in ("QUEUE", "TREND"):  # Slow queues and growth are what they are called.
        assert all(damage_of(name, Anomaly(clause, "")) is not Damage.OTHER for clause in clauses)


def kept(number: int, *verdicts: Verdict, case: str = "area/case", events: int = 9) -> RunResult:
    name = f"area-case-sim-000{number}"
    return result(
        *verdicts,
        id=name,
        case=case,
        events=events,
        artefacts=f"runs/{name}",
        finding=msgspec.structs.replace(found(*verdicts), run=name),
    )


def grouped(*runs: RunResult, status: Status = Status.FAIL, thinned: tuple[RunResult, ...] = ()) -> tuple[Finding, ...]:
    """The findings of runs, of which some were counted and not kept."""
    counted = tally(*runs, *thinned)
    asked = case(msgspec.structs.replace(DECISION, oracle="TXN", clauses=("not-committed",)))
    results = (
        msgspec.structs.replace(case_result(asked, Tier.SIM, 1, counted, [ScriptedOracle("TXN")], {}), status=status),
    )
    tallies = {(asked.id, "sim"): counted}
    return findings(rule_results((rule(),), [asked], results, tallies, "RT"), results, runs, "folder", tallies)


def test_runs_in_which_one_clause_broke_first_are_one_finding_of_the_worst_damage() -> None:
    (only,) = grouped(kept(0, TRANSACTION, LOSS), kept(1, TRANSACTION), kept(2, TRANSACTION, LOSS, events=3))
    assert (only.damage, only.run) == (Damage.LOSS, "area-case-sim-0002")
    assert only.runs == ("area-case-sim-0000", "area-case-sim-0001")
    assert (only.rules, only.cases) == (("BAR-01",), ("area/case on sim",))


def test_rows_that_show_different_damage_are_different_findings() -> None:
    repeated = verdict("EXACT", "row-repeated", "offset 7 has two rows")
    found = grouped(kept(0, repeated), kept(1, LOSS), kept(2, LOSS))
    assert [each.damage for each in found if each.damage] == [Damage.LOSS, Damage.DUPLICATE]


FILE = verdict("RETAIN", "deleted-in-use", "chk-3 is gone", TRIGGERED)
LATE_FILE = verdict("RETAIN", "deleted-in-use", "chk-3 is gone", TRIGGERED, ABORTED)
EARLY_TRANSACTION = verdict("TXN", "not-committed", "t-1 is never committed", TRIGGERED)


def causes(found: Iterable[Finding]) -> dict[str, list[str]]:
    """By cause, the runs of its finding, that which is shown first."""
    return {each.cause.name: [each.run[-1:], *(run[-1:] for run in each.runs)] for each in found if each.cause}


def test_what_breaks_in_one_run_before_and_in_another_behind_its_cause_is_one_finding() -> None:
    """One wrong step breaks both: which one is seen first depends on the run."""
    runs = (kept(0, FILE, TRANSACTION), kept(1, EARLY_TRANSACTION, LATE_FILE), kept(2, FILE))
    for some in (runs, runs[::-1]):
        (only,) = grouped(*some)
        assert only.cause is not None
        assert (only.cause.name, only.rules) == ("RETAIN/deleted-in-use", ("BAR-01",))
        assert sorted(causes([only])["RETAIN/deleted-in-use"]) == ["0", "1", "2"]
        assert [each.name for each in only.consequences].count("TXN/not-committed") == 1


def test_what_its_own_run_does_not_show_is_named_behind_it() -> None:
    (only,) = grouped(kept(0, FILE, TRANSACTION, events=30), kept(1, EARLY_TRANSACTION, LATE_FILE), kept(2, FILE))
    assert only.run.endswith("2")
    (behind,) = only.consequences
    assert (behind.name, behind.at_ms) == ("TXN/not-committed", None)


def test_two_defects_of_which_each_shows_alone_are_two_findings() -> None:
    both = kept(0, FILE, TRANSACTION), kept(1, EARLY_TRANSACTION, LATE_FILE)
    found = grouped(*both, kept(2, FILE), kept(3, TRANSACTION))
    assert sorted(causes(found)) == ["RETAIN/deleted-in-use", "TXN/not-committed"]


def test_a_finding_of_its_own_says_of_what_it_is_a_consequence_elsewhere() -> None:
    """It is not hidden: in its own run nothing else broke."""
    found = {
        each.cause.name: each.why for each in grouped(kept(0, FILE, TRANSACTION), kept(1, TRANSACTION)) if each.cause
    }
    assert found["TXN/not-committed"].endswith(
        ". In run area-case-sim-0000 this follows from checkpoint retention (RETAIN/deleted-in-use): "
        "it may be the same defect"
    )
    assert "same defect" not in found["RETAIN/deleted-in-use"]
    alone = grouped(kept(0, FILE), kept(1, TRANSACTION))
    assert not any("same defect" in each.why for each in alone)


def beside(*runs: RunResult) -> dict[str, str]:
    """By cause, what its finding is told beside it."""
    return {each.cause.name: each.why.rpartition(". ")[2] for each in grouped(*runs) if each.cause}


def test_a_direction_is_only_told_where_every_run_shows_it() -> None:
    both = kept(0, FILE, TRANSACTION), kept(1, EARLY_TRANSACTION, LATE_FILE)
    shown = beside(*both, kept(2, FILE), kept(3, TRANSACTION))
    assert (
        shown["TXN/not-committed"]
        == "Seen together with checkpoint retention (RETAIN/deleted-in-use) in run area-case-sim-0000"
    )
    assert shown["RETAIN/deleted-in-use"].startswith("Seen together with sink transactions (TXN/not-committed) in run")


def test_output_leads_to_nothing_inside() -> None:
    row = verdict("EXACT", "row-unknown", "a row stands for nothing", TRIGGERED)
    shown = beside(kept(0, row, TRANSACTION), kept(1, TRANSACTION), kept(2, row))
    assert shown["TXN/not-committed"].startswith("Seen together with exactly-once output (EXACT/row-unknown)")


def test_what_shows_alone_in_a_run_that_was_not_kept_is_a_finding_of_its_own() -> None:
    both = kept(0, FILE, TRANSACTION), kept(1, EARLY_TRANSACTION, LATE_FILE), kept(2, FILE)
    assert len(grouped(*both)) == 1
    assert len(grouped(*both, thinned=(kept(3, TRANSACTION),))) == 2


def test_what_never_follows_another_is_a_finding_of_its_own() -> None:
    found = grouped(kept(0, EARLY_TRANSACTION, LATE_FILE), kept(1, FILE))
    assert sorted(causes(found)) == ["RETAIN/deleted-in-use", "TXN/not-committed"]


def test_what_does_worse_than_its_cause_is_a_finding_of_its_own() -> None:
    found = grouped(kept(0, FILE, TRANSACTION), kept(1, EARLY_TRANSACTION, LATE_FILE, LOSS), kept(2, FILE))
    assert [each.damage for each in found] == [Damage.LOSS, Damage.MISSING_FILE]


def test_a_run_of_a_smaller_plan_speaks_for_those_that_it_stands_for() -> None:
    small = msgspec.structs.replace(kept(1, TRANSACTION, events=99), shrunk_from="area-case-sim-0000")
    (finding,) = grouped(kept(0, TRANSACTION), small)
    assert finding.run == "area-case-sim-0001"


def test_a_wrong_system_that_fails_as_it_must_is_no_finding() -> None:
    assert grouped(kept(0, TRANSACTION), status=Status.PASS)[0].what.startswith("Violated rule BAR-01")
    assert not any(each.damage for each in grouped(kept(0, TRANSACTION), status=Status.PASS))


def test_what_stays_open_is_told_with_its_reason_and_once() -> None:
    cases = [case(id=f"area/{name}") for name in ("one", "two")]
    results = [case_result(each, Tier.SIM, 3, tally(missed(), missed()), [ScriptedOracle("CUT")], {}) for each in cases]
    rules = rule_results((rule(), rule("STO-01", subject=Subject.SINK)), cases, results, {}, "RT")
    (finding,) = findings(rules, results, [missed(case="area/one", artefacts="runs/area-case-sim-0000")], "folder", {})
    assert (finding.status, finding.damage) == (Status.INCONCLUSIVE, None)
    assert finding.what == "Not decided: faults[0] (kill) never acted"
    assert finding.when == "in area/one on sim and 1 more case: 2 of 2 runs did not count, 3 must"
    assert finding.why == "0 of 3 runs counted; each time (2): faults[n] (kill) never acted"
    assert finding.next is not None
    assert finding.next.line() == "holdfast replay folder/runs/area-case-sim-0000 --trust"
    assert finding.next.line("out") == "holdfast replay out/folder/runs/area-case-sim-0000 --trust"


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
    monkeypatch.setattr(module, "try_plan", lambda candidate, system, tools: None)
    assert needed_faults(run, under_test, tools).words == "needs both: pause of worker 0 and kill of worker 1"


@pytest.mark.parametrize(
    ("first", "words"), [(1, "kill of worker 1 after checkpoint 1 and kill of worker 1 after checkpoint 2"),
                         (2, "kill of worker 1 after checkpoint 2, twice")],
)  # fmt: skip
def test_faults_of_the_same_words_are_told_apart(first: int, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tools, under_test = registry.toolbox(), registry.system("reference+H2")
    faults = kill(WORKERS[1], after_checkpoint=first), KILL
    run = run_plan(plan(*faults, system="reference+H2"), under_test, tools)
    monkeypatch.setattr(module, "try_plan", lambda candidate, system, tools: None)
    needed = needed_faults(run, under_test, tools)
    assert needed.words == f"needs both: {words}"
    assert needed.faults == frozenset({0, 1})


def test_a_plan_that_ends_by_its_faults_is_not_tried_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without them the job does not end so, whatever is wrong."""
    tools, under_test = registry.toolbox(), registry.system("reference+E1")
    run = run_plan(plan(KILL, system="reference+E1", expected_end=ExpectedEnd.FAILED), under_test, tools)
    assert run.outcome is Outcome.FAIL
    monkeypatch.setattr(module, "try_plan", lambda candidate, system, tools: pytest.fail("tried"))
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
