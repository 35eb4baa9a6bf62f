"""Systems that cannot be stood up, or are in a hurry."""

from __future__ import annotations

from pathlib import Path

from holdfast.fixtures.reference.drivers.processes import worker_host
from holdfast.fixtures.reference.drivers.processes.deployment import ProcessDeployment
from holdfast.fixtures.reference.parts import Variant
from holdfast.fixtures.systems.json_lines.system import JsonLines
from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.model.case import Tier
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.records import InputLog
from holdfast.harness.spi.system import Deployment


class WorkersDie(ReferenceSystem):
    """Its workers are programs that do not exist."""

    def deploy(self, plan: Plan, inputs: InputLog, tier: Tier, folder: Path | None) -> Deployment:
        worker_host.ENTRY = "holdfast.nowhere:run"
        return super().deploy(plan, inputs, tier, folder)


class OnPort(ReferenceSystem):
    """Its coordinator listens on the port that the variant names."""

    def __init__(self, port: str) -> None:
        super().__init__()
        self._port = int(port)

    def deploy(self, plan: Plan, inputs: InputLog, tier: Tier, folder: Path | None) -> Deployment:
        assert folder is not None
        return ProcessDeployment(plan, inputs, Variant(), self.parts.configure(plan), folder, self._port)


def impatient(program: str) -> JsonLines:
    """A program that must answer at once."""
    return JsonLines(program, silence_ms=300)
