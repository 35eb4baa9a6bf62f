"""Some seeds, drawn, run and judged in one process: this one, another one, or one on another machine."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from holdfast.harness.engine.cases.case import plan_of
from holdfast.harness.engine.cases.case_run import CaseRun, run_once
from holdfast.harness.engine.cases.results import HARNESS_ERROR
from holdfast.harness.engine.cases.swarm_case import swarm_case
from holdfast.harness.engine.executor.run import never_interrupted
from holdfast.harness.engine.exploration.ledger import Chunk, Counts
from holdfast.harness.engine.exploration.shrink import MOST_PLANS, needed_faults
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import RunResult
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.verdict import CRASHED, Outcome


class DrawnChunk(msgspec.Struct, frozen=True):
    """What comes back from where it was drawn: nothing is written there.

    Attributes:
        chunk: for the ledger.
        plans: by seed, the plan of each run that raised an alarm.
    """

    chunk: Chunk
    plans: dict[int, Plan] = {}


def draw_chunk(
    system: str, code: str, first: int, last: int, interrupted: Callable[[], str] = never_interrupted
) -> bytes:
    """Draw, run and judge some seeds; a DrawnChunk, encoded. An interruption ends it after a seed.

    Args:
        system: under test, by name.
        code: fingerprint of what runs.
        first, last: seeds.
        interrupted: the reason to stop, or an empty text.
    """
    under_test = registry.system(system)
    case_run = CaseRun(swarm_case(under_test), under_test, Tier.SIM, registry.toolbox())
    counts = Counts()
    alarms: dict[int, str] = {}
    plans: dict[int, Plan] = {}
    for seed in range(first, last + 1):
        finished = run_once(case_run, seed - case_run.first_seed)
        plan = (
            finished.run.history.plan
            if finished.run
            else plan_of(case_run.case, under_test, case_run.first_seed, seed - 1)
        )
        counts.add(finished.result, plan, case_run.case.windows)
        if alarm := alarm_of(finished.result):
            run = finished.run
            needed = needed_faults(run, under_test, case_run.tools).words if run and len(alarms) < MOST_PLANS else ""
            alarms[seed], plans[seed] = f"{alarm} ({needed})" if needed else alarm, plan
        if interrupted():
            last = seed
            break
    chunk = Chunk(system=system, code=code, first=first, last=last, counts=counts, alarms=alarms)
    return msgspec.json.encode(DrawnChunk(chunk, plans))


def alarm_of(result: RunResult) -> str:
    """Why a run is an alarm; empty: it is none."""
    if result.outcome is Outcome.FAIL:
        anomalies = (
            f"{verdict.oracle}/{anomaly.clause}: {anomaly.message}"
            for verdict in result.verdicts
            for anomaly in verdict.anomalies
        )
        return next(anomalies, result.reason)
    broke = result.reason.startswith(HARNESS_ERROR) or CRASHED in result.reason
    return result.reason if result.outcome is Outcome.INCONCLUSIVE and broke else ""
