"""How long the reference runtime and Structured Streaming take to recover from a SIGKILL of an executor, side by side.

The same input, the same checkpoint interval, the same cores: one run of each, in which executors are killed one after
the other. What counts is `holdfast.harness.engine.views.recovery`: from the signal to the first visible output of a
checkpoint that was triggered afterwards, the delay of the restart strategy included. A run counts only if no oracle
fails it. Writes one HTML report with the dots of both.

python -m holdfast.suites.bench.recovery_on_spark --tier spark --kills 10
"""

from __future__ import annotations

import os
import sys
import tempfile
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from typing import Annotated

import msgspec
import typer

from holdfast.harness.engine.cases.results import run_result
from holdfast.harness.engine.errors import NotApplicable, UsageError
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.plans.validate import check_options, check_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.services import close_services
from holdfast.harness.engine.views.recovery import recoveries
from holdfast.harness.engine.views.timeline import timeline
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Tier
from holdfast.harness.model.command_line import DISTRIBUTION
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.journal import CaseResult, Certificate, Journal, RunResult, Status, TierReport, Title
from holdfast.harness.model.plan import Bounds, FaultSpec, Plan, Schedule, Topology, WorkloadSpec
from holdfast.harness.model.target import Role, Target
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.system import System, declared
from holdfast.reports.html import HtmlReporter
from holdfast.reports.recovery import Row, groups
from holdfast.suites.bench.figures import load, table
from holdfast.suites.bench.peers.children import run_script

RECORDS_PER_YEAR, ORIGINS = 336_776, 3
WORKERS = 2
CHECKPOINTS_BETWEEN = 5
"""An executor that was killed must live again before the other one dies: Java takes seconds to start."""
SYSTEMS = ("reference", "spark")
RESTARTS = {
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "1000",
    "restart-strategy.fixed-delay.delay": "100 ms",
}
"""For systems that have restart strategies. Structured Streaming runs lost tasks again within the same query."""


def plan_of(system: System, kills: int, interval_ms: int, allowed_s: float, *, during: bool) -> Plan:
    """So many kills, with flights arriving until well after the last; one that hits when all is read does not count."""
    seconds = 10 + kills * (CHECKPOINTS_BETWEEN * interval_ms / 1000 + allowed_s)
    years = 1 + int(seconds) // 300
    strategy = RESTARTS if Capability.RESTART_STRATEGIES in declared(system) else {}
    return Plan(
        system=system.name,
        job=KEYED_SUM,
        topology=Topology(parallelism=WORKERS),
        workload=WorkloadSpec(
            "flights",
            {
                "key": "tailnum",
                "repeat": years,
                "records_per_second": int(years * RECORDS_PER_YEAR / ORIGINS / seconds),
                "preloaded_percent": 1,
            },
        ),
        options={"execution.checkpointing.interval": f"{interval_ms} ms", **strategy},
        faults=tuple(
            FaultSpec(
                "kill",
                Target(Role.WORKER, kill % WORKERS),
                Schedule(
                    after_checkpoint=CHECKPOINTS_BETWEEN * (kill + 1),
                    at_event="checkpoint_triggered" if during else "",
                ),
                parameters={"unread": 1},
            )
            for kill in range(kills)
        ),
        bounds=Bounds(safety_ms=int(seconds * 4_000), liveness_ms=120_000, settle_ms=600),
    )


def measure(system: System, plan: Plan, tier: Tier) -> RunResult:
    """Kill.

    Raises:
        OSError: the run says nothing, or an oracle refused it.
    """
    tools = registry.toolbox()
    start_s = monotonic()
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        run = run_plan(plan, system, tools, tier, Path(folder))
    result = run_result(run, f"recovery of {system.name}", 0, (monotonic() - start_s) * 1000)
    if run.outcome is Outcome.FAIL or run.history.end.problem:
        failed = [str(anomaly.message) for verdict in run.verdicts for anomaly in verdict.anomalies]
        raise OSError(f"the run of {system.name} does not count: {run.reason} {' '.join(failed[:3])}")
    return msgspec.structs.replace(
        result,
        timeline=timeline(run.history, tools.faults, run.precisions),
        recoveries=recoveries(run.history, tools.faults),
    )


