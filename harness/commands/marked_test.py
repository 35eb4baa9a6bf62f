"""`holdfast.certify(SYSTEM)` within a test: the faults of its mark, or the cases that decide its rules."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from shutil import rmtree

import msgspec

from holdfast.harness.engine.cases.case import why_not_applicable
from holdfast.harness.engine.cases.case_run import CaseRun, FinishedRun, run_case
from holdfast.harness.engine.cases.swarm_case import cases_for, swarm_case
from holdfast.harness.engine.certification.run_store import RunStore, replay_command
from holdfast.harness.engine.errors import NotApplicable, UsageError
from holdfast.harness.engine.executor.judge import is_observable
from holdfast.harness.engine.plans.validate import fit_to_system
from holdfast.harness.engine.site import entry_points, registry
from holdfast.harness.engine.site.machine import lacking
from holdfast.harness.model import profile
from holdfast.harness.model.case import Case, Decision, Tier
from holdfast.harness.model.finding import Finding
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.journal import CaseResult, RunResult, Status
from holdfast.harness.model.plan import Bounds, FaultSpec, Plan, Topology, WorkloadSpec
from holdfast.harness.model.target import Role
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.system import System


class Trial(msgspec.Struct, frozen=True):
    """A case that was run to its end.

    Attributes:
        result: of it.
        finding: of the first run that failed; None: none did.
        run: folder of that run, or of one that did not count; None: all counted, or none was kept.
        command: what repeats it; empty: there is none.
    """

    result: CaseResult
    finding: Finding | None = None
    run: Path | None = None
    command: str = ""


def try_case(system: str, case: Case, tier: Tier, folder: Path, first_seed: int = 1) -> Trial:
    """Run a case to its end, and keep its runs.

    Args:
        system, case, tier, first_seed: see run_case.
        folder: existing; takes the runs that are kept.

    Raises:
        As run_case.
    """
    store = RunStore(folder, registry.toolbox().faults)
    store.runs.mkdir()
    kept: list[RunResult] = []

    def keep(finished: FinishedRun, case_run: CaseRun) -> None:
        if (result := store.keep(finished, case_run)) is not None:
            kept.append(result)

    result = run_case(system, case, tier, first_seed=first_seed, folder=store.runs, seen=keep)
    failed = (run for run in kept if run.outcome is Outcome.FAIL)
    missed = (run for run in kept if run.outcome is Outcome.INCONCLUSIVE)
    shown = next(failed, None) or next(missed, None)
    if shown is None or not shown.artefacts:
        return Trial(result)
    run = folder / shown.artefacts
    return Trial(result, shown.finding, run, replay_command(run, shown.tier, shown.system))


RECORDS, SIMULATED_RECORDS = 3_000, 600
_REAL = Bounds(safety_ms=90_000, liveness_ms=90_000, settle_ms=500)
_OPEN = (Status.PASS, Status.UNOBSERVED)


class Mark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`@pytest.mark.holdfast(...)`.

    Attributes:
        rules: ids that must be decided, such as `E2E-02`; one, or several. Without faults: every case that decides one
            of them is run.
        faults: of the plan, see harness.faults. Without faults and rules: plans are drawn.
        runs: how many runs must count and pass.
        tier: where; empty: the first of the system that this machine can run.
        records: of the input; 0: RECORDS, or on the simulator SIMULATED_RECORDS.
    """

    rules: tuple[str, ...] | str = ()
    faults: tuple[FaultSpec, ...] = ()
    runs: int = 1
    tier: Tier | None = None
    records: int = 0

    def rule_ids(self) -> tuple[str, ...]:
        return (self.rules,) if isinstance(self.rules, str) else self.rules


def mark_of(fields: dict[str, object]) -> Mark:
    """
    Raises:
        UsageError: a field is unknown, or of another type; one sentence.
    """
    try:
        mark = msgspec.convert(fields, Mark, from_attributes=True)
    except msgspec.ValidationError as error:
        known = ", ".join(Mark.__struct_fields__)
        raise UsageError(f"@pytest.mark.holdfast: {error}; fields are {known}.") from error
    if mark.runs < 1:
        raise UsageError(f"@pytest.mark.holdfast: runs is {mark.runs}; at least 1 must count.")
    known_rules = {rule.id for rule in registry.rules()}
    for rule in mark.rule_ids():
        if rule not in known_rules:
            raise entry_points.unknown("rule", rule, known_rules)
    return mark


