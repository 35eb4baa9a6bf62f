"""The journals themselves, put together from the parts in `sample`.

`partial()` is a sound system with much left to decide; `refused()` is the mutant A3, which processes one record after
a barrier; `large()` is as big as a nightly campaign gets; `hostile()` tries to break out of every format; `empty()` is
an invocation in which nothing ran.
"""

from __future__ import annotations

import hashlib

import msgspec

from holdfast.harness.engine.certification.findings import findings
from holdfast.harness.model import journal
from holdfast.harness.model.case import Tier
from holdfast.harness.model.certificate import LeftOut, Scope
from holdfast.harness.model.consequence import FaultFate
from holdfast.harness.model.finding import Command, Finding, Violation
from holdfast.harness.model.rule import Level, Part, Place, Source, SourceKind, Subject
from holdfast.harness.model.verdict import Anomaly, Outcome, Verdict
from holdfast.harness.oracles import ORACLES
from holdfast.harness.spi.oracle import titles_of
from holdfast.suites.selfcheck.reports.sample import (
    CASES,
    FOLDER,
    case_result,
    recoveries,
    refutation,
    rule_results,
    run,
    timeline,
)

SPARK_REASON = "Java 17 or 21 was not found; install openjdk-17-jre-headless."
ALIGNMENT, DELIVERY, SINKS = CASES[0][0], CASES[4][0], CASES[7][0]
DOCKER_REASON = "no Docker daemon answers at unix:///var/run/docker.sock."
HOSTILE = (
    "</script><script>alert('owned')</script><img src=http://evil.example/x onerror=alert(1)> \x1b[31m\x00 | `x` ]]>"
)


def _journal(
    *,
    system: str,
    cases: list[journal.CaseResult],
    rules: list[journal.RuleResult],
    runs: list[journal.RunResult],
    certificate: journal.Certificate,
    interrupted: str = "",
) -> journal.Journal:
    counted = {
        tier: sum(case.runs_passed + case.runs_failed + case.runs_inconclusive for case in cases if case.tier is tier)
        for tier in (Tier.SIM, Tier.PROCESS)
    }
    return journal.Journal(
        command=f"holdfast certify --system {system} --seed 20261120",
        system=system,
        subject="RT",
        profile="flink-2.x",
        claims="state exactly-once, output exactly-once",
        evidence={
            "checkpoint_triggered": "native",
            "checkpoint_completed": "native",
            "snapshot_taken": "native",
            "file_written": "boundary",
            "rows_visible": "boundary",
            "restart_scheduled": "derived",
        },
        started="2026-11-20T02:00:04.120000+00:00",
        duration_s=412.6,
        interrupted=interrupted,
        versions={
            "holdfast": "0.1.0",
            "python": "3.11.15",
            "numpy": "2.4.6",
            "pyarrow": "26.0.1",
            "platform": "Linux-6.8-x86_64",
        },
        seed=20261120,
        plans_digest=hashlib.sha256(system.encode()).hexdigest(),
        history_digest=hashlib.sha256(f"{system} histories".encode()).hexdigest(),
        tiers=(
            journal.TierReport(Tier.SIM, True, "", counted[Tier.SIM]),
            journal.TierReport(Tier.PROCESS, True, "", counted[Tier.PROCESS]),
            journal.TierReport(Tier.SPARK, False, SPARK_REASON),
            journal.TierReport(Tier.CONTAINERS, False, DOCKER_REASON),
        ),
        cases=tuple(cases),
        rules=tuple(rules),
        runs=tuple(runs),
        certificate=certificate,
        findings=findings([each for each in rules if each.counts_for("RT")], cases, runs, FOLDER, {}),
        oracle_titles=titles_of(ORACLES),
    )


