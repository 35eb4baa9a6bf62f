"""What the cases of Flink are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from holdfast.faults.process import kill
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Case, Decision, Plans, Tier, Window
from holdfast.harness.model.job import Job
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Bounds, ExpectedEnd, FaultSpec, Plan, WorkloadSpec
from holdfast.suites.conformance.plans import CHECKPOINTING, RESTART, WORKERS, case

INTERVAL = {f"{CHECKPOINTING}.interval": "100 ms"}
FIXED_DELAY = {
    f"{RESTART}.type": "fixed-delay",
    f"{RESTART}.fixed-delay.attempts": "30",
    f"{RESTART}.fixed-delay.delay": "200 ms",
}
KEPT = {f"{CHECKPOINTING}.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION"}
AT_LEAST_ONCE = {f"{CHECKPOINTING}.mode": "AT_LEAST_ONCE"}
UNALIGNED = {f"{CHECKPOINTING}.unaligned.enabled": "true"}
IN_FILES = {f"{CHECKPOINTING}.data-inline-threshold": "0 b"}
ROCKSDB = {"state.backend.type": "rocksdb"}
RESTORED = (Window.RESTORED_STATE,)
WRONG_SUMS = ("EXACT/row-wrong", "EXACT/row-repeated", "EXACT/counts-stepped-back", "EXACT/input-missing")
"""What shows of a restore that is not of one moment."""
STRUCK_TWICE = (kill(WORKERS[0], after_checkpoint=2), kill(WORKERS[1], after_checkpoint=6))
KILLED = "SIGKILL hits one TaskManager after the other, each after a completed checkpoint; another one takes over."
NEEDS = frozenset({Capability.FLINK})


def flink(
    *faults: FaultSpec,
    options: Mapping[str, str] = {},
    records: int = 0,
    job: Job = KEYED_SUM,
    workload: Mapping[str, int] = {},
    **fields: Any,
) -> Plan:
    """A job, mostly a keyed sum, of records that come in for two seconds, or for four if something breaks meanwhile.

    Args:
        faults: in the order of the plan.
        options: besides an interval and a restart strategy.
        records: how many; 0: as above.
        job: what it computes.
        workload: more parameters of its workload.
        fields: further ones of the plan.
    """
    records = records or (1_200 if faults else 600)
    return Plan(
        system="flink",
        job=job,
        workload=WorkloadSpec(
            "synthetic",
            {"records": records, "partitions": 2, "preloaded_percent": 10, "records_per_second": 300, **workload},
        ),
        options={**INTERVAL, **FIXED_DELAY, **options},
        faults=faults,
        bounds=Bounds(safety_ms=60_000, liveness_ms=90_000, settle_ms=500),
        **fields,
    )


def failing(options: Mapping[str, str], *faults: FaultSpec) -> Plan:
    """A job that ends by its restart strategy; no other one is named."""
    return replace(flink(*faults, expected_end=ExpectedEnd.FAILED), options=dict(options))


def refused(options: Mapping[str, str]) -> Plan:
    """A job with options that Flink must refuse."""
    return replace(flink(expected_end=ExpectedEnd.REFUSED), options={**INTERVAL, **options})


def twin(
    cases: tuple[Case, ...],
    name: str,
    plan: Plans,
    *labels: str,
    method: str,
    windows: tuple[Window, ...] = (),
    mutant_plan: Plans | None = None,
    without: str = "",
    of: str = "",
) -> Case:
    """The question of a case of the reference, put to Flink.

    Args:
        cases: of the module where it is.
        name: the id of the case; that of the other one is in it.
        plan: what Flink runs.
        labels: what decides, `ORACLE/clause`.
        method: in one sentence.
        windows: that the run must hit.
        mutant_plan: if not that of the case.
        without: a mutant that another one of its plans shows.
        of: the id of the other one, if the name does not show it.
    """
    [known] = [each for each in cases if each.id == of or f"flink/{each.id.replace('/', '-')}" == name]
    found = (_restricted(each, labels) for each in known.decides if each.mutant != without)
    return case(name, known.purpose, plan, *filter(None, found), windows=windows, tiers=(Tier.PROCESS,), needs=NEEDS,
                mutant_plan=mutant_plan or known.mutant_plan or known.plan, method=method,
                passes=known.passes)  # fmt: skip


def _restricted(decision: Decision, labels: tuple[str, ...]) -> Decision | None:
    clauses = tuple(clause for clause in decision.clauses if f"{decision.oracle}/{clause}" in labels)
    return replace(decision, clauses=clauses) if clauses else None


def control(variant: str, plan: Plan, *refutes: str, purpose: str, name: str = "") -> Case:
    """A wrong job.

    Args:
        variant: which.
        plan: on which it is found out.
        refutes: of these clauses one.
        purpose: what is wrong with it, behind "is a job found out".
        name: tells it from another one of that variant.
    """
    return case(f"flink/{variant}-{name}-control" if name else f"flink/{variant}-control",
                f"Negative control: is a job found out {purpose}?", replace(plan, system=f"flink+{variant}"),
                refutes=frozenset(refutes), tiers=(Tier.PROCESS,), needs=NEEDS,
                method="The wrong job in the place of the right one.",
                passes=f"{' or '.join(refutes)} refutes it.")  # fmt: skip
