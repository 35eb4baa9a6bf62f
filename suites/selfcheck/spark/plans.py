"""What the tests of this folder run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.fixtures.reference.drivers.spark.stage_supervisor import PROGRAM_LIMIT_S
from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.engine.executor.run import Run
from holdfast.harness.model.case import Tier
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import Bounds, FaultSpec, Gate, Plan, Schedule, Topology, WorkloadSpec
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.replaced_runs import counting_run

WORKER, OTHER_WORKER = Target(Role.WORKER, 0), Target(Role.WORKER, 1)
OPTIONS = {
    "execution.checkpointing.interval": "200 ms",
    "execution.checkpointing.data-inline-threshold": "100 b",
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.attempts": "20",
    "restart-strategy.fixed-delay.delay": "50 ms",
    "source.max-batch-records": "20",
}
RECORDS: dict[str, int | str] = {"records": 1_200, "records_per_second": 300, "preloaded_percent": 10}
"""The last one arrives almost two seconds after the first attempt began."""

BOUNDS = Bounds(safety_ms=40_000, liveness_ms=int(PROGRAM_LIMIT_S * 1_000) + 60_000, settle_ms=200)
"""A driver program that is killed has as long to come up again as the first one had, and then a minute."""


def plan(*faults: FaultSpec, options: Mapping[str, str] = {}, **fields: Any) -> Plan:
    """A keyed sum on two executors."""
    given: dict[str, Any] = {
        "job": KEYED_SUM,
        "topology": Topology(2),
        "workload": WorkloadSpec("synthetic", RECORDS),
        "bounds": BOUNDS,
    }
    return Plan(options={**OPTIONS, **options}, faults=faults, **{**given, **fields})


def after(checkpoints: int, gate: Gate | None = None) -> Schedule:
    """When a fault acts."""
    return Schedule(after_checkpoint=checkpoints, gate=gate)


def run(chosen: Plan, folder: Path, variant: str = "") -> Run:
    """Run and judge it on Spark."""
    folder.mkdir(exist_ok=True)
    return counting_run(chosen, ReferenceSystem(variant), Tier.SPARK, folder)
