"""Run results by hand, for what is computed from many of them."""

from __future__ import annotations

from typing import Any

import msgspec

from holdfast.harness.engine.cases.tally import Tally
from holdfast.harness.model.case import Case, Decision, Tier
from holdfast.harness.model.journal import RunResult
from holdfast.harness.model.verdict import Anomaly, Outcome, Verdict
from holdfast.suites.selfcheck.engine.scripted import plan

DECISION = Decision("BAR-01", "CUT", ("order", "loss"), "A3")
PASSING = Verdict("CUT", Outcome.PASS, checked={"order": 2, "loss": 1})


def failing(oracle: str = "CUT", clause: str = "order") -> Verdict:
    return Verdict(oracle, Outcome.FAIL, (Anomaly(clause, "as the test says"),), {clause: 1})


def result(*verdicts: Verdict, **fields: Any) -> RunResult:
    """A run that passes unless it is said otherwise."""
    verdicts = verdicts or (PASSING,)
    failed = any(verdict.outcome is Outcome.FAIL for verdict in verdicts)
    base = RunResult(
        id="area-case-sim-0000", case="area/case", tier=Tier.SIM, system="scripted", draw_seed=0, run_seed=0,
        plan_digest="0" * 64, plan_text="", outcome=Outcome.FAIL if failed else Outcome.PASS, reason="",
        verdicts=verdicts, trace_hash="", events=1, dispatched=1, checkpoints=3, records=1, rows=1, restarts=0,
        landed={}, wall_ms=1.0, replay="",
    )  # fmt: skip
    return msgspec.structs.replace(base, **fields)


def missed(reason: str = "faults[0] (kill) never acted", **fields: Any) -> RunResult:
    """A run that does not count."""
    return result(outcome=Outcome.INCONCLUSIVE, reason=reason, **fields)


def tally(*results: RunResult) -> Tally:
    added = Tally()
    for each in results:
        added.add(each)
    return added


def case(*decides: Decision, **fields: Any) -> Case:
    texts = dict.fromkeys(("purpose", "method", "passes"), "as the test says")
    return Case(**{"id": "area/case", **texts, "decides": decides or (DECISION,), "plan": plan(), **fields})
