"""The reference runtime, but it ends the process that it is in, with exit code 0, when it is asked for something."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.model.capability import Claims, Evidence
from holdfast.harness.model.case import Tier
from holdfast.harness.model.events import Event
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.records import InputLog
from holdfast.harness.spi.controls import Controls
from holdfast.harness.spi.system import Deployment, GateReached, OptionAccount, Recording

IN_A_RUN = ("claims", "deploy", "advance", "record", "stop", "close")
MOMENTS = ("constructor", "account", "objection", "evidence", *IN_A_RUN)


class Leaver(ReferenceSystem):
    """`Leaver+advance` leaves in Deployment.advance; the other variants are in MOMENTS."""

    def __init__(self, moment: str) -> None:
        super().__init__()
        self.name = f"{__name__}:Leaver+{moment}"
        self._moment = moment
        self.reach("constructor")

    def reach(self, moment: str) -> None:
        if moment == self._moment:
            sys.exit(0)

    def claims(self, plan: Plan) -> Claims:
        self.reach("claims")
        return super().claims(plan)

    def account(self, plan: Plan) -> Sequence[OptionAccount]:
        self.reach("account")
        return super().account(plan)

    def objection(self, plan: Plan, tier: Tier) -> str:
        self.reach("objection")
        return super().objection(plan, tier)

    def evidence(self) -> Mapping[str, Evidence]:
        self.reach("evidence")
        return super().evidence()

    def deploy(self, plan: Plan, inputs: InputLog, tier: Tier, folder: Path | None) -> Deployment:
        self.reach("deploy")
        return LeavingDeployment(super().deploy(plan, inputs, tier, folder), self)


class LeavingDeployment:
    """See Leaver."""

    def __init__(self, inner: Deployment, system: Leaver) -> None:
        self._inner = inner
        self._reach = system.reach

    @property
    def controls(self) -> Controls:
        return self._inner.controls

    @property
    def now_ms(self) -> float:
        return self._inner.now_ms

    def advance(self, until_ms: float) -> Sequence[Event | GateReached]:
        self._reach("advance")
        return self._inner.advance(until_ms)

    def record(self, event: Event) -> None:
        self._reach("record")
        self._inner.record(event)

    def feed_markers(self) -> None:
        self._inner.feed_markers()

    def drained(self) -> bool:
        return self._inner.drained()

    def stop(self, *, audit: bool) -> Recording:
        self._reach("stop")
        return self._inner.stop(audit=audit)

    def close(self) -> None:
        self._inner.close()
        self._reach("close")
