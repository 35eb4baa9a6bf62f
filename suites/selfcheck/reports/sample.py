"""The parts of journals made by hand: nothing here ran, so each test knows exactly what a report must show."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

from holdfast.harness.model.case import Tier
from holdfast.harness.model.consequence import FaultFate
from holdfast.harness.model.finding import Command, Finding, Violation
from holdfast.harness.model.journal import (
    Band,
    CaseResult,
    Lane,
    Recovery,
    RuleResult,
    RunResult,
    Span,
    Status,
    Timeline,
)
from holdfast.harness.model.rule import Rule
from holdfast.harness.model.run_details import (
    CheckpointHistory,
    ReportedCheckpoint,
    ReportedRestore,
    ReportedStatus,
    SubtaskPart,
)
from holdfast.harness.model.verdict import Anomaly, Damage, Outcome, Verdict
from holdfast.suites.spec import load_rules

FOLDER = "2026-11-20-020004"
"""Of the report."""

WITNESS = (
    "sum[0] received barrier 3 on source[0]->sum[0] and blocked it",
    "sum[0] processed batch 41 (1 record) of source[0]->sum[0]",
    "sum[0] took its snapshot for checkpoint 3: 1,217 records, expected 1,216",
)
CASES: tuple[tuple[str, str, str, str, str, int], ...] = (
    # id, purpose, method, pass condition, rules, drawn plans
    (
        "barriers/alignment",
        "Does every checkpoint cut the streams at its barriers?",
        "Keyed sums over a hash exchange; workers are killed at gates before, during and after the snapshot.",
        "Each recorded state equals the fold of exactly the records before the barrier.",
        "BAR-01 BAR-02 BAR-03 BAR-04 BAR-05 BAR-09 ASY-01",
        305,
    ),
    (
        "barriers/worked-example",
        "Does the two-source example of the papers give its golden numbers?",
        "Sources at offsets 3 and 4, parity sums, a restore after the first checkpoint.",
        "Even is 40 and odd is 32 in exactly-once mode, even is 44 in at-least-once mode.",
        "BAR-06 BAR-07 BAR-08",
        2,
    ),
    (
        "coordinator/acknowledgements",
        "Does a checkpoint complete only when everybody acknowledged and its metadata is durable?",
        "Acknowledgements are delayed, repeated, lost, and sent by dead attempts.",
        "The trace is accepted by the state machine of the coordinator.",
        "CRD-01 CRD-02 CRD-03 CRD-04 CRD-05 CRD-06 CRD-12 ASY-03 ASY-04",
        305,
    ),
    (
        "coordinator/crash",
        "Does a coordinator crash at any point keep what was committed?",
        "The coordinator is killed at every gate between trigger and notification.",
        "The latest completed checkpoint is restored and every commit survives.",
        "CRD-13 REC-01 TRG-02",
        305,
    ),
    (
        "delivery/end-to-end",
        "Is committed output what the claim says, during the faults and afterwards?",
        "Drawn plans; a separate reader reads committed output during the run and after the settle window.",
        "The visible multiset equals the answer of the oracle's own model, twice.",
        "E2E-01 E2E-02 E2E-03 E2E-06 REC-02 REC-03",
        1_000,
    ),
    (
        "recovery/before-first-checkpoint",
        "Does a failure before the first checkpoint restart from the initial state?",
        "A worker is killed before any checkpoint completed.",
        "Output equals the failure-free run.",
        "REC-04 REC-05 REC-08",
        60,
    ),
    (
        "restart/fixed-delay",
        "Are failures counted and delayed as the fixed-delay strategy says?",
        "Three kills ten seconds apart in virtual time, then a fourth.",
        "Three restarts, each after ten seconds, then FAILED.",
        "RST-03 RST-05 RST-07 RST-01",
        20,
    ),
    (
        "sinks/two-phase-commit",
        "Is every transaction of a completed checkpoint committed exactly once?",
        "Kills between pre-commit, acknowledgement, notification and commit.",
        "No transaction of a completed checkpoint is missing, none of another is visible.",
        "TPC-01 TPC-02 TPC-03 TPC-04 TPC-05 CRD-07",
        305,
    ),
    (
        "storage/crash-sweep",
        "Does a reader of checkpoint metadata see all or nothing?",
        "The storage is crashed before every one of its operations.",
        "Every restore finds a whole checkpoint or none.",
        "STO-01 STO-02 STO-05 STO-09 ASY-05",
        214,
    ),
    (
        "triggering/limits",
        "Are interval, pause and concurrency of checkpoints kept?",
        "Slow channels make checkpoints last longer than the interval.",
        "Never more pending checkpoints than allowed, never a pause cut short.",
        "TRG-01 TRG-03 TRG-04 TRG-05 TRG-07",
        120,
    ),
    (
        "incremental/shared-files",
        "Is a shared file kept exactly as long as a checkpoint can reach it?",
        "Checkpoints are subsumed and aborted while deletions are slow.",
        "Every reachable file exists with its recorded checksum, and nothing else is left.",
        "INC-01 INC-02 INC-03 INC-04 RET-01",
        305,
    ),
)


def timeline(
    number: int, *, workers: int = 2, duration_ms: float = 4_200.0, checkpoints: int = 14, faults: int = 2
) -> Timeline:
    """A run that was hit, recovered and drained; every number follows from `number`."""
    interval = duration_ms / (checkpoints + 2)
    kill, slow = duration_ms * (0.2 + number % 3 * 0.02), duration_ms * 0.46
    healed = duration_ms * 0.68
    spans = []
    for index in range(checkpoints):
        start = interval * (index + 0.6)
        hit = start < kill < start + interval
        spans.append(
            Span(
                index + 1,
                start,
                kill if hit else start + interval * (0.3 + (index * 7 + number) % 5 * 0.11),
                "aborted" if hit else "pending" if index == checkpoints - 1 else "completed",
                "a task failed: worker 1 died" if hit else "",
            )
        )
    bands = (
        Band(
            0,
            "kill",
            "worker 1",
            kill,
            kill,
            FaultFate.LANDED,
            "exact",
            "#c2410c",
            "the outcome of what it had under way",
        ),
        Band(1, "slow", "channel 3", slow, healed, FaultFate.LANDED, "boundary", "#7c3aed"),
        Band(2, "pause", "worker 0", slow * 1.1, slow * 1.25, FaultFate.WITHOUT_EFFECT, "polled", "#0369a1"),
        Band(3, "storage-error", "storage", 0.0, 0.0, FaultFate.NEVER_ACTED, "", "#a16207"),
    )
    back = kill + duration_ms * 0.05
    points = [duration_ms * step / 120 for step in range(121)]
    rate = [
        0.0 if kill <= time < back or time > duration_ms * 0.8 else 9_000.0 + (step * 37 + number * 11) % 23 * 130.0
        for step, time in enumerate(points)
    ]
    rows = [min(int(time / interval), checkpoints) * 640 for time in points]
    return Timeline(
        duration_ms=duration_ms,
        lanes=(
            Lane("coordinator", ((0.0, duration_ms),)),
            *(
                Lane(f"worker {index}", ((0.0, kill), (back, duration_ms)) if index == 1 else ((0.0, duration_ms),))
                for index in range(workers)
            ),
        ),
        checkpoints=tuple(spans),
        faults=bands[:faults],
        restarts_ms=(back,),
        healed_ms=healed,
        visible_rows=tuple(zip(points, rows, strict=True)),
        records=tuple(zip(points, rate, strict=True)),
    )


def checkpoint_history(checkpoints: int = 6) -> CheckpointHistory:
    """The second failed because `sum[1]` never acknowledged; the last is in progress. Number n took 10 n ms."""
    reported = []
    for number in range(1, checkpoints + 1):
        status = {2: ReportedStatus.FAILED, checkpoints: ReportedStatus.IN_PROGRESS}.get(
            number, ReportedStatus.COMPLETED
        )
        whole = status is not ReportedStatus.FAILED
        reported.append(
            ReportedCheckpoint(
                checkpoint=number,
                kind="checkpoint",
                status=status,
                triggered_ms=100.0 * number,
                duration_ms=None if status is ReportedStatus.IN_PROGRESS else 10.0 * number,
                idle_ms=None if number == 1 else 90.0,
                reason="" if whole else "expired",
                path=f"checkpoints/chk-{number}/_metadata" if status is ReportedStatus.COMPLETED else "",
                delta_bytes=1_024 * number,
                full_bytes=4_096 * number,
                parts=(
                    SubtaskPart("source[0]", True, 2.0, 1.0, 0.0, 0.0, 0.5),
                    SubtaskPart(
                        "sum[1]", True, 8.0 * number, 1.5, 4.0 * number, 0.25, 2.0 * number, 2_048, 1_024, 4_096
                    )
                    if whole
                    else SubtaskPart("sum[1]", False),
                ),
            )
        )
    counts = Counter(each.status for each in reported)
    return CheckpointHistory(
        tuple(reported), 0, dict(counts), (ReportedRestore(1, "checkpoints/chk-1/_metadata", 230.0),)
    )


def run(
    case: str,
    number: int,
    *,
    tier: Tier = Tier.SIM,
    system: str = "reference",
    outcome: Outcome = Outcome.PASS,
    reason: str = "",
    verdicts: tuple[Verdict, ...] = (),
    drawn: Timeline | None = None,
    recoveries: tuple[Recovery, ...] = (),
) -> RunResult:
    """One run of a case."""
    name = f"{case.replace('/', '-')}-{tier.value}-{number:04}"
    return RunResult(
        id=name,
        case=case,
        tier=tier,
        system=system,
        draw_seed=7_000 + number,
        run_seed=90_000 + number,
        plan_digest=hashlib.sha256(name.encode()).hexdigest(),
        plan_text="keyed-sum, parallelism 2, synthetic 5,000 records; kill worker 1 at acknowledge, slow channel 3",
        outcome=outcome,
        reason=reason,
        verdicts=verdicts or (Verdict("CUT", outcome, checked={"record-after-barrier": 12}, reason=reason),),
        trace_hash=f"v1:{hashlib.sha256(name.encode()).hexdigest()[:16]}" if tier is Tier.SIM else "",
        events=3_900 + number,
        dispatched=18_211 + number if tier is Tier.SIM else 0,
        checkpoints=13,
        records=5_000,
        rows=4_989,
        restarts=1,
        landed={"kill": 1, "slow": 1},
        wall_ms=11.4 + number % 7 if tier is Tier.SIM else 5_310.0 + number,
        replay=f"holdfast replay {FOLDER}/runs/{name}" if tier is Tier.SIM else f"holdfast rerun {name} --times 5",
        artefacts=f"runs/{name}" if outcome is not Outcome.PASS else "",
        timeline=drawn,
        recoveries=recoveries,
        on_its_word=("CUT",),
        finding=finding(name, verdicts) if any(each.anomalies for each in verdicts) else None,
    )


def finding(run: str, verdicts: Sequence[Verdict]) -> Finding:
    """As the engine finds it in a history."""
    cause, *consequences = (
        Violation(verdict.oracle, each.clause, f"what {each.clause} means", each.message, each.witness, 871.5)
        for verdict in verdicts
        for each in verdict.anomalies
    )
    last = consequences[-1] if consequences else cause
    return Finding(
        status=Status.FAIL,
        what=f"Wrong output: {last.message}",
        when="872 ms into the run, 31.5 ms after faults[0] (kill of worker 1), at checkpoint 3",
        why=f"{cause.name}: {cause.meaning}. Here: {cause.message}",
        next=Command("replay", f"{FOLDER}/runs/{run}"),
        damage=Damage.WRONG_OUTPUT,
        run=run,
        at_ms=871.5,
        cause=cause,
        consequences=tuple(consequences),
    )


def recoveries(
    count: int, median_ms: float, *, attack: str = "kill worker", running: bool = True
) -> tuple[Recovery, ...]:
    """So many, scattered about a median; every tenth brought nothing new."""
    found = []
    for index in range(count):
        committed_ms = median_ms * (0.8 + (index * 13) % 9 * 0.05 + (index * 7) % 5 * 0.013)
        running_ms = committed_ms * 0.1 if running else None
        found.append(
            Recovery(index, attack, f"worker {index % 2}", running_ms, None if index % 10 == 9 else committed_ms)
        )
    return tuple(found)


def refutation(*, witness: tuple[str, ...] = WITNESS) -> tuple[Verdict, ...]:
    """What the oracles find in a run of A3."""
    after = Anomaly(
        "record-after-barrier",
        "sum[0] processed 1 record of source[0]->sum[0] between barrier 3 of that channel and its snapshot.",
        witness,
    )
    twice = Anomaly(
        "row-not-in-model",
        "Key 17 ends with count 312, one more than was sent: offset 608 of partition 0 was applied twice.",
        ("offset 608 of partition 0 was emitted in attempt 1", "offset 608 was emitted again in attempt 2"),
    )
    return (
        Verdict("CUT", Outcome.FAIL, (after,), {"record-after-barrier": 12}),
        Verdict("EXACT", Outcome.FAIL, (twice,), {"row-not-in-model": 1}),
        Verdict("LIVE", Outcome.PASS, checked={"two-new-checkpoints": 1}),
    )


def case_result(
    entry: tuple[str, str, str, str, str, int],
    *,
    tier: Tier = Tier.SIM,
    status: Status = Status.PASS,
    reason: str = "",
    rules: dict[str, Status] | None = None,
    passed: int | None = None,
    failed: int = 0,
    causes: dict[str, int] | None = None,
) -> CaseResult:
    """One case on one tier; as it stands in CASES unless told otherwise."""
    name, purpose, method, passes, decides, runs = entry
    statuses = dict.fromkeys(decides.split(), status) | (rules or {})
    return CaseResult(
        case=name,
        tier=tier,
        status=status,
        reason=reason,
        purpose=purpose,
        method=method,
        passes=passes,
        rules=statuses,
        rule_reasons={rule: reason for rule, each in statuses.items() if each is not Status.PASS},
        runs_demanded=runs,
        runs_passed=runs if passed is None else passed,
        runs_failed=failed,
        runs_inconclusive=sum((causes or {}).values()),
        inconclusive_causes=causes or {},
    )


def rule_results(cases: Sequence[CaseResult], failed: dict[str, tuple[str, ...]] | None = None) -> list[RuleResult]:
    """All rules, with a status only where a case gives one."""
    deciding: dict[str, list[CaseResult]] = {}
    for case in cases:
        for rule in case.rules:
            deciding.setdefault(rule, []).append(case)
    return [_rule_result(rule, deciding.get(rule.id, []), (failed or {}).get(rule.id, ())) for rule in load_rules()]


def _rule_result(rule: Rule, cases: list[CaseResult], failed: tuple[str, ...]) -> RuleResult:
    if not cases:
        absent = rule.area in ("UNA", "ITR", "RSC")
        return RuleResult(
            rule,
            Status.NOT_APPLICABLE if absent else Status.UNTESTED,
            f"The system does not declare {rule.title.lower()}." if absent else "No case decides it yet.",
        )
    order = list(Status)
    worst = max(cases, key=lambda case: order.index(case.rules[rule.id]))
    oracle = {"E2E": "EXACT", "TPC": "TXN", "RST": "COUNT", "CRD": "COORD", "STO": "REACH"}.get(rule.area, "CUT")
    clauses = {"CUT": ("record-after-barrier", "state-not-fold"), "EXACT": ("row-not-in-model", "row-missing")}
    return RuleResult(
        rule=rule,
        status=worst.rules[rule.id],
        reason=worst.rule_reasons.get(rule.id, ""),
        cases=tuple(dict.fromkeys(case.case for case in cases)),
        tiers=tuple(dict.fromkeys(case.tier for case in cases)),
        oracles=tuple(f"{oracle}/{clause}" for clause in clauses.get(oracle, ("not-accepted",))),
        mutants=("A3", "B2") if oracle == "CUT" else ("D2",),
        failed_runs=failed,
    )