def _subjects() -> tuple[journal.SubjectReport, ...]:
    """A state backend that is whole, and sinks of which one is refused and one was not tried."""
    whole, refused = journal.Title.CERTIFIED, journal.Title.REFUSED
    return (
        journal.SubjectReport(
            "SB", whole, (), 24, 24,
            (journal.PartReport("state-backend", "hashmap", whole, (), 67, "parts/1-state-backend/report.html"),),
        ),
        journal.SubjectReport(
            "SNK", refused, ("1 MUST rule is FAIL: TPC-02.",), 17, 16,
            (
                journal.PartReport("sink", "mypkg.sinks:Sink", refused, (), 37, "parts/2-sink/report.html"),
                journal.PartReport("sink", "mypkg.sinks:Other", journal.Title.PARTIAL, ("It was not tried.",)),
            ),
        ),
    )  # fmt: skip


def partial() -> journal.Journal:
    """The reference runtime: nothing refuted, much undecided."""
    cases = [case_result(entry) for entry in CASES]
    cases.append(case_result((*CASES[4][:5], 36), tier=Tier.PROCESS))
    untested = "the tier containers did not run: " + DOCKER_REASON
    cases.append(
        case_result(
            (*CASES[7][:5], 10), tier=Tier.CONTAINERS, status=journal.Status.UNTESTED, reason=untested, passed=0
        )
    )
    control = ("barriers/no-alignment", "Does the harness see a cut that is none?", "Alignment is switched off.")
    cases.append(case_result((*control, "The run is refuted.", "BAR-10", 1)))
    rules = rule_results(cases)
    waived = "Waived until 2026-12-31: the coordinator's failover is rebuilt, see issue 41."
    rules = [
        msgspec.structs.replace(result, status=journal.Status.WAIVED, reason=waived)
        if result.rule.id == "REC-06"
        else msgspec.structs.replace(
            result, status=journal.Status.UNOBSERVED, reason="Nothing reports alignment times."
        )
        if result.rule.id == "OBS-02"
        else result
        for result in rules
    ]
    runs = [run("barriers/no-alignment", 1, outcome=Outcome.FAIL, verdicts=refutation())]
    for index, entry in enumerate(CASES):
        runs += [run(entry[0], number, drawn=timeline(number) if number == index else None) for number in range(14)]
    for number in range(3):
        measured = recoveries(4, 1_100.0 + 80 * number)
        runs.append(run(DELIVERY, number, tier=Tier.PROCESS, drawn=timeline(number, workers=3), recoveries=measured))
    untested_must = sum(
        each.status is journal.Status.UNTESTED and each.rule.level is Level.MUST and each.concerns(Subject.RUNTIME)
        for each in rules
    )
    return _journal(
        system="reference",
        cases=cases,
        rules=rules,
        runs=runs,
        certificate=journal.Certificate(
            title=journal.Title.PARTIAL,
            missing=(
                f"{untested_must} MUST rules are untested.",
                "OBS-02 is unobserved: nothing reports alignment times.",
                "REC-06 is waived until 2026-12-31.",
                f"Tier spark did not run: {SPARK_REASON}",
                f"Tier containers did not run: {DOCKER_REASON}",
            ),
            guarantees=(
                "state exactly-once: not refuted in 2,978 runs",
                "output exactly-once: not refuted in 2,978 runs",
                "output order per key: not refuted in 1,036 runs",
            ),
            windows_hit={
                "between barrier and snapshot": 188,
                "between snapshot and acknowledgement": 204,
                "between acknowledgement and completion": 191,
                "between completion and commit": 173,
                "during restore": 61,
            },
            tiers=(Tier.SIM, Tier.PROCESS),
            not_tried=(Tier.SPARK, Tier.CONTAINERS),
            scope=Scope.QUICK,
            left_out=(LeftOut(Tier.SIM, 54, 42.9), LeftOut(Tier.PROCESS, 107, 402.9)),
            windows_missed=(),
            failure_bound=3 / 2_921,
            drawn_plans=2_921,
        ),
    )


def with_parts() -> journal.Journal:
    """The reference runtime, and parts of it that kits judged."""
    return msgspec.structs.replace(partial(), subjects=_subjects())


