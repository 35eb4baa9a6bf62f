"""A user's order to end a job or to rescale it: it is taken, or the coordinator that was to take it is gone (RULES RET,
RSC)."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import (
    OVER,
    AttemptStarted,
    JobStatus,
    JobSwitched,
    RescaleRequested,
)
from holdfast.harness.oracles.findings import Findings
from holdfast.harness.oracles.liveness.last_state import PATIENCE_NS, LastState
from holdfast.harness.oracles.shared.clocks import SKEW_NS

CLAUSES: Mapping[str, str] = {
    "command-ignored": "a user cancels, suspends or rescales a job, and its coordinator does not begin to do so",
    "end-not-finished": "a job that is being cancelled or suspended never has ended",
}


def judge_commands(state: LastState, findings: Findings) -> None:
    """Decide on each order that a coordinator had the time to obey: it lived, and had started an attempt."""
    history = state.history
    over_ns = [event.time_ns for event in history.of(JobSwitched) if event.status in OVER]
    rescales_ns = [event.time_ns for event in history.of(RescaleRequested)]
    started = {event.node for event in history.of(AttemptStarted)}
    if state.exempt.punctual:
        orders = [(order, over_ns) for order in state.exempt.acted(Consequence.ENDS_JOB)]
        orders += [
            (order, [time_ns for time_ns in rescales_ns if time_ns >= order.time_ns - SKEW_NS])
            for order in state.exempt.acted(Consequence.RESCALES_JOB)
        ]
        for order, obeyed_ns in orders:
            death = state.exempt.next_death(started, order.time_ns)
            died_ns = death[0] if death else history.end.ended_ns
            begun = any(time_ns <= died_ns for time_ns in obeyed_ns)
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
