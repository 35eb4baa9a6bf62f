"""The kit of sources as the command line finds it, with jobs of the reference runtime that read the source and die.

They run on `reference+source=FACTORY`, judged by oracles that see input and output alone (RULES E2E, REC, RSC).
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from holdfast.faults.input import poison
from holdfast.faults.process import kill
from holdfast.fixtures.feeders import FEEDERS
from holdfast.harness.engine.cases.case_run import run_case
from holdfast.harness.engine.cases.case_status import case_not_run
from holdfast.harness.engine.site.machine import lacking
from holdfast.harness.lease import Lease
from holdfast.harness.model.case import Case, Decision, Tier, Window
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import FORWARD, KEYED_SUM, REBALANCE, TUMBLING_SUM, bounded
from holdfast.harness.model.journal import CaseResult
from holdfast.harness.model.plan import ExpectedEnd, Plan
from holdfast.harness.model.rule import Subject
from holdfast.harness.model.status import Status
from holdfast.harness.model.target import COORDINATOR
from holdfast.harness.spi.kit import KitCheck
from holdfast.harness.spi.source import Source, SourceContext, SourceFlag
from holdfast.harness.spi.surroundings import python_path
from holdfast.suites.certify.connector_kit import Connected, RegisteredConnectorKit, folder_of
from holdfast.suites.certify.plug import always, listed, loaded, plugged_in
from holdfast.suites.certify.source import CHECKS, WHOLE
from holdfast.suites.conformance.plans import EVERYWHERE, FAILOVER, RESTART, WORKERS, gate, plan
from holdfast.suites.conformance.rescaling import QUIET, rescaled

WRONG = "system:reference+source=holdfast.fixtures.mutants.sources.plugged:"
SPLITS = {"records": 240, "partitions": 4}
BUSY = {"records": 3_000, "records_per_second": 1_500, "partitions": 4}
"""There is always something to read, so a snapshot comes between two batches, and not behind the last one."""
PROBE_LIMIT_S = 60.0
ONCE = ("row-repeated", "input-missing")
SUMS = ("row-wrong", "input-missing")
WINDOWS = ("window-missing", "window-wrong")
FULL_FAILOVER = {FAILOVER: "full"}
DEATHS = (
    kill(WORKERS[0], after_checkpoint=1),
    kill(COORDINATOR, after_checkpoint=2),
    kill(WORKERS[1], after_checkpoint=4),
)
FAILING = {FAILOVER: "region", f"{RESTART}.fixed-delay.attempts": "60", f"{RESTART}.fixed-delay.delay": "60 ms"}
BEHIND_THE_SNAPSHOT = tuple(
    plan(
        kill(WORKERS[1], after_checkpoint=after, gate=gate("acknowledge", WORKERS[1], "sink")),
        kill(COORDINATOR, after_checkpoint=after + 2, gate=gate("publish-metadata", COORDINATOR)),
        job=FORWARD,
        options=FULL_FAILOVER,
        records=SPLITS,
    )
    for after in (1, 2)
)
"""Sources have taken their parts of a checkpoint, and it does not complete."""


def _ending(job: Job) -> Plan:
    """A job whose input ends."""
    return plan(*DEATHS, job=bounded(job), expected_end=ExpectedEnd.FINISHED, records=BUSY)


CASES = (
    Case(
        id="source/rows-under-faults",
        purpose="Does each record of the source have one row, when workers and the coordinator die?",
        method="The runtime reads it in two subtasks; both workers and the coordinator are killed.",
        passes="Rows are those of the input, each once, during the faults and afterwards.",
        decides=(Decision("E2E-05", "EXACT", ONCE, WRONG + "SplitsGivenTwice"),),
        windows=(Window.RESTORED_STATE,),
        plan=[
            plan(*DEATHS, job=FORWARD, options=FULL_FAILOVER, records=SPLITS),
            plan(*DEATHS, job=REBALANCE, records=SPLITS),
            plan(*DEATHS, job=FORWARD, options=FULL_FAILOVER, records=BUSY),
        ],
        tiers=EVERYWHERE,
    ),
    Case(
        id="source/sums-under-faults",
        purpose="Does each record of the source take effect once in state, when workers and the coordinator die?",
        method="A keyed sum reads it, and both workers and the coordinator are killed.",
        passes="Each sum is that of the oracle's own model of the input.",
        decides=(Decision("E2E-05", "EXACT", SUMS, WRONG + "StateOfNothing"),),
        windows=(Window.RESTORED_STATE,),
        plan=plan(*DEATHS, job=KEYED_SUM, records=SPLITS),
        tiers=EVERYWHERE,
    ),
    Case(
        id="source/windows-under-faults",
        purpose="Does each record of the source keep its timestamp, when workers and the coordinator die?",
        method="Windows sum it by event time, and both workers and the coordinator are killed.",
        passes="Each window that the watermark has passed has the row that the input gives it.",
        decides=(Decision("E2E-05", "WINDOW", WINDOWS, WRONG + "TimesLostOnRestore"),),
        windows=(Window.RESTORED_STATE,),
        plan=plan(*DEATHS, job=TUMBLING_SUM, records=SPLITS),
        tiers=EVERYWHERE,
    ),
    Case(
        id="source/ends-under-faults",
        purpose="Does a source read all of an input that ends, and end, when workers and the coordinator die?",
        method="All input is there when the job starts; both workers and the coordinator are killed.",
        passes="The job finishes, and rows are those of the input, each once.",
        decides=(Decision("E2E-05", "EXACT", ONCE, WRONG + "EndsWithOneSplit"),),
        windows=(Window.RESTORED_STATE,),
        plan=[_ending(FORWARD), _ending(REBALANCE), _ending(KEYED_SUM)],
        tiers=(Tier.SIM,),  # Processes are at the end before anything is killed.
    ),
    Case(
        id="source/one-reader",
        purpose="Does a reader that restarts alone go on from its splits, and are those that came since handed out?",
        method="A record fails its reader for a while, whose region restarts; the other region goes on.",
        passes="Rows are those of the input, each once.",
        decides=(Decision("E2E-05", "EXACT", ONCE, WRONG + "TakesNothingBack"),),
        windows=(Window.RESTORED_STATE,),
        plan=plan(poison(1_500), job=FORWARD, options=FAILING, records=SPLITS),
        tiers=EVERYWHERE,
    ),
    Case(
        id="source/behind-the-snapshot",
        purpose="Does a restore go on from the checkpoint, when a later one was begun and did not complete?",
        method="A worker dies before it acknowledges a checkpoint, and the coordinator before it completes one.",
        passes="Rows are those of the input, each once: nothing was acknowledged outside that no checkpoint holds.",
        decides=(Decision("REC-02", "EXACT", ONCE, WRONG + "AcknowledgesWithTheSnapshot"),),
        windows=(Window.RESTORED_STATE, Window.READ_AGAIN),
        plan=BEHIND_THE_SNAPSHOT,
        tiers=EVERYWHERE,
    ),
    Case(
        id="source/rescaled-job",
        purpose="Do splits go on where they were, each with one reader, at another parallelism?",
        method="A job is cancelled, and a wider or a narrower one restores the checkpoint that it has left.",
        passes="Rows are those of the input, each once.",
        decides=(Decision("RSC-05", "EXACT", ONCE, WRONG + "RescaledAnew"),),
        windows=(Window.RESTORED_STATE,),
        plan=[
            rescaled(2, 4, job=REBALANCE, options=QUIET),
            rescaled(4, 2, job=REBALANCE, options=QUIET, faults=(kill(WORKERS[0], after_checkpoint=5),)),
        ],
        tiers=EVERYWHERE,
    ),
)


class Trial(NamedTuple):
    """Where a source is tried in a runtime.

    Attributes:
        tier: the simulator where its input lies in memory, which no other process sees.
        why_not: why it cannot be; empty: it can.
        known: whether that is so.
    """

    tier: Tier = Tier.PROCESS
    why_not: str = ""
    known: bool = True


def trial(factory: str, connected: Connected) -> Trial:
    """Where a source is tried."""
    if connected.options:
        return Trial(why_not="the runtime gives a source no options: try it with its defaults")
    with Lease("kit") as folder:
        uri = connected.place(str(folder))
        source = _source(factory, uri)
        described = source.describe()
        if SourceFlag.UNBOUNDED not in described.flags:
            return Trial(Tier.SIM)  # The case of an input that ends is tried nowhere else.
        ours = FEEDERS.get(described.feeder)
        feeder = ours(folder_of(uri)) if ours is not None else source.feeder()
        feeder.append(0, [(b"probe", 0)])
        found = _seen_elsewhere(factory, uri)
        feeder.close()
    return found


def not_for(factory: str, connected: Connected) -> Mapping[str, str]:
    """By id, why a case does not apply to a source that can be read by a runtime."""
    with Lease("kit") as folder:
        if SourceFlag.REPLAYABLE in _source(factory, connected.place(str(folder))).describe().flags:
            return {}
    reason = "it does not declare replayable, and the case must see that records are read again"
    return {case.id: reason for case in CASES if Window.READ_AGAIN in case.windows}


def _source(factory: str, uri: str) -> Source:
    made: Source = loaded("source", factory, Source)(SourceContext(uri=uri, job="probe", operator="source", attempt=1))
    return made


def _seen_elsewhere(factory: str, uri: str) -> Trial:
    """Whether another process finds what is there, as those of a runtime must."""
    path = python_path(sys.path)  # What is loaded here is loaded there.
    environment = {**os.environ, "PYTHONPATH": path}  # noqa: TID251 - of a child
    command = [sys.executable, "-m", "holdfast.suites.certify.source.probe", factory, uri]
    nothing = subprocess.DEVNULL
    try:
        found = subprocess.run(command, env=environment, stdout=nothing, stderr=nothing, timeout=PROBE_LIMIT_S)
    except subprocess.TimeoutExpired:
        return Trial(why_not=f"another process that looks does not end within {PROBE_LIMIT_S:g} s", known=False)
    return Trial(Tier.SIM if found.returncode else Tier.PROCESS)


def tried_under_faults(
    system: str,
    cases: Sequence[Case],
    checks: Set[str],
    *,
    seed: int,
    supplied: Sequence[str],
    why_not: str,
    known: bool = True,
    not_for: Mapping[str, str] = {},
    tier: Tier = Tier.PROCESS,
) -> Iterator[KitCheck]:
    """Each case as a check.

    Args:
        system: as of `plugged_in`.
        cases: each decides one rule.
        checks: ids of those that are run; empty: all.
        seed: of the runs.
        supplied: what of the judgement rests on its author's word.
        why_not: why none can be tried; empty: each is.
        known: whether that is so; else each is inconclusive.
        not_for: by id of a case, why it alone does not apply.
        tier: that those run on which have it; others run on the simulator.
    """
    untried = why_not or lacking(tier)
    for case in cases:
        if checks and _id(case) not in checks:
            continue
        on = _tier(case, tier)
        if reason := untried or not_for.get(case.id, ""):
            status = Status.NOT_APPLICABLE if known else Status.INCONCLUSIVE
            result = case_not_run(case, on, status, reason)
        else:
            with Lease("kit") as folder:
                result = run_case(system, case, on, first_seed=seed or 1, folder=folder)
        yield _told(case, result, tuple(supplied), on)


def listed_cases(cases: Sequence[Case]) -> tuple[KitCheck, ...]:
    """As the command line knows them before they run."""
    return tuple(
        KitCheck(_id(case), case.purpose, case.decides[0].rule, Status.UNTESTED, tier=_tier(case, Tier.PROCESS))
        for case in cases
    )


def _tier(case: Case, wanted: Tier) -> Tier:
    return wanted if wanted in case.tiers else Tier.SIM


def _id(case: Case) -> str:
    return f"{case.decides[0].rule}/{case.id.partition('/')[2]}"


def _told(case: Case, result: CaseResult, supplied: tuple[str, ...], tier: Tier) -> KitCheck:
    rule = case.decides[0].rule
    return KitCheck(
        _id(case),
        case.purpose,
        rule,
        result.status,
        result.reason,
        tuple(result.rule_reasons.values()) if result.status is Status.FAIL else (),
        supplied,
        tier=tier,
    )


class SourceKit(RegisteredConnectorKit):
    """Sources."""

    whole = WHOLE
    subject = Subject.SOURCE
    rules = frozenset(check.rule for check in CHECKS)
    checks = listed(CHECKS)
    floor = (*always("E2E-01/claim"), frozenset({"E2E-05/program", "E2E-05/at-most-once"}))
    checks_under_faults = listed_cases(CASES)

    def under_faults(
        self,
        factory: str,
        checks: Set[str],
        seed: int = 0,
        location: str = "",
        options: Mapping[str, str] | None = None,
    ) -> Iterator[KitCheck]:
        connected = Connected(location, options or {})
        tried = trial(factory, connected)
        return tried_under_faults(
            plugged_in("source", factory, location),
            CASES,
            checks,
            seed=seed,
            supplied=WHOLE.supplied_by_author(factory, connected),
            why_not=tried.why_not,
            known=tried.known,
            not_for={} if tried.why_not else not_for(factory, connected),
            tier=tried.tier,
        )