WINDOW_NEVER_HIT = "the window `between completion and commit` was never hit in 305 runs."
ORACLE_CRASHED = "oracle REACH crashed: KeyError('shared/17'); the history is kept."


def _refused_cases() -> list[journal.CaseResult]:
    return [
        case_result(
            CASES[0],
            status=journal.Status.FAIL,
            reason="58 of 305 runs were refuted.",
            rules=dict.fromkeys(("BAR-01", "BAR-02", "BAR-04", "BAR-09", "ASY-01"), journal.Status.PASS),
            passed=247,
            failed=58,
        ),
        *(case_result(entry) for entry in CASES[1:4]),
        case_result(
            CASES[4],
            status=journal.Status.FAIL,
            reason="203 of 1,000 runs were refuted.",
            rules=dict.fromkeys(("E2E-01", "E2E-03", "E2E-06", "REC-02"), journal.Status.PASS),
            passed=790,
            failed=203,
            causes={"faults[0] (kill) never acted": 7},
        ),
        *(case_result(entry) for entry in CASES[5:7]),
        case_result(
            CASES[7],
            status=journal.Status.INCONCLUSIVE,
            reason=WINDOW_NEVER_HIT,
            rules=dict.fromkeys(("TPC-01", "TPC-03", "TPC-05", "CRD-07"), journal.Status.PASS),
            passed=302,
            causes={"faults[0] (kill) never acted": 3},
        ),
        *(case_result(entry) for entry in CASES[8:10]),
        case_result(
            CASES[10],
            status=journal.Status.ERROR,
            reason=ORACLE_CRASHED,
            rules={"RET-01": journal.Status.PASS},
            passed=304,
        ),
    ]


def _refused_runs(system: str) -> list[journal.RunResult]:
    runs = []
    for number in range(12):
        drawn = timeline(number, faults=3) if number in (3, 5) else None
        outcome, verdicts = (Outcome.FAIL, refutation()) if number % 4 == 3 else (Outcome.PASS, ())
        runs.append(run(ALIGNMENT, number, system=system, outcome=outcome, verdicts=verdicts, drawn=drawn))
    shrunk = timeline(40, duration_ms=640.0, checkpoints=4, faults=1)
    smallest = run(ALIGNMENT, 40, system=system, outcome=Outcome.FAIL, verdicts=refutation(), drawn=shrunk)
    runs.append(msgspec.structs.replace(smallest, events=212, records=60, rows=51, checkpoints=3))
    verdicts = refutation(witness=tuple(f"offset {offset} of partition 0 was emitted twice" for offset in range(9)))
    drawn = timeline(7, workers=4, faults=4)
    runs.append(run(DELIVERY, 7, system=system, outcome=Outcome.FAIL, verdicts=verdicts, drawn=drawn))
    missed = "faults[0] (kill) never acted"
    runs.append(run(SINKS, 2, system=system, outcome=Outcome.INCONCLUSIVE, reason=missed))
    return runs


