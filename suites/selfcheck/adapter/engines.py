"""Engines for the tests: that of the scaffold, and changed ones."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from msgspec.structs import replace

from holdfast.fixtures.workloads.synthetic import Synthetic
from holdfast.harness.adapter.engine import EngineDeployment
from holdfast.harness.model.case import Tier
from holdfast.harness.model.plan import Bounds, Plan, Topology
from holdfast.harness.model.records import InputLog
from holdfast.harness.spi.system import Recording
from holdfast.suites.certify.scaffolds.system.right import Engine
from holdfast.suites.conformance.engines import engines

PLAN: Plan = replace(engines(), bounds=Bounds(settle_ms=300))
TWO: Plan = replace(PLAN, topology=Topology(parallelism=2))
LIMIT_MS = 60_000


class Gives3Positions(Engine):
    def positions(self) -> Sequence[int]:
        return [0, 0, 0]


class DiesAtOnce(Engine):
    def command(self, worker: int) -> Sequence[str]:
        return [sys.executable, "-c", "raise SystemExit('no room')"]


class SaysReady(Engine):
    """It is ready when it says so, on a line that holds more than that."""

    ready_line = "state RUNNING"

    def command(self, worker: int) -> Sequence[str]:
        program = "import os, sys; print('now in state RUNNING', flush=True); os.execv(sys.executable, sys.argv[1:])"
        return [sys.executable, "-c", program, *super().command(worker)]


class NeverReady(SaysReady):
    ready_line = "state WALKING"


class CannotBegin(Engine):
    """What did not begin is not ended."""

    def begin(self) -> None:
        raise OSError("port 80 is taken: free it.")


def records(count: int = 400) -> InputLog:
    """A log of two partitions, a tenth of it there from the start."""
    return Synthetic().generate({"records": count, "preloaded_percent": 10, "records_per_second": 500, "keys": 4}, 1)


def deployed(engine: Engine, folder: Path, plan: Plan = PLAN, inputs: InputLog | None = None) -> EngineDeployment:
    folder.mkdir(exist_ok=True)
    deployment = engine.deploy(plan, inputs or records(), Tier.PROCESS, folder)
    assert isinstance(deployment, EngineDeployment)
    return deployment


def driven(engine: Engine, folder: Path, plan: Plan = PLAN) -> Recording:
    """Run an engine until its input is drained."""
    with closing(deployed(engine, folder, plan)) as deployment:
        deployment.feed_markers()
        while not deployment.drained():
            assert deployment.now_ms < LIMIT_MS, "the input was not drained"
            deployment.advance(deployment.now_ms + 20)
        return deployment.stop(audit=False)
