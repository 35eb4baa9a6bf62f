"""Records of nights by hand."""

from __future__ import annotations

from typing import Any

import msgspec

from holdfast.harness.model.case import Tier
from holdfast.harness.model.finding import Signature
from holdfast.harness.model.journal import Title
from holdfast.harness.model.night import Night, NightFinding, RecoveryTimes, Reruns, RunCounts, SystemNight, WaivedUntil
from holdfast.harness.model.status import Status


def finding(clause: str = "CUT/order", **fields: Any) -> NightFinding:
    base = NightFinding(
        signature=Signature(clause, "wrong state", "scripted"),
        what="Wrong state: 3 records",
        runs=2,
        rules=("BAR-01",),
        cases=("area/case on sim",),
        next="holdfast replay scripted/runs/area-case-sim-0000",
        reruns=Reruns(2, 3),
    )
    return msgspec.structs.replace(base, **fields)


def waived(*, expired: bool = False) -> WaivedUntil:
    return WaivedUntil("the broker is replaced in June", "2026-06-30", expired)


def system(*findings: NightFinding, **fields: Any) -> SystemNight:
    """A system on which nothing but these findings is wrong."""
    refuted = any(each.counts for each in findings)
    base = SystemNight(
        system="scripted",
        folder="scripted",
        title=Title.REFUSED if refuted else Title.PARTIAL,
        duration_s=60.0,
        runs=(RunCounts(Tier.PROCESS, 90, len(findings), 10 - len(findings), 40, 200.0),),
        rules={"BAR-01": Status.FAIL if refuted else Status.PASS, "BAR-02": Status.PASS},
        findings=findings,
        inconclusive={"faults[n] (kill) never acted": 8},
        windows_wanted={"restored-state": 20, "read-again": 4},
        windows_hit={"restored-state": 12},
        faults_planned={"kill worker": 30, "cut channel": 5},
        faults_landed={"kill worker": 28},
        recoveries=(RecoveryTimes(Tier.PROCESS, "kill worker", 28, 420.0, 910.0, 1_300.0),),
    )
    return msgspec.structs.replace(base, **fields)


def night(name: str = "2026-11-25", *systems: SystemNight, **fields: Any) -> Night:
    base = Night(
        name=name,
        seed=20261125,
        started=f"{name[:10]}T01:00:00+00:00",
        duration_s=60.0,
        budget_s=60.0,
        interrupted="",
        command="holdfast nightly",
        versions={"holdfast": "0.1.0"},
        systems=systems or (system(),),
    )
    return msgspec.structs.replace(base, **fields)
