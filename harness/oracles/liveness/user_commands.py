"""A user's order to end a job: it ends, or the coordinator that took the order is gone (RULES RET)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import (
    OVER,
    AttemptStarted,
    JobStatus,
    JobSwitched,
)
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.liveness.last_state import PATIENCE_NS, LastState

CLAUSES: Mapping[str, str] = {
    "command-ignored": "a user cancels or suspends a job, and its coordinator does not begin to end it",
    "end-not-finished": "a job that is being cancelled or suspended never has ended",
}


def judge_commands(state: LastState, findings: Findings) -> None:
    """Decide on each order that a coordinator had the time to obey: it lived, and had started an attempt."""
    history = state.history
    switched = history.of(JobSwitched)
    started = {event.node for event in history.of(AttemptStarted)}
    if state.exempt.punctual:
        for order in state.exempt.acted(Consequence.ENDS_JOB):
            death = state.exempt.next_death(started, order.time_ns)
            died_ns = death[0] if death else history.end.ended_ns
            begun = any(event.status in OVER for event in switched if event.time_ns <= died_ns)
            ran = any(event.time_ns < order.time_ns - PATIENCE_NS // 10 for event in history.of(AttemptStarted))
            if begun:
                findings.check("command-ignored")
            elif ran and died_ns - order.time_ns > PATIENCE_NS:
                findings.violated("command-ignored", f"a user's {order.fault_kind} has no effect", order)
    last = state.switched
    if last is not None and last.status in OVER and last.status is not JobStatus.CANCELLING:
        findings.check("end-not-finished")
    elif last is not None and last.status is JobStatus.CANCELLING and state.everybody and state.is_due(last.time_ns):
        findings.violated("end-not-finished", f"the job is still {last.status}", last)