def refused() -> journal.Journal:
    """The mutant A3: one record is processed between barrier and snapshot."""
    system = "reference+A3"
    cases, runs = _refused_cases(), _refused_runs(system)
    failed_alignment = tuple(each.id for each in runs if each.case == ALIGNMENT and each.outcome is Outcome.FAIL)
    # The journal keeps one failed run of this case; the others are known by id only.
    thinned = tuple(f"delivery-end-to-end-sim-{number:04}" for number in range(300, 312))
    failed = {
        "BAR-03": failed_alignment,
        "BAR-05": failed_alignment,
        "E2E-02": ("delivery-end-to-end-sim-0007", *thinned),
        "REC-03": ("delivery-end-to-end-sim-0007",),
    }
    return _journal(
        system=system,
        cases=cases,
        rules=rule_results(cases, failed),
        runs=runs,
        interrupted="SIGTERM",
        certificate=journal.Certificate(
            title=journal.Title.REFUSED,
            missing=(
                "BAR-03 is refuted: 58 of 305 runs.",
                "BAR-05 is refuted: 58 of 305 runs.",
                "E2E-02 is refuted: 203 of 1,000 runs.",
                "REC-03 is refuted: 203 of 1,000 runs.",
                f"Four rules of incremental/shared-files are in error: {ORACLE_CRASHED}",
                f"TPC-02 and TPC-04 are inconclusive: {WINDOW_NEVER_HIT}",
                "83 MUST rules are untested.",
                f"Tier spark did not run: {SPARK_REASON}",
            ),
            guarantees=(
                "state exactly-once: refuted in run barriers-alignment-sim-0040",
                "output exactly-once: refuted in run delivery-end-to-end-sim-0007",
                "output at-least-once: not refuted in 2,917 runs",
            ),
            windows_hit={"between barrier and snapshot": 188, "between snapshot and acknowledgement": 204},
            windows_missed=("between completion and commit",),
            failure_bound=None,
            drawn_plans=2_917,
            supplied_by_author=("committed reader",),
        ),
    )


def empty() -> journal.Journal:
    """Nothing ran: no rule, no case, no run."""
    card = journal.Certificate(journal.Title.PARTIAL, (), (), {}, (), None, 0)
    return _journal(system="", cases=[], rules=[], runs=[], certificate=card)


def large() -> journal.Journal:
    """As big as a night gets: 10,000 runs counted, 400 listed, 40 timelines."""
    cases, runs = [], []
    for index in range(60):
        name, purpose, method, passes, decides, _ = CASES[index % len(CASES)]
        name = f"{name}-{index:02}"
        cases.append(case_result((name, purpose, method, passes, decides, 167)))
        for number in range(7 if index < 40 else 6):
            drawn = timeline(index, workers=4, checkpoints=60) if number == 0 and index < 40 else None
            runs.append(run(name, number, drawn=drawn))
    return msgspec.structs.replace(partial(), cases=tuple(cases), runs=tuple(runs), rules=tuple(rule_results(cases)))


def side_by_side() -> journal.Journal:
    """Two systems, each of which was hit by the same faults."""
    runs = []
    for system, factor in (("reference", 1.0), ("spark", 3.1)):
        native = system == "reference"
        measured = recoveries(10, 1_240.0 * factor, attack="kill executor", running=native)
        measured += recoveries(8, 2_310.0 * factor, attack="outage broker", running=native)
        runs.append(run(f"bench/{system}", 0, tier=Tier.SPARK, system=system, recoveries=measured))
    wrong = recoveries(3, 100.0)
    runs.append(run("bench/wrong", 0, tier=Tier.SPARK, outcome=Outcome.FAIL, verdicts=refutation(), recoveries=wrong))
    card = journal.Certificate(journal.Title.PARTIAL, ("No rule was asked.",), (), {}, (), None, 0)
    return _journal(system="reference, spark", cases=[], rules=[], runs=runs, certificate=card)