def journal_of(runs: list[RunResult], tier: Tier, started: datetime, duration_s: float) -> Journal:
    """What a report is made from; no rule is decided here."""
    return Journal(
        command=f"python -m holdfast.suites.bench.recovery_on_spark {' '.join(sys.argv[1:])}".rstrip(),
        system=", ".join(run.system for run in runs),
        subject="RT",
        profile="",
        claims="; ".join(dict.fromkeys(run.claims for run in runs)),
        evidence={},
        started=started.isoformat(timespec="seconds"),
        duration_s=duration_s,
        interrupted="",
        versions={"holdfast": version(DISTRIBUTION), "python": sys.version.split()[0], "machine": load()},
        seed=0,
        plans_digest="",
        history_digest="",
        tiers=(TierReport(tier, ran=True, reason="", runs=len(runs)),),
        cases=tuple(map(_case_of, runs)),
        rules=(),
        runs=tuple(runs),
        certificate=Certificate(Title.PARTIAL, ("A benchmark decides no rule.",), (), {}, (), None, 0),
    )


def _case_of(run: RunResult) -> CaseResult:
    passed = run.outcome is Outcome.PASS
    return CaseResult(
        case=run.case,
        tier=run.tier,
        status=Status.PASS if passed else Status.INCONCLUSIVE,
        reason=run.reason,
        purpose="How long does it take from the kill of an executor to new committed output?",
        method="SIGKILL of one executor after the other, with checkpoints enough in between to recover.",
        passes="No oracle fails the run, and every kill lands.",
        rules={},
        rule_reasons={},
        runs_demanded=1,
        runs_passed=int(passed),
        runs_failed=0,
        runs_inconclusive=int(not passed),
        inconclusive_causes={} if passed else {run.reason: 1},
    )


def _cells(row: Row) -> tuple[str, ...]:
    values = (row.median, row.p95, row.worst, row.middle_running)
    return (
        row.system,
        f"{len(row.samples)} of {row.faults}",
        *("-" if each is None else f"{each / 1000:.2f}" for each in values),
    )


def main(
    system: Annotated[list[str] | None, typer.Option(help="default: reference and spark")] = None,
    tier: Annotated[Tier, typer.Option()] = Tier.SPARK,
    kills: Annotated[int, typer.Option(min=1)] = 10,
    interval_ms: Annotated[int, typer.Option(min=100, help="between checkpoints")] = 1000,
    allowed_s: Annotated[float, typer.Option(help="for each recovery: so much longer input arrives")] = 9.0,
    during: Annotated[
        bool, typer.Option("--during/--between", help="kill right after a checkpoint was triggered, or completed")
    ] = False,
    cores: Annotated[str, typer.Option(help="that every process is pinned to, with commas")] = "0,1",
    out: Annotated[Path, typer.Option(help="folder of the report")] = Path("holdfast-out/recovery"),
) -> None:
    """Measure."""
    os.sched_setaffinity(0, [int(core) for core in cores.split(",")])
    started, start_s = datetime.now(UTC), monotonic()
    try:
        under_test = [registry.system(name) for name in system or SYSTEMS]
        plans = [plan_of(each, kills, interval_ms, allowed_s, during=during) for each in under_test]
        for each, plan in zip(under_test, plans, strict=True):
            check_plan(plan, each, tier, registry.toolbox())
            check_options(plan, each)
        runs = [measure(each, plan, tier) for each, plan in zip(under_test, plans, strict=True)]
    except (UsageError, NotApplicable) as error:
        raise OSError(str(error)) from error
    finally:
        close_services()
    journal = journal_of(runs, tier, started, monotonic() - start_s)
    moment = "during a checkpoint" if during else "between checkpoints"
    columns = ("system", "kills", "new commit, median s", "p95 s", "worst s", "running, median s")
    title = f"SIGKILL of an executor {moment}, tier {tier}, interval {interval_ms} ms, cores {cores}; {load()}"
    print(table(title, columns, [_cells(row) for group in groups(journal) for row in group]))
    for run in runs:
        print(f"{run.system}: {run.outcome.value} {run.reason}, {run.records:,} records, {run.rows:,} rows")
    out.mkdir(parents=True, exist_ok=True)
    print(f"\nreport: {HtmlReporter().render(journal, out)}\ncommand: {journal.command}")


if __name__ == "__main__":
    run_script(lambda: typer.run(main))