def certify(name: str, mark: Mark, folder: Path, seed: int) -> str:
    """Run what a mark asks for.

    Args:
        name: of the system, see registry.system.
        mark: what is to run.
        folder: takes the runs that are kept; what an earlier test left there goes.
        seed: first draw seed.

    Returns:
        What failed, in a few lines; empty: nothing.

    Raises:
        NotApplicable: nothing of it applies to the system, or can run here.
        UsageError: there is no such system, or the mark is wrong.
    """
    system = registry.system(name)
    tier = mark.tier or _tier(system)
    if reason := lacking(tier):
        raise NotApplicable(f"tier {tier} {reason}")
    folder = Path(os.path.relpath(folder))  # So are commands about it shown.
    rmtree(folder, ignore_errors=True)
    cases = _cases(system, tier, mark)
    for case in cases:
        own = folder / case.id.replace("/", "-") if len(cases) > 1 else folder
        own.mkdir(parents=True)
        trial = try_case(name, case, tier, own, seed)
        if trial.result.status is Status.NOT_APPLICABLE:
            raise NotApplicable(trial.result.reason)
        if failure := _failure(case, trial, mark):
            return failure
    return ""


def _cases(system: System, tier: Tier, mark: Mark) -> Sequence[Case]:
    if not mark.faults and not mark.rules:
        return (msgspec.structs.replace(swarm_case(system, tier), runs=mark.runs),)
    if not mark.faults:
        return _deciding(system, tier, mark.rule_ids())
    plan = fit_to_system(_plan(system, tier, mark), system, tier)
    return (
        Case(
            id="test",
            purpose="Does the system stand what the test asks for?",
            method="The faults of the mark, on a keyed sum.",
            passes="No oracle names an anomaly in any run.",
            decides=tuple(_decisions(system, tier, mark.rule_ids())),
            plan=lambda number: msgspec.structs.replace(plan, run_seed=number),
            runs=mark.runs,
            tiers=(tier,),
        ),
    )


def _plan(system: System, tier: Tier, mark: Mark) -> Plan:
    """Input arrives for some seconds, or as long as the system takes to persist what it does."""
    records = mark.records or (SIMULATED_RECORDS if tier is Tier.SIM else RECORDS)
    widest = max((spec.target.index + 1 for spec in mark.faults if spec.target.role is Role.WORKER), default=1)
    return Plan(
        system=system.name,
        job=KEYED_SUM,
        topology=Topology(parallelism=widest),
        options={profile.INTERVAL: "200 ms"},
        workload=WorkloadSpec(
            "synthetic",
            {"records": records, "keys": 8, "partitions": 2, "preloaded_percent": 5, "records_per_second": 500},
        ),
        faults=mark.faults,
        bounds=Bounds(safety_ms=20_000) if tier is Tier.SIM else _REAL,
    )


def _deciding(system: System, tier: Tier, rules: Iterable[str]) -> Sequence[Case]:
    """The cases that decide one of these rules on a system; at least one for each."""
    tools, found = registry.toolbox(), dict[str, Case]()
    applicable = [
        case
        for case in cases_for(system)
        if tier in case.tiers and case.decides and not why_not_applicable(case, system, tier, tools)
    ]
    for rule in rules:
        deciding = [case for case in applicable if any(each.rule == rule for each in case.decides)]
        if not deciding:
            raise NotApplicable(f"no case decides {rule} on {system.name} at tier {tier}")
        found |= {case.id: case for case in deciding}
    return tuple(found.values())


def _decisions(system: System, tier: Tier, rules: Iterable[str]) -> Iterable[Decision]:
    """By which clauses the cases of a system decide rules, where it supplies what they need."""
    oracles = {each.name for each in registry.toolbox().oracles if is_observable(each, system.evidence())}
    for rule in rules:
        found: dict[str, Decision] = {}
        for case in _deciding(system, tier, [rule]):
            for each in case.decides:
                if each.rule == rule and each.oracle in oracles:
                    found.setdefault(each.oracle, each)
        if not found:
            raise NotApplicable(f"{system.name} does not supply what decides {rule}")
        yield from found.values()


def _failure(case: Case, trial: Trial, mark: Mark) -> str:
    """The failure text of a case that did not pass; empty: it did."""
    result = trial.result
    undecided = [rule for rule in mark.rule_ids() if result.rules.get(rule, Status.PASS) not in _OPEN]
    if result.status is Status.PASS and not undecided:
        return ""
    finding = trial.finding
    if finding is not None:
        lines = [f"what  {finding.what}", f"when  {finding.when}", f"why   {finding.why}"]
    else:
        reason = result.reason or "; ".join(f"{rule}: {result.rule_reasons[rule]}" for rule in undecided)
        lines = [f"what  Not decided: {reason}.", f"when  in {case.id} on {result.tier}"]
    if trial.run is not None:
        lines += [f"next  {trial.command}", f"run   {trial.run}"]
    return "\n".join(lines)


def _tier(system: System) -> Tier:
    """The first tier on which a system runs here, or the first of all, whose run then reports what is lacking."""
    there = sorted(system.capabilities, key=list(Tier).index)
    return next((tier for tier in there if not lacking(tier)), there[0])