def hostile() -> journal.Journal:
    """Every text that comes from outside tries to break out of its format."""
    calm = refused()
    anomaly = Anomaly("clause", HOSTILE, (HOSTILE, "\ud800 lone surrogate"))
    verdicts = (Verdict("CUT", Outcome.FAIL, (anomaly,)),)
    strange = msgspec.structs.replace(
        calm.runs[0],
        id=f"run {HOSTILE}",
        outcome=Outcome.FAIL,
        reason=HOSTILE,
        plan_text=HOSTILE,
        replay=HOSTILE,
        verdicts=verdicts,
        landed={HOSTILE: 1},
        wall_ms=float("nan"),
        timeline=_strange_timeline(),
        recoveries=(
            journal.Recovery(0, HOSTILE, HOSTILE, float("nan"), float("inf")),
            journal.Recovery(1, "kill worker", HOSTILE, -5.0, -3.0),
            journal.Recovery(2, HOSTILE, HOSTILE, None, 0.0),
        ),
        system=HOSTILE,
    )
    broken = Finding(
        journal.Status.FAIL,
        HOSTILE,
        HOSTILE,
        HOSTILE,
        Command(HOSTILE, HOSTILE, (HOSTILE,)),
        run=strange.id,
        at_ms=float("nan"),
        cause=Violation(HOSTILE, HOSTILE, HOSTILE, HOSTILE, (HOSTILE, "\ud800 lone surrogate"), float("inf"), 9),
        consequences=(Violation("CUT", HOSTILE, "", HOSTILE),),
        runs=(HOSTILE,),
        rules=("BAR-03", HOSTILE),
        cases=(HOSTILE,),
    )
    places = (Place(Part.VARIANT, HOSTILE, HOSTILE, -1),)
    sources = (Source(kind=SourceKind.CODE, title=HOSTILE, address="javascript:alert('owned')", section=HOSTILE),)
    rules = tuple(
        msgspec.structs.replace(
            each,
            rule=msgspec.structs.replace(each.rule, why=HOSTILE, sources=sources),
            reason=HOSTILE,
            failed_runs=(strange.id,),
            places=places,
        )
        if each.status is journal.Status.FAIL
        else each
        for each in calm.rules
    )
    cases = tuple(msgspec.structs.replace(each, reason=HOSTILE, method=HOSTILE) for each in calm.cases)
    return msgspec.structs.replace(
        calm,
        system=HOSTILE,
        command=HOSTILE,
        claims=HOSTILE,
        subject=HOSTILE,
        profile=HOSTILE,
        started=HOSTILE,
        interrupted=HOSTILE,
        duration_s=float("inf"),
        versions={HOSTILE: HOSTILE},
        evidence={HOSTILE: HOSTILE},
        rules=rules,
        cases=cases,
        runs=(
            msgspec.structs.replace(strange, finding=broken, details="../../etc/passwd"),
            msgspec.structs.replace(strange, id="calm", outcome=Outcome.PASS, verdicts=(), timeline=None),
        ),
        subjects=(
            journal.SubjectReport(
                HOSTILE,
                journal.Title.REFUSED,
                (HOSTILE,),
                -1,
                -1,
                (journal.PartReport(HOSTILE, HOSTILE, journal.Title.REFUSED, (HOSTILE,), -1, HOSTILE),),
            ),
        ),
        findings=(broken, msgspec.structs.replace(broken, status=journal.Status.ERROR, next=None, run=HOSTILE)),
        certificate=msgspec.structs.replace(
            calm.certificate,
            missing=(HOSTILE,),
            guarantees=(HOSTILE,),
            windows_hit={HOSTILE: 1},
            windows_missed=(HOSTILE,),
        ),
    )


def _strange_timeline() -> journal.Timeline:
    """Times that are no times, a colour that is no colour, a checkpoint that ends before it began."""
    infinite, undefined = float("inf"), float("nan")
    return journal.Timeline(
        duration_ms=undefined,
        lanes=(journal.Lane(HOSTILE, ((0.0, infinite), (5.0, -3.0))),),
        checkpoints=(journal.Span(1, 10.0, 0.0, HOSTILE, HOSTILE), journal.Span(2, undefined, undefined, "completed")),
        faults=(
            journal.Band(
                0, HOSTILE, HOSTILE, 1.0, infinite, FaultFate.LANDED, HOSTILE, "red;background:url(http://evil.example)"
            ),
            journal.Band(
                1,
                "kill",
                "worker 0",
                undefined,
                undefined,
                FaultFate.TOO_LATE,
                "exact",
                "url(http://evil.example/x.svg#a)",
            ),
        ),
        restarts_ms=(undefined, -5.0),
        healed_ms=infinite,
        visible_rows=((undefined, 1), (3.0, -7)),
        records=((0.0, infinite),),
    )
