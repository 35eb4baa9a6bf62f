"""Systems whose workers do not end when they are asked to."""

from __future__ import annotations

import atexit
import signal
from pathlib import Path
from threading import Event

from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.model.case import Tier
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.records import InputLog
from holdfast.harness.spi.system import Deployment

HERE = "holdfast.suites.selfcheck.abuse.ending_late"
STILL_HEARD = signal.SIGURG
"""By a deaf worker. Whoever starts a program or a thread blocks every signal for that moment, this one included."""


class Deaf(ReferenceSystem):
    """Its first run never ends, and hears no signal."""

    def __init__(self, variant: str = "") -> None:
        super().__init__(variant)
        self.name = f"{HERE}:Deaf"

    def deploy(self, plan: Plan, inputs: InputLog, tier: Tier, folder: Path | None) -> Deployment:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - {STILL_HEARD})
        Event().wait()
        raise AssertionError


class Lingering(ReferenceSystem):
    """Its runs end, and the process that ran them does not."""

    def __init__(self, variant: str = "") -> None:
        super().__init__(variant)
        self.name = f"{HERE}:Lingering"

    def deploy(self, plan: Plan, inputs: InputLog, tier: Tier, folder: Path | None) -> Deployment:
        atexit.register(Event().wait)
        return super().deploy(plan, inputs, tier, folder)
